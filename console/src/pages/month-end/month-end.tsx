/** Closing a month: every invoice of it with its change and the reasons, and what has to be looked at before. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type Big from 'big.js';
import { useState } from 'react';
import { sum } from '../../api/exact.ts';
import { useApi } from '../../api/queries.ts';
import { changeText } from '../../format/money.ts';
import { dayText, intervalOf, isMonth, monthAfter, monthOf, monthText, timeText } from '../../format/time.ts';
import { csvOf, save } from '../../parts/download.tsx';
import { FailedJobs } from '../../parts/failed-jobs.tsx';
import { Difference, Money, Status } from '../../parts/figures.tsx';
import { Fact, Facts, Field, Filters, Page, Section } from '../../parts/page.tsx';
import { Empty, Failure, Loading, Progress } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSession } from '../../session/session.ts';
import { compareUsage, isMissing, type UsageCompared } from './missing-usage.ts';
import { type MonthRow, mainReason, readMonth } from './month.ts';
import { Reconcile } from './reconcile.tsx';

const route = getRouteApi('/month-end');
const HOUR_MS = 3_600_000;

export function MonthEnd() {
  const { now } = useSession();
  const { month: asked } = route.useSearch();
  const month = isMonth(asked) ? asked : monthAfter(monthOf(now), -1);
  const [read, setRead] = useState(0);
  const query = useQuery({
    queryKey: ['month', month],
    queryFn: ({ signal }) => readMonth(month, { signal, onProgress: setRead }),
  });
  const usage = useQuery({
    queryKey: ['compared usage', month],
    queryFn: ({ signal }) => compareUsage(month, Date.parse(now), signal),
  });
  return (
    <Page
      title={`Month end: ${monthText(month)}`}
      about={<Grace month={month} />}
      actions={<Months month={month} />}
    >
      {query.isFetching && query.data === undefined ? (
        <Progress label={`${read} invoices read; drafts are computed now`} done={read} />
      ) : null}
      {query.isError ? <Failure error={query.error} again={() => void query.refetch()} /> : null}
      {query.data === undefined ? (
        query.isError ? null : (
          <Loading what="invoices" />
        )
      ) : (
        <Invoices month={month} rows={query.data.rows} usage={usage.data ?? new Map()} />
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

/** Until when usage of the month counts. */
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
  changed: ({ total, before }: MonthRow) =>
    before !== null && total.minus(before).abs().times(5).gt(before.abs()),
  missing: () => false,
} as const;

const SORTS = {
  '': (a: MonthRow, b: MonthRow) => b.total.cmp(a.total),
  change: (a: MonthRow, b: MonthRow) => differenceOf(b).abs().cmp(differenceOf(a).abs()),
  customer: (a: MonthRow, b: MonthRow) => a.customer.localeCompare(b.customer),
} as const;

function differenceOf({ total, before }: MonthRow): Big {
  return before === null ? total : total.minus(before);
}

function isKeyOf<Keys extends object>(keys: Keys, name: string): name is Extract<keyof Keys, string> {
  return Object.hasOwn(keys, name);
}

