/** Requests a running service's reconciliation, page by page, and prints the findings. */
import { z } from 'zod';
import type { RunningService } from '../running-service.ts';
import { formatCount } from '../terminal/number-format.ts';
import { createProgress } from '../terminal/progress.ts';
import { type Reconciled, readPage } from './read-page.ts';
import type { Report } from './report.ts';

export interface ReconcileCounts {
  readonly customers: number;
  readonly invoices: number;
  readonly lines: number;
  readonly differences: number;
  /** Entries of usage that arrived too late for its invoice. */
  readonly late: number;
  readonly unchecked: number;
}

/** Numbers are shown as sent, with all digits. */
const shown = z.union([z.string(), z.number(), z.object({ text: z.string() }).transform(({ text }) => text)]);
const count = z.number();

const page = z.object({
  data: z.array(
    z.object({
      customer_id: z.string(),
      invoice_count: count,
      line_count: count,
      differences: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          invoice_id: z.string(),
          line_number: count.optional(),
          line_name: z.string().optional(),
          starting_at: z.string().optional(),
          field: z.string().optional(),
          expected: shown.optional(),
          found: shown.optional(),
        }),
      ),
      differences_left_out: count.default(0),
      late_usage: z.array(z.unknown()),
      late_usage_left_out: count.default(0),
      unchecked: z.array(z.object({ invoice_id: z.string(), reason: z.string() })),
      unchecked_left_out: count.default(0),
    }),
  ),
  next_page: z.string().nullable(),
  customers_left: count,
});
type Page = z.output<typeof page>;
type Customer = Page['data'][number];

/** Reports every difference and all counts, and returns the latter. Throws `CommandFailure`. */
export async function runReconciliation(
  service: RunningService,
  asked: Reconciled,
  report: Report,
): Promise<ReconcileCounts> {
  const bar = createProgress(report.progress, { unit: 'customers', total: null });
  let counts: ReconcileCounts = {
    customers: 0,
    invoices: 0,
    lines: 0,
    differences: 0,
    late: 0,
    unchecked: 0,
  };
  let next: string | null = null;
  do {
    const read: Page = page.parse(await readPage(service, '/v1/invoices/reconcile', asked, next));
    for (const customer of read.data) {
      counts = added(counts, customer);
      if (customer.differences.length + customer.unchecked.length === 0) continue;
      bar.end();
      report.lines(linesOf(customer));
      const { customer_id, differences, unchecked } = customer;
      for (const one of differences) report.add('differences', { customer_id, ...one });
      for (const one of unchecked) report.add('unchecked', { customer_id, ...one });
    }
    const done = counts.customers / Math.max(1, counts.customers + read.customers_left);
    bar.advance(read.data.length, done);
    next = read.next_page;
  } while (next !== null);
  bar.end();
  report.lines([summary(counts)]);
  const { customers, invoices, lines, differences, late, unchecked } = counts;
  const many = { difference_count: differences, late_usage_count: late, unchecked_count: unchecked };
  report.set({ customer_count: customers, invoice_count: invoices, line_count: lines, ...many });
  return counts;
}

/** `Reconciled 12 customers, 40 invoices, 310 lines: no differences; 2 entries of late usage.` */
export function summary({
  customers,
  invoices,
  lines,
  differences,
  late,
  unchecked,
}: ReconcileCounts): string {
  const named = (many: number, one: string, more = `${one}s`) =>
    `${formatCount(many)} ${many === 1 ? one : more}`;
  const what = [
    differences === 0 ? 'no differences' : named(differences, 'difference'),
    ...(late === 0 ? [] : [named(late, 'entry of late usage', 'entries of late usage')]),
    ...(unchecked === 0 ? [] : [`${named(unchecked, 'invoice')} not checked against events`]),
  ];
  const checked = [named(customers, 'customer'), named(invoices, 'invoice'), named(lines, 'line')];
  return `Reconciled ${checked.join(', ')}: ${what.join('; ')}.`;
}

function added(counts: ReconcileCounts, customer: Customer): ReconcileCounts {
  return {
    customers: counts.customers + 1,
    invoices: counts.invoices + customer.invoice_count,
    lines: counts.lines + customer.line_count,
    differences: counts.differences + customer.differences.length + customer.differences_left_out,
    late: counts.late + customer.late_usage.length + customer.late_usage_left_out,
    unchecked: counts.unchecked + customer.unchecked.length + customer.unchecked_left_out,
  };
}

function linesOf({ customer_id, differences, differences_left_out, unchecked }: Customer): string[] {
  return [
    ...differences.map((one) => {
      const line = one.line_number === undefined ? '' : `, line ${one.line_number} ${one.line_name ?? ''}`;
      const time = one.starting_at === undefined ? '' : `, ${one.starting_at}`;
      const numbers =
        one.field === undefined
          ? ''
          : ` (${one.field}: expected ${one.expected ?? 'nothing'}, found ${one.found ?? 'nothing'})`;
      const where = `customer ${customer_id}, invoice ${one.invoice_id}${line}${time}`;
      return `${one.code}: ${where}: ${one.message}${numbers}`;
    }),
    ...(differences_left_out === 0
      ? []
      : [`customer ${customer_id}: ${formatCount(differences_left_out)} more differences`]),
    ...unchecked.map(
      ({ invoice_id, reason }) => `unchecked: customer ${customer_id}, invoice ${invoice_id}: ${reason}`,
    ),
  ];
}
