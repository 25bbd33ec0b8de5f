/** Answers of the API as state of pages: cached for some seconds, cancelled when a page is left, retried on 5xx. */
import {
  QueryClient,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type AnswerOf, ApiError, call, type InputOf, type OperationKey } from './client.ts';

/** Navigating back and forth shows the same figures at once. */
const FRESH_MS = 10_000;
const TRIES_MAX = 2;

export function createQueryClient(onSessionEnded: () => void): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (tries, error) => {
          if (isSessionEnded(error)) onSessionEnded();
          return tries < TRIES_MAX && isPassing(error);
        },
        refetchOnWindowFocus: false,
      },
      mutations: {
        onError: (error) => {
          if (isSessionEnded(error)) onSessionEnded();
        },
      },
    },
  });
}

function isSessionEnded(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Failures that another attempt may avoid. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 429 || error.status === 503);
}

type Options<Key extends OperationKey> = Pick<
  UseQueryOptions<AnswerOf<Key>>,
  'enabled' | 'refetchInterval' | 'placeholderData' | 'staleTime'
>;

/** The answer of a read operation. */
export function useApi<Key extends OperationKey>(
  key: Key,
  input: InputOf<Key>,
  options: Options<Key> = {},
): UseQueryResult<AnswerOf<Key>> {
  return useQuery({
    queryKey: [key, input],
    queryFn: ({ signal }) => call(key, input, signal),
    ...options,
  } as UseQueryOptions<AnswerOf<Key>>);
}

/** Reloads everything that is shown: call it after a change. */
export function useReadAgain(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries();
}
