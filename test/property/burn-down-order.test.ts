/** The burn-down order is total: it does not depend on the order in which balances are loaded. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import {
  type BalanceClass,
  compareBalances,
  decidingCriterion,
  type RankedBalance,
} from '../../src/rating/balances/burn-down-order.ts';

const CLASSES: readonly BalanceClass[] = [
  'ROLLED_OVER_POSTPAID',
  'ROLLED_OVER',
  'PREPAID_OR_CREDIT',
  'POSTPAID',
];

/** Few values, so that balances often agree in a criterion. */
const small = fc.integer({ min: 0, max: 2 });
const count = fc.constantFrom(1, 2, Number.POSITIVE_INFINITY);

const balance: fc.Arbitrary<RankedBalance> = fc.record({
  commitId: fc.constantFrom('a', 'b', 'c'),
  segmentId: fc.constantFrom('s', 't'),
  balanceClass: fc.constantFrom(...CLASSES),
  priority: fc.constantFrom('1', '1.0', '10', '9').map(decimal),
  isFree: fc.boolean(),
  productCount: count,
  usageSpecifierCount: count,
  startingAt: small,
  endingBefore: small,
  contractCount: count,
  isOfContract: fc.boolean(),
  createdAt: small,
});

/** A segment has one place: its id decides all the rest. */
const balances = fc.uniqueArray(balance, {
  selector: ({ commitId, segmentId }) => `${commitId} ${segmentId}`,
  maxLength: 6,
});

test('of two different balances one is first, and it is the same whichever is named first', () => {
  fc.assert(
    fc.property(balances, (list) => {
      for (const a of list) {
        for (const b of list) {
          expect(Math.sign(compareBalances(a, b)) + Math.sign(compareBalances(b, a))).toBe(0);
          expect(compareBalances(a, b) === 0).toBe(a === b);
          expect(decidingCriterion(a, b)).toBe(decidingCriterion(b, a));
        }
      }
    }),
  );
});

test('the order is transitive', () => {
  fc.assert(
    fc.property(balances, (list) => {
      for (const a of list) {
        for (const b of list) {
          for (const c of list) {
            if (compareBalances(a, b) <= 0 && compareBalances(b, c) <= 0) {
              expect(compareBalances(a, c)).toBeLessThanOrEqual(0);
            }
          }
        }
      }
    }),
  );
});

test('any order of loading gives the same order of drawdown', () => {
  const shuffled = balances.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  fc.assert(
    fc.property(shuffled, ([list, other]) => {
      expect(other.toSorted(compareBalances)).toEqual(list.toSorted(compareBalances));
    }),
  );
});
