/** The billing periods of subscriptions (docs/explanation/contracts.md, "Subscriptions"). Pure. */
import type { BillingFrequency } from '../../core/catalogue.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { nextPeriod, type PeriodTerms, periodContaining, periodsOverlapping } from './billing-periods.ts';
import { firstBillingDate, statementAnchor } from './statement-anchor.ts';

const DAYS_AT_LEAST: Readonly<Record<BillingFrequency, number>> = {
  WEEKLY: 7,
  MONTHLY: 28,
  QUARTERLY: 90,
  ANNUAL: 365,
};

export interface SubscriptionPeriods {
  readonly previous: Interval | null;
  readonly current: Interval | null;
  readonly next: Interval | null;
}

/** The previous, current and next period at `now`; before the start only the next one, which is the first. */
export function subscriptionPeriods(
  contract: Contract,
  subscription: Subscription,
  now: Instant,
): SubscriptionPeriods {
  const terms = subscriptionPeriodTerms(contract, subscription);
  const { start, end } = terms.contract;
  const current = periodContaining(terms, now);
  if (current !== null) {
    return {
      previous: current.start > start ? periodContaining(terms, current.start - 1) : null,
      current,
      next: nextPeriod(terms, current),
    };
  }
  if (now < start) return { previous: null, current: null, next: periodContaining(terms, start) };
  return { previous: end === null ? null : periodContaining(terms, end - 1), current: null, next: null };
}

/** A billing period of a subscription. */
export interface SubscriptionPeriod {
  /** The part in which the subscription is active: the first and the last one may be partial. */
  readonly interval: Interval;
  /** The whole period, the basis of proration. */
  readonly whole: Interval;
}

/** From the first period to the one after that of `now`, ascending; before the start the first one alone. */
export function periodsUntilNext(
  contract: Contract,
  subscription: Subscription,
  now: Instant,
): SubscriptionPeriod[] {
  const terms = subscriptionPeriodTerms(contract, subscription);
  const { start } = terms.contract;
  const { next, current } = subscriptionPeriods(contract, subscription, now);
  const end = next?.end ?? current?.end ?? terms.contract.end ?? start;
  const unlimited = { ...terms, contract: { start: Number.MIN_SAFE_INTEGER, end: null } };
  return periodsOverlapping(terms, { start, end }).map((interval) => ({
    interval,
    whole: periodContaining(unlimited, interval.start) ?? interval,
  }));
}

function subscriptionPeriodTerms(contract: Contract, subscription: Subscription): PeriodTerms {
  const { billingFrequency: frequency, startingAt: start, endingBefore } = subscription;
  const ends = [endingBefore, contract.endingBefore].filter((end) => end !== null);
  return {
    schedule: { frequency, day: 'CUSTOM_DATE', anchor: subscriptionAnchor(contract, subscription) },
    contract: { start, end: ends.length === 0 ? null : Math.max(start, Math.min(...ends)) },
  };
}

/**
 * The anchor is the subscription's own, otherwise the contract's; for weeks, its first billing date. If the frequency
 * is longer than that of the contract's usage invoices, it is the subscription's start: its periods are all full.
 */
export function subscriptionAnchor(
  contract: Contract,
  { billingFrequency, startingAt, anchorDate }: Subscription,
): Instant {
  if (anchorDate !== null) return anchorDate;
  if (billingFrequency === 'WEEKLY') return firstBillingDate(contract);
  const { frequency } = contract.statementSchedule;
  return DAYS_AT_LEAST[billingFrequency] > DAYS_AT_LEAST[frequency] ? startingAt : statementAnchor(contract);
}
