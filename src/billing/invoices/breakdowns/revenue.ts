/**
 * The amounts that all invoices of a customer bill day by day: the totals of their daily breakdowns, voided ones left
 * out.
 */
import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { Refusal } from '../../../core/errors.ts';
import { floorToDay, type Instant, type Interval } from '../../../core/time.ts';
import type { BillingContext } from '../../billing-context.ts';
import { listBreakdowns } from './breakdowns.ts';

export interface DayRevenue {
  readonly start: Instant;
  readonly creditTypeId: string;
  readonly total: Decimal;
}

/** Windows read for one customer. */
const WINDOWS_MAX = 2_000;

/**
 * The days of `range` on which something is billed, by currency. Unlike costs these are the totals of the invoices:
 * without what commits and credits pay, and with what a postpaid commit covers; a SCHEDULED invoice is on the day of its
 * issue, as in its month. Refuses more than 2,000 windows
 * (`too_large`).
 */
export async function listRevenue(
  deps: BillingContext,
  customerId: string,
  range: Interval,
): Promise<DayRevenue[]> {
  const { rows, next } = await listBreakdowns(
    deps,
    { customerId, range, size: 'day', withoutVoid: true, scheduledBy: 'issue' },
    { after: null, limit: WINDOWS_MAX, order: 'ascending' },
  );
  if (next !== null)
    throw new Refusal('too_large', `a customer has more than ${WINDOWS_MAX} days of invoices in this time`);
  const days = new Map<string, DayRevenue>();
  for (const { window, creditTypeId, total } of rows) {
    const start = floorToDay(window.start);
    const key = `${start} ${creditTypeId}`;
    days.set(key, { start, creditTypeId, total: (days.get(key)?.total ?? ZERO).plus(total) });
  }
  return [...days.values()].filter(({ total }) => !total.eq(ZERO));
}
