/** Drafts with warnings. Several parts of the start page share one read of them. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';

const PAGE = '100';

export function useWarnedDrafts(): UseQueryResult<readonly Schemas['Invoice'][]> {
  return useQuery({
    queryKey: keyOf('GET /v1/invoices', 'warned drafts'),
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      callAll(
        'GET /v1/invoices',
        { query: { has_warnings: 'true', limit: PAGE, status: 'DRAFT' } },
        { signal },
      ),
  });
}
