/** Requests a running service's reconciliation with billing providers, and prints it by month and status. */
import { z } from 'zod';
import { currencyOf, inMajorUnits } from '../../../core/currencies.ts';
import { type Decimal, decimal } from '../../../core/decimal.ts';
import { printedNumber } from '../../../core/printed-values.ts';
import type { RunningService } from '../running-service.ts';
import { formatCount } from '../terminal/number-format.ts';
import { createProgress } from '../terminal/progress.ts';
import { tableLines } from '../terminal/text-table.ts';
import { type Reconciled, readPage } from './read-page.ts';
import type { Report } from './report.ts';

/** Numbers are read with all digits. */
const digits = z.union([
  z.string(),
  z.number().transform(String),
  z.object({ text: z.string() }).transform(({ text }) => text),
]);
const amount = digits.transform(decimal);

const page = z.object({
  data: z.array(
    z.object({
      month: z.string(),
      billing_provider: z.string(),
      external_status: z.string(),
      currency: z.string(),
      credit_type_id: z.string(),
      invoice_count: z.number(),
      billed: amount,
      at_provider: amount,
    }),
  ),
  differences: z.array(
    z.object({
      code: z.string(),
      invoice_id: z.string(),
      customer_id: z.string(),
      external_id: z.string().optional(),
      message: z.string(),
      expected: digits.optional(),
      found: digits.optional(),
    }),
  ),
  next_page: z.string().nullable(),
});
type Page = z.output<typeof page>;
type Sum = Page['data'][number];

/** Reports every difference and the sums; returns the number of differences. Prints nothing if nothing is delivered. */
export async function reconcileProviders(
  service: RunningService,
  asked: Reconciled,
  report: Report,
): Promise<number> {
  const bar = createProgress(report.progress, { unit: 'delivered invoices', total: null });
  const sums = new Map<string, Sum>();
  let differences = 0;
  let next: string | null = null;
  do {
    const read: Page = page.parse(await readPage(service, '/v1/invoices/reconcileProviders', asked, next));
    differences += read.differences.length;
    if (read.differences.length > 0) bar.end();
    report.lines(read.differences.map(lineOf));
    for (const one of read.differences) report.add('provider_differences', one);
    for (const one of read.data) add(sums, one);
    bar.advance(read.data.reduce((count, one) => count + one.invoice_count, 0));
    next = read.next_page;
  } while (next !== null);
  bar.end();
  report.set({ provider_difference_count: differences });
  if (sums.size === 0 && differences === 0) return 0;
  for (const one of sums.values()) report.add('provider_sums', sumJson(one));
  const count = [...sums.values()].reduce((total, one) => total + one.invoice_count, 0);
  const what = differences === 0 ? 'no differences' : named(differences, 'difference');
  report.lines([
    ...table([...sums.values()]),
    `Compared ${named(count, 'delivered invoice')} with billing providers: ${what}.`,
  ]);
  return differences;
}

/** Amounts are texts, with all digits. */
function sumJson(sum: Sum) {
  return { ...sum, billed: sum.billed.toString(), at_provider: sum.at_provider.toString() };
}

function named(count: number, one: string): string {
  return `${formatCount(count)} ${count === 1 ? one : `${one}s`}`;
}

function add(sums: Map<string, Sum>, one: Sum): void {
  const key = [one.month, one.billing_provider, one.external_status, one.currency].join(' ');
  const before = sums.get(key);
  if (before === undefined) {
    sums.set(key, one);
    return;
  }
  sums.set(key, {
    ...before,
    invoice_count: before.invoice_count + one.invoice_count,
    billed: before.billed.plus(one.billed),
    at_provider: before.at_provider.plus(one.at_provider),
  });
}

function lineOf({
  code,
  customer_id,
  invoice_id,
  external_id,
  message,
  expected,
  found,
}: Page['differences'][number]) {
  const there = external_id === undefined ? '' : `, ${external_id}`;
  const values = expected === undefined ? '' : ` (expected ${expected}, found ${found ?? 'nothing'})`;
  return `${code}: customer ${customer_id}, invoice ${invoice_id}${there}: ${message}${values}`;
}

function table(sums: readonly Sum[]): string[] {
  const columns = ['month', 'provider', 'status', 'invoices', 'billed', 'at the provider'].map(
    (title, index) => ({
      title,
      align: index < 3 ? ('left' as const) : ('right' as const),
    }),
  );
  const sorted = sums.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
  return tableLines(
    columns,
    sorted.map((one) => [
      one.month,
      one.billing_provider,
      one.external_status,
      formatCount(one.invoice_count),
      printed(one, one.billed),
      printed(one, one.at_provider),
    ]),
  );
}

function keyOf({ month, billing_provider, external_status, currency }: Sum): string {
  return [month, billing_provider, external_status, currency].join(' ');
}

function printed({ credit_type_id, currency: code }: Sum, stored: Decimal): string {
  const currency = currencyOf(credit_type_id);
  if (currency === null) return `${code} ${printedNumber(stored)}`;
  return `${code} ${printedNumber(inMajorUnits(stored, currency), currency.minorUnitPlaces)}`;
}
