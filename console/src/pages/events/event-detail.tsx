/** One event: the stored data, the metrics that count it, why others do not, and its billed lines. */
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { CopyId, Money, Price, Quantity, Status, Time } from '../../parts/figures.tsx';
import { Fact, Facts, Section } from '../../parts/page.tsx';
import { Empty, Loaded, Note } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import styles from './events.module.css';

type FoundEvent = Schemas['FoundEvent'];
type Metric = FoundEvent['matched_billable_metrics'][number];
type EventBilling = Schemas['EventBilling'];
type EventLine = EventBilling['lines'][number];

export function EventDetail({ id }: { readonly id: string }) {
  const query = useApi('POST /v1/events/search', { body: { transactionIds: [id], include_unmatched: true } });
  return (
    <Loaded query={query} what="the event">
      {(found) => {
        const event = found.find(({ is_duplicate }) => !is_duplicate);
        if (event === undefined) return <NotFound id={id} />;
        const repeats = found.filter(({ is_duplicate }) => is_duplicate);
        return <Found event={event} repeats={repeats} />;
      }}
    </Loaded>
  );
}

function NotFound({ id }: { readonly id: string }) {
  return (
    <Section title={id}>
      <Empty>
        No event with this transaction id was accepted within the ingest window. Older events are found by
        customer, type and time.
      </Empty>
    </Section>
  );
}

function Found({ event, repeats }: { readonly event: FoundEvent; readonly repeats: readonly FoundEvent[] }) {
  return (
    <>
      <Section title="Event" aside={<CopyId id={event.transaction_id} whole />}>
        <Facts>
          <Fact label="Happened">
            <Time at={event.timestamp} />
          </Fact>
          <Fact label="Accepted">
            <Time at={event.processed_at} />
          </Fact>
          <Fact label="Type">{event.event_type}</Fact>
          <Fact
            label="Customer"
            note={event.customer_id === event.matched_customer?.id ? undefined : event.customer_id}
          >
            {event.matched_customer === null ? (
              <span className="bad">nobody</span>
            ) : (
              <Link to="/customers/$customerId" params={{ customerId: event.matched_customer.id }}>
                {event.matched_customer.name}
              </Link>
            )}
          </Fact>
          {repeats.length === 0 ? null : (
            <Fact label="Sent again">{repeats.length} times, which count nowhere</Fact>
          )}
        </Facts>
        {event.matched_customer === null ? (
          <Note>
            No customer has the id or ingest alias {event.customer_id}: the event counts for nobody until one
            has.
          </Note>
        ) : null}
        {event.unpriced === undefined ? null : <Note>Without a price: {event.unpriced.reason}</Note>}
        <Properties event={event} />
      </Section>
      <Billing event={event} />
      <Metrics event={event} />
    </>
  );
}

