/** Answers of the API as state of pages: cached for some seconds, cancelled when a page is left, retried on 5xx. */
import {
  QueryClient,
  type UseMutationResult,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type AnswerOf, ApiError, call, type InputOf, type OperationKey } from './client.ts';
import { type ChangeKey, isTouched, keyOf, type ReadKey } from './resources.ts';

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
export function useApi<Key extends ReadKey>(
  key: Key,
  input: InputOf<Key>,
  options: Options<Key> = {},
): UseQueryResult<AnswerOf<Key>> {
  return useQuery({
    queryKey: keyOf(key, input),
    queryFn: ({ signal }) => call(key, input, signal),
    ...options,
  } as UseQueryOptions<AnswerOf<Key>>);
}

/** A change: when it has ended, also with a failure, what reads the resources that it touches is read again. */
export function useChange<Key extends ChangeKey>(
  key: Key,
): UseMutationResult<AnswerOf<Key>, Error, InputOf<Key>> {
  const client = useQueryClient();
  return useMutation<AnswerOf<Key>, Error, InputOf<Key>>({
    mutationFn: (input) => call(key, input),
    onSettled: () => client.invalidateQueries({ predicate: ({ queryKey }) => isTouched(queryKey, key) }),
  });
}
