/** The amount to pay for an invoice, and its due date. */
import { roundToMinorUnit } from '../../core/currencies.ts';
import type { Decimal } from '../../core/decimal.ts';
import type { Invoice } from '../../core/invoice.ts';
import { DAY_MS, type Instant } from '../../core/time.ts';

/**
 * The total rounded to the minor unit of the currency, half away from zero, in the unit in which the total is stored.
 * It is the only rounded amount of an invoice: lines and total are exact, and nothing is computed from this.
 */
export function payableAmount({ total, creditTypeId }: Pick<Invoice, 'total' | 'creditTypeId'>): Decimal {
  return roundToMinorUnit(total, creditTypeId);
}

/** The issue date and the days of the net payment terms; null without terms. For a draft, the expected instant. */
export function dueAt({
  issuedAt,
  netPaymentTermsDays,
}: Pick<Invoice, 'issuedAt' | 'netPaymentTermsDays'>): Instant | null {
  return netPaymentTermsDays === null ? null : issuedAt + netPaymentTermsDays * DAY_MS;
}
