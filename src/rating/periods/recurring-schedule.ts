/** The dates and amounts of a recurring invoice schedule (docs/explanation/contracts.md, "Schedules"). Pure. */
import { minorUnitPlaces } from '../../core/currencies.ts';
import { Decimal, divideTo20Places, ONE, roundDecimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { InvoiceItem, RecurringScheduleInput, ScheduleFrequency } from '../../core/terms/schedules.ts';
import { addMonths, DAY_MS, type Instant } from '../../core/time.ts';

const MONTHS: Readonly<Record<Exclude<ScheduleFrequency, 'WEEKLY'>, number>> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  SEMI_ANNUAL: 6,
  ANNUAL: 12,
};

/** Start + k × frequency, strictly before the end; `countMax` dates at most. */
export function occurrenceDates(
  schedule: Pick<RecurringScheduleInput, 'startingAt' | 'endingBefore' | 'frequency'>,
  countMax: number,
): Instant[] {
  const { startingAt, endingBefore, frequency } = schedule;
  const dates: Instant[] = [];
  for (let k = 0; dates.length < countMax; k++) {
    const at =
      frequency === 'WEEKLY' ? startingAt + k * 7 * DAY_MS : addMonths(startingAt, k * MONTHS[frequency]);
    if (at >= endingBefore) break;
    dates.push(at);
  }
  return dates;
}

interface RecurringAmount extends Pick<RecurringScheduleInput, 'amountDistribution'> {
  readonly unitPrice: Decimal;
  readonly quantity: Decimal;
}

/** One item per date. Prices are in `creditTypeId`, in its own denomination. */
export function recurringItems(
  dates: readonly Instant[],
  { unitPrice, quantity, amountDistribution }: RecurringAmount,
  creditTypeId: string,
): Omit<InvoiceItem, 'id'>[] {
  const shares = sharesOf(unitPrice, dates.length, amountDistribution, creditTypeId);
  return dates.map((timestamp, index) => {
    const share = shares[index];
    assert(share !== undefined, 'every date has a share');
    return { timestamp, unitPrice: share, quantity, amount: share.times(quantity) };
  });
}

/** Splits the unit price. Rounded shares are rounded down to the minor unit; the last one gets the rest. */
function sharesOf(
  unitPrice: Decimal,
  count: number,
  distribution: RecurringAmount['amountDistribution'],
  creditTypeId: string,
): Decimal[] {
  const all = (share: Decimal) => Array.from({ length: count }, () => share);
  if (distribution === 'EACH') return all(unitPrice);
  const divisor = new Decimal(String(count));
  const share = divideTo20Places(unitPrice, divisor);
  if (distribution === 'DIVIDED') return all(share);
  const rounded = roundDecimal(share, 'ROUND_DOWN', minorUnitPlaces(creditTypeId));
  const last = unitPrice.minus(rounded.times(divisor.minus(ONE)));
  return [...all(rounded).slice(1), last];
}
