import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decimal, decimal, maximum, ZERO } from '../../../../src/core/decimal.ts';
import { rechargeAmount, rechargeLine } from '../../../../src/rating/thresholds/recharge.ts';

test.each([
  // held, threshold, level, balance at which it is charged
  ['0', '1000', '5000', '1000'],
  ['0.001', '1000', '5000', '1000.001'],
  ['1999.999', '1000', '5000', '2999.999'],
  // Up to the middle: a charge is never less than half of one without holds.
  ['2000', '1000', '5000', '3000'],
  ['4999', '1000', '5000', '3000'],
  ['1', '0', '0.001', '0.0005'],
])('with %s held, a threshold of %s and a level of %s are charged at %s', (held, threshold, level, at) => {
  const levels = { thresholdAmount: decimal(threshold), rechargeToAmount: decimal(level) };
  expect(rechargeLine(levels, decimal(held)).at.toFixed()).toBe(at);
});

const isRechargeDue = (levels: Parameters<typeof rechargeLine>[0], balance: Decimal) =>
  balance.lte(rechargeLine(levels, ZERO).at);

test.each([
  // the balance, what the new commit leaves of it, what it pays for, amount with a level of 5000
  ['1000', '1000', '0', '4000'],
  ['0', '0', '0', '5000'],
  ['0', '0', '20000', '25000'],
  ['1200', '1200', '300', '4100'],
  // It is drawn before others, which keep what they had paid.
  ['1000', '9000', '8000', '4000'],
  ['0', '9000', '12000', '8000'],
  // The same at a commit rate of half.
  ['1000', '9000', '4000', '4000'],
])('with %s, then %s left and %s drawn, %s is bought', (balance, others, drawn, amount) => {
  const bought = rechargeAmount(
    { rechargeToAmount: decimal('5000') },
    { balance: decimal(balance), others: decimal(others), drawn: decimal(drawn) },
  );
  expect(bought.toFixed()).toBe(amount);
});

const amounts = fc
  .bigInt({ min: 0n, max: 10n ** 15n })
  .map((n) => decimal(n.toString()).div(decimal('1000')));

/** A balance that usage draws on: what exceeds it is paid for by the next recharge. */
function spend(balance: Decimal, uncovered: Decimal, usage: Decimal) {
  const left = balance.minus(usage);
  return left.gte(ZERO) ? { balance: left, uncovered } : { balance: ZERO, uncovered: uncovered.minus(left) };
}

test('after each evaluation the balance is above the threshold, and equals the level after a recharge', () => {
  const levels = fc.tuple(amounts, amounts).map(([threshold, gap]) => ({
    thresholdAmount: threshold,
    rechargeToAmount: threshold.plus(gap).plus(decimal('1')),
  }));
  fc.assert(
    fc.property(
      levels,
      fc.array(fc.array(amounts, { maxLength: 4 }), { maxLength: 10 }),
      (terms, batches) => {
        let balance = ZERO;
        let charges = 0;
        for (const batch of batches) {
          let uncovered = ZERO;
          for (const usage of batch) ({ balance, uncovered } = spend(balance, uncovered, usage));
          if (!isRechargeDue(terms, balance)) continue;
          const amount = rechargeAmount(terms, { balance, others: balance, drawn: uncovered });
          balance = balance.plus(amount).minus(uncovered);
          charges += 1;
          expect(balance.eq(terms.rechargeToAmount)).toBe(true);
          expect(isRechargeDue(terms, balance)).toBe(false);
        }
        expect(charges).toBeLessThanOrEqual(batches.length);
        expect(maximum(balance, ZERO).eq(balance)).toBe(true);
      },
    ),
  );
});
