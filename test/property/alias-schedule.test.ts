/** Alias schedules against a model that keeps, day by day, which assignments are still alive. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardBehindAlias, effectiveAssignments } from '../../src/rating/rates/alias-schedule.ts';
import type { AliasAssignment } from '../../src/store/rate-cards/rate-cards.ts';
import { runs } from '../support/shares-of-tests.ts';

const DAYS = 30;
const CARDS = ['A', 'B', 'C'];

type Action =
  | {
      readonly kind: 'assign';
      readonly card: string;
      readonly start: number | null;
      readonly end: number | null;
    }
  | { readonly kind: 'replace'; readonly card: string };

const day = fc.option(fc.integer({ min: 0, max: DAYS }));
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ card: fc.constantFrom(...CARDS), start: day, end: day })
      .filter(({ start, end }) => start === null || end === null || start < end)
      .map((given): Action => ({ kind: 'assign', ...given })),
  },
  { weight: 1, arbitrary: fc.constantFrom(...CARDS).map((card): Action => ({ kind: 'replace', card })) },
);

function recorded(actions: readonly Action[]): AliasAssignment[] {
  const assignments: AliasAssignment[] = [];
  for (const [sequence, one] of actions.entries()) {
    if (one.kind === 'assign') {
      assignments.push({
        name: 'list',
        rateCardId: one.card,
        startingAt: one.start,
        endingBefore: one.end,
        sequence,
        withdrawnAt: null,
      });
    } else {
      for (const [index, held] of assignments.entries()) {
        if (held.rateCardId === one.card)
          assignments[index] = { ...held, withdrawnAt: held.withdrawnAt ?? 1 };
      }
    }
  }
  return assignments;
}

/** Each assignment is a set of days. A later one of another card takes all days of it from its own start on. */
function holderByDay(actions: readonly Action[]): (string | null)[] {
  let alive: { card: string; days: Set<number> }[] = [];
  for (const one of actions) {
    if (one.kind === 'replace') {
      alive = alive.filter(({ card }) => card !== one.card);
      continue;
    }
    const start = one.start ?? -1;
    const days = new Set<number>();
    for (let at = Math.max(start, -1); at < (one.end ?? DAYS + 1); at += 1) days.add(at);
    for (const { card, days: held } of alive) {
      const meets = card !== one.card && [...held].some((at) => days.has(at));
      if (meets) for (const at of [...held]) if (at >= start) held.delete(at);
    }
    alive.push({ card: one.card, days });
  }
  return Array.from({ length: DAYS }, (_, at) => alive.findLast(({ days }) => days.has(at))?.card ?? null);
}

describe('the schedule of an alias', () => {
  test('equals a model that strikes out days', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 10 }), (actions) => {
        const assignments = recorded(actions);
        const found = Array.from({ length: DAYS }, (_, at) => cardBehindAlias(assignments, at));
        expect(found).toEqual(holderByDay(actions));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('the schedule of an alias never gives an instant to two cards', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 10 }), (actions) => {
        const effective = effectiveAssignments(recorded(actions));
        for (let at = 0; at < DAYS; at += 1) {
          const holders = effective.filter(
            ({ startingAt, endingBefore }) =>
              (startingAt ?? -1) <= at && at < (endingBefore ?? Number.POSITIVE_INFINITY),
          );
          expect(new Set(holders.map(({ rateCardId }) => rateCardId)).size).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('the schedule of an alias stays as it is when a card is assigned again what it shows', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 10 }), fc.constantFrom(...CARDS), (actions, card) => {
        const shown = effectiveAssignments(recorded(actions)).filter(({ rateCardId }) => rateCardId === card);
        const again: Action[] = [
          ...actions,
          { kind: 'replace', card },
          ...shown.map(
            (one): Action => ({ kind: 'assign', card, start: one.startingAt, end: one.endingBefore }),
          ),
        ];
        expect(holderByDay(again)).toEqual(holderByDay(actions));
      }),
    );
  });
});
