/** Closing a month: every invoice with its change and the reasons, and the points to check before. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { keyOf } from '../../api/resources.ts';
import { growthText, unitText } from '../../format/money.ts';
import { dayText, intervalOf, isMonth, monthAfter, monthOf, monthText, timeText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { FAILED_DELIVERIES } from '../../parts/deliveries.tsx';
import { save } from '../../parts/download.tsx';
import { FailedJobs } from '../../parts/failed-jobs.tsx';
import { Money } from '../../parts/figures.tsx';
import { readLateInvoices } from '../../parts/late-usage.ts';
import { Fact, Facts, Field, Filters, Page, Section } from '../../parts/page.tsx';
import { Empty, Failure, Loading, Progress } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { useSession } from '../../session/session.ts';
import { type MonthRow, type MonthSummary, monthToOpen, readMonth } from './month.ts';
import { MonthDeliveries } from './month-deliveries.tsx';
import { type Beside, columnsFor, exported } from './month-table.tsx';
import { Reconcile } from './reconcile.tsx';

const route = getRouteApi('/month-end');
const HOUR_MS = 3_600_000;

export function MonthEnd() {
  const { now } = useSession();
  const { month: asked } = route.useSearch();
  const running = monthOf(now);
  const opened = useQuery({
    enabled: !isMonth(asked),
    queryKey: keyOf('GET /v1/invoices', 'month to open', running),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => monthToOpen(running, signal),
  });
  const month = isMonth(asked) ? asked : opened.data;
  if (month !== undefined) return <OneMonth month={month} />;
  return (
    <Page title="Month end">
      {opened.isError ? (
        <Failure error={opened.error} again={() => void opened.refetch()} />
      ) : (
        <Loading what="the last month" />
      )}
    </Page>
  );
}

function OneMonth({ month }: { readonly month: string }) {
  const { now } = useSession();
  const [read, setRead] = useState(0);
  const query = useQuery({
    queryKey: keyOf('GET /v1/month-end/{month}', month),
    queryFn: ({ signal }) => readMonth(month, { signal, onProgress: setRead }),
  });
  const late = useQuery({
    queryKey: keyOf('GET /v1/late-usage', month),
    staleTime: 60_000,
    queryFn: ({ signal }) => readLateInvoices(month, signal),
  });
  const beside: Beside = {
    late: new Map((late.data ?? []).map((invoice) => [invoice.invoice_id, invoice])),
    state: late.status,
    isRunning: now < intervalOf(month).ending_before,
  };
  return (
    <Page
      title={`Month end: ${monthText(month)}`}
      about={<Grace month={month} />}
      actions={<Months month={month} />}
    >
      {query.isFetching && query.data === undefined ? (
        <Progress label={`${countText(read, 'invoice')} read; drafts are computed now`} done={read} />
      ) : null}
      {late.isError ? <Failure error={late.error} again={() => void late.refetch()} /> : null}
      {query.isError ? <Failure error={query.error} again={() => void query.refetch()} /> : null}
      {query.data === undefined ? (
        query.isError ? null : (
          <Loading what="invoices" />
        )
      ) : (
        <>
          <Invoices month={month} rows={query.data.rows} summary={query.data.summary} beside={beside} />
          <MonthDeliveries month={month} deliveries={query.data.summary.deliveries} />
        </>
      )}
      <Section title="Jobs that have failed">
        <FailedJobs none="No job has failed." />
      </Section>
      <Reconcile month={month} />
    </Page>
  );
}

function Months({ month }: { readonly month: string }) {
  const link = (months: number, label: string) => (
    <Link
      className="button"
      to="/month-end"
      search={(before) => ({ ...before, month: monthAfter(month, months) })}
    >
      {label}
    </Link>
  );
  return (
    <>
      {link(-1, '← Month before')}
      {link(1, 'Next month →')}
    </>
  );
}

/** Until when usage counts for the month. */
function Grace({ month }: { readonly month: string }) {
  const { data } = useApi('GET /v1/system/status', {});
  if (data === undefined) return <span> </span>;
  const { ending_before } = intervalOf(month);
  const hours = Number(data.data.grace_period_hours);
  const until = new Date(Date.parse(ending_before) + hours * HOUR_MS).toISOString();
  const isOver = data.data.now >= until;
  return (
    <span>
      {isOver
        ? `Usage counted until ${timeText(until)}; the grace period of ${hours} h is over.`
        : `The month ends on ${dayText(ending_before)} at midnight UTC; usage counts until ${timeText(until)} (grace period of ${hours} h).`}
    </span>
  );
}

const FILTERS = {
  '': () => true,
  drafts: ({ status }: MonthRow) => status === 'DRAFT',
  warnings: ({ warnings }: MonthRow) => warnings.length > 0,
  changed: ({ change, before }: MonthRow) => before !== null && change.abs().times(5).gt(before.abs()),
  missing: ({ isUsageMissing, part }: MonthRow) => part === 'counted' && isUsageMissing,
  late: ({ id }: MonthRow, { late }: Beside) => late.has(id),
  undelivered: ({ delivery, status }: MonthRow) =>
    status !== 'VOID' && (FAILED_DELIVERIES as readonly string[]).includes(delivery ?? ''),
  void: ({ status }: MonthRow) => status === 'VOID',
} as const satisfies Readonly<Record<string, (row: MonthRow, beside: Beside) => boolean>>;

const SORTS = {
  '': (a: MonthRow, b: MonthRow) => b.total.cmp(a.total) || b.amount.cmp(a.amount),
  change: (a: MonthRow, b: MonthRow) => b.change.abs().cmp(a.change.abs()),
  customer: (a: MonthRow, b: MonthRow) => a.customer.localeCompare(b.customer),
} as const;

