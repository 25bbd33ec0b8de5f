/** Which rate card an alias means at an instant (docs/catalogue.md, "Aliases"). Pure. */
import { assignmentAt, assignmentsInForce } from '../../core/alias-schedule.ts';
import type { Instant } from '../../core/time.ts';
import type { AliasAssignment } from '../../store/rate-cards.ts';

/**
 * The assignments of one alias as they really hold, in the order in which they were made. One that was
 * withdrawn holds no more, but what it ended stays ended: a contract must not fall back to an old card.
 */
export function effectiveAssignments(assignments: readonly AliasAssignment[]): AliasAssignment[] {
  const inForce = assignmentsInForce(assignments, (assignment) => assignment.rateCardId);
  return inForce.filter(({ withdrawnAt }) => withdrawnAt === null);
}

/** The card that the alias means at `at`, or null. `assignments` are all those of one alias. */
export function cardBehindAlias(assignments: readonly AliasAssignment[], at: Instant): string | null {
  return assignmentAt(effectiveAssignments(assignments), at)?.rateCardId ?? null;
}
