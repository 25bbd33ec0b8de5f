/**
 * Which rate card an alias means at an instant (docs/contracts.md, "Aliases"). Pure.
 *
 * An alias has one holder at a time. Assigning it to another card ends an earlier assignment where the
 * new one begins; an earlier assignment that had not begun by then, and overlaps, never comes into force.
 */
import { contains, type Instant } from '../../core/time.ts';
import type { AliasAssignment } from '../../store/rate-cards.ts';

/** The assignments of one alias as they really hold, in the order in which they were made. */
export function effectiveAssignments(assignments: readonly AliasAssignment[]): AliasAssignment[] {
  let effective: AliasAssignment[] = [];
  for (const taking of assignments.toSorted((a, b) => a.sequence - b.sequence)) {
    effective = [...effective.flatMap((held) => remainder(held, taking)), taking];
  }
  return effective;
}

/** The card that the alias means at `at`, or null. `assignments` are all those of one alias. */
export function cardBehindAlias(assignments: readonly AliasAssignment[], at: Instant): string | null {
  const holder = effectiveAssignments(assignments).findLast((assignment) =>
    contains({ start: startOf(assignment), end: assignment.endingBefore }, at),
  );
  return holder?.rateCardId ?? null;
}

/** What is left of `held` when `taking` is made after it: nothing, its first part, or all of it. */
function remainder(held: AliasAssignment, taking: AliasAssignment): AliasAssignment[] {
  const overlaps = startOf(taking) < endOf(held) && startOf(held) < endOf(taking);
  if (!overlaps || held.rateCardId === taking.rateCardId) return [held];
  return startOf(held) < startOf(taking) ? [{ ...held, endingBefore: taking.startingAt }] : [];
}

function startOf(assignment: AliasAssignment): number {
  return assignment.startingAt ?? Number.NEGATIVE_INFINITY;
}

function endOf(assignment: AliasAssignment): number {
  return assignment.endingBefore ?? Number.POSITIVE_INFINITY;
}
