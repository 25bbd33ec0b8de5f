/** The number of invoices in each state. */
import { useQuery } from '@tanstack/react-query';
import { callAll } from '../../api/client.ts';
import { useApi } from '../../api/queries.ts';
import { Fact, Facts } from '../../parts/page.tsx';
import { Failure, Loading } from '../../parts/states.tsx';

/** Invoices by state, from SQL: drafts are computed, so their number is derived from contracts. */
export function InvoiceStates() {
  const sql = 'SELECT invoice_status, COUNT(*) AS invoices_made FROM invoices GROUP BY invoice_status';
  const issued = useApi('POST /v1/sql', { body: { sql } }, { staleTime: 60_000 });
  const drafts = useQuery({
    queryKey: ['drafts'],
    staleTime: 5 * 60_000,
    queryFn: ({ signal }) =>
      callAll('GET /v1/invoices', { query: { limit: '100', status: 'DRAFT' } }, { signal }).then(
        ({ length }) => length,
      ),
  });
  if (issued.isError) return <Failure error={issued.error} again={() => void issued.refetch()} />;
  if (issued.data === undefined) return <Loading what="invoices" />;
  const counts = new Map(
    issued.data.data.map((row) => [String(row.invoice_status), String(row.invoices_made)]),
  );
  return (
    <Facts>
      <Fact label="Drafts">{drafts.data?.toLocaleString('en-US') ?? <span role="status">…</span>}</Fact>
      <Fact label="Finalized">{counts.get('FINALIZED') ?? '0'}</Fact>
      <Fact label="Void">{counts.get('VOID') ?? '0'}</Fact>
    </Facts>
  );
}
