/** Commits and credits: the amount left of each, its course, and every entry of its ledger. */
import Big from 'big.js';
import { useMemo } from 'react';
import { forPixels } from '../api/exact.ts';
import type { Schemas } from '../api/operations.gen.d.ts';
import { useApi } from '../api/queries.ts';
import { moneyText, priceText } from '../format/money.ts';
import { periodText } from '../format/time.ts';
import { Chart } from '../parts/chart.tsx';
import { Day, Difference, Money } from '../parts/figures.tsx';
import type { Series } from '../parts/series.ts';
import { Empty, Loaded } from '../parts/states.tsx';
import { type Column, Table } from '../parts/table.tsx';
import styles from './dashboard.module.css';
import { PageNumbers, usePages } from './pages.tsx';
import { useShown, useWords } from './shown.tsx';
import type { Words } from './words.ts';

type Balance = Schemas['DashboardBalance'];
type Entry = Balance['ledger'][number];

export function Balances() {
  const words = useWords();
  const pages = usePages();
  const query = useApi('GET /v1/dashboards/balances', { query: { next_page: pages.cursor } });
  return (
    <Loaded query={query}>
      {({ data, next_page: next }) =>
        data.length === 0 && next === null ? (
          <Empty>{words.noBalances}</Empty>
        ) : (
          <>
            {data.map((balance) => (
              <OneBalance key={balance.id} balance={balance} />
            ))}
            <PageNumbers pages={pages} next={next} />
          </>
        )
      }
    </Loaded>
  );
}

function OneBalance({ balance }: { readonly balance: Balance }) {
  const words = useWords();
  const { credit_type: unit, schedule_items: items } = balance.access_schedule;
  const granted = items.reduce((all, { amount }) => all.plus(amount), new Big(0));
  const [first, last] = [items[0], items.at(-1)];
  const left = balance.type === 'POSTPAID' ? words.toSpend : words.left;
  return (
    <section className={styles.part} aria-label={balance.name}>
      <div className={styles.head}>
        <h2>{balance.name}</h2>
        <span className="soft">{words.kinds[balance.type]}</span>
        {first === undefined || last === undefined ? null : (
          <span className="soft">{periodText(first.starting_at, last.ending_before)} UTC</span>
        )}
        <span className={styles.end}>
          <b>
            <Money amount={balance.balance} unit={unit} />
          </b>{' '}
          {left} {words.of} <Money amount={granted} unit={unit} />
        </span>
      </div>
      <progress
        className={styles.progress}
        aria-label={`${balance.name}: ${moneyText(balance.balance, unit)} ${left}`}
        value={shareOf(new Big(balance.balance), granted)}
        max={1}
      />
      <Ledger balance={balance} words={words} />
    </section>
  );
}

/** The remaining share of the grant, for the width of a bar. */
function shareOf(left: Big, granted: Big): number {
  if (granted.lte(0)) return 0;
  return Math.min(1, Math.max(0, forPixels(left.div(granted))));
}

function Ledger({ balance, words }: { readonly balance: Balance; readonly words: Words }) {
  const { view } = useShown();
  const unit = balance.access_schedule.credit_type;
  const entries = useMemo(
    () => [...balance.ledger].sort((a, b) => a.timestamp.localeCompare(b.timestamp)),
    [balance],
  );
  const { starts, series } = useMemo(
    () => courseOf(entries, balance.name, view.now),
    [entries, balance, view],
  );
  if (entries.length === 0) return <Empty>{words.noEntries}</Empty>;
  const columns: Column<Entry>[] = [
    { title: words.when, cell: ({ timestamp }) => <Day at={timestamp} /> },
    {
      title: words.entry,
      // Future entries belong to the current draft.
      cell: ({ type, timestamp }) =>
        entryText(type, words) + (timestamp > view.now ? ` (${words.states.DRAFT})` : ''),
    },
    {
      title: words.amount,
      kind: 'number',
      cell: ({ amount }) => <Difference amount={new Big(amount)} unit={unit} />,
    },
  ];
  return (
    <>
      <Chart
        label={`${words.course}: ${balance.name}`}
        kind="lines"
        window="hour"
        size="small"
        starts={starts}
        series={series}
        text={(value) => moneyText(value, unit)}
        axisText={(value) => priceText(value, unit)}
      />
      <Table label={words.ledger} columns={columns} rows={entries} keyOf={(_entry, index) => String(index)} />
    </>
  );
}

/** The balance before and after each entry, up to now: steps, not slopes. */
function courseOf(entries: readonly Entry[], label: string, now: string) {
  const starts: string[] = [];
  const values: Big[] = [];
  let balance = new Big(0);
  for (const { timestamp, amount } of entries) {
    if (timestamp > now) break;
    starts.push(timestamp, timestamp);
    values.push(balance, balance.plus(amount));
    balance = balance.plus(amount);
  }
  const series: Series[] = [{ key: 'balance', label, values: [...values, balance] }];
  return { starts: [...starts, now], series };
}

/** `PREPAID_COMMIT_EXPIRATION` is an expiration. */
function entryText(type: string, { entries }: Words): string {
  // Names for postpaid commits, whose balance is not the customer's money, are tried first.
  const kind = Object.keys(entries).find((each) => type.endsWith(each));
  return kind === undefined ? type : (entries[kind] ?? type);
}
