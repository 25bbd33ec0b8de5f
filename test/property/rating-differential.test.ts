/**
 * The rating engine against a second, simple one (test/support/naive): whole invoices from random events, with
 * random terms of every kind.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { HOUR_MS, type Instant } from '../../src/core/time.ts';
import { invoiceTotal } from '../../src/rating/invoice/breakdown.ts';
import { type BillingCase, billingCase } from '../support/billing-cases.ts';
import { type Charge, summedBy } from '../support/naive/charges.ts';
import { naiveConversions, naiveTotal } from '../support/naive/conversions.ts';
import { naiveCharges } from '../support/naive/rating.ts';
import { type NaiveMeter, naiveMeter } from '../support/naive/series.ts';
import {
  chargesOfLines,
  chargesOfWarnings,
  chargesOfWindows,
  conversionsOfLines,
  conversionsOfWindows,
  rateCase,
  scaled,
} from '../support/rated-charges.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = runs(600);

/** What the naive engine says about a case, and what metering would answer. */
interface Expected {
  readonly meter: NaiveMeter;
  readonly charges: readonly Charge[];
  /** Usage without a price. */
  readonly unpriced: readonly Charge[];
}

function expectedOf(given: BillingCase): Expected {
  const meter = naiveMeter(given.metrics, given.events, given.period);
  const all = naiveCharges(given, meter);
  return {
    meter,
    charges: all.filter(({ creditTypeId }) => creditTypeId !== null),
    unpriced: all.filter(({ creditTypeId }) => creditTypeId === null),
  };
}

function checkWindows(given: BillingCase, { meter, charges }: Expected, size: 'hour' | 'day'): void {
  const { lines, conversions } = rateCase(given, meter, size);
  const dayStart = (at: Instant) => Math.max(given.period.start, at - (at % (24 * HOUR_MS)));
  const windowOf = (at: Instant) => (size === 'hour' ? at : dayStart(at));
  expect(summedBy(chargesOfWindows(lines), windowOf)).toEqual(summedBy(charges, windowOf));
  const converted = naiveConversions(charges, given.worths);
  expect(summedBy(conversionsOfWindows(conversions), windowOf)).toEqual(summedBy(converted, windowOf));
}

function checkInvoice(given: BillingCase, { meter, charges, unpriced }: Expected): void {
  const rated = rateCase(given, meter, 'period');
  const { lines, conversions } = rated;
  const whole = () => given.period.start;
  expect(summedBy(chargesOfLines(lines), whole)).toEqual(summedBy(charges, whole));
  expect(summedBy(chargesOfWarnings(rated), whole)).toEqual(summedBy(unpriced, whole));
  const converted = naiveConversions(charges, given.worths);
  expect(summedBy(conversionsOfLines(conversions), whole)).toEqual(summedBy(converted, whole));
  const total = invoiceTotal([...lines, ...conversions], USD_CENTS.id);
  expect(scaled(total, 8)).toBe(naiveTotal(charges, USD_CENTS.id, given.worths));
}

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
  { charges, unpriced }: Expected,
): Readonly<Record<(typeof THINGS)[number], boolean>> {
  const hourly = (one: Expected) => summedBy(one.charges, (at) => at).join('\n');
  const all = summedBy(charges, (at) => at).join('\n');
  const prices = new Map<string, Set<number>>();
  for (const { productId, pricing, presentation, quantity, total } of charges) {
    const line = `${productId} ${pricing} ${presentation}`;
    prices.set(line, (prices.get(line) ?? new Set()).add(total / quantity));
  }
  return {
    'an override that matters': all !== hourly(expectedOf({ ...given, overrides: [] })),
    'a usage filter that matters': all !== hourly(expectedOf({ ...given, usageFilters: [] })),
    'a price that changes': [...prices.values()].some(({ size }) => size > 1),
    'a second tier': charges.some(({ level }) => level > 1),
    'falling usage': charges.some(({ quantity }) => quantity < 0),
    'a custom unit': charges.some(({ creditTypeId }) => creditTypeId !== USD_CENTS.id),
    'usage without a price': unpriced.length > 0,
    'several lines of one product': prices.size > given.products.length,
  };
}

test('hours, days, lines, conversions, warnings and total are those of the naive engine', () => {
  fc.assert(
    fc.property(billingCase, (given) => {
      const expected = expectedOf(given);
      checkWindows(given, expected, 'hour');
      checkWindows(given, expected, 'day');
      checkInvoice(given, expected);
    }),
    { numRuns: RUNS },
  );
}, 120_000);

test('each of the things worth testing is reached by at least one case in ten', () => {
  const cases = fc.sample(billingCase, { numRuns: 100, seed: 1 });
  const reached = cases.map((given) => reachedBy(given, expectedOf(given)));
  const rare = THINGS.filter((thing) => reached.filter((found) => found[thing]).length < 10);
  expect(rare).toEqual([]);
});