function Invoices(props: {
  readonly month: string;
  readonly rows: readonly MonthRow[];
  readonly usage: ReadonlyMap<string, UsageCompared>;
}) {
  const { month, rows, usage } = props;
  const { show = '', search = '', sort = '' } = route.useSearch();
  const isShown =
    show === 'missing'
      ? ({ customerId }: MonthRow) => isMissing(usage.get(customerId) ?? { now: 0, before: 0 })
      : FILTERS[isKeyOf(FILTERS, show) ? show : ''];
  const shown = rows
    .filter(isShown)
    .filter(({ customer, number = '' }) =>
      `${customer} ${number}`.toLowerCase().includes(search.toLowerCase()),
    )
    .sort(SORTS[isKeyOf(SORTS, sort) ? sort : '']);
  return (
    <>
      <Totals rows={rows} usage={usage} />
      <Section
        title="Invoices"
        aside={
          <button type="button" onClick={() => save(exported(shown, usage), `month-end-${month}.csv`)}>
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
            columns={columnsFor(shown, usage)}
            rows={shown}
            keyOf={({ id }) => id}
          />
        )}
      </Section>
    </>
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

function Totals({
  rows,
  usage,
}: {
  readonly rows: readonly MonthRow[];
  readonly usage: ReadonlyMap<string, UsageCompared>;
}) {
  const issued = rows.filter(({ status }) => status !== 'DRAFT').length;
  const warned = rows.filter(({ warnings }) => warnings.length > 0).length;
  const missing = [...usage.values()].filter(isMissing).length;
  return (
    <Facts>
      {unitsOf(rows).map(({ unit, rows: own }) => {
        const [total, before] = [
          sum(own.map((row) => row.total)),
          sum(own.map((row) => row.before ?? ('0' as never))),
        ];
        const change = changeText(total, before);
        return (
          <Fact
            key={unit.id}
            label={`Total, ${unit.name}`}
            note={change === null ? undefined : `${change} against the month before`}
          >
            <Money amount={total} unit={unit} />
          </Fact>
        );
      })}
      <Fact
        label="Issued"
        note={<progress aria-label="Progress of the run" value={issued} max={Math.max(1, rows.length)} />}
      >
        {issued} of {rows.length}
      </Fact>
      <Fact label="With warnings">{warned === 0 ? '0' : <span className="warn">{warned}</span>}</Fact>
      <Fact label="Usage missing" note="less than half of the same days before">
        {missing === 0 ? '0' : <span className="warn">{missing}</span>}
      </Fact>
    </Facts>
  );
}

function unitsOf(rows: readonly MonthRow[]) {
  const byUnit = new Map<string, { unit: MonthRow['unit']; rows: MonthRow[] }>();
  for (const row of rows) {
    const known = byUnit.get(row.unit.id) ?? { unit: row.unit, rows: [] };
    byUnit.set(row.unit.id, known);
    known.rows.push(row);
  }
  return [...byUnit.values()];
}

function columnsFor(
  rows: readonly MonthRow[],
  usage: ReadonlyMap<string, UsageCompared>,
): Column<MonthRow>[] {
  const units = unitsOf(rows);
  const total = (of: (row: MonthRow) => Big | null) =>
    units.map(({ unit, rows: own }) => (
      <div key={unit.id}>
        <Money amount={sum(own.flatMap((row) => of(row) ?? []))} unit={unit} />
      </div>
    ));
  return [
    {
      title: 'Customer',
      cell: ({ customer, customerId }) => (
        <Link to="/customers/$customerId" params={{ customerId }}>
          {customer}
        </Link>
      ),
      foot: `${rows.length} invoices`,
    },
    {
      title: 'Invoice',
      cell: ({ id, customerId, number, status, type }) => (
        <Link to="/invoices/$customerId/$invoiceId" params={{ customerId, invoiceId: id }}>
          {number ?? (status === 'DRAFT' ? 'Draft' : id.slice(0, 8))}
          {type === 'SCHEDULED' ? ', scheduled' : ''}
        </Link>
      ),
    },
    { title: 'State', cell: ({ status }) => <Status state={status} /> },
    {
      title: 'Amount',
      kind: 'number',
      cell: ({ total: amount, unit }) => <Money amount={amount} unit={unit} />,
      foot: total((row) => row.total),
    },
    {
      title: 'Month before',
      kind: 'number',
      cell: ({ before, unit }) => (before === null ? '' : <Money amount={before} unit={unit} />),
      foot: total(({ before }) => before),
    },
    {
      title: 'Change',
      kind: 'number',
      cell: (row) =>
        row.before === null ? (
          <span className="soft">new</span>
        ) : (
          <Difference amount={differenceOf(row)} unit={row.unit} />
        ),
    },
    {
      title: '%',
      kind: 'number',
      cell: ({ total: amount, before }) => (
        <span className="nowrap">{before === null ? '' : changeText(amount, before)}</span>
      ),
    },
    {
      title: 'Mostly',
      cell: ({ reasons, id, customerId }) => <Reason reasons={reasons} id={id} customerId={customerId} />,
    },
    {
      title: 'Events',
      kind: 'number',
      cell: ({ customerId, type }) =>
        type === 'SCHEDULED' ? '' : <UsageChange compared={usage.get(customerId)} />,
    },
    { title: 'Warnings', cell: ({ warnings }) => <WarningCount warnings={warnings} /> },
    ...(rows.some(({ delivery }) => delivery !== undefined)
      ? [
          {
            title: 'Delivery',
            cell: ({ delivery }: MonthRow) => delivery?.toLowerCase().replaceAll('_', ' ') ?? '',
          },
        ]
      : []),
  ];
}

function Reason({ reasons, id, customerId }: Pick<MonthRow, 'reasons' | 'id' | 'customerId'>) {
  const main = reasons === null ? '' : mainReason(reasons);
  if (main === '') return null;
  return (
    <Link
      to="/invoices/$customerId/$invoiceId"
      params={{ customerId, invoiceId: id }}
      search={{ view: 'change' }}
      title="The change split into price, volume, mix and terms"
    >
      {main}
    </Link>
  );
}

function UsageChange({ compared }: { readonly compared: UsageCompared | undefined }) {
  if (compared === undefined) return null;
  const { now, before } = compared;
  return (
    <span
      className={isMissing(compared) ? 'warn nowrap' : 'nowrap'}
      title={`${before.toLocaleString('en-US')} in the same days of the month before`}
    >
      {now.toLocaleString('en-US')}
      {isMissing(compared) ? ' ▼' : ''}
    </span>
  );
}

function WarningCount({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <span className="warn nowrap" title={warnings.join('\n')}>
      {warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`}
    </span>
  );
}

function exported(rows: readonly MonthRow[], usage: ReadonlyMap<string, UsageCompared>): Blob {
  const header = [
    ...[
      'customer',
      'customer_id',
      'invoice_id',
      'invoice_number',
      'status',
      'unit',
      'total',
      'before',
      'change',
    ],
    ...['price', 'volume', 'mix', 'terms', 'events', 'events_before', 'warnings'],
  ];
  const figure = (value: Big | null | undefined) => ({ number: value?.toFixed() ?? '' });
  return csvOf(
    header,
    rows.map((row) => {
      const compared = usage.get(row.customerId);
      return [
        ...[row.customer, row.customerId, row.id, row.number ?? '', row.status, row.unit.name],
        ...[figure(row.total), figure(row.before), figure(row.before === null ? null : differenceOf(row))],
        ...[row.reasons?.price, row.reasons?.volume, row.reasons?.mix, row.reasons?.terms].map(figure),
        ...[{ number: String(compared?.now ?? '') }, { number: String(compared?.before ?? '') }],
        row.warnings.join(' | '),
      ];
    }),
  );
}
