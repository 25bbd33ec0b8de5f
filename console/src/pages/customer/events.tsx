/** The last events of the customer. */
import { Link } from '@tanstack/react-router';
import type { AnswerOf } from '../../api/client.ts';
import { useApi } from '../../api/queries.ts';
import { CopyId, Time } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';

type Row = AnswerOf<'GET /v1/events'>['data'][number];

const COLUMNS: readonly Column<Row>[] = [
  { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { title: 'Type', cell: ({ event_type }) => event_type },
  {
    title: 'Transaction id',
    cell: ({ transaction_id }) => (
      <>
        <Link to="/events" search={{ id: transaction_id }} className="mono">
          {transaction_id}
        </Link>{' '}
        <CopyId id={transaction_id} label="copy" />
      </>
    ),
  },
];

const EVENTS_SHOWN = '100';

export function Events({ customerId }: { readonly customerId: string }) {
  const query = useApi('GET /v1/events', { query: { customer_id: customerId, limit: EVENTS_SHOWN } });
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
              keyOf={({ transaction_id }) => transaction_id}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
