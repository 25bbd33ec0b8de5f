/**
 * The month end of the demo. The clock of its server moves past the end of the billing period, and the invoices are
 * issued and delivered to a stand-in of Stripe on this machine. The totals of both sides are printed, and must be
 * equal.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { tableLines } from '../app/commands/terminal/text-table.ts';
import { type Decimal, decimal, sum } from '../core/decimal.ts';
import { DAY_MS, formatInstant, HOUR_MS, SECOND_MS } from '../core/time.ts';
import { DemoFailure } from './failure.ts';
import type { Subject } from './figures.ts';
import { exactNumber, type HttpApi } from './http-api.ts';
import { formatDollarsExact } from './money-format.ts';
import type { StripeStandIn } from './stripe/stand-in.ts';

/** Invoices are issued a day after their period. */
const BEHIND_MS = DAY_MS + HOUR_MS;
/** Requests to a test account are limited to 25 a second. */
const WAIT_MAX_MS = 300 * SECOND_MS;
const WAIT_MS = 100;
const ROWS_MAX = 8;

const invoices = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      payable_amount: exactNumber,
      external_invoice: z
        .object({ external_status: z.string(), invoice_id: z.string().optional() })
        .nullable(),
    }),
  ),
});

interface DeliveredRow {
  readonly name: string;
  readonly here: Decimal;
  readonly there: Decimal;
  readonly status: string;
}

/** Whether both sides agree. */
export async function showMonthEnd(
  { api, scenario, provisioned, period }: Subject,
  terminal: Terminal,
  stripe: StripeStandIn,
): Promise<boolean> {
  terminal.heading('Month end: the invoices are issued, and delivered to a stand-in of Stripe');
  const now = formatInstant(period.end + BEHIND_MS);
  await api.call('POST', '/v1/sandbox/clock', z.unknown(), { now });
  terminal.line(`  the clock of the server moves to ${now}; nothing leaves this machine`);
  const rows: DeliveredRow[] = [];
  for (const [index, { id }] of provisioned.customers.entries()) {
    const name = scenario.customers[index]?.name ?? id;
    rows.push(...(await deliveredOf(api, id, stripe)).map((one) => ({ name, ...one })));
  }
  const here = sum(rows.map((row) => row.here));
  const there = sum(rows.map((row) => row.there));
  for (const line of linesOf(rows, here, there)) terminal.line(line);
  const isEqual = rows.length === provisioned.customers.length && rows.every((row) => row.here.eq(row.there));
  terminal.line(
    isEqual
      ? terminal.green(
          `  ✓ both sides have ${rows.length} invoices of ${formatDollarsExact(here)}, by ${stripe.requests.length} requests`,
        )
      : terminal.red(
          `  ✗ the sides differ: ${formatDollarsExact(here)} here, ${formatDollarsExact(there)} there`,
        ),
  );
  return isEqual;
}

/** Stripe moves an amount below its minimum to the balance of the customer, and marks the invoice as paid. */
const ARRIVED: ReadonlySet<string> = new Set(['FINALIZED', 'PAID']);

/** The issued invoices of a customer, when all of them are delivered. */
async function deliveredOf(
  api: HttpApi,
  customerId: string,
  { state }: StripeStandIn,
): Promise<Omit<DeliveredRow, 'name'>[]> {
  const until = performance.now() + WAIT_MAX_MS;
  for (;;) {
    const { data } = await api.call('GET', `/v1/customers/${customerId}/invoices?status=FINALIZED`, invoices);
    const isArrived = data.every(({ external_invoice: there }) => ARRIVED.has(there?.external_status ?? ''));
    if (isArrived && data.length > 0) {
      return data.map(({ id, payable_amount: here, external_invoice: external }) => {
        const live = state.liveOf(id);
        const there = sum(live.map((one) => decimal(String(state.subtotal(one)))));
        return { here, there, status: external?.external_status ?? '' };
      });
    }
    if (performance.now() > until) {
      throw new DemoFailure(
        `the invoices of customer ${customerId} are not delivered: ${JSON.stringify(data)}`,
      );
    }
    await pause(WAIT_MS);
  }
}

function linesOf(rows: readonly DeliveredRow[], here: Decimal, there: Decimal): string[] {
  const columns = ['customer', 'here', 'at Stripe', 'status'].map((title, index) => ({
    title,
    align: index === 1 || index === 2 ? ('right' as const) : ('left' as const),
  }));
  const shown = rows.toSorted((a, b) => b.here.cmp(a.here)).slice(0, ROWS_MAX);
  const rest = rows.length - shown.length;
  const total = rest === 0 ? 'all' : `all, with ${rest} further ones`;
  return tableLines(
    columns,
    shown.map((row) => [row.name, formatDollarsExact(row.here), formatDollarsExact(row.there), row.status]),
    [[total, formatDollarsExact(here), formatDollarsExact(there), '']],
  );
}
