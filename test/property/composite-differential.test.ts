/**
 * Composite products against the naive engine (test/support/naive/composites.ts), on random invoices with terms
 * of every kind, and laws that hold whatever the terms are.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type Decimal, sum } from '../../src/core/decimal.ts';
import { groupBy } from '../../src/core/group-by.ts';
import { DAY_MS, type Instant } from '../../src/core/time.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import {
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  type WindowSize,
} from '../../src/rating/invoice/breakdown.ts';
import { createLineCollector } from '../../src/rating/invoice/line-collector.ts';
import {
  createInvoiceRater,
  inProductOrder,
  inWindows,
  rateInvoice,
} from '../../src/rating/invoice/rate-invoice.ts';
import { lineIdParts } from '../../src/rating/invoice/rate-usage.ts';
import type { MeteredUsage, UsageLine } from '../../src/rating/types.ts';
import { type CompositeCase, compositeCase } from '../support/composite-cases.ts';
import type { Charge } from '../support/naive/charges.ts';
import { type NaiveCompositeCharge, naiveCompositeCharges } from '../support/naive/composites.ts';
import { naiveCharges } from '../support/naive/rating.ts';
import { type NaiveMeter, naiveMeter } from '../support/naive/series.ts';
import { rateCase, ratingInputOf } from '../support/rated-charges.ts';
import {
  atoms,
  CONVERSION_LINE,
  conversionsOfShares,
  lineText,
  type Share,
  sharesOfCharges,
  sharesOfComposites,
  summedShares,
  totalOfShares,
} from '../support/shares.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = runs(200);

interface Expected {
  readonly meter: NaiveMeter;
  readonly usage: readonly Charge[];
  readonly composites: readonly NaiveCompositeCharge[];
}

function expectedOf(given: CompositeCase): Expected {
  const meter = naiveMeter(given.metrics, given.events, given.period);
  const usage = naiveCharges(given, meter);
  return { meter, usage, composites: naiveCompositeCharges(given, usage) };
}

function shareOf(line: UsageLine, at: Instant, quantity: Decimal, total: Decimal): Share {
  const { productId, creditTypeId, type, tier } = line;
  const text = lineText(productId, type === 'minimum' ? null : (tier?.level ?? 0));
  return { line: text, creditTypeId, at, quantity: atoms(quantity), total: atoms(total) };
}

const summed = (composites: readonly NaiveCompositeCharge[], windowOf: (at: Instant) => Instant) =>
  summedShares(sharesOfComposites(composites), windowOf);

function isComposite({ productType }: UsageLine): boolean {
  return productType === 'COMPOSITE';
}

function checkWindows(given: CompositeCase, { meter, composites }: Expected, size: WindowSize): void {
  const { lines } = rateCase(given, meter, size);
  const windows = breakdownWindows(lines, lineWindows(lines), size, given.period);
  const shares = windows.flatMap(({ window, lines: own }) =>
    own
      .filter(({ line }) => isComposite(line))
      .map(({ line, quantity, total }) => shareOf(line, window.start, quantity, total)),
  );
  const dayStart = (at: Instant) => Math.max(given.period.start, at - (at % DAY_MS));
  const windowOf = (at: Instant) => (size === 'hour' ? at : dayStart(at));
  expect(summedShares(shares, windowOf)).toEqual(summed(composites, windowOf));
}

function checkInvoice(given: CompositeCase, { meter, usage, composites }: Expected): void {
  const { lines, conversions } = rateCase(given, meter, 'period');
  const whole = () => given.period.start;
  const ofComposites = lines
    .filter(isComposite)
    .map((line) => shareOf(line, line.interval.start, line.quantity, line.total));
  expect(summedShares(ofComposites, whole)).toEqual(summed(composites, whole));
  for (const { quantity, unitPrice, total } of lines) {
    expect(quantity.times(unitPrice).toString()).toBe(total.toString());
  }
  const shares = [...sharesOfCharges(usage), ...sharesOfComposites(composites)];
  const converted = conversionsOfShares(shares, given.worths);
  expect(
    summedShares(
      conversions.map(({ convertedCreditTypeId: creditTypeId, interval, quantity, total }) => ({
        ...{ line: CONVERSION_LINE, creditTypeId, at: interval.start },
        quantity: atoms(quantity),
        total: atoms(total),
      })),
      whole,
    ),
  ).toEqual(summedShares(converted, whole));
  const total = totalOfShares([...shares, ...converted], USD_CENTS.id);
  expect(atoms(invoiceTotal([...lines, ...conversions], USD_CENTS.id))).toBe(total);
}

test('hours, days, lines and total are those of the naive engine', () => {
  fc.assert(
    fc.property(compositeCase, (given) => {
      const expected = expectedOf(given);
      checkWindows(given, expected, 'hour');
      checkWindows(given, expected, 'day');
      checkInvoice(given, expected);
    }),
    { numRuns: RUNS },
  );
}, 240_000);

test('hours add up to the line and lie in its time, and every line has its own identity', () => {
  fc.assert(
    fc.property(compositeCase, (given) => {
      const { lines } = rateCase(given, expectedOf(given).meter, 'hour');
      expect(new Set(lines.map((line) => lineIdParts(line).join('|'))).size).toBe(lines.length);
      for (const line of lines.filter(isComposite)) {
        for (const member of ['quantity', 'total'] as const) {
          expect(sum(line.windows.map((one) => one[member])).toString()).toBe(line[member].toString());
        }
        const starts = line.windows.map(({ window }) => window.start);
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
        for (const { window } of line.windows) {
          expect(window.start >= line.interval.start && window.end <= line.interval.end).toBe(true);
        }
      }
    }),
    { numRuns: RUNS },
  );
}, 120_000);

/** The usage by group keys, and within by its series: every second one in a part of its own. */
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
      const input = ratingInputOf(given, expectedOf(given).meter, 'day');
      const rater = createInvoiceRater(input);
      const collector = createLineCollector(Number.POSITIVE_INFINITY);
      for (const { groupKeys, usage } of partsOf(input.usage))
        collector.add([...rater.rate(usage, groupKeys)]);
      const { lines } = collector.result();
      const composites = rater.composites(lines).map((line) => inWindows(line, input.boundaries));
      expect(inProductOrder([...lines, ...composites], input)).toEqual(rateInvoice(input).lines);
    }),
    { numRuns: RUNS },
  );
}, 120_000);

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
] as const;

function reachedBy(given: CompositeCase): Readonly<Record<(typeof THINGS)[number], boolean>> {
  const hourly = (one: CompositeCase) => summed(expectedOf(one).composites, (at) => at).join('\n');
  const expected = expectedOf(given);
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
  };
}

function withoutCompositeOverrides(given: CompositeCase): CompositeCase {
  const overrides = given.overrides.filter(({ productId }) => !productId?.startsWith('composite'));
  return { ...given, overrides };
}

test('each of the things worth testing is reached by at least one case in twenty', () => {
  const cases = fc.sample(compositeCase, { numRuns: 100, seed: 1 });
  const reached = cases.map(reachedBy);
  const rare = THINGS.filter((thing) => reached.filter((found) => found[thing]).length < 5);
  expect(rare).toEqual([]);
}, 120_000);
