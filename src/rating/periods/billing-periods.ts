/**
 * Usage billing periods of a contract (docs/explanation/rating.md, "Billing periods").
 *
 * Boundaries are anchor + k × step. Steps in months count from the anchor, and days beyond a month's end are
 * clamped to its last day. The first period runs from the contract's start to the next boundary, the last one
 * to its end. k is computed, not searched, so a distant anchor costs nothing.
 */
import type { StatementFrequency, StatementSchedule } from '../../core/catalogue.ts';
import { assert, Refusal } from '../../core/errors.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import {
  addMonths,
  contains,
  DAY_MS,
  floorToDay,
  floorToMonth,
  type Instant,
  type Interval,
  intersect,
  type OpenInterval,
} from '../../core/time.ts';

export interface PeriodTerms {
  readonly schedule: StatementSchedule;
  readonly contract: OpenInterval;
}

/** A century of weeks: a request for more periods is a mistake. */
const PERIODS_MAX = 5_300;
const WEEK_MS = 7 * DAY_MS;

const MONTHS_PER_PERIOD: Record<Exclude<StatementFrequency, 'WEEKLY'>, number> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  ANNUAL: 12,
};

/** The period that contains `at`; null before the contract's start and from its end on. */
export function periodContaining(terms: PeriodTerms, at: Instant): Interval | null {
  if (!contains(terms.contract, at)) return null;
  const anchor = anchorOf(terms);
  const k = lastBoundaryIndex(terms.schedule.frequency, anchor, at);
  return clipped(terms, anchor, k);
}

/** A billing period that one invoice bills completely. */
export function wholePeriod(period: Interval): BilledPeriod {
  return { ...period, countedFrom: period.start };
}

/** The boundary `count` periods after the one of `at`, ignoring the contract's start and end. */
export function boundaryAfter(terms: PeriodTerms, at: Instant, count: number): Instant {
  const { frequency } = terms.schedule;
  const anchor = anchorOf(terms);
  return boundary(frequency, anchor, lastBoundaryIndex(frequency, anchor, at) + count);
}

/** The first period. Null for a contract of zero length. */
export function firstPeriod(terms: PeriodTerms): Interval | null {
  return periodContaining(terms, terms.contract.start);
}

/** The period after `period`; null if the contract ends with it. */
export function nextPeriod(terms: PeriodTerms, period: Interval): Interval | null {
  return periodContaining(terms, period.end);
}

/**
 * All periods that overlap `interval`, ascending. Refuses (`invalid`) a range with more than 5,300 periods.
 */
export function periodsOverlapping(terms: PeriodTerms, interval: Interval): Interval[] {
  const range = intersect(interval, terms.contract);
  if (range === null) return [];
  const { frequency } = terms.schedule;
  const anchor = anchorOf(terms);
  const first = lastBoundaryIndex(frequency, anchor, range.start);
  const last = lastBoundaryIndex(frequency, anchor, range.end - 1);
  const count = last - first + 1;
  if (count > PERIODS_MAX) {
    throw new Refusal('invalid', `the range holds ${count} billing periods, more than ${PERIODS_MAX}`);
  }
  return Array.from({ length: count }, (_, index) => clipped(terms, anchor, first + index));
}

function clipped(terms: PeriodTerms, anchor: Instant, k: number): Interval {
  const { frequency } = terms.schedule;
  const whole = { start: boundary(frequency, anchor, k), end: boundary(frequency, anchor, k + 1) };
  const period = intersect(whole, terms.contract);
  assert(period !== null, 'a billing period meets its contract');
  return period;
}

/**
 * FIRST_OF_MONTH means calendar months, quarters and years. Weekly periods start at midnight of the weekday
 * on which the contract starts.
 */
function anchorOf({ schedule, contract }: PeriodTerms): Instant {
  switch (schedule.day) {
    case 'CONTRACT_START':
      return contract.start;
    case 'CUSTOM_DATE':
      assert(schedule.anchor !== null, 'CUSTOM_DATE has an anchor');
      return schedule.anchor;
    case 'FIRST_OF_MONTH': {
      if (schedule.frequency === 'WEEKLY') return floorToDay(contract.start);
      const month = floorToMonth(contract.start);
      const monthIndex = new Date(month).getUTCMonth();
      return addMonths(month, -(monthIndex % MONTHS_PER_PERIOD[schedule.frequency]));
    }
  }
}

function boundary(frequency: StatementFrequency, anchor: Instant, k: number): Instant {
  return frequency === 'WEEKLY' ? anchor + k * WEEK_MS : addMonths(anchor, k * MONTHS_PER_PERIOD[frequency]);
}

/** The greatest k whose boundary is at or before `at`. */
function lastBoundaryIndex(frequency: StatementFrequency, anchor: Instant, at: Instant): number {
  if (frequency === 'WEEKLY') return Math.floor((at - anchor) / WEEK_MS);
  // The boundary of this k is in or before the month of `at`; the next one is in a later month.
  const k = Math.floor((monthNumber(at) - monthNumber(anchor)) / MONTHS_PER_PERIOD[frequency]);
  return boundary(frequency, anchor, k) <= at ? k : k - 1;
}

function monthNumber(at: Instant): number {
  const date = new Date(at);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
