/** The amounts that a draft of prices would have billed in a past month, customer by customer, and saving it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import Big from 'big.js';
import { useState } from 'react';
import { call, callAll } from '../../api/client.ts';
import { sum } from '../../api/exact.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useChange } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { type CreditType, changeText, unitText } from '../../format/money.ts';
import { intervalOf, isMonth, monthAfter, monthOf, monthText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Difference, Money } from '../../parts/figures.tsx';
import { Fact, Facts, Field, Filters, Section } from '../../parts/page.tsx';
import { Empty, Failure, Progress } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSession, useWriteRefusal } from '../../session/session.ts';
import { type DraftRate, sentRate } from './price-draft.ts';

const route = getRouteApi('/prices');
const PER_PAGE = '25';

interface SimulateProps {
  readonly cardId: string;
  readonly draft: ReadonlyMap<string, DraftRate>;
}

export function Simulate({ cardId, draft }: SimulateProps) {
  const { now } = useSession();
  const { month: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const month = isMonth(asked) ? asked : monthAfter(monthOf(now), -1);
  const [read, setRead] = useState(0);
  const [wanted, setWanted] = useState<string | null>(null);
  const rates = [...draft.values()];
  const key = JSON.stringify([month, cardId, rates]);
  const query = useQuery({
    queryKey: keyOf('POST /v1/invoices/preview', key),
    enabled: wanted === key,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => simulate(cardId, rates, month, { signal, onPage: setRead }),
  });
  const setMonth = (value: string) =>
    void navigate({ search: (before) => ({ ...before, month: value }), resetScroll: false });
  return (
    <Section title={`Draft: ${draft.size === 1 ? '1 price' : `${draft.size} prices`}`} aside={<Discard />}>
      <Filters>
        <Field label="Simulate on">
          <input type="month" value={month} onChange={({ target }) => setMonth(target.value)} />
        </Field>
        <button
          type="button"
          data-kind="main"
          disabled={query.isFetching}
          onClick={() => {
            setRead(0);
            setWanted(key);
          }}
        >
          Simulate
        </button>
        <SaveDraft cardId={cardId} rates={rates} />
      </Filters>
      <p className="soft small">
        Every invoice of {monthText(month)} is computed again as though these prices had been in force from
        its first day. Nothing is stored.
      </p>
      {query.isFetching ? (
        <Filters>
          <Progress label={`${countText(read, 'customer')} computed`} done={read} />
          <button
            type="button"
            onClick={() => {
              setWanted(null);
              void client.cancelQueries({ queryKey: keyOf('POST /v1/invoices/preview', key) });
            }}
          >
            Stop
          </button>
        </Filters>
      ) : null}
      {query.isError ? <Failure error={query.error} again={() => void query.refetch()} /> : null}
      {query.data === undefined || query.isFetching ? null : <Simulated customers={query.data} />}
    </Section>
  );
}

function Discard() {
  return (
    <Link
      to="."
      search={((before: object) => ({ ...before, draft: undefined })) as never}
      resetScroll={false}
    >
      Discard the draft
    </Link>
  );
}

interface Compared {
  readonly customerId: string;
  readonly name: string;
  readonly unit: CreditType;
  readonly before: Big;
  readonly after: Big;
}

async function simulate(
  cardId: string,
  rates: readonly DraftRate[],
  month: string,
  options: { readonly signal: AbortSignal; onPage(customers: number): void },
): Promise<Compared[]> {
  const interval = intervalOf(month);
  const found = await callAll(
    'POST /v1/invoices/preview',
    {
      body: {
        add_rates: {
          rate_card_id: cardId,
          rates: rates.map((rate) => sentRate(rate, interval.starting_on)),
        },
        ...interval,
      },
      query: { limit: PER_PAGE },
    },
    options,
  );
  const names = await namesOf(
    found.map(({ customer_id }) => customer_id),
    options.signal,
  );
  return found.flatMap((customer) => comparedOf(customer, names));
}

/** A row for each unit in which a customer is billed. */
function comparedOf(
  { customer_id: customerId, invoices }: Schemas['CustomerDifference'],
  names: ReadonlyMap<string, string>,
): Compared[] {
  const units = new Map(invoices.map(({ credit_type }) => [credit_type.id, credit_type]));
  return [...units.values()].map((unit) => {
    const own = invoices.filter(({ credit_type }) => credit_type.id === unit.id);
    return {
      customerId,
      name: names.get(customerId) ?? customerId,
      unit,
      before: sum(own.flatMap(({ current_total }) => current_total ?? [])),
      after: sum(own.flatMap(({ preview_total }) => preview_total ?? [])),
    };
  });
}

