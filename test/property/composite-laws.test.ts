/** Composite products: laws that hold for random invoices, without a second engine. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PercentageRate, Rate } from '../../src/core/catalogue.ts';
import { type Decimal, decimal, sum } from '../../src/core/decimal.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { HOUR_MS, type Instant, type Interval } from '../../src/core/time.ts';
import { invoiceTotal } from '../../src/rating/invoices/breakdown.ts';
import type { UsageLine } from '../../src/rating/lines/types.ts';
import { type CompositeCase, compositeCase } from '../support/composite-cases.ts';
import { graduated } from '../support/graduated.ts';
import { naiveMeter } from '../support/naive/series.ts';
import { rateCase } from '../support/rated-charges.ts';
import { fixed, HOURS, PERIOD } from '../support/rating-scenarios.ts';
import { runs } from '../support/shares-of-tests.ts';

const RUNS = { numRuns: runs(150) };

type Composite = CompositeCase['composites'][number];

function lines(given: CompositeCase, billed: Interval = given.period): readonly UsageLine[] {
  const meter = naiveMeter(given.metrics, given.events, given.period);
  return rateCase(given, meter, 'hour', billed).lines;
}

const isComposite = ({ productType }: UsageLine) => productType === 'COMPOSITE';

function described(line: UsageLine): string {
  const { productId, creditTypeId, interval, tier, quantity, unitPrice, total } = line;
  const values = [
    productId,
    creditTypeId,
    interval.start,
    interval.end,
    tier?.level,
    quantity,
    unitPrice,
    total,
  ];
  return values.join(' ');
}

function eachComposite(given: CompositeCase, change: (one: Composite) => Composite): CompositeCase {
  return { ...given, composites: given.composites.map(change) };
}

/** With this rate for the first composite, which is the only one, at all times. */
function onlyComposite(given: CompositeCase, rate: PercentageRate): CompositeCase {
  const [{ product, rateEntries } = { product: undefined, rateEntries: [] }] = given.composites;
  const [version] = product?.versions ?? [];
  if (product === undefined || version === undefined) throw new Error('a case has a composite');
  const entry = {
    ...(rateEntries[0] ?? ENTRY),
    productId: product.id,
    startingAt: PERIOD.start - HOUR_MS,
    endingBefore: null,
    entitled: true,
    rate,
  };
  const compositeProductIds = ['product-1', 'product-2', ...given.fees.map((fee) => fee.product.id)];
  const counted = { ...version, compositeProductIds, excludeFreeUsage: false };
  return {
    ...given,
    overrides: given.overrides.filter(namesUsage),
    composites: [{ product: { ...product, versions: [counted] }, rateEntries: [entry] }],
  };
}

const ENTRY = {
  id: 'rate',
  rateCardId: 'card-1',
  pricingGroupValues: {},
  billingFrequency: null,
  creditTypeId: '',
  sequence: 0,
  commitRate: null,
};

/** An override of one usage product. */
function namesUsage({ productId }: Override): boolean {
  return productId?.startsWith('product') === true;
}

const percentage = fc.integer({ min: 0, max: 300 }).map((value) => decimal(fixed(value, 2)));

test('one percentage of everything is that percentage of the sum of all other lines, charges of subscriptions too', () => {
  fc.assert(
    fc.property(compositeCase, percentage, (given, price) => {
      const rated = lines(onlyComposite(given, { rateType: 'PERCENTAGE', price, minimum: null }));
      const usage = rated.filter((line) => !isComposite(line));
      for (const unit of new Set(rated.map(({ creditTypeId }) => creditTypeId))) {
        const charged = invoiceTotal(rated.filter(isComposite), unit);
        const fees = given.fees.filter(({ creditTypeId }) => creditTypeId === unit);
        const counted = sum([
          invoiceTotal(usage, unit),
          ...fees.map(({ total }) => decimal(fixed(total, 6))),
        ]);
        expect(charged.toString()).toBe(counted.times(price).toString());
      }
    }),
    RUNS,
  );
});

