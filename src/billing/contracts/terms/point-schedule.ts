/** Validates invoice schedules and expands recurring ones (docs/explanation/contracts.md, "Schedules"). Pure. */
import { type Decimal, ONE, ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type {
  AmountInput,
  InvoiceItem,
  InvoiceScheduleInput,
  RecurringScheduleInput,
} from '../../../core/terms/schedules.ts';
import { occurrenceDates, recurringItems } from '../../../rating/periods/recurring-schedule.ts';
import { type BalanceContext, requireCreditType } from './terms-context.ts';

/** A century of months: more dates in one schedule are an error. */
const OCCURRENCES_MAX = 1_200;

export type ScheduleItem = Omit<InvoiceItem, 'id'>;

export interface ExpandedSchedule {
  readonly creditTypeId: string;
  /** By timestamp. */
  readonly items: readonly ScheduleItem[];
}

/**
 * Checks a schedule and returns its items. Refuses (`invalid`): both or neither of `schedule_items` and
 * `recurring_schedule`, an amount together with or without its parts, and dates out of order.
 */
export function expandSchedule(
  schedule: InvoiceScheduleInput,
  path: FieldPath,
  context: BalanceContext,
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

/** An amount alone is one unit at that price. Refuses (`invalid`) an amount together with or without its parts. */
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
  const dates = occurrenceDates(recurring, OCCURRENCES_MAX + 1);
  if (dates.length > OCCURRENCES_MAX) {
    throw invalid([...path, 'endingBefore'], `gives more than ${OCCURRENCES_MAX} dates`);
  }
  const { unitPrice, quantity } = resolveAmount(recurring, path);
  const { amountDistribution } = recurring;
  return recurringItems(dates, { unitPrice, quantity, amountDistribution }, creditTypeId);
}

export function totalOf(items: readonly Pick<ScheduleItem, 'amount'>[]): Decimal {
  return items.reduce((total, item) => total.plus(item.amount), ZERO);
}