const NAMES_AT_ONCE = 100;

async function namesOf(ids: readonly string[], signal: AbortSignal): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (let first = 0; first < ids.length; first += NAMES_AT_ONCE) {
    const query = { customer_ids: ids.slice(first, first + NAMES_AT_ONCE).join(','), limit: '100' };
    const { data } = await call('GET /v1/customers', { query }, signal);
    for (const { id, name } of data) names.set(id, name);
  }
  return names;
}

function Simulated({ customers }: { readonly customers: readonly Compared[] }) {
  if (customers.length === 0)
    return <Empty>No contract on this rate card has an invoice in this month.</Empty>;
  const units = [...new Map(customers.map(({ unit }) => [unit.id, unit])).values()];
  const rows = [...customers].sort((a, b) => change(b).abs().cmp(change(a).abs()));
  return (
    <>
      <Facts>
        {units.map((unit) => {
          const own = customers.filter((each) => each.unit.id === unit.id);
          const [before, after] = [sum(own.map((each) => each.before)), sum(own.map((each) => each.after))];
          return (
            <Fact
              key={unit.id}
              label={`With the draft, ${unitText(unit)}`}
              note={
                <>
                  <Difference amount={after.minus(before)} unit={unit} /> {changeText(after, before) ?? ''}{' '}
                  against <Money amount={before} unit={unit} />
                </>
              }
            >
              <Money amount={after} unit={unit} />
            </Fact>
          );
        })}
        <Fact label="Customers that change">
          {rows.filter((row) => !change(row).eq(0)).length.toLocaleString('en-US')} of{' '}
          {rows.length.toLocaleString('en-US')}
        </Fact>
      </Facts>
      <Table
        label="Customers with the draft"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ customerId, unit }) => customerId + unit.id}
      />
    </>
  );
}

function change({ before, after }: Compared): Big {
  return new Big(after).minus(before);
}

const COLUMNS: readonly Column<Compared>[] = [
  {
    title: 'Customer',
    cell: ({ customerId, name }) => (
      <Link to="/customers/$customerId" params={{ customerId }}>
        {name}
      </Link>
    ),
  },
  { title: 'Billed', kind: 'number', cell: ({ before, unit }) => <Money amount={before} unit={unit} /> },
  {
    title: 'With the draft',
    kind: 'number',
    cell: ({ after, unit }) => <Money amount={after} unit={unit} />,
  },
  { title: 'Change', kind: 'number', cell: (row) => <Difference amount={change(row)} unit={row.unit} /> },
  { title: '%', kind: 'number', cell: ({ before, after }) => changeText(after, before) ?? '' },
];

function SaveDraft({ cardId, rates }: { readonly cardId: string; readonly rates: readonly DraftRate[] }) {
  const { now } = useSession();
  const refusal = useWriteRefusal();
  const navigate = route.useNavigate();
  const add = useChange('POST /v1/contract-pricing/rate-cards/addRates');
  const [from, setFrom] = useState(`${monthAfter(monthOf(now), 1)}-01`);
  return (
    <>
      <Field label="In force from (UTC)">
        <input type="date" value={from} onChange={({ target }) => setFrom(target.value)} />
      </Field>
      <Confirm
        action="Save"
        disabled={refusal !== undefined || from === ''}
        reason={refusal}
        title={`Add ${rates.length === 1 ? '1 price' : `${rates.length} prices`} to the rate card?`}
        run={async () => {
          const sent = rates.map((rate) => sentRate(rate, `${from}T00:00:00Z`));
          await add.mutateAsync({ body: { rate_card_id: cardId, rates: sent } });
          await navigate({
            search: ({ draft: _saved, ...before }) => ({ ...before, at: `${from}T00:00` }) as never,
          });
        }}
      >
        <p>
          They are in force from {from}, 00:00 UTC, for every contract on this card, and stay until another
          price begins. Invoices that are issued do not change; drafts of periods with that day do.
        </p>
      </Confirm>
    </>
  );
}