function Properties({ event: { properties } }: { readonly event: FoundEvent }) {
  return (
    <dl className={styles.properties} aria-label="Properties">
      {Object.entries(properties).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface Verdict {
  readonly id: string;
  readonly name: string;
  readonly counts: boolean;
  readonly text: string;
}

const VERDICTS: readonly Column<Verdict>[] = [
  {
    title: 'Metric',
    cell: ({ id, name }) => (
      <Link to="/metrics" search={{ metric: id }}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Counts it',
    cell: ({ counts }) => <Status state={counts ? 'yes' : 'no'} tone={counts ? 'good' : 'quiet'} />,
  },
  { title: 'How, or why not', cell: ({ text }) => text },
];

function Metrics({ event }: { readonly event: FoundEvent }) {
  const verdicts: Verdict[] = [
    ...event.matched_billable_metrics.map((metric) => ({
      id: metric.id,
      name: metric.name,
      counts: true,
      text: contributionText(metric, event),
    })),
    ...(event.unmatched_billable_metrics ?? []).map(({ id, name, reason }) => ({
      id,
      name,
      counts: false,
      text: reason,
    })),
  ];
  return (
    <Section title="Metrics">
      {verdicts.length === 0 ? (
        <Empty>There is no metric yet.</Empty>
      ) : (
        <Table
          label="Metrics and the event"
          stacks
          columns={VERDICTS}
          rows={verdicts}
          keyOf={({ id }) => id}
        />
      )}
    </Section>
  );
}

function contributionText(metric: Metric, { properties }: FoundEvent): string {
  const { aggregation_type: aggregation, aggregation_key: key = '' } = metric;
  if (metric.sql !== undefined || aggregation === 'custom_sql') return 'is read by its query';
  return aggregation === 'COUNT' ? 'one event' : `${aggregation} of ${key}: ${properties[key] ?? ''}`;
}

function Billing({ event }: { readonly event: FoundEvent }) {
  const params = { transaction_id: event.transaction_id };
  const query = useApi('GET /v1/events/{transaction_id}/billing', { params });
  return (
    <Section title="Price and invoice">
      <Loaded query={query} what="invoices">
        {({ data }) => <Billed event={event} billing={data} />}
      </Loaded>
    </Section>
  );
}

function Billed({ event, billing }: { readonly event: FoundEvent; readonly billing: EventBilling }) {
  const { invoices, lines, warnings } = billing;
  return (
    <>
      {lines.length === 0 ? (
        <Empty>{whyNotBilled(event, invoices.length)}</Empty>
      ) : (
        <Table
          label="Lines with the event"
          columns={lineColumns(billing)}
          rows={lines}
          keyOf={({ line_item, billable_metric_id }) => `${line_item.id} ${billable_metric_id}`}
        />
      )}
      {warnings.map(({ invoice_id, message }) => (
        <Note key={`${invoice_id} ${message}`}>{message}</Note>
      ))}
    </>
  );
}

function whyNotBilled(event: FoundEvent, invoices: number): string {
  if (event.matched_customer === null) return 'Not billed: no customer has its id or alias.';
  if (event.matched_billable_metrics.length === 0) return 'Not billed: no metric counts it.';
  return invoices === 0
    ? 'Not billed: the customer has no usage invoice of its time, issued or running.'
    : 'Not billed: no line of the invoices of its time has a product of these metrics with its group values.';
}

function lineColumns({ invoices, customer_id }: EventBilling): Column<EventLine>[] {
  const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  return [
    {
      title: 'Line',
      cell: ({ invoice_id: invoiceId, line_item: line }) => (
        <Link
          to="/invoices/$customerId/$invoiceId"
          params={{ customerId: customer_id ?? '', invoiceId }}
          search={{ line: line.id }}
        >
          {[
            line.name,
            ...Object.values({ ...line.pricing_group_values, ...line.presentation_group_values }),
          ].join(' · ')}
          {line.tier === undefined ? '' : ` · tier ${line.tier.level}`}
        </Link>
      ),
    },
    {
      title: 'Invoice',
      cell: ({ invoice_id }) => (
        <>
          {byId.get(invoice_id)?.invoice_number ?? ''} <Status state={byId.get(invoice_id)?.status ?? ''} />
        </>
      ),
    },
    { title: 'Metric', cell: ({ billable_metric_name }) => billable_metric_name },
    {
      title: 'From this event',
      kind: 'number',
      cell: ({ quantity }) =>
        quantity === undefined ? <span className="soft">a part</span> : <Quantity value={quantity} />,
    },
    {
      title: 'Unit price',
      kind: 'number',
      cell: ({ line_item: line }) =>
        line.unit_price === undefined ? '' : <Price amount={line.unit_price} unit={line.credit_type} />,
    },
    {
      title: 'Amount of the event',
      kind: 'number',
      cell: ({ amount, line_item: { credit_type: unit } }) =>
        amount === undefined ? <span className="soft">–</span> : <Price amount={amount} unit={unit} />,
    },
    {
      title: 'Amount of the line',
      kind: 'number',
      cell: ({ line_item: line }) => <Money amount={line.total} unit={line.credit_type} />,
    },
  ];
}
