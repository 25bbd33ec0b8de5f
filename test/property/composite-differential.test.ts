/**
 * Composite products against the naive engine (test/support/naive/composites.ts), on random invoices with terms
 * of every kind, and laws that hold whatever the terms are.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { sum, ZERO } from '../../src/core/decimal.ts';
import { groupBy } from '../../src/core/group-by.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import { NO_COVERAGE } from '../../src/rating/balances/coverage.ts';
import { createLineCollector } from '../../src/rating/invoices/line-collector.ts';
import { createInvoiceRater, inProductOrder, inWindows } from '../../src/rating/invoices/rate-invoice.ts';
import { lineIdParts } from '../../src/rating/invoices/rate-usage.ts';
import type { MeteredUsage } from '../../src/rating/quantities/usage-need.ts';
import { type CompositeCase, compositeCase } from '../support/composite-cases.ts';
import {
  checkCompositeCase,
  expectedComposites,
  isComposite,
  summedComposites,
} from '../support/composite-comparison.ts';
import { rateInvoice } from '../support/rate-at-once.ts';
import { rateCase, ratingInputOf } from '../support/rated-charges.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = runs(200);
/** See rating-differential.test.ts. */
const COMPARED_RUNS = 400;

test('hours, days, lines and total are those of the naive engine', () => {
  fc.assert(fc.property(compositeCase, checkCompositeCase), { numRuns: COMPARED_RUNS });
}, 240_000);

test('hours add up to the line and lie in its time, and every line has its own identity', () => {
  fc.assert(
    fc.property(compositeCase, (given) => {
      const { lines } = rateCase(given, expectedComposites(given).meter, 'hour');
      expect(new Set(lines.map((line) => lineIdParts(line).join('|'))).size).toBe(lines.length);
      for (const line of lines.filter(isComposite)) {
        for (const member of ['quantity', 'total'] as const) {
          expect(sum(line.windows.map((one) => one[member])).toString()).toBe(line[member].toString());
        }
        const starts = line.windows.map(({ window }) => window.start);
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
        for (const { window, quantity } of line.windows) {
          expect(window.start >= line.interval.start).toBe(true);
          // Volume prices may change after the units were used.
          if (!quantity.eq(ZERO)) expect(window.end <= line.interval.end).toBe(true);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

/** The usage by group keys, and within them by series: every second one is a separate part. */
function* partsOf(usage: readonly MeteredUsage[]) {
  for (const own of groupBy(usage, ({ groupKeys }) => JSON.stringify(groupKeys)).values()) {
    const groupKeys = own[0]?.groupKeys ?? [];
    const values = own.flatMap(({ series }) => series.map(({ groupValues }) => JSON.stringify(groupValues)));
    const second = new Set([...new Set(values)].filter((_, index) => index % 2 === 1));
    for (const isSecond of groupKeys.length === 0 ? [false] : [false, true]) {
      const isOfPart = ({ groupValues }: UsageSeries) => second.has(JSON.stringify(groupValues)) === isSecond;
      yield { groupKeys, usage: own.map((one) => ({ ...one, series: one.series.filter(isOfPart) })) };
    }
  }
}

test('usage that is rated in parts gives the same composites', () => {
  fc.assert(
    fc.property(compositeCase, (given) => {
      const input = ratingInputOf(given, expectedComposites(given).meter, 'day');
      const rater = createInvoiceRater(input);
      const collector = createLineCollector(Number.POSITIVE_INFINITY);
      for (const { groupKeys, usage } of partsOf(input.usage))
        collector.add([...rater.rate(usage, groupKeys)]);
      const { lines } = collector.result();
      const composites = rater
        .composites(lines, undefined, input.charges)
        .lines(NO_COVERAGE)
        .map((line) => inWindows(line, input.boundaries));
      expect(inProductOrder([...lines, ...composites], input)).toEqual(rateInvoice(input).lines);
    }),
    { numRuns: RUNS },
  );
});

const THINGS = [
  'a second tier',
  'a composite of a composite',
  'a minimum',
  'more than 100 %',
  'a custom unit',
  'a falling base',
  'free usage that is left out',
  'an override of a composite that matters',
  'a new version that matters',
  'a charge of a subscription',
] as const;

function reachedBy(given: CompositeCase): Readonly<Record<(typeof THINGS)[number], boolean>> {
  const hourly = (one: CompositeCase) =>
    summedComposites(expectedComposites(one).composites, (at) => at).join('\n');
  const expected = expectedComposites(given);
  const all = hourly(given);
  const changed = (change: (version: CompositeCase['composites'][number]['product']) => object) =>
    all !==
    hourly({
      ...given,
      composites: given.composites.map((one) => ({
        ...one,
        product: { ...one.product, ...change(one.product) },
      })),
    });
  const { composites } = expected;
  return {
    'a second tier': composites.some(({ level, quantity }) => level !== null && level > 1 && quantity !== 0n),
    'a composite of a composite': changed(({ versions }) => ({
      versions: versions.map((one) => ({ ...one, includeCompositeSpend: false })),
    })),
    'a minimum': composites.some(({ level }) => level === null),
    'more than 100 %': composites.some(({ quantity, total }) => quantity > 0n && total > quantity),
    'a custom unit': composites.some(({ creditTypeId }) => creditTypeId !== USD_CENTS.id),
    'a falling base': composites.some(({ quantity }) => quantity < 0n),
    'free usage that is left out': changed(({ versions }) => ({
      versions: versions.map((one) => ({ ...one, excludeFreeUsage: !one.excludeFreeUsage })),
    })),
    'an override of a composite that matters': all !== hourly(withoutCompositeOverrides(given)),
    'a new version that matters': changed(({ versions }) => ({ versions: versions.slice(0, 1) })),
    'a charge of a subscription': all !== hourly({ ...given, fees: [] }),
  };
}

function withoutCompositeOverrides(given: CompositeCase): CompositeCase {
  const overrides = given.overrides.filter(({ productId }) => !productId?.startsWith('composite'));
  return { ...given, overrides };
}

test('each of the things worth testing is reached by at least one case in twenty', () => {
  const cases = fc.sample(compositeCase, { numRuns: 40, seed: 1 });
  const reached = cases.map(reachedBy);
  const rare = THINGS.filter((thing) => reached.filter((found) => found[thing]).length < 2);
  expect(rare).toEqual([]);
});
