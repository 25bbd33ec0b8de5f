/** The output of the demo: usage as a chart, an invoice and its daily breakdown as tables, the proof line by line. */

import { formatExact } from '../app/commands/terminal/number-format.ts';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { tableLines } from '../app/commands/terminal/text-table.ts';
import { type Decimal, decimal, sum, ZERO } from '../core/decimal.ts';
import { DAY_MS, formatInstant, HOUR_MS, type Instant, type Interval } from '../core/time.ts';
import type { Invoice, UsageRow } from './billing-api.ts';
import { columnChartLines } from './column-chart.ts';
import { type CustomerFigures, lineQuantities, type Subject, totalOf } from './figures.ts';
import { formatDollarsExact, formatDollarsRounded } from './money-format.ts';
import { lineAgrees, lineTotal, type ProofLine, type ProofSection } from './proof.ts';
import { at } from './provisioning.ts';
import type { MeteredProduct } from './scenario.ts';
import { groupText } from './scenario.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const DAYS_PER_LABEL = 7;
const HOURS_PER_LABEL = 6;
/** Maximum differences that are printed; the rest is counted. */
const DIFFERENCES_SHOWN_MAX = 5;

/** `21 Oct`. */
function formatDay(at: Instant): string {
  const date = new Date(at);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''}`;
}

export function formatPeriod(period: Interval): string {
  return `${formatInstant(period.start).slice(0, 10)} to ${formatInstant(period.end).slice(0, 10)}`;
}

/** One column for each day or hour of `period`. Heights come from the rows of the usage API. */
export function usageChartLines(
  rows: readonly UsageRow[],
  period: Interval,
  window: 'HOUR' | 'DAY',
): string[] {
  const stepMs = window === 'DAY' ? DAY_MS : HOUR_MS;
  const starts: Instant[] = [];
  for (let start = period.start; start < period.end; start += stepMs) starts.push(start);
  const values = starts.map((start) =>
    Number(sum(rows.filter((row) => row.starting_on === start).map((row) => row.value ?? ZERO)).toString()),
  );
  const labels = starts.map((start, index) => {
    if (window === 'DAY') return index % DAYS_PER_LABEL === 0 ? formatDay(start) : '';
    return index % HOURS_PER_LABEL === 0 ? formatInstant(start).slice(11, 16) : '';
  });
  return columnChartLines(values, labels);
}

export function invoiceLines(invoice: Invoice, products: readonly MeteredProduct[]): string[] {
  const keyOf = (name: string) => products.find((product) => product.name === name)?.pricingGroupKey ?? [];
  const rows = invoice.line_items.map((line) => [
    line.name,
    groupText(keyOf(line.name), line.pricing_group_values ?? {}),
    formatExact(line.quantity),
    line.unit_price === undefined ? '' : `${formatExact(line.unit_price)} ¢`,
    formatDollarsExact(line.total),
  ]);
  return tableLines(
    [
      { title: 'Product', align: 'left' },
      { title: 'Priced by', align: 'left' },
      { title: 'Quantity', align: 'right' },
      { title: 'Unit price', align: 'right' },
      { title: 'Amount', align: 'right' },
    ],
    rows,
    [['Total', '', '', '', formatDollarsExact(invoice.total)]],
  );
}

/** One row per day with usage. Amounts are rounded for display; the totals row is exact. */
export function dailyBreakdownLines(figures: CustomerFigures, subject: Subject): string[] {
  const { products } = subject.scenario;
  const ids = subject.provisioned.productIds;
  const days = figures.daily.map((window) => ({
    window,
    quantities: products.map((product, index) => totalOf(lineQuantities([window], at(ids, index), product))),
  }));
  const used = days.filter(({ window, quantities }) =>
    [window.total, ...quantities].some((value) => !value.eq(ZERO)),
  );
  const columns = products.map((product) => ({
    // An increment of distinct values is the number of values that are new in the month.
    title: product.aggregation === 'UNIQUE' ? `New ${product.unit}` : capitalised(product.unit),
    align: 'right' as const,
  }));
  return tableLines(
    [{ title: 'Day', align: 'left' }, ...columns, { title: 'Amount', align: 'right' }],
    used.map(({ window, quantities }) => [
      `${WEEKDAYS[new Date(window.breakdown_start_timestamp).getUTCDay()] ?? ''} ${formatDay(window.breakdown_start_timestamp)}`,
      ...quantities.map(formatExact),
      formatDollarsRounded(window.total),
    ]),
    [
      [
        'Sum',
        ...products.map((_, index) => formatExact(sum(days.map(({ quantities }) => at(quantities, index))))),
        formatDollarsExact(sum(figures.daily.map((window) => window.total))),
      ],
    ],
  );
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Prints the sections and returns whether everything agrees. */
export function printProof(terminal: Terminal, sections: readonly ProofSection[]): boolean {
  const labels = sections.flatMap(({ own, lines }) => [
    own?.label ?? '',
    ...lines.map((line) => line.source),
  ]);
  const labelWidth = Math.max(...labels.map((label) => label.length));
  const values = sections.flatMap(({ own, lines }) => [
    own === null ? '' : format(own.kind, own.value),
    ...lines.map((line) => format(line.kind, lineTotal(line))),
  ]);
  const valueWidth = Math.max(...values.map((value) => value.length));
  const write = (label: string, value: string, mark: string) =>
    terminal.line(`    ${label.padEnd(labelWidth)}  ${value.padStart(valueWidth)}  ${mark}`.trimEnd());
  for (const { title, own, lines } of sections) {
    terminal.line(`  ${terminal.bold(title)}`);
    if (own !== null) write(own.label, format(own.kind, own.value), '');
    for (const line of lines) {
      const agrees = lineAgrees(line);
      write(
        line.source,
        format(line.kind, lineTotal(line)),
        agrees ? terminal.green('✓') : terminal.red('✗'),
      );
      if (!agrees) printDifferences(terminal, line);
    }
  }
  return sections.every((section) => section.lines.every(lineAgrees));
}

function printDifferences(terminal: Terminal, line: ProofLine): void {
  const differing = line.parts.filter((part) => !part.expected.eq(part.actual));
  for (const { name, expected, actual } of differing.slice(0, DIFFERENCES_SHOWN_MAX)) {
    const text = `${name}: expected ${format(line.kind, expected)}, got ${format(line.kind, actual)}`;
    terminal.line(`      ${terminal.red(text)}`);
  }
  const rest = differing.length - DIFFERENCES_SHOWN_MAX;
  if (rest > 0) terminal.line(`      ${terminal.red(`and ${rest} more`)}`);
}

function format(kind: ProofLine['kind'], value: Decimal): string {
  return kind === 'money' ? formatDollarsExact(value) : formatExact(value);
}

/** The number of comparisons that the check marks represent. */
export function comparisons(sections: readonly ProofSection[]): Decimal {
  const counts = sections.flatMap((section) =>
    section.lines.map((line) => decimal(String(line.parts.length))),
  );
  return sum(counts);
}
