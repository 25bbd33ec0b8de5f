/** Failed jobs, each with the reason and a retry. */
import { Link } from '@tanstack/react-router';
import type { InputOf } from '../api/client.ts';
import { numberOf } from '../api/exact.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useApi, useChange } from '../api/queries.ts';
import { useWriteRefusal } from '../session/session.ts';
import { Time } from './figures.tsx';
import { Failure, Loaded } from './states.tsx';
import { type Column, Table } from './table.tsx';

type FailedJob = Schemas['FailedJob'];

const COLUMNS: readonly Column<FailedJob>[] = [
  {
    title: 'Job',
    cell: ({ kind, invoice_id, customer_id }) => {
      const text = kind.replaceAll('_', ' ');
      return invoice_id === null || customer_id === null ? (
        text
      ) : (
        <Link
          to="/invoices/$customerId/$invoiceId"
          params={{ customerId: customer_id, invoiceId: invoice_id }}
        >
          {text} {invoice_id.slice(0, 8)}
        </Link>
      );
    },
  },
  {
    title: 'Customer',
    cell: ({ customer_id }) =>
      customer_id === null ? (
        ''
      ) : (
        <Link to="/customers/$customerId" params={{ customerId: customer_id }}>
          {customer_id.slice(0, 8)}
        </Link>
      ),
  },
  { title: 'Due', cell: ({ due_at }) => <Time at={due_at} /> },
  { title: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
  { title: 'Reason', cell: ({ last_error }) => last_error },
  {
    title: '',
    cell: ({ id, kind, invoice_id }) =>
      id !== null ? (
        <TryAgain change="POST /v1/system/retryJob" input={{ body: { id: numberOf(id) } }} />
      ) : invoice_id !== null && kind === 'deliver_invoice' ? (
        <TryAgain change="POST /v1/invoices/deliver" input={{ body: { invoice_ids: [invoice_id] } }} />
      ) : null,
  },
];

const REFRESH_MS = 5_000;

/** `none`: the text if nothing has failed. */
export function FailedJobs({ none }: { readonly none: string }) {
  const query = useApi('GET /v1/system/failedJobs', {}, { refetchInterval: REFRESH_MS });
  return (
    <Loaded query={query} what="failed jobs">
      {({ data, next_page }) =>
        data.length === 0 ? (
          <p className="good">✓ {none}</p>
        ) : (
          <>
            <Table
              label="Failed jobs"
              columns={COLUMNS}
              rows={data}
              keyOf={({ id, invoice_id }) => invoice_id ?? String(id)}
            />
            {next_page === null ? null : <p className="soft">Only the first {data.length} are shown.</p>}
          </>
        )
      }
    </Loaded>
  );
}

function TryAgain<Key extends 'POST /v1/system/retryJob' | 'POST /v1/invoices/deliver'>(props: {
  readonly change: Key;
  readonly input: InputOf<Key>;
}) {
  const refusal = useWriteRefusal();
  const retry = useChange(props.change);
  if (retry.isError) return <Failure error={retry.error} />;
  return (
    <button
      type="button"
      disabled={refusal !== undefined || retry.isPending}
      title={refusal}
      onClick={() => retry.mutate(props.input)}
    >
      Try again
    </button>
  );
}
