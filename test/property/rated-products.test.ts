/** Products that were not used are left out of rating, and products that share a metric do not bill each other's usage. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pricedCard, ratedProducts } from '../../src/billing/invoices/terms/priced-card.ts';
import type { Product, RateEntry } from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import type { CardTerms } from '../../src/core/invoice-terms.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { MANAGED_TAG } from '../../src/core/token-billing.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import type { ProductOnCard } from '../../src/rating/lines/types.ts';
import { needKey, usageNeeds } from '../../src/rating/quantities/product-spans.ts';
import { rateUsage } from '../support/rate-at-once.ts';
import { runs } from '../support/shares-of-tests.ts';
import { flat, hour, METRIC, OTHER_METRIC, PERIOD, rate, version } from '../unit/rating/fixtures.ts';

const MODELS = ['a', 'b', 'c', 'd', 'e'] as const;
const model = fc.constantFrom(...MODELS);
const period = { ...PERIOD, countedFrom: PERIOD.start };

const productCase = fc.record({
  metric: fc.constantFrom(METRIC, OTHER_METRIC),
  isManaged: fc.boolean(),
  /** Names with a separate rate. */
  models: fc.uniqueArray(model, { maxLength: 2 }),
  hasRateForAll: fc.boolean(),
  isEntitled: fc.boolean(),
  /** A later version: another name, or without the tag. */
  later: fc.constantFrom('none', 'none', 'none', 'renamed', 'untagged'),
  presents: fc.constantFrom(false, false, false, true),
});
type ProductCase = typeof productCase extends fc.Arbitrary<infer Value> ? Value : never;

const cardCase = fc.record({
  products: fc.array(productCase, { minLength: 1, maxLength: 8 }),
  used: fc.uniqueArray(model, { maxLength: 4 }),
  /** Product and model of an OVERWRITE. */
  overwritten: fc.array(fc.tuple(fc.nat({ max: 7 }), model), { maxLength: 2 }),
});
type CardCase = typeof cardCase extends fc.Arbitrary<infer Value> ? Value : never;

function productOf(given: ProductCase, index: number): Product {
  const first = version({
    name: `Product ${index}`,
    tags: given.isManaged ? [MANAGED_TAG] : [],
    billableMetricId: given.metric,
    pricingGroupKey: ['model'],
    presentationGroupKey: given.presents ? ['user'] : [],
  });
  const startingAt = hour(20);
  const later = {
    none: [],
    renamed: [{ ...first, startingAt, name: `Renamed ${index}` }],
    untagged: [{ ...first, startingAt, tags: [] }],
  }[given.later];
  return { id: `product-${index}`, type: 'USAGE', versions: [first, ...later], archivedAt: null };
}

function ratesOf(given: ProductCase, index: number): RateEntry[] {
  const fields = { productId: `product-${index}`, entitled: given.isEntitled };
  return [
    ...given.models.map((name) => rate(flat('2'), { ...fields, pricingGroupValues: { model: name } })),
    ...(given.hasRateForAll && given.models.length === 0 ? [rate(flat('3'), fields)] : []),
  ];
}

function termsOf({ products }: CardCase): CardTerms {
  const priced = products.map((one, index) => ({
    product: productOf(one, index),
    rateEntries: ratesOf(one, index),
  }));
  return {
    fiatCreditTypeId: USD_CENTS.id,
    conversions: [],
    products: priced,
    composites: [],
    subscriptions: [],
    productOrder: priced.map(({ product }) => product.id),
  };
}

function overrideOf([index, name]: readonly [number, string]): Override {
  return {
    ...{ id: `override-${index}`, contractId: 'contract', startingAt: hour(5), endingBefore: null },
    ...{ entitled: null, type: 'OVERWRITE', multiplier: null, priority: null, tiers: [] },
    overwriteRate: { rate: { rateType: 'FLAT', price: decimal('7') }, creditTypeId: null },
    ...{ productId: null, applicableProductTags: [], isCommitSpecific: false, target: 'LIST_RATE' },
    specifiers: [
      {
        ...{ productId: `product-${index}`, productTags: [], presentationGroupValues: {}, exclude: [] },
        ...{ pricingGroupValues: { model: name }, billingFrequency: null },
        ...{ commitIds: [], recurringCommitIds: [], anyCommitOrCreditIds: [] },
      },
    ],
    createdAt: 0,
  };
}

function seriesOf(groupKeys: readonly string[], used: readonly string[]): UsageSeries[] {
  return used.map((name, index) => ({
    groupValues: Object.fromEntries(groupKeys.map((key) => [key, key === 'model' ? name : 'ada'])),
    steps: [
      { at: hour(10), value: decimal(String(index + 1)) },
      { at: hour(30), value: decimal(String(3 * (index + 1))) },
    ],
  }));
}

async function rated(given: CardCase) {
  const card = await pricedCard(termsOf(given), new Map());
  const overrides = given.overwritten.map(overrideOf);
  const usageOf = (products: readonly ProductOnCard[]) => {
    const needs = products.flatMap(({ product }) => usageNeeds(product, period, []));
    return [...new Map(needs.map((need) => [needKey(need), need])).values()].map((need) => ({
      ...need,
      series: seriesOf(need.groupKeys, given.used),
    }));
  };
  const usage = usageOf(card.needing);
  const rating = (products: readonly ProductOnCard[]) =>
    rateUsage({
      period,
      boundaries: [period.start, period.end],
      products,
      usage: usageOf(products),
      usageFilters: [],
      overrides: { overrides, prioritization: 'LOWEST_MULTIPLIER' },
      fiatCreditTypeId: USD_CENTS.id,
      productOrder: card.terms.productOrder,
    });
  const some = ratedProducts(
    card,
    overrides,
    usage.flatMap(({ series }) => series),
  );
  return { all: rating(card.products), some: rating(some), usage, every: usageOf(card.products) };
}

test('products that are left out give neither lines nor warnings, and the others need all usage', async () => {
  await fc.assert(
    fc.asyncProperty(cardCase, async (given) => {
      const { all, some, usage, every } = await rated(given);
      expect(some).toEqual(all);
      expect(usage.map(needKey).sort()).toEqual(every.map(needKey).sort());
    }),
    { numRuns: runs(1_000) },
  );
});

test('usage that a product of a managed card has a price for is no warning of another one, and of none is one', async () => {
  await fc.assert(
    fc.asyncProperty(cardCase, async (given) => {
      const products = given.products.map((one) => ({
        ...one,
        ...{ isManaged: true, later: 'none', presents: false, hasRateForAll: false, isEntitled: true },
      })) satisfies ProductCase[];
      const { all } = await rated({ ...given, products, overwritten: [] });
      const warned = all.warnings.map((one) => `${one.billableMetricId} ${one.pricingGroupValues.model}`);
      const expected = [METRIC, OTHER_METRIC].flatMap((metric) => {
        const own = products.filter((one) => one.metric === metric);
        const priced = new Set(own.flatMap(({ models }) => models));
        return own.length === 0
          ? []
          : given.used.filter((name) => !priced.has(name)).map((name) => `${metric} ${name}`);
      });
      expect(warned.sort()).toEqual(expected.sort());
      expect(all.lines).toHaveLength(
        products.flatMap(({ models }) => models.filter((name) => given.used.includes(name))).length,
      );
    }),
    { numRuns: runs(500) },
  );
});
