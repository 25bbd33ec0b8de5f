/**
 * The periods of recurring commits and credits (docs/explanation/contracts.md, "Recurring commits and credits"). With a
 * separate frequency, a term's periods count from its start; otherwise they are those of the usage invoices. Pure.
 */
import { assert } from '../../core/errors.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import { DAY_MS, type Instant, type Interval, intersect } from '../../core/time.ts';
import { boundaryAfter, type PeriodTerms, periodContaining } from './billing-periods.ts';
import { statementAnchor } from './statement-anchor.ts';

/** A period of a recurring term. */
export interface GrantPeriod {
  /** The part in which the term is in force. */
  readonly inForce: Interval;
  /** The full period that contains it. */
  readonly whole: Interval;
}

export interface WantedPeriods {
  /** Periods that have begun by this instant, and the next one. */
  readonly at: Instant;
  /** Only periods that start later; null: from the first. */
  readonly after: Instant | null;
}

/**
 * Ascending and without gaps. The first period starts with the term, the last ends with the term or the contract. Empty
 * if a period starts after `at` but not after `after`: the next period is known then.
 */
export function grantPeriods(
  term: RecurringCommit,
  contract: Contract,
  { at, after }: WantedPeriods,
): GrantPeriod[] {
  const bounds = { start: term.startingAt, end: earlier(term.endingBefore, contract.endingBefore) };
  const { containing } = wholePeriods(term, contract);
  const periods: GrantPeriod[] = [];
  let start = after === null ? bounds.start : containing(after).end;
  let hasNext = after !== null && after > at;
  while (!hasNext) {
    const whole = containing(start);
    const inForce = intersect(whole, bounds);
    if (inForce === null) break;
    periods.push({ inForce, whole });
    hasNext = start > at;
    start = whole.end;
  }
  return periods;
}

/** Clients cannot name a later end either. */
const LATEST_END = Date.UTC(3000, 0, 1);

const SHORTEST_PERIOD_DAYS = { DAILY: 1, WEEKLY: 7, MONTHLY: 28, QUARTERLY: 90, ANNUAL: 365 } as const;

/** The end of `count` full periods that begin with `whole`; the year 3000 at most. */
export function endOfPeriods(
  term: RecurringCommit,
  contract: Contract,
  whole: Interval,
  count: number,
): Instant {
  const days = SHORTEST_PERIOD_DAYS[term.recurrenceFrequency ?? contract.statementSchedule.frequency];
  // This many periods reach beyond the latest end; more would exceed the calendar.
  const bounded = Math.min(count, Math.ceil((LATEST_END - whole.start) / (days * DAY_MS)));
  return Math.min(wholePeriods(term, contract).endOf(whole, bounded), LATEST_END);
}

const LONGEST_PERIOD_DAYS = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, QUARTERLY: 92, ANNUAL: 366 } as const;

/** The maximum time from the start of a period to the end of the access that it grants, in milliseconds. */
export function accessMsMax(term: RecurringCommit, contract: Contract): number {
  const days = LONGEST_PERIOD_DAYS[term.recurrenceFrequency ?? contract.statementSchedule.frequency];
  return term.commitDurationPeriods * days * DAY_MS;
}

interface WholePeriods {
  containing(at: Instant): Interval;
  /** The end of `count` periods from `first` on. */
  endOf(first: Interval, count: number): Instant;
}

function wholePeriods(term: RecurringCommit, contract: Contract): WholePeriods {
  const { recurrenceFrequency, startingAt } = term;
  if (recurrenceFrequency === 'DAILY') {
    return {
      containing(at) {
        const start = at - ((at - startingAt) % DAY_MS);
        return { start, end: start + DAY_MS };
      },
      endOf: ({ start }, count) => start + count * DAY_MS,
    };
  }
  const anchor = recurrenceFrequency === null ? statementAnchor(contract) : startingAt;
  const frequency = recurrenceFrequency ?? contract.statementSchedule.frequency;
  // Ignores the contract's bounds, which would cut its first and last period.
  const terms: PeriodTerms = {
    schedule: { frequency, day: 'CUSTOM_DATE', anchor },
    contract: { start: Number.NEGATIVE_INFINITY, end: null },
  };
  return {
    containing(at) {
      const period = periodContaining(terms, at);
      assert(period !== null, 'periods without bounds cover every instant');
      return period;
    },
    endOf: ({ start }, count) => boundaryAfter(terms, start, count),
  };
}

/** Null: no end. */
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
