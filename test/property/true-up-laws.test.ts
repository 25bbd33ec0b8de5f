/** Laws of true-ups: the commitment is billed exactly once, as covered usage or as shortfall. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal, maximum, sum, ZERO } from '../../src/core/decimal.ts';
import { shortfallOf } from '../../src/rating/balances/true-up.ts';
import { commitWith } from '../unit/core/terms/fixtures.ts';

const money = fc
  .integer({ min: 0, max: 10_000 })
  .map((cents) => decimal(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`));
const signed = fc.tuple(money, fc.boolean()).map(([amount, isNegative]) => ({
  amount: isNegative ? ZERO.minus(amount) : amount,
}));
const deduction = fc.record({ amount: money, creditedAt: fc.option(fc.nat(50)) });

function postpaid(amount: typeof ZERO) {
  const segment = { id: 's', amount, startingAt: 0, endingBefore: 100 };
  return commitWith({ type: 'POSTPAID', accessSchedule: { creditTypeId: 'usd', segments: [segment] } });
}

test('deductions and the shortfall add up to the commitment with its manual entries, or exceed it', () => {
  fc.assert(
    fc.property(money, fc.array(deduction), fc.array(signed), (committed, deductions, manualEntries) => {
      const shortfall = shortfallOf(postpaid(committed), { deductions, manualEntries, rolledOver: [] });
      const taken = sum(deductions.flatMap((one) => (one.creditedAt === null ? [one.amount] : [])));
      const owed = committed.plus(sum(manualEntries.map(({ amount }) => amount)));
      expect(shortfall.plus(taken).toFixed()).toBe(maximum(owed, taken).toFixed());
    }),
  );
});

test('no part of the commitment is rolled over and billed', () => {
  fc.assert(
    fc.property(money, money, money, (committed, taken, limit) => {
      const movements = {
        deductions: [{ amount: taken, creditedAt: null }],
        manualEntries: [],
      };
      const whole = shortfallOf(postpaid(committed), { ...movements, rolledOver: [] });
      const rest = shortfallOf(postpaid(committed), { ...movements, rolledOver: [{ amount: limit }] });
      expect(rest.toFixed()).toBe(maximum(whole.minus(limit), ZERO).toFixed());
    }),
  );
});
