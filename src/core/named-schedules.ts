/** Named schedules: any JSON over time, which a client stores at a customer, a contract or a rate card. */
import type { Instant } from './time.ts';

export const SCHEDULE_SUBJECTS = ['customer', 'contract', 'rate_card'] as const;
export type ScheduleSubject = (typeof SCHEDULE_SUBJECTS)[number];

/** A value in a half-open interval. */
export interface ScheduleSegment {
  readonly startingAt: Instant;
  /** Null: it has no end. */
  readonly endingBefore: Instant | null;
  /** JSON, with every digit preserved. */
  readonly value: string;
}

/**
 * The segments after another one is written over them, by start. Overlapped segments are shortened or split; outside of
 * it nothing changes. Segments never overlap.
 */
export function withSegment(segments: readonly ScheduleSegment[], added: ScheduleSegment): ScheduleSegment[] {
  const addedEnd = added.endingBefore ?? Number.POSITIVE_INFINITY;
  const rest = segments.flatMap((segment): ScheduleSegment[] => {
    const end = segment.endingBefore ?? Number.POSITIVE_INFINITY;
    if (end <= added.startingAt || segment.startingAt >= addedEnd) return [segment];
    const before = { ...segment, endingBefore: added.startingAt };
    const after = { ...segment, startingAt: addedEnd };
    return [
      ...(segment.startingAt < added.startingAt ? [before] : []),
      // An end that is infinite is never before another one.
      ...(addedEnd < end ? [after] : []),
    ];
  });
  return [...rest, added].sort((a, b) => a.startingAt - b.startingAt);
}

/** The segment that covers an instant, as a list of one or none. */
export function coveringSegments(segments: readonly ScheduleSegment[], at: Instant): ScheduleSegment[] {
  return segments.filter(
    ({ startingAt, endingBefore }) => startingAt <= at && (endingBefore === null || at < endingBefore),
  );
}