function isKeyOf<Keys extends object>(keys: Keys, name: string): name is Extract<keyof Keys, string> {
  return Object.hasOwn(keys, name);
}

function Invoices(props: {
  readonly month: string;
  readonly rows: readonly MonthRow[];
  readonly summary: MonthSummary;
  readonly beside: Beside;
}) {
  const { month, rows, summary, beside } = props;
  const { show = '', search = '', sort = '' } = route.useSearch();
  const isShown: (row: MonthRow, beside: Beside) => boolean = FILTERS[isKeyOf(FILTERS, show) ? show : ''];
  const shown = rows
    .filter((row) => isShown(row, beside))
    .filter(({ customer, number = '' }) =>
      `${customer} ${number}`.toLowerCase().includes(search.toLowerCase()),
    )
    .sort(SORTS[isKeyOf(SORTS, sort) ? sort : '']);
  return (
    <>
      <Totals month={month} summary={summary} beside={beside} />
      <Section
        title="Invoices"
        aside={
          <button type="button" onClick={() => save(exported(shown, beside), `month-end-${month}.csv`)}>
            Export
          </button>
        }
      >
        <Shown />
        {shown.length === 0 ? (
          <Empty>
            {rows.length === 0
              ? 'No contract has an invoice in this month.'
              : 'No invoice fits. Show all of them, or search for something else.'}
          </Empty>
        ) : (
          <Table
            label="Invoices of the month"
            columns={columnsFor(shown, beside)}
            rows={shown}
            keyOf={({ id }) => id}
          />
        )}
        {shown.length === rows.length ? <Alone summary={summary} /> : null}
      </Section>
    </>
  );
}

/** The invoices of the previous month that no row is compared with: the missing part of their column's sum. */
function Alone({ summary: { totals, unpaired_invoice_count } }: { readonly summary: MonthSummary }) {
  const count = Number(unpaired_invoice_count);
  if (count === 0) return null;
  return (
    <p className="soft small">
      {countText(count, 'invoice')} of the month before {count === 1 ? 'stands' : 'stand'} beside no row, as
      scheduled ones and those of ended contracts and longer periods do:{' '}
      {totals
        .filter(({ unpaired_total }) => Number(unpaired_total) !== 0)
        .map(({ credit_type: unit, unpaired_total }) => (
          <span key={unit.id}>
            <Money amount={unpaired_total} unit={unit} />{' '}
          </span>
        ))}
    </p>
  );
}

function Shown() {
  const { show = '', search = '', sort = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const set =
    (name: 'show' | 'search' | 'sort') => (event: { readonly target: { readonly value: string } }) =>
      void navigate({ search: (before) => ({ ...before, [name]: event.target.value }), replace: true });
  return (
    <Filters>
      <Field label="Show">
        <select value={show} onChange={set('show')}>
          <option value="">all invoices</option>
          <option value="drafts">drafts</option>
          <option value="warnings">with warnings</option>
          <option value="changed">changed by more than 20 %</option>
          <option value="missing">with usage missing</option>
          <option value="late">with late usage</option>
          <option value="undelivered">whose delivery has failed</option>
          <option value="void">void</option>
        </select>
      </Field>
      <Field label="Customer or number">
        <input type="search" value={search} onChange={set('search')} />
      </Field>
      <Field label="Order">
        <select value={sort} onChange={set('sort')}>
          <option value="">largest first</option>
          <option value="change">largest change first</option>
          <option value="customer">by customer</option>
        </select>
      </Field>
    </Filters>
  );
}

/** How many need attention; empty until it is known. */
function Count({ of, state }: { readonly of: number; readonly state: Beside['state'] }) {
  if (state === 'pending') return <span role="status">…</span>;
  if (state === 'error') return '–';
  return of === 0 ? '0' : <span className="warn">{of}</span>;
}

function Totals(props: { readonly month: string; readonly summary: MonthSummary; readonly beside: Beside }) {
  const { totals, invoice_counts: counts, ...summary } = props.summary;
  const { late, state, isRunning } = props.beside;
  const monthBefore = monthAfter(props.month, -1);
  const [issued, voided] = [Number(counts.finalized), Number(counts.void)];
  const valid = issued + Number(counts.draft);
  return (
    <Facts>
      {totals.map(({ credit_type: unit, total, former_total: before }) => {
        const change = growthText(total, before);
        return (
          <Fact
            key={unit.id}
            label={`Total, ${unitText(unit)}`}
            note={
              change === null ? undefined : (
                <>
                  {isRunning ? null : `${change} against `}
                  {monthText(monthBefore)}: <Money amount={before} unit={unit} />
                  {isRunning ? ' in the whole month' : null}
                </>
              )
            }
          >
            <Money amount={total} unit={unit} />
          </Fact>
        );
      })}
      <Fact
        label="Issued"
        note={<progress aria-label="Progress of the run" value={issued} max={Math.max(1, valid)} />}
      >
        {issued.toLocaleString('en-US')} of {valid.toLocaleString('en-US')}
      </Fact>
      {voided === 0 ? null : (
        <Fact label="Void" note="in no sum">
          {voided.toLocaleString('en-US')}
        </Fact>
      )}
      <Fact label="With warnings">
        <Count of={Number(summary.warned_invoice_count)} state="success" />
      </Fact>
      <Fact label="Usage missing" note="less than half of the same days before">
        <Count of={Number(summary.usage_missing_customer_count)} state="success" />
      </Fact>
      <Fact label="With late usage" note="that came after the invoice">
        <Count of={late.size} state={state} />
      </Fact>
    </Facts>
  );
}
