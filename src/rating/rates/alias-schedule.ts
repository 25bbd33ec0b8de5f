/**
 * Who holds an alias when: which rate card it means (docs/catalogue.md, "Aliases"), or which package
 * (docs/packages.md, "Aliases"). Pure.
 *
 * An alias has one holder at a time. Assigning it to another holder ends an earlier assignment where the
 * new one begins; an earlier assignment that had not begun by then, and overlaps, never comes into force.
 */
import { contains, type Instant } from '../../core/time.ts';

/** An assignment as it was made. */
interface Assignment {
  /** Null: from the beginning of time. */
  readonly startingAt: Instant | null;
  readonly endingBefore: Instant | null;
  /** Order of assignment; the later one takes the alias over. */
  readonly sequence: number;
}

/** An assignment to a rate card. */
interface CardAssignment extends Assignment {
  readonly rateCardId: string;
  /** When the card's aliases were replaced; null: they were not. */
  readonly withdrawnAt: Instant | null;
}

/** The assignments of one alias as they hold, in the order in which they were made. */
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

/** The one of `inForce` that holds at `at`, or null. */
export function assignmentAt<One extends Assignment>(inForce: readonly One[], at: Instant): One | null {
  const holds = (one: One) => contains({ start: startOf(one), end: one.endingBefore }, at);
  return inForce.findLast(holds) ?? null;
}

/**
 * The assignments of one alias of rate cards as they really hold, in the order in which they were made. One
 * that was withdrawn holds no more, but what it ended stays ended: a contract must not fall back to an old card.
 */
export function effectiveAssignments<One extends CardAssignment>(assignments: readonly One[]): One[] {
  const inForce = assignmentsInForce(assignments, (assignment) => assignment.rateCardId);
  return inForce.filter(({ withdrawnAt }) => withdrawnAt === null);
}

/** The card that the alias means at `at`, or null. `assignments` are all those of one alias. */
export function cardBehindAlias(assignments: readonly CardAssignment[], at: Instant): string | null {
  return assignmentAt(effectiveAssignments(assignments), at)?.rateCardId ?? null;
}

/** What is left of `held` when another holder takes the alias after it: nothing, its first part, or all of it. */
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
