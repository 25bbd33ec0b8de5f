/** The number of invoices in each state. */
import { useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { quantityText } from '../../format/money.ts';
import { Fact, Facts } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';

/** Invoices by state: drafts are computed when they are read, so they are counted here. */
export function InvoiceStates() {
  const issued = useApi('GET /v1/invoices/counts', {}, { staleTime: 60_000 });
  const drafts = useQuery({
    queryKey: keyOf('GET /v1/invoices', 'number of drafts'),
    staleTime: 5 * 60_000,
    queryFn: ({ signal }) =>
      callAll('GET /v1/invoices', { query: { limit: '100', status: 'DRAFT' } }, { signal }).then(
        ({ length }) => length,
      ),
  });
  if (issued.isError) return <Failure error={issued.error} again={() => void issued.refetch()} />;
  if (issued.data === undefined) return <Loading what="invoices" />;
  const counts = issued.data.data;
  return (
    <Facts>
      <Fact label="Drafts">{drafts.data?.toLocaleString('en-US') ?? <span role="status">…</span>}</Fact>
      <Fact label="Finalized">{quantityText(counts.finalized)}</Fact>
      <Fact label="Void">{quantityText(counts.void)}</Fact>
    </Facts>
  );
}
