/**
 * Commits and credits that recurring terms are yet to create (docs/notifications.md, "Offset notifications"). What is
 * told before they exist is scheduled from the rule of their terms: each time one is created, or the rule changes, as
 * far as the creation of the next one, which schedules what is due later.
 */
import { addDuration, type SignedDuration } from '../core/signed-duration.ts';
import type { Commit } from '../core/terms/commits.ts';
import { DAY_MS, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/database.ts';

/** Those of one contract. */
export interface Upcoming {
  readonly contractId: string;
  readonly customerId: string;
  /** What was due by this instant was scheduled before, or is not told. */
  readonly dueAfter: Instant;
  /** When the next of them is created; null if there are none. */
  readonly dueUntil: Instant | null;
  /** Those of all periods that have begun by an instant, and of the next ones. */
  commitsUntil(at: Instant): readonly Commit[];
}

/** What billing knows of them. */
export interface UpcomingCommits {
  /** Of all contracts as they are at `now`, page by page. */
  all(tx: Transaction, now: Instant): AsyncIterable<readonly Upcoming[]>;
  /** Those of the contracts whose periods begin by `until`. */
  ofContracts(tx: Transaction, contractIds: readonly string[], until: Instant): Promise<readonly Commit[]>;
}

/** A step over months may come to a day that is some days off, because months differ in length. */
const MONTHS_DIFFER_MS = 7 * DAY_MS;

/** No event that one of the negative offsets tells by `until` lies after this instant. Null without any. */
export function reachOf(leads: readonly SignedDuration[], until: Instant): Instant | null {
  if (leads.length === 0) return null;
  const ends = leads.map(({ months, milliseconds }) =>
    addDuration(until, { months: -months, milliseconds: -milliseconds }),
  );
  return Math.max(...ends) + MONTHS_DIFFER_MS;
}
