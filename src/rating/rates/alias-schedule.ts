/**
 * Assignments of aliases over time, to rate cards (docs/explanation/catalogue.md, "Rate cards") or to packages
 * (docs/explanation/packages.md, "Aliases"). Pure.
 *
 * An alias has one holder at a time. A new assignment to another holder ends an earlier assignment at its
 * start. An overlapping earlier assignment that would start later never takes effect.
 */
import { contains, type Instant } from '../../core/time.ts';

/** An assignment as it was submitted. */
interface Assignment {
  /** Null: from the beginning of time. */
  readonly startingAt: Instant | null;
  readonly endingBefore: Instant | null;
  /** Order of assignment; later ones take precedence. */
  readonly sequence: number;
}

/** An assignment to a rate card. */
interface CardAssignment extends Assignment {
  readonly rateCardId: string;
  /** When the card's aliases were replaced; null: not replaced. */
  readonly withdrawnAt: Instant | null;
}

/** The effective assignments of one alias, in the order of assignment. */
export function assignmentsInForce<One extends Assignment>(
  assignments: readonly One[],
  holderOf: (assignment: One) => string,
): One[] {
  let inForce: One[] = [];
  for (const taking of assignments.toSorted((a, b) => a.sequence - b.sequence)) {
    inForce = [
      ...inForce.flatMap((held) => (holderOf(held) === holderOf(taking) ? [held] : remainder(held, taking))),
      taking,
    ];
  }
  return inForce;
}

/** The assignment among `inForce` that is in force at `at`, or null. */
export function assignmentAt<One extends Assignment>(inForce: readonly One[], at: Instant): One | null {
  const holds = (one: One) => contains({ start: startOf(one), end: one.endingBefore }, at);
  return inForce.findLast(holds) ?? null;
}

/**
 * The effective assignments of one alias of rate cards, in the order of assignment. A withdrawn one is not in
 * force, but what it ended stays ended, so that no contract falls back to an old card.
 */
export function effectiveAssignments<One extends CardAssignment>(assignments: readonly One[]): One[] {
  const inForce = assignmentsInForce(assignments, (assignment) => assignment.rateCardId);
  return inForce.filter(({ withdrawnAt }) => withdrawnAt === null);
}

/** The card that the alias refers to at `at`, or null. `assignments` are all those of one alias. */
export function cardBehindAlias(assignments: readonly CardAssignment[], at: Instant): string | null {
  return assignmentAt(effectiveAssignments(assignments), at)?.rateCardId ?? null;
}

/** The part of `held` that remains after another assignment: none, its first part, or all of it. */
function remainder<One extends Assignment>(held: One, taking: One): One[] {
  const overlaps = startOf(taking) < endOf(held) && startOf(held) < endOf(taking);
  if (!overlaps) return [held];
  return startOf(held) < startOf(taking) ? [{ ...held, endingBefore: taking.startingAt }] : [];
}

function startOf(assignment: Assignment): number {
  return assignment.startingAt ?? Number.NEGATIVE_INFINITY;
}

function endOf(assignment: Assignment): number {
  return assignment.endingBefore ?? Number.POSITIVE_INFINITY;
}
