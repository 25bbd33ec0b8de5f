/**
 * The rating engine against a second, simple one (test/support/naive): whole invoices from random events, with
 * random terms of every kind.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type BillingCase, billingCase } from '../support/billing-cases.ts';
import { summedBy } from '../support/naive/charges.ts';
import { checkBillingCase, type ExpectedCharges, expectedCharges } from '../support/naive-comparison.ts';

/** With the 400 of composite-differential.test.ts, 2,000 contracts in every run of the suite. */
const RUNS = 1_600;

const THINGS = [
  'an override that matters',
  'a usage filter that matters',
  'a price that changes',
  'a second tier',
  'falling usage',
  'a custom unit',
  'usage without a price',
  'several lines of one product',
] as const;

/** Judged by what the naive engine makes of a case. */
function reachedBy(
  given: BillingCase,
  { charges, unpriced }: ExpectedCharges,
): Readonly<Record<(typeof THINGS)[number], boolean>> {
  const hourly = (one: ExpectedCharges) => summedBy(one.charges, (at) => at).join('\n');
  const all = summedBy(charges, (at) => at).join('\n');
  const prices = new Map<string, Set<number>>();
  for (const { productId, pricing, presentation, quantity, total } of charges) {
    const line = `${productId} ${pricing} ${presentation}`;
    prices.set(line, (prices.get(line) ?? new Set()).add(total / quantity));
  }
  return {
    'an override that matters': all !== hourly(expectedCharges({ ...given, overrides: [] })),
    'a usage filter that matters': all !== hourly(expectedCharges({ ...given, usageFilters: [] })),
    'a price that changes': [...prices.values()].some(({ size }) => size > 1),
    'a second tier': charges.some(({ level }) => level > 1),
    'falling usage': charges.some(({ quantity }) => quantity < 0),
    'a custom unit': charges.some(({ creditTypeId }) => creditTypeId !== USD_CENTS.id),
    'usage without a price': unpriced.length > 0,
    'several lines of one product': prices.size > given.products.length,
  };
}

test('hours, days, lines, conversions, warnings and total are those of the naive engine', () => {
  fc.assert(fc.property(billingCase, checkBillingCase), { numRuns: RUNS });
}, 240_000);

test('each of the things worth testing is reached by at least one case in ten', () => {
  const cases = fc.sample(billingCase, { numRuns: 50, seed: 1 });
  const reached = cases.map((given) => reachedBy(given, expectedCharges(given)));
  const rare = THINGS.filter((thing) => reached.filter((found) => found[thing]).length < 5);
  expect(rare).toEqual([]);
});
