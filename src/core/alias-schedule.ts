/**
 * Who holds an alias when (docs/packages.md, "Aliases"). Pure.
 *
 * An alias has one holder at a time. Assigning it to another holder ends an earlier assignment where the
 * new one begins; an earlier assignment that had not begun by then, and overlaps, never comes into force.
 */
import { contains, type Instant } from './time.ts';

/** An assignment as it was made. */
export interface Assignment {
  /** Null: from the beginning of time. */
  readonly startingAt: Instant | null;
  readonly endingBefore: Instant | null;
  /** Order of assignment; the later one takes the alias over. */
  readonly sequence: number;
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
