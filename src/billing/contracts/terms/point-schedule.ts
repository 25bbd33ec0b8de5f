/** Invoice schedules: checking them, and expanding recurring ones (docs/contracts.md, "Schedules"). Pure. */
import { USD_CENTS } from '../../../core/credit-types.ts';
import { Decimal, divideTo20Places, ONE, roundDecimal, ZERO } from '../../../core/decimal.ts';
import { assert, type FieldPath, invalid, words } from '../../../core/errors.ts';
import type {
  AmountInput,
  InvoiceItem,
  InvoiceScheduleInput,
  RecurringScheduleInput,
  ScheduleFrequency,
} from '../../../core/terms/schedules.ts';
import { addMonths, DAY_MS, type Instant } from '../../../core/time.ts';
import { isFiat, requireCreditType, type TermsContext } from './terms-context.ts';

/** A century of months: more dates than this in one schedule are a mistake. */
const OCCURRENCES_MAX = 1_200;

const MONTHS: Readonly<Record<Exclude<ScheduleFrequency, 'WEEKLY'>, number>> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  SEMI_ANNUAL: 6,
  ANNUAL: 12,
};

export type ScheduleItem = Omit<InvoiceItem, 'id'>;

export interface ExpandedSchedule {
  readonly creditTypeId: string;
  /** By timestamp. */
  readonly items: readonly ScheduleItem[];
}

/**
 * Checks a schedule and returns its items. Refuses (`invalid`): both or neither of `schedule_items` and
 * `recurring_schedule`, an amount beside or without its parts, and dates out of order.
 */
export function expandSchedule(
  schedule: InvoiceScheduleInput,
  path: FieldPath,
  context: TermsContext,
): ExpandedSchedule {
  const { items, recurring } = schedule;
  const creditTypeId = requireCreditType(context, schedule.creditTypeId, [...path, 'creditTypeId']);
  if (recurring !== null) {
    if (items !== null && items.length > 0) {
      throw invalid([...path, 'recurring'], words`cannot be combined with ${['items']}`);
    }
    return { creditTypeId, items: occurrences(recurring, [...path, 'recurring'], creditTypeId) };
  }
  if (items === null || items.length === 0) {
    throw invalid(path, words`must have ${['items']} or a ${['recurring']}`);
  }
  const expanded = items.map((item, index) => ({
    timestamp: item.timestamp,
    ...resolveAmount(item, [...path, 'items', index]),
  }));
  return { creditTypeId, items: expanded.toSorted((a, b) => a.timestamp - b.timestamp) };
}

/** An amount alone is one unit at that price. Refuses (`invalid`) an amount beside or without its parts. */
export function resolveAmount(
  { amount, unitPrice, quantity }: AmountInput,
  path: FieldPath,
): Pick<ScheduleItem, 'amount' | 'unitPrice' | 'quantity'> {
  if (amount !== null) {
    if (unitPrice !== null)
      throw invalid([...path, 'unitPrice'], words`cannot be combined with ${['amount']}`);
    if (quantity !== null) throw invalid([...path, 'quantity'], words`cannot be combined with ${['amount']}`);
    return { amount, unitPrice: amount, quantity: ONE };
  }
  if (unitPrice === null && quantity === null) {
    throw invalid([...path, 'amount'], words`is required without ${['unitPrice']} and ${['quantity']}`);
  }
  if (unitPrice === null) throw invalid([...path, 'unitPrice'], words`is required with ${['quantity']}`);
  if (quantity === null) throw invalid([...path, 'quantity'], words`is required with ${['unitPrice']}`);
  return { amount: unitPrice.times(quantity), unitPrice, quantity };
}

function occurrences(
  recurring: RecurringScheduleInput,
  path: FieldPath,
  creditTypeId: string,
): ScheduleItem[] {
  if (recurring.endingBefore <= recurring.startingAt) {
    throw invalid([...path, 'endingBefore'], words`must be after ${['startingAt']}`);
  }
  const timestamps = occurrenceDates(recurring);
  if (timestamps.length > OCCURRENCES_MAX) {
    throw invalid([...path, 'endingBefore'], `gives more than ${OCCURRENCES_MAX} dates`);
  }
  const { unitPrice, quantity } = resolveAmount(recurring, path);
  const shares = sharesOf(unitPrice, timestamps.length, recurring.amountDistribution, creditTypeId);
  return timestamps.map((timestamp, index) => {
    const share = shares[index];
    assert(share !== undefined, 'every date has a share');
    return { timestamp, unitPrice: share, quantity, amount: share.times(quantity) };
  });
}

/** Start + k × frequency, strictly before the end; one more than the limit at most. */
function occurrenceDates({ startingAt, endingBefore, frequency }: RecurringScheduleInput): Instant[] {
  const dates: Instant[] = [];
  for (let k = 0; dates.length <= OCCURRENCES_MAX; k++) {
    const at =
      frequency === 'WEEKLY' ? startingAt + k * 7 * DAY_MS : addMonths(startingAt, k * MONTHS[frequency]);
    if (at >= endingBefore) break;
    dates.push(at);
  }
  return dates;
}

/** Shares of the unit price; the quantity stays. Rounded ones go down to the minor unit, the rest is in the last. */
function sharesOf(
  unitPrice: Decimal,
  count: number,
  distribution: RecurringScheduleInput['amountDistribution'],
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

/** US dollars are counted in cents; other currencies in whole units of which a hundredth is the smallest coin. */
function minorUnitPlaces(creditTypeId: string): number {
  return creditTypeId === USD_CENTS.id || !isFiat(creditTypeId) ? 0 : 2;
}

export function totalOf(items: readonly Pick<ScheduleItem, 'amount'>[]): Decimal {
  return items.reduce((total, item) => total.plus(item.amount), ZERO);
}
