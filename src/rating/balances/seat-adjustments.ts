/**
 * Segments that increases of a subscription's quantity add to a commit or credit (docs/explanation/subscriptions.md,
 * "Credits for seats"). Pure.
 */
import { derivedId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { AccessSegment } from '../../core/terms/schedules.ts';
import type { Instant } from '../../core/time.ts';

/** At most one adjustment for an instant. */
export function seatAdjustmentId(childId: string, at: Instant): string {
  return derivedId('seat adjustment', childId, String(at));
}

export function isSeatAdjustment({ id, recurringCommitId }: Commit, segment: AccessSegment): boolean {
  return recurringCommitId !== null && segment.id === seatAdjustmentId(id, segment.startingAt);
}
