/** The table of month end: a row for each invoice, with its change, its reasons and its problems; and its file. */
import { Link } from '@tanstack/react-router';
import type Big from 'big.js';
import { type Exact, sum } from '../../api/exact.ts';
import { currencyOf, growthText, inUnits } from '../../format/money.ts';
import { intervalOf, monthOf, periodText } from '../../format/time.ts';
import { countText } from '../../format/words.ts';
import { DeliveryState } from '../../parts/deliveries.tsx';
import { csvOf } from '../../parts/download.tsx';
import { Difference, Money, Status } from '../../parts/figures.tsx';
import type { LateInvoice } from '../../parts/late-usage.ts';
import type { Column } from '../../parts/table.tsx';
import { type MonthRow, mainReason } from './month.ts';

/** Data besides the invoices. */
export interface Beside {
  /** By the id of the invoice. */
  readonly late: ReadonlyMap<string, LateInvoice>;
  /** The state of reading them. */
  readonly state: 'pending' | 'error' | 'success';
  /** A running month has no percentage: it would compare some days with all of the previous month. */
  readonly isRunning: boolean;
}

function unitsOf<Row extends Pick<MonthRow, 'unit'>>(rows: readonly Row[]) {
  const byUnit = new Map<string, { unit: MonthRow['unit']; rows: Row[] }>();
  for (const row of rows) {
    const known = byUnit.get(row.unit.id) ?? { unit: row.unit, rows: [] };
    byUnit.set(row.unit.id, known);
    known.rows.push(row);
  }
  return [...byUnit.values()];
}

export function columnsFor(rows: readonly MonthRow[], beside: Beside): Column<MonthRow>[] {
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
      foot: countText(rows.length, 'invoice'),
    },
    {
      title: 'Invoice',
      cell: (row) => (
        <>
          <Link
            to="/invoices/$customerId/$invoiceId"
            params={{ customerId: row.customerId, invoiceId: row.id }}
          >
            {row.number ?? (row.status === 'DRAFT' ? 'Draft' : row.id.slice(0, 8))}
            {KINDS[row.type] ?? ''}
          </Link>
          <Period row={row} />
        </>
      ),
    },
    { title: 'State', cell: ({ status }) => <Status state={status} /> },
    {
      title: 'Amount',
      kind: 'number',
      cell: (row) => <Amount row={row} />,
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
          <span className="soft nowrap">{alone(row)}</span>
        ) : (
          <Difference amount={row.change} unit={row.unit} />
        ),
    },
    ...(beside.isRunning ? [] : [PERCENT]),
    ...besideColumns(rows, beside),
  ];
}

const KINDS: Readonly<Record<string, string>> = {
  SCHEDULED: ', scheduled',
  USAGE_CONSOLIDATED: ', consolidated',
};

/** The billing period, if it is not a calendar month: a quarter, a week, a month from the 15th. */
function Period({ row: { period } }: { readonly row: MonthRow }) {
  if (period === undefined) return null;
  const { starting_on, ending_before } = intervalOf(monthOf(period.start));
  const isWhole =
    Date.parse(period.start) === Date.parse(starting_on) &&
    Date.parse(period.end) === Date.parse(ending_before);
  return isWhole ? null : <div className="soft small nowrap">{periodText(period.start, period.end)}</div>;
}

/** An amount that counts in no sum states why. */
function Amount({ row: { part, amount, unit } }: { readonly row: MonthRow }) {
  if (part === 'counted') return <Money amount={amount} unit={unit} />;
  return (
    <span
      className="soft"
      title={
        part === 'void'
          ? 'Void: it is in no sum'
          : 'It repeats other invoices of the month, and is in no sum beside them'
      }
    >
      {part}: <Money amount={amount} unit={unit} />
    </span>
  );
}

const MONTH_DAYS_MAX = 31;
const DAY_MS = 86_400_000;

/** Why a row has no counterpart. */
function alone({ part, type, period, isFurther }: MonthRow): string {
  if (part !== 'counted') return '';
  if (type === 'SCHEDULED') return 'one-off';
  if (isFurther) return 'one more';
  const days = period === undefined ? 0 : (Date.parse(period.end) - Date.parse(period.start)) / DAY_MS;
  return days > MONTH_DAYS_MAX ? 'not monthly' : 'new';
}

const PERCENT: Column<MonthRow> = {
  title: '%',
  kind: 'number',
  cell: ({ total, before }) =>
    before === null ? '' : <span className="nowrap">{growthText(total, before)}</span>,
};

