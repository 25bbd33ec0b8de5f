/** Finds events: by transaction id, or by customer, type and time. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import { useApi } from '../../api/queries.ts';
import { countText } from '../../format/words.ts';
import { CustomerField } from '../../parts/customer-field.tsx';
import { CopyId, Time } from '../../parts/figures.tsx';
import { Field, Filters, Page, Section } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { useSeenEvents } from '../../parts/sql/sql-names.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { EventDetail } from './event-detail.tsx';

const route = getRouteApi('/events');
const PAGE_ROWS = '50';

export function Events() {
  const { id } = route.useSearch();
  return (
    <Page
      title="Events"
      about="Which events came, which metrics count them, and on which line they are billed."
    >
      <Section title="Find events">
        <ById key={id ?? ''} />
        <ByFilters />
      </Section>
      {id === undefined ? null : <EventDetail id={id} />}
      <Unmatched />
      <List />
    </Page>
  );
}

function ById() {
  const { id } = route.useSearch();
  const navigate = route.useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('id') ?? '').trim();
    void navigate({ search: (before) => ({ ...before, id: text }) });
  };
  return (
    <form onSubmit={submit}>
      <Filters>
        <Field label="Transaction id">
          <input name="id" type="search" defaultValue={id ?? ''} size={38} maxLength={128} />
        </Field>
        <button type="submit">Find</button>
      </Filters>
    </form>
  );
}

function ByFilters() {
  const { customer, type, from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const { types } = useSeenEvents();
  const listId = useId();
  const set = (name: 'customer' | 'type' | 'from' | 'to', value: string | undefined) =>
    void navigate({
      search: ({ page: _page, cursor: _cursor, ...before }) => ({ ...before, [name]: value ?? '' }),
    });
  return (
    <Filters>
      <CustomerField value={customer} onChoose={(id) => set('customer', id)} none="of every customer" />
      <Field label="Type">
        <input
          key={type ?? ''}
          list={listId}
          defaultValue={type ?? ''}
          maxLength={200}
          onBlur={({ target }) => {
            if (target.value !== (type ?? '')) set('type', target.value);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') set('type', event.currentTarget.value);
          }}
        />
      </Field>
      <datalist id={listId}>
        {types.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <Field label="From (UTC)">
        <input
          type="datetime-local"
          value={from ?? ''}
          onChange={({ target }) => set('from', target.value)}
        />
      </Field>
      <Field label="Before (UTC)">
        <input type="datetime-local" value={to ?? ''} onChange={({ target }) => set('to', target.value)} />
      </Field>
    </Filters>
  );
}

type UnmatchedRow = AnswerOf<'GET /v1/events/unmatched'>['data'][number];

const UNMATCHED_COLUMNS: readonly Column<UnmatchedRow>[] = [
  { title: 'Customer as sent', cell: ({ customer_id }) => <span className="mono">{customer_id}</span> },
  { title: 'Events', cell: ({ events }) => countText(Number(events), 'event', 'events') },
  { title: 'First', cell: ({ first_timestamp }) => <Time at={first_timestamp} /> },
  { title: 'Last', cell: ({ last_timestamp }) => <Time at={last_timestamp} /> },
];

/** Shown only if there are any: an alias is missing, or a sender is wrong. */
function Unmatched() {
  const { data } = useApi('GET /v1/events/unmatched', { query: { limit: '100' } }, { staleTime: 60_000 });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Section title="Events that belong to no customer">
      <p>From the last 35 days. They are not billed until a customer has the id as an alias.</p>
      <Table
        label="Events that belong to no customer"
        columns={UNMATCHED_COLUMNS}
        rows={data.data}
        keyOf={({ customer_id }) => customer_id}
      />
      {data.next_page === null ? null : <p>More follow: GET /v1/events/unmatched lists all of them.</p>}
    </Section>
  );
}

type Row = AnswerOf<'GET /v1/events'>['data'][number];

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Happened', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { title: 'Type', cell: ({ event_type }) => event_type },
  {
    title: 'Customer',
    cell: ({ customer_id, matched_customer: customer }) =>
      customer === null ? (
        <span className="bad">{customer_id}: nobody</span>
      ) : (
        <Link to="/customers/$customerId" params={{ customerId: customer.id }}>
          {customer.name}
        </Link>
      ),
  },
  {
    title: 'Transaction id',
    cell: ({ transaction_id: id }) => (
      <>
        <Link to="/events" search={((before: object) => ({ ...before, id })) as never} className="mono">
          {id}
        </Link>{' '}
        <CopyId id={id} label="copy" />
      </>
    ),
  },
];

function List() {
  const { customer, type, from, to, page, cursor } = route.useSearch();
  const query = useApi('GET /v1/events', {
    query: {
      ...{ customer_id: customer, event_type: type, limit: PAGE_ROWS, next_page: cursor },
      starting_on: from === undefined ? undefined : `${from}:00Z`,
      ending_before: to === undefined ? undefined : `${to}:00Z`,
    },
  });
  return (
    <Section
      title="The newest events"
      aside={
        <Pager
          list={`events ${customer} ${type} ${from} ${to}`}
          search={{ page, cursor }}
          next={query.data?.next_page}
        />
      }
    >
      <Loaded query={query} what="events">
        {({ data: rows }) =>
          rows.length === 0 ? (
            <Empty>No events match. Choose a longer time, or another customer or type.</Empty>
          ) : (
            <Table
              label="Events"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ transaction_id }) => transaction_id}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
