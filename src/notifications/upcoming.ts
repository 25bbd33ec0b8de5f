/**
 * Commits and credits that recurring terms have not created yet (docs/explanation/notifications.md, "Offset
 * notifications"). Messages before their creation are scheduled from the rule of their terms: each time one is created,
 * or the rule changes, up to the creation of the next one, which schedules the later messages.
 */
import { addDuration, type SignedDuration } from '../core/signed-duration.ts';
import type { Commit } from '../core/terms/commits.ts';
import { DAY_MS, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';

/** The upcoming commits of one contract. */
export interface Upcoming {
  readonly contractId: string;
  readonly customerId: string;
  /** Messages due by this instant were scheduled before, or are not sent. */
  readonly dueAfter: Instant;
  /** When the next of them is created; null if there are none. */
  readonly dueUntil: Instant | null;
  /** Commits with a segment that begins or ends in the span; may include others. */
  commitsIn(span: EventSpan): readonly Commit[];
}

/** From one instant to another, both included. */
export interface EventSpan {
  readonly from: Instant;
  readonly until: Instant;
}

/** Provided by billing. */
export interface UpcomingCommits {
  /** The upcoming commits of all contracts as of `now`, page by page. */
  all(tx: Transaction, now: Instant): AsyncIterable<readonly Upcoming[]>;
  /** The upcoming commits of these contracts. */
  ofContracts(tx: Transaction, contractIds: readonly string[], span: EventSpan): Promise<readonly Commit[]>;
}

/** A step over months may be some days off, because months differ in length. */
const MONTHS_DIFFER_MS = 7 * DAY_MS;

/** The span of the events that an offset reports between two instants. */
export function eventsTold({ months, milliseconds }: SignedDuration, told: EventSpan): EventSpan {
  const back = { months: -months, milliseconds: -milliseconds };
  return {
    from: addDuration(told.from, back) - MONTHS_DIFFER_MS,
    until: addDuration(told.until, back) + MONTHS_DIFFER_MS,
  };
}
