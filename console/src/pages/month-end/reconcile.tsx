/** Reconciliation of the month as a mark, with its differences. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callAll } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { keyOf } from '../../api/resources.ts';
import { intervalOf } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { Section } from '../../parts/page.tsx';
import { Failure, Progress } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Difference = Schemas['ReconciledDifference'] & { readonly customerId: string };

const COLUMNS: readonly Column<Difference>[] = [
  {
    title: 'Invoice',
    cell: ({ customerId, invoice_id }) => (
      <Link to="/invoices/$customerId/$invoiceId" params={{ customerId, invoiceId: invoice_id }}>
        {invoice_id.slice(0, 8)}
      </Link>
    ),
  },
  { title: 'What', cell: ({ message }) => message },
  { title: 'Expected', kind: 'number', cell: ({ expected }) => expected ?? '' },
  { title: 'Found', kind: 'number', cell: ({ found }) => found ?? '' },
];

export function Reconcile({ month }: { readonly month: string }) {
  const client = useQueryClient();
  const key = keyOf('POST /v1/invoices/reconcile', month);
  const [checked, setChecked] = useState(0);
  const query = useQuery({
    queryKey: key,
    enabled: client.getQueryData(key) !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      callAll(
        'POST /v1/invoices/reconcile',
        { body: intervalOf(month), query: { limit: '25' } },
        { signal, onPage: setChecked },
      ),
  });
  const run = () => {
    setChecked(0);
    void query.refetch();
  };
  const isRunning = query.isFetching;
  return (
    <Section
      title="Reconcile"
      aside={
        <button type="button" onClick={run} disabled={isRunning}>
          Run
        </button>
      }
    >
      {isRunning ? <Progress label={`${countText(checked, 'customer')} checked`} done={checked} /> : null}
      {query.isError ? <Failure error={query.error} again={run} /> : null}
      {query.data === undefined ? (
        isRunning ? null : (
          <p className="soft">
            Compares usage, hours, days, lines, totals, ledgers and a new computation of every invoice of the
            month.
          </p>
        )
      ) : (
        <Result customers={query.data} />
      )}
    </Section>
  );
}

function Result({ customers }: { readonly customers: readonly Schemas['ReconciledCustomer'][] }) {
  const differences = customers.flatMap(({ customer_id: customerId, differences: own }) =>
    own.map((each) => ({ ...each, customerId })),
  );
  const unchecked = customers.reduce((all, each) => all + each.unchecked.length, 0);
  const late = customers.reduce((all, each) => all + each.late_usage.length, 0);
  const asides = [
    ...(late > 0 ? [`${countText(late, 'entry', 'entries')} of late usage that no invoice has`] : []),
    ...(unchecked > 0 ? [`${countText(unchecked, 'invoice')} could not be computed again`] : []),
  ];
  return (
    <>
      {differences.length === 0 ? (
        <p className="good">✓ Every number agrees: {countText(customers.length, 'customer')}.</p>
      ) : (
        <>
          <p className="bad">✗ {countText(differences.length, 'difference')}.</p>
          <Table
            label="Differences"
            columns={COLUMNS}
            rows={differences}
            keyOf={(each, index) => `${each.invoice_id} ${index}`}
          />
        </>
      )}
      {asides.length === 0 ? null : <p className="soft">No difference: {asides.join('; ')}.</p>}
    </>
  );
}