function besideColumns(rows: readonly MonthRow[], { late }: Beside): Column<MonthRow>[] {
  return [
    {
      title: 'Mostly',
      cell: ({ reasons, id, customerId }) => <Reason reasons={reasons} id={id} customerId={customerId} />,
    },
    {
      title: 'Events',
      kind: 'number',
      cell: (row) => (row.type === 'SCHEDULED' || row.part !== 'counted' ? '' : <UsageChange row={row} />),
    },
    {
      title: 'Warnings',
      cell: ({ warnings, id }) => (
        <>
          <WarningCount warnings={warnings} />
          {warnings.length > 0 && late.has(id) ? ' ' : null}
          <Late invoice={late.get(id)} />
        </>
      ),
    },
    ...(rows.some(({ delivery }) => delivery !== undefined)
      ? [
          {
            title: 'Delivery',
            cell: ({ delivery }: MonthRow) =>
              delivery === undefined ? '' : <DeliveryState status={delivery} />,
          },
        ]
      : []),
  ];
}

function Reason({ reasons, id, customerId }: Pick<MonthRow, 'reasons' | 'id' | 'customerId'>) {
  const main = reasons === undefined ? '' : mainReason(reasons);
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

function UsageChange({ row: { events, isUsageMissing } }: { readonly row: MonthRow }) {
  if (events === undefined) return null;
  return (
    <span
      className={isUsageMissing ? 'warn nowrap' : 'nowrap'}
      title={`${events.before.toLocaleString('en-US')} in the same days of the month before`}
    >
      {events.now.toLocaleString('en-US')}
      {isUsageMissing ? ' ▼' : ''}
    </span>
  );
}

function WarningCount({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <span className="warn nowrap" title={warnings.join('\n')}>
      {countText(warnings.length, 'warning')}
    </span>
  );
}

/** Usage that arrived after the invoice was issued. */
function Late({ invoice }: { readonly invoice: LateInvoice | undefined }) {
  if (invoice === undefined) return null;
  const { unbilled_late_usage: entries, unbilled_late_usage_left_out: leftOut } = invoice;
  const texts = (entries ?? []).map(({ product_name, quantity }) => `${product_name}: ${quantity}`);
  return (
    <span
      className="warn nowrap"
      title={
        entries === null
          ? 'It is not known how much'
          : [...texts, ...(leftOut === undefined ? [] : [`and ${leftOut} more`])].join('\n')
      }
    >
      late usage
    </span>
  );
}

/**
 * The amounts of a row, in the order of the columns of the file; an amount that counts in no sum is in the last one
 * only.
 */
const AMOUNTS: Readonly<Record<string, (row: MonthRow) => Big | Exact | null | undefined>> = {
  total: ({ total }) => total,
  before: ({ before }) => before,
  change: (row) => (row.before === null ? null : row.change),
  price: ({ reasons }) => reasons?.price_change,
  volume: ({ reasons }) => reasons?.volume_change,
  mix: ({ reasons }) => reasons?.mix_change,
  terms: ({ reasons }) => reasons?.terms_change,
  not_counted: ({ part, amount }) => (part === 'counted' ? null : amount),
};

const figure = (value: Big | Exact | null | undefined) => ({
  number: typeof value === 'string' ? value : (value?.toFixed() ?? ''),
});

/** As in the CSV of invoices: amounts in whole units of `currency_code` first, then those of the API. */
export function exported(rows: readonly MonthRow[], { late }: Beside): Blob {
  const amounts = Object.keys(AMOUNTS);
  const header = [
    ...['customer', 'customer_id', 'invoice_id', 'invoice_number', 'status', 'currency_code'],
    ...amounts.map((name) => `${name}_amount`),
    ...['events', 'events_before', 'warnings', 'late_usage', 'delivery'],
    ...['type', 'start_timestamp', 'end_timestamp', 'unit', ...amounts],
  ];
  return csvOf(
    header,
    rows.map((row) => {
      const currency = currencyOf(row.unit);
      const exact = Object.values(AMOUNTS).map((of) => of(row));
      const shown = exact.map((value) => (currency === null || !value ? null : inUnits(value, currency)));
      return [
        ...[row.customer, row.customerId, row.id, row.number ?? '', row.status, currency?.code ?? ''],
        ...shown.map(figure),
        ...[{ number: String(row.events?.now ?? '') }, { number: String(row.events?.before ?? '') }],
        ...[row.warnings.join(' | '), late.has(row.id) ? 'yes' : '', row.delivery ?? ''],
        ...[row.type, row.period?.start ?? '', row.period?.end ?? '', row.unit.name],
        ...exact.map(figure),
      ];
    }),
  );
}
