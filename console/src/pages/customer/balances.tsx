/**
 * Commits and credits: the amount left, how it was drawn down, which balance pays next, and every entry of the ledger.
 */
import Big from 'big.js';
import { useMemo } from 'react';
import type { Schemas } from '../../api/operations.gen.d.ts';
import { useApi } from '../../api/queries.ts';
import { type CreditType, moneyText, priceText } from '../../format/money.ts';
import { periodText } from '../../format/time.ts';
import { entryText } from '../../format/words.ts';
import { Chart } from '../../parts/chart.tsx';
import { CreateLink } from '../../parts/create-link.tsx';
import { Download } from '../../parts/download.tsx';
import { CopyId, Difference, Money, Time } from '../../parts/figures.tsx';
import { Section } from '../../parts/page.tsx';
import type { Series } from '../../parts/series.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSession } from '../../session/session.ts';

type Balance = Schemas['Commit'] | Schemas['Credit'];
type Entry = Schemas['LedgerEntry'];

const LIST = 'POST /v1/contracts/customerBalances/list';

export function Balances({ customerId }: { readonly customerId: string }) {
  const body = {
    customer_id: customerId,
    include_balance: true,
    include_ledgers: true,
    include_contract_balances: true,
  };
  const query = useApi(LIST, { body });
  return (
    <Loaded query={query} what="balances">
      {({ data }) =>
        data.length === 0 ? (
          <Empty action={<Add customerId={customerId} />}>
            This customer has no commits or credits. All usage is billed.
          </Empty>
        ) : (
          <>
            <Section
              title="What is left"
              aside={
                <>
                  <Download operation={LIST} input={{ body }} mediaType="text/csv" fileName="balances.csv">
                    CSV
                  </Download>
                  <Add customerId={customerId} />
                </>
              }
            >
              <Table label="Balances" columns={COLUMNS} rows={data} keyOf={({ id }) => id} />
            </Section>
            <Order customerId={customerId} balances={data} />
            {data.map((balance) => (
              <BurnDown key={balance.id} balance={balance} />
            ))}
          </>
        )
      }
    </Loaded>
  );
}

function nameOf({ name, product }: Balance): string {
  return name ?? product.name;
}

/** A minimum that the customer has agreed to spend: the rest of it is owed, and is not the customer's money. */
function isPostpaid({ type }: Pick<Balance, 'type'>): boolean {
  return type === 'POSTPAID';
}

function kindText(type: Balance['type']): string {
  return isPostpaid({ type }) ? 'postpaid minimum' : type.toLowerCase();
}

function isRolledOver(balance: Balance): boolean {
  return 'rolled_over_from' in balance && balance.rolled_over_from !== undefined;
}

function unitOf({ access_schedule }: Balance): CreditType {
  return access_schedule.credit_type;
}

function grantedOf({ access_schedule }: Balance): Big {
  return access_schedule.schedule_items.reduce((all, { amount }) => all.plus(amount), new Big(0));
}

function Add({ customerId }: { readonly customerId: string }) {
  const known = { customer_id: customerId };
  return (
    <span className="nowrap">
      <CreateLink form="credit" known={known} /> <CreateLink form="commit" known={known} />
    </span>
  );
}

const COLUMNS: readonly Column<Balance>[] = [
  { title: 'Name', cell: nameOf },
  { title: 'Kind', cell: ({ type }) => kindText(type) },
  {
    title: 'Access (UTC)',
    cell: ({ access_schedule: { schedule_items } }) => {
      const [first, last] = [schedule_items[0], schedule_items.at(-1)];
      return first === undefined || last === undefined
        ? ''
        : periodText(first.starting_at, last.ending_before);
    },
  },
  {
    title: 'Granted or agreed',
    kind: 'number',
    cell: (balance) => <Money amount={grantedOf(balance)} unit={unitOf(balance)} />,
  },
  {
    title: 'Left',
    kind: 'number',
    cell: (balance) =>
      balance.balance === undefined ? (
        ''
      ) : (
        <>
          <Money amount={balance.balance} unit={unitOf(balance)} />
          {isPostpaid(balance) ? <span className="soft"> to be spent</span> : null}
        </>
      ),
  },
  { title: 'Priority', kind: 'number', cell: ({ priority }) => priority },
  { title: 'Id', cell: ({ id }) => <CopyId id={id} /> },
];

