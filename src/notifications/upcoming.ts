/**
 * Commits and credits that recurring terms are yet to create (docs/explanation/notifications.md, "Offset
 * notifications"). Messages before they exist are scheduled from the rule of their terms: each time one is created, or
 * the rule changes, as far as the creation of the next one, which schedules what is due later.
 */
import { addDuration, type SignedDuration } from '../core/signed-duration.ts';
import type { Commit } from '../core/terms/commits.ts';
import { DAY_MS, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';

/** Those of one contract. */
export interface Upcoming {
  readonly contractId: string;
  readonly customerId: string;
  /** Messages due by this instant were scheduled before, or are not sent. */
  readonly dueAfter: Instant;
  /** When the next of them is created; null if there are none. */
  readonly dueUntil: Instant | null;
  /** Those with a segment that begins or ends in the span; there may be others among them. */
  commitsIn(span: EventSpan): readonly Commit[];
}

/** From one instant to another, both included. */
export interface EventSpan {
  readonly from: Instant;
  readonly until: Instant;
}

/** The facts that billing knows of them. */
export interface UpcomingCommits {
  /** Of all contracts as they are at `now`, page by page. */
  all(tx: Transaction, now: Instant): AsyncIterable<readonly Upcoming[]>;
  /** Those of these contracts, as `commitsIn`. */
  ofContracts(tx: Transaction, contractIds: readonly string[], span: EventSpan): Promise<readonly Commit[]>;
}

/** A step over months may lead to a day that is some days off, because months differ in length. */
const MONTHS_DIFFER_MS = 7 * DAY_MS;

/** The span of the events that an offset tells between two instants. */
export function eventsTold({ months, milliseconds }: SignedDuration, told: EventSpan): EventSpan {
  const back = { months: -months, milliseconds: -milliseconds };
  return {
    from: addDuration(told.from, back) - MONTHS_DIFFER_MS,
    until: addDuration(told.until, back) + MONTHS_DIFFER_MS,
  };
}