test('a rate and a version that change nothing change no line', () => {
  fc.assert(
    fc.property(compositeCase, fc.integer({ min: 1, max: HOURS - 1 }), (given, hour) => {
      const startingAt = PERIOD.start + hour * HOUR_MS;
      const again = eachComposite(given, ({ product, rateEntries }) => ({
        product: {
          ...product,
          versions: product.versions.flatMap((version, index) => {
            const next = product.versions[index + 1]?.startingAt ?? null;
            const holds = (version.startingAt ?? 0) < startingAt && (next === null || startingAt < next);
            const tags = [...version.compositeTags].reverse();
            return holds ? [version, { ...version, startingAt, compositeTags: tags }] : [version];
          }),
        },
        rateEntries: rateEntries.flatMap((entry) =>
          entry.startingAt < startingAt && (entry.endingBefore === null || startingAt < entry.endingBefore)
            ? [
                { ...entry, endingBefore: startingAt },
                { ...entry, startingAt },
              ]
            : [entry],
        ),
      }));
      const single = (one: CompositeCase) =>
        one.composites.every(({ rateEntries }) => rateEntries.length <= 1);
      fc.pre(single(given));
      expect(lines(again).map(described)).toEqual(lines(given).map(described));
    }),
    RUNS,
  );
});

test('prices, sizes and minimums times ten are totals times ten', () => {
  fc.assert(
    fc.property(compositeCase, (given) => {
      const flat = { ...given, overrides: given.overrides.filter(({ type }) => type !== 'OVERWRITE') };
      const scaledCase = eachComposite(
        {
          ...flat,
          overrides: flat.overrides.map((one) => (reachesComposite(one) ? scaledOverride(one) : one)),
          fees: flat.fees.map((one) => ({ ...one, total: one.total * 10 })),
          products: flat.products.map((one) => ({
            ...one,
            rateEntries: one.rateEntries.map((entry) => ({ ...entry, rate: dearer(entry.rate) })),
          })),
        },
        (one) => ({
          ...one,
          rateEntries: one.rateEntries.map((entry) => ({ ...entry, rate: wider(entry.rate) })),
        }),
      );
      fc.pre(flat.overrides.every(({ type, productId }) => type !== 'TIERED' || productId !== null));
      const [before, after] = [lines(flat), lines(scaledCase)];
      expect(after.map(({ total }) => total.toString())).toEqual(
        before.map(({ total }) => total.times('10').toString()),
      );
    }),
    RUNS,
  );
});

/** The sizes of a TIERED override of a composite are amounts of money. */
function reachesComposite({ type, productId }: Override): boolean {
  return type === 'TIERED' && productId?.startsWith('composite') === true;
}

const tenfold = (value: Decimal) => value.times('10');
const tenfoldSize = <Tier extends { readonly size: Decimal | null }>(tier: Tier): Tier => ({
  ...tier,
  size: tier.size && tenfold(tier.size),
});

function scaledOverride(one: Override): Override {
  return { ...one, tiers: one.tiers.map(tenfoldSize) };
}

function dearer(rate: Rate): Rate {
  if ('tiers' in rate)
    return { ...rate, tiers: rate.tiers.map((tier) => ({ ...tier, price: tenfold(tier.price) })) };
  return { ...rate, price: tenfold(rate.price) };
}

function wider(rate: Rate): Rate {
  const minimum = 'minimum' in rate && rate.minimum !== null ? tenfold(rate.minimum) : null;
  if (rate.rateType === 'PERCENTAGE') return { ...rate, minimum };
  if (rate.rateType === 'TIERED_PERCENTAGE') return { ...rate, tiers: rate.tiers.map(tenfoldSize), minimum };
  return rate;
}

/** SQL metrics that are evaluated once are evaluated at the end of each invoice. */
function countedByHour(given: CompositeCase): CompositeCase {
  return {
    ...given,
    products: given.products.map((one) => ({
      ...one,
      product: {
        ...one.product,
        versions: one.product.versions.map((version) => ({ ...version, sqlBreakdownGranularity: 'HOUR' })),
      },
    })),
  };
}

/** Both invoices of a billing period that is cut at `hour`. */
function onTwoInvoices(given: CompositeCase, hour: number): UsageLine[] {
  const cut = PERIOD.start + hour * HOUR_MS;
  return [
    ...lines(given, { start: PERIOD.start, end: cut }),
    ...lines(given, { start: cut, end: PERIOD.end }),
  ].filter(isComposite);
}

const cutHour = fc.integer({ min: 1, max: HOURS - 1 });

