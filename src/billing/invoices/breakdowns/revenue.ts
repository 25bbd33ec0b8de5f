/** The daily amounts of all invoices of a customer: the totals of their daily breakdowns, without voided ones. */
import type { CreditNote } from '../../../core/credit-note.ts';
import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { Refusal } from '../../../core/errors.ts';
import { floorToDay, type Instant, type Interval } from '../../../core/time.ts';
import { listCreditNotes } from '../../../store/invoices/credit-notes.ts';
import type { BillingContext } from '../../billing-context.ts';
import { listBreakdowns } from './breakdowns.ts';

export interface DayRevenue {
  readonly start: Instant;
  readonly creditTypeId: string;
  readonly total: Decimal;
}

/** Maximum windows read for one customer. */
const WINDOWS_MAX = 2_000;

/** Maximum credit notes read for one customer. */
const NOTES_MAX = 10_000;

/**
 * The days of `range` with billed amounts, by currency. Unlike costs these are the totals of the invoices: without
 * amounts that commits and credits pay, and with those that a postpaid commit covers; a SCHEDULED invoice is on the day
 * of its issue, as in its month. A credit note counts on the day of its issue, below zero. Refuses more than 2,000 windows (`too_large`).
 */
export async function listRevenue(
  context: BillingContext,
  customerId: string,
  range: Interval,
): Promise<DayRevenue[]> {
  const { rows, next } = await listBreakdowns(
    context,
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
  for (const note of await notesIssuedIn(context, customerId, range)) {
    const start = floorToDay(note.issuedAt);
    const { creditTypeId, subTotal } = note;
    const key = `${start} ${creditTypeId}`;
    days.set(key, { start, creditTypeId, total: (days.get(key)?.total ?? ZERO).minus(subTotal) });
  }
  return [...days.values()].filter(({ total }) => !total.eq(ZERO));
}

/** Standing ones. */
async function notesIssuedIn(
  { db }: BillingContext,
  customerId: string,
  issued: Interval,
): Promise<CreditNote[]> {
  const filter = { customerId, issued, status: 'ISSUED' as const };
  const notes = await listCreditNotes(db, filter, { after: null, limit: NOTES_MAX + 1, order: 'ascending' });
  if (notes.length <= NOTES_MAX) return notes;
  throw new Refusal('too_large', `a customer has more than ${NOTES_MAX} credit notes in this time`);
}
