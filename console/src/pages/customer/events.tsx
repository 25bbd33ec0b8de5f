/** The last events of the customer. */
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/queries.ts';
import { CopyId, Time } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Row = Readonly<Record<string, unknown>>;

const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', cell: ({ timestamp }) => <Time at={String(timestamp)} /> },
  { title: 'Type', cell: ({ event_type }) => String(event_type) },
  {
    title: 'Transaction id',
    cell: ({ transaction_id }) => (
      <>
        <Link to="/events" search={{ id: String(transaction_id) }} className="mono">
          {String(transaction_id)}
        </Link>{' '}
        <CopyId id={String(transaction_id)} label="copy" />
      </>
    ),
  },
];

const EVENTS_SHOWN = 100;

export function Events({ customerId }: { readonly customerId: string }) {
  // The id came back from the service, so it is a UUID.
  const sql = `SELECT timestamp, event_type, transaction_id FROM events WHERE customer_id = '${customerId}'
    ORDER BY timestamp DESC, transaction_id LIMIT ${EVENTS_SHOWN}`;
  const query = useApi('POST /v1/sql', { body: { sql } });
  return (
    <Section title={`The last ${EVENTS_SHOWN} events`}>
      <Loaded query={query} what="events">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No event names this customer or one of its ingest aliases.</Empty>
          ) : (
            <Table
              label="Events"
              stacks
              columns={COLUMNS}
              rows={data}
              keyOf={({ transaction_id }) => String(transaction_id)}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
