import { describe, expect, test } from 'vitest';
import { cardBehindAlias, effectiveAssignments } from '../../../../src/rating/rates/alias-schedule.ts';
import type { AliasAssignment } from '../../../../src/store/rate-cards/rate-cards.ts';

let sequence = 0;
/** Assignments in the order in which they are written; days stand for instants, null for no bound. */
function assign(rateCardId: string, startingAt: number | null, endingBefore: number | null): AliasAssignment {
  sequence += 1;
  return { name: 'list', rateCardId, startingAt, endingBefore, sequence, withdrawnAt: null };
}

function holders(assignments: readonly AliasAssignment[], days: readonly number[]): (string | null)[] {
  return days.map((day) => cardBehindAlias(assignments, day));
}

describe('the card of an alias', () => {
  test('nobody holds an alias that was never assigned', () => {
    expect(cardBehindAlias([], 5)).toBeNull();
  });

  test('an assignment holds from its start, inclusive, to its end, exclusive', () => {
    expect(holders([assign('A', 10, 20)], [9, 10, 19, 20])).toEqual([null, 'A', 'A', null]);
  });

  test('a later assignment to another card ends the earlier one where it begins, for good', () => {
    const assignments = [assign('A', null, null), assign('B', 10, 20)];
    expect(holders(assignments, [9, 10, 19, 20])).toEqual(['A', 'B', 'B', null]);
  });

  test('an assignment that begins before an overlapping earlier one takes all of it', () => {
    const assignments = [assign('A', 15, null), assign('B', 10, 20)];
    expect(holders(assignments, [9, 10, 19, 20])).toEqual([null, 'B', 'B', null]);
  });

  test('assignments that do not overlap leave each other alone, whatever their order', () => {
    const assignments = [assign('A', 20, 30), assign('B', 10, 20)];
    expect(holders(assignments, [10, 19, 20, 29, 30])).toEqual(['B', 'B', 'A', 'A', null]);
  });

  test('a card may hold an alias twice at once', () => {
    const assignments = [assign('A', null, 20), assign('A', 10, 30)];
    expect(holders(assignments, [5, 15, 25, 30])).toEqual(['A', 'A', 'A', null]);
  });

  test('the order of assignment counts, not the order of the list', () => {
    const first = assign('A', null, null);
    const second = assign('B', null, null);
    expect(cardBehindAlias([second, first], 0)).toBe('B');
    expect(effectiveAssignments([second, first])).toEqual([second]);
  });

  test('a takeover shows as the end of the earlier assignment', () => {
    const assignments = [assign('A', 0, null), assign('B', 10, null)];
    expect(effectiveAssignments(assignments)).toMatchObject([
      { rateCardId: 'A', startingAt: 0, endingBefore: 10 },
      { rateCardId: 'B', startingAt: 10, endingBefore: null },
    ]);
  });

  test('a withdrawn assignment holds no more, but what it ended stays ended', () => {
    const withdrawn = { ...assign('B', 10, 20), withdrawnAt: 5 };
    const assignments = [{ ...assign('A', null, null), sequence: withdrawn.sequence - 1 }, withdrawn];
    expect(holders(assignments, [9, 10, 19, 20])).toEqual(['A', null, null, null]);
  });
});
