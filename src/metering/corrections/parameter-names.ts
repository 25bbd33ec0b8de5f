/**
 * Parameters by which a statement over events and the corrections meet (`with-corrections.ts`). A statement binds those
 * that it uses to their values without corrections.
 */

/** The ingestion up to which the statement counts, in epoch microseconds. Absent: all of it. */
export const COUNTED_UP_TO = 'counted_up_to';

/** The last instant at which a set was applied or reverted, in epoch microseconds. Without any '0'. */
export const CORRECTED_AT = 'corrected_at';

/** Present if the statement reads all copies of events, and versions of them that count now. */
export const ANY_VERSION = 'any_version';

export const CORRECTION_PARAMS = {
  /** The sets that count. */
  standing: 'standing_corrections',
  /** All sets that were ever applied. */
  attempts: 'correction_attempts',
  /** The last instant at which each of these was applied or reverted, in epoch microseconds. */
  ticks: 'correction_ticks',
} as const;