/** Which balance pays first, and the deciding criterion. */
function Order({
  customerId,
  balances,
}: {
  readonly customerId: string;
  readonly balances: readonly Balance[];
}) {
  const query = useApi('GET /v1/customers/{customer_id}/drawdownOrder', {
    params: { customer_id: customerId },
  });
  const units = new Map(balances.map((each) => [unitOf(each).id, unitOf(each)]));
  // A used-up balance keeps its row, because the reasons of later ones refer to it, but pays nothing. Neither does a
  // minimum.
  const open = (query.data?.data ?? []).filter((each) => !isPostpaid(each) && new Big(each.balance).gt(0));
  const places = new Map(open.map(({ segment_id }, index) => [segment_id, index + 1]));
  const columns: Column<Schemas['OrderedBalance']>[] = [
    { title: 'Next', kind: 'number', cell: ({ segment_id }) => places.get(segment_id) ?? '' },
    { title: 'Balance', cell: ({ name, type }) => name ?? kindText(type) },
    {
      title: 'Access (UTC)',
      cell: ({ starting_at, ending_before }) => (
        <span className="nowrap">{periodText(starting_at, ending_before)}</span>
      ),
    },
    {
      title: 'Left',
      kind: 'number',
      cell: ({ balance, credit_type_id: id, type }) =>
        new Big(balance).gt(0) ? (
          <>
            <Money amount={balance} unit={units.get(id) ?? { id, name: 'units' }} />
            {isPostpaid({ type }) ? <span className="soft"> to be spent</span> : null}
          </>
        ) : (
          <span className="soft">{isPostpaid({ type }) ? 'reached' : 'used up'}</span>
        ),
    },
    { title: 'Why here', cell: ({ reason }) => reason },
  ];
  return (
    <Section title="What pays next">
      <Loaded query={query} what="the order">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>No balance is active, so nothing is drawn down.</Empty>
          ) : (
            <Table
              label="Order of drawdown"
              columns={columns}
              rows={data}
              keyOf={({ segment_id }) => segment_id}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

function BurnDown({ balance }: { readonly balance: Balance }) {
  const { now } = useSession();
  const unit = unitOf(balance);
  const entries = useMemo(
    () => [...(balance.ledger ?? [])].sort((a, b) => a.timestamp.localeCompare(b.timestamp)),
    [balance],
  );
  const { starts, series } = useMemo(() => courseOf(entries, nameOf(balance), now), [entries, balance, now]);
  const columns: Column<Entry>[] = [
    { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
    {
      title: 'Entry',
      cell: ({ type, reason, timestamp }) => (
        <>
          {[entryText(type, isRolledOver(balance)), reason].filter(Boolean).join(': ')}
          {timestamp > now ? <span className="soft">, of the running draft</span> : null}
        </>
      ),
    },
    {
      title: 'Amount',
      kind: 'number',
      cell: ({ amount }) => <Difference amount={new Big(amount)} unit={unit} />,
    },
  ];
  return (
    <Section title={nameOf(balance)}>
      {entries.length === 0 ? (
        <Empty>No ledger entries yet.</Empty>
      ) : (
        <>
          <Chart
            label={`${isPostpaid(balance) ? 'What is to be spent of' : 'Balance of'} ${nameOf(balance)} over time`}
            kind="lines"
            window="hour"
            size="small"
            starts={starts}
            series={series}
            text={(value) => moneyText(value, unit)}
            axisText={(value) => priceText(value, unit)}
          />
          <Table
            label="Ledger"
            stacks
            columns={columns}
            rows={entries}
            keyOf={(_entry, index) => String(index)}
          />
        </>
      )}
    </Section>
  );
}

/** The balance before and after each entry, up to now: steps, not slopes. */
function courseOf(
  entries: readonly Entry[],
  label: string,
  now: string,
): { starts: string[]; series: Series[] } {
  const starts: string[] = [];
  const values: Big[] = [];
  let balance = new Big(0);
  for (const { timestamp, amount } of entries) {
    if (timestamp > now) break;
    starts.push(timestamp, timestamp);
    values.push(balance, balance.plus(amount));
    balance = balance.plus(amount);
  }
  starts.push(now);
  values.push(balance);
  return { starts, series: [{ key: 'balance', label, values }] };
}
