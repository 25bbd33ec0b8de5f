/**
 * The charges of a subscription, computed simply and slowly, hour by hour. They are written from the rules
 * (docs/explanation/subscriptions.md) and share no code with src/rating. Quantities are whole, and prices are multiples
 * of the hours of every period.
 */
import { HOUR_MS, type Instant } from '../../../src/core/time.ts';

export const FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
export type Frequency = (typeof FREQUENCIES)[number];

/** A multiple of the hours of every week, month, quarter and year. */
export const DIVISIBLE_PRICE = 2n ** 5n * 3n ** 3n * 5n * 7n * 13n * 23n * 29n * 31n * 61n * 73n * 89n;

export interface NaiveChange {
  /** When it is submitted. */
  readonly submittedAt: Instant;
  readonly startingAt: Instant;
  readonly kind: 'SET' | 'ADD';
  /** Signed where it is added. */
  readonly quantity: number;
}

export interface NaiveSubscription {
  readonly frequency: Frequency;
  /** A start of a period, at a full hour. */
  readonly anchor: Instant;
  readonly start: Instant;
  readonly end: Instant;
  readonly mode: 'ARREARS' | 'BILL_IMMEDIATELY' | 'BILL_ON_NEXT_COLLECTION_DATE';
  readonly isProrated: boolean;
  /** In the order of submission. */
  readonly changes: readonly NaiveChange[];
}

const MONTHS = { MONTHLY: 1, QUARTERLY: 3, ANNUAL: 12 };

/** Whether a period begins at this hour. */
export function isPeriodStart(frequency: Frequency, anchor: Instant, at: Instant): boolean {
  if (frequency === 'WEEKLY') return (at - anchor) % (7 * 24 * HOUR_MS) === 0;
  const [first, now] = [new Date(anchor), new Date(at)];
  const daysOfMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  const months =
    (now.getUTCFullYear() - first.getUTCFullYear()) * 12 + now.getUTCMonth() - first.getUTCMonth();
  return (
    now.getUTCHours() === first.getUTCHours() &&
    now.getUTCDate() === Math.min(first.getUTCDate(), daysOfMonth) &&
    months % MONTHS[frequency] === 0
  );
}

/** The quantity in each hour of the subscription, as it is known at an instant. */
export function quantitiesKnownAt({ start, end, changes }: NaiveSubscription, now: Instant): number[] {
  const known = changes.filter(({ submittedAt }) => submittedAt <= now);
  const quantities: number[] = [];
  for (let at = start; at < end; at += HOUR_MS) {
    let quantity = quantities.at(-1) ?? 0;
    for (const change of known) {
      const isNow = change.startingAt === at || (at === start && change.startingAt < start);
      if (isNow) quantity = change.kind === 'SET' ? change.quantity : quantity + change.quantity;
    }
    quantities.push(quantity);
  }
  return quantities;
}

interface Period {
  /** Hours of the subscription, from its start. */
  readonly first: number;
  readonly end: number;
  /** Hours of the full period. */
  readonly whole: number;
}

function periodsOf({ frequency, anchor, start, end }: NaiveSubscription): Period[] {
  let wholeStart = start;
  while (!isPeriodStart(frequency, anchor, wholeStart)) wholeStart -= HOUR_MS;
  const periods: Period[] = [];
  while (wholeStart < end) {
    let wholeEnd = wholeStart + HOUR_MS;
    while (!isPeriodStart(frequency, anchor, wholeEnd)) wholeEnd += HOUR_MS;
    periods.push({
      first: Math.max(0, (wholeStart - start) / HOUR_MS),
      end: (Math.min(end, wholeEnd) - start) / HOUR_MS,
      whole: (wholeEnd - wholeStart) / HOUR_MS,
    });
    wholeStart = wholeEnd;
  }
  return periods;
}

/** The total charge, if everything that is due is invoiced at these instants, ascending. */
export function naiveSubscriptionTotal(
  subscription: NaiveSubscription,
  invoicedAt: readonly Instant[],
): bigint {
  const { start, mode, isProrated } = subscription;
  const periods = periodsOf(subscription);
  // Units that are paid for, by hour; without proration the first hour of a period stands for all of it.
  const paid = quantitiesKnownAt(subscription, start).map(() => 0);
  const isCollected = new Set<number>();
  for (const now of invoicedAt) {
    const quantities = quantitiesKnownAt(subscription, now);
    const today = (now - start) / HOUR_MS;
    for (const { first, end } of periods) {
      const isOver = end <= today;
      if (today < first || (mode === 'ARREARS' && !isOver)) continue;
      // Until the period is over only its first quantity is due, once.
      const isNext = mode === 'BILL_ON_NEXT_COLLECTION_DATE';
      if (isNext && !isOver && isCollected.has(first)) continue;
      isCollected.add(first);
      const lastCounted = isOver ? end : isNext ? first : today;
      let highest = 0;
      for (let hour = first; hour < end; hour += 1) {
        if (hour <= lastCounted) highest = Math.max(highest, quantities[hour] ?? 0);
        const place = isProrated ? hour : first;
        paid[place] = Math.max(paid[place] ?? 0, highest);
      }
    }
  }
  let total = 0n;
  for (const { first, end, whole } of periods) {
    if (!isProrated) total += BigInt(paid[first] ?? 0) * DIVISIBLE_PRICE;
    else {
      const hours = paid.slice(first, end).reduce((sum, units) => sum + units, 0);
      total += (BigInt(hours) * DIVISIBLE_PRICE) / BigInt(whole);
    }
  }
  return total;
}