test('a billing period on two invoices has the hours of one, tiers included', () => {
  fc.assert(
    fc.property(compositeCase, cutHour, (drawn, hour) => {
      // With volume prices the second invoice charges its units at the tier that both reach.
      const given = withoutMinimums(countedByHour(graduated(drawn)));
      const whole = lines(given).filter(isComposite);
      expect(hoursOf(onTwoInvoices(given, hour))).toEqual(hoursOf(whole));
    }),
    RUNS,
  );
});

test('a billing period on two invoices has one minimum', () => {
  fc.assert(
    fc.property(
      compositeCase,
      cutHour,
      percentage,
      fc.integer({ min: 0, max: 9_000 }),
      (drawn, hour, price, least) => {
        const rate = { rateType: 'PERCENTAGE' as const, price, minimum: decimal(fixed(least, 2)) };
        const given = onlyComposite(countedByHour(graduated(drawn)), rate);
        const totalOf = (rated: readonly UsageLine[]) => sum(rated.map(({ total }) => total)).toString();
        expect(totalOf(onTwoInvoices(given, hour))).toBe(totalOf(lines(given).filter(isComposite)));
      },
    ),
    RUNS,
  );
});

test('a composite at volume percentages that ends before its invoice charges its minimum or its percentages, not more', () => {
  fc.assert(
    fc.property(
      compositeCase,
      cutHour,
      fc.tuple(percentage, percentage),
      fc.integer({ min: 0, max: 9_000 }),
      (drawn, hour, [below, above], least) => {
        const end = PERIOD.start + hour * HOUR_MS;
        const given = endedAt(onlyComposite(drawn, volumeRate(below, above, null)), end);
        const minimum = decimal(fixed(least, 2));
        const withMinimum = endedAt(onlyComposite(drawn, volumeRate(below, above, minimum)), end);
        const percentages = chargeInCurrency(given);
        const expected = percentages.lt(minimum) ? minimum : percentages;
        expect(chargeInCurrency(withMinimum).toString()).toBe(expected.toString());
      },
    ),
    { numRuns: runs(900) },
  );
});

function volumeRate(below: Decimal, above: Decimal, minimum: Decimal | null): PercentageRate {
  const tiers = [
    { size: decimal('40'), price: below },
    { size: null, price: above },
  ];
  return { rateType: 'TIERED_PERCENTAGE', tiersMode: 'volume', tiers, minimum };
}

function endedAt(given: CompositeCase, endingBefore: Instant): CompositeCase {
  return eachComposite(given, (one) => ({
    ...one,
    rateEntries: one.rateEntries.map((entry) => ({ ...entry, endingBefore })),
  }));
}

/** The charges of composites, converted. */
function chargeInCurrency(given: CompositeCase): Decimal {
  const charges = lines(given).filter(isComposite);
  const worthOf = (unit: string) => decimal(fixed(given.worths.get(unit) ?? 100, 2));
  return sum(charges.map(({ total, creditTypeId }) => total.times(worthOf(creditTypeId))));
}

/** Free usage is removed too: the free part of each invoice may be different. */
function withoutMinimums(given: CompositeCase): CompositeCase {
  const without = (rate: Rate): Rate => ('minimum' in rate ? { ...rate, minimum: null } : rate);
  const composites = eachComposite(given, ({ product, rateEntries }) => ({
    product: { ...product, versions: product.versions.map((one) => ({ ...one, excludeFreeUsage: false })) },
    rateEntries: rateEntries.map((entry) => ({ ...entry, rate: without(entry.rate) })),
  }));
  const overrides = given.overrides.map((one) =>
    one.overwriteRate === null || !('minimum' in one.overwriteRate.rate)
      ? one
      : {
          ...one,
          overwriteRate: { ...one.overwriteRate, rate: { ...one.overwriteRate.rate, minimum: null } },
        },
  );
  return { ...composites, overrides };
}

/** Sorted texts of all windows that are not of nothing. */
function hoursOf(rated: readonly UsageLine[]): string[] {
  return rated
    .flatMap(({ productId, creditTypeId, tier, windows }) =>
      windows.map(({ window, quantity, total }) =>
        [productId, creditTypeId, tier?.level, window.start, quantity, total].join(' '),
      ),
    )
    .sort();
}
