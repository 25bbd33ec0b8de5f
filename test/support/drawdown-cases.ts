/** Random small contracts with balances of every kind. Eight hours over midnight; numbers suit the naive engine. */
import fc from 'fast-check';
import type { CompositeProduct, PercentageRate, RateEntry, UsageRate } from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import type { BilledPeriod } from '../../src/core/invoice.ts';
import { ANY_USAGE, type Applicability } from '../../src/core/terms/applicability.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { BookedBucket } from '../../src/rating/balances/balance-book.ts';
import { wholePeriod } from '../../src/rating/periods/billing-periods.ts';
import { graduated } from './graduated.ts';
import type { NaiveDrawdownInput, NaiveUsage } from './naive/claimed-counters.ts';
import { allowedUnder, exclusions, override } from './override-cases.ts';
import { fixed, tiersMode } from './rating-scenarios.ts';

export interface DrawdownCase extends NaiveDrawdownInput {
  readonly period: BilledPeriod;
}

const HOURS = 8;
const START = Date.UTC(2026, 2, 1, 20);
export const PERIOD = wholePeriod({ start: START, end: START + HOURS * HOUR_MS });
const UNIT = 'unit-a';
const PRODUCT_IDS = ['product-1', 'product-2', 'product-3'] as const;
const COMPOSITE_IDS = ['composite-1', 'composite-2'] as const;
export const TAGS = ['ai', 'llm'];
const MODEL_VALUES = [{ model: 'm' }, { model: 'n' }];
const REGION_VALUES = [{ region: 'eu' }, { region: 'us' }];

const at = (hours: number) => START + hours * HOUR_MS;
const hour = fc.integer({ min: 0, max: HOURS - 1 });
const hundredths = (max: number) => fc.integer({ min: 0, max }).map((value) => decimal(fixed(value, 2)));
const rarely = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 }).map((found) => found);
export const creditTypeId = fc.constantFrom(USD_CENTS.id, USD_CENTS.id, USD_CENTS.id, UNIT);

/** In force in a part of the period, or in all of it. */
const terms = fc.oneof(
  fc.constant({ startingAt: at(-5), endingBefore: null }),
  fc
    .record({ from: fc.integer({ min: -1, max: HOURS - 1 }), length: fc.integer({ min: 1, max: HOURS }) })
    .map(({ from, length }) => ({ startingAt: at(from), endingBefore: at(from + length) })),
);

const GROUPINGS = [
  { pricingGroupKey: [], presentationGroupKey: [] },
  { pricingGroupKey: [], presentationGroupKey: [] },
  { pricingGroupKey: ['model'], presentationGroupKey: [] },
  { pricingGroupKey: [], presentationGroupKey: ['region'] },
  { pricingGroupKey: ['model'], presentationGroupKey: ['region'] },
] as { pricingGroupKey: string[]; presentationGroupKey: string[] }[];

/** In hundredths: rising as a sum does, resting as a maximum does, or jumping up and down as a last value does. */
const counterValues: fc.Arbitrary<number[]> = fc.oneof(
  fc
    .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 800 })), { minLength: HOURS, maxLength: HOURS })
    .map((increments) =>
      increments.map((_, index) => increments.slice(0, index + 1).reduce((a, b) => a + b, 0)),
    ),
  fc.array(
    fc.integer({ min: -3, max: 12 }).map((tens) => tens * 100),
    { minLength: HOURS, maxLength: HOURS },
  ),
);

const size = fc.integer({ min: 1, max: 500 }).map((value) => decimal(fixed(value, 2)));
/** Free units are as likely as any price. */
export const price = fc.oneof(
  hundredths(900),
  hundredths(900),
  fc.constantFrom(decimal('0'), decimal('7'), decimal('10')),
);
const usageRate: fc.Arbitrary<UsageRate> = fc.oneof(
  price.map((one) => ({ rateType: 'FLAT' as const, price: one })),
  fc
    .tuple(fc.array(fc.record({ size, price }), { minLength: 1, maxLength: 2 }), price, tiersMode)
    .map(([sized, last, mode]) => ({
      rateType: 'TIERED' as const,
      ...mode,
      tiers: [...sized, { size: null, price: last }],
    })),
);

const percentages: fc.Arbitrary<PercentageRate> = fc.oneof(
  fc.record({
    rateType: fc.constant('PERCENTAGE' as const),
    price: hundredths(120),
    minimum: rarely(hundredths(9_000)),
  }),
  fc.tuple(hundredths(5_000), hundredths(120), hundredths(120)).map(([size, price, last]) => ({
    rateType: 'TIERED_PERCENTAGE' as const,
    tiers: [
      { size: size.plus('0.01'), price },
      { size: null, price: last },
    ],
    minimum: null,
  })),
);

/** Cases without composites or custom units are as likely as those with them. */
export const drawdownCase: fc.Arbitrary<DrawdownCase> = fc
  .record({
    products: fc.tuple(pricedProduct(0), pricedProduct(1), pricedProduct(2)),
    count: fc.integer({ min: 1, max: 3 }),
    composites: fc.tuple(composite(0), composite(1)),
    compositeCount: fc.constantFrom(0, 0, 0, 1, 2),
    overrides: fc.array(fc.oneof(usageOverride(), usageOverride(), compositeOverride()), { maxLength: 3 }),
    prioritization: fc.constantFrom('LOWEST_MULTIPLIER' as const, 'EXPLICIT' as const),
    worth: fc.integer({ min: 1, max: 300 }),
    buckets: fc.array(bucket(), { maxLength: 4 }),
  })
  .map(({ products, count, composites, compositeCount, overrides, worth, buckets, ...rest }) => ({
    ...rest,
    period: PERIOD,
    products: products.slice(0, count),
    composites: composites.slice(0, compositeCount),
    overrides: allowedUnder(rest.prioritization, overrides),
    currency: USD_CENTS.id,
    worths: new Map([[UNIT, worth]]),
    buckets: buckets.map((one, index) => ({
      ...one,
      segmentId: `segment-${index}`,
      name: `Balance ${index}`,
    })),
  }))
  // Composites count hours, in which the naive drawdown does not show a price that falls later.
  .map((given) => (given.composites.length === 0 ? given : graduated(given)));

/** Whether the price of some units may change after they were used. */
export function hasVolumePrices({ products, overrides }: DrawdownCase): boolean {
  const rates = products.flatMap(({ rateEntries }) =>
    rateEntries.flatMap(({ rate, commitRate }) => [rate, commitRate]),
  );
  const ofOverrides = overrides.flatMap((one) => [one, one.overwriteRate?.rate ?? null]);
  return [...rates, ...ofOverrides].some(
    (one) => one !== null && 'tiersMode' in one && one.tiersMode === 'volume',
  );
}

function pricedProduct(index: number): fc.Arbitrary<DrawdownCase['products'][number]> {
  const id = PRODUCT_IDS[index] ?? '';
  return fc
    .record({
      keys: fc.constantFrom(...GROUPINGS),
      tags: fc.subarray(TAGS),
      later: rarely(fc.record({ hour, tags: fc.subarray(TAGS), name: fc.constantFrom('', ' new') })),
      unit: creditTypeId,
      first: fc.tuple(usageRate, fc.option(usageRate)),
      others: fc.array(
        fc.record({ rate: usageRate, commitRate: fc.option(usageRate), terms, model: fc.boolean() }),
        {
          maxLength: 1,
        },
      ),
      counters: fc.array(counterValues, { minLength: 4, maxLength: 4 }),
    })
    .map(({ keys, tags, later, unit, first: [rate, commitRate], others, counters }) => {
      const version = {
        ...versionOf(`Product ${3 - index}`),
        ...keys,
        tags,
        billableMetricId: `metric of ${id}`,
      };
      const versions = [version];
      if (later !== null)
        versions.push({
          ...version,
          startingAt: at(later.hour),
          tags: later.tags,
          name: version.name + later.name,
        });
      const entries = [
        { rate, commitRate, terms: { startingAt: at(-100), endingBefore: null }, model: false },
        ...others,
      ];
      return {
        product: { id, type: 'USAGE' as const, archivedAt: null, versions },
        rateEntries: entries.map(
          ({ terms: time, model, ...prices }, sequence): RateEntry => ({
            ...rateEntry(id, sequence),
            ...prices,
            ...time,
            creditTypeId: unit,
            pricingGroupValues: model && keys.pricingGroupKey.length > 0 ? { model: 'm' } : {},
          }),
        ),
        usage: keysOf(keys).map((key, number): NaiveUsage => ({ ...key, values: counters[number] ?? [] })),
      };
    });
}

function keysOf({ pricingGroupKey, presentationGroupKey }: (typeof GROUPINGS)[number]) {
  const pricings = pricingGroupKey.length === 0 ? [{}] : MODEL_VALUES;
  const presentations = presentationGroupKey.length === 0 ? [{}] : REGION_VALUES;
  return pricings.flatMap((pricing) => presentations.map((presentation) => ({ pricing, presentation })));
}

export function versionOf(name: string) {
  return {
    startingAt: null as number | null,
    name,
    tags: [] as string[],
    billableMetricId: null as string | null,
    quantityConversion: null,
    quantityRounding: null,
    sqlBreakdownGranularity: 'HOUR' as const,
    pricingGroupKey: [] as string[],
    presentationGroupKey: [] as string[],
    createdAt: 0,
    createdBy: 'test',
  };
}

export function rateEntry(
  productId: string,
  sequence: number,
): Omit<RateEntry, 'rate' | 'startingAt' | 'endingBefore'> {
  return {
    id: `rate-${sequence}`,
    rateCardId: 'card-1',
    productId,
    pricingGroupValues: {},
    billingFrequency: null,
    entitled: true,
    creditTypeId: USD_CENTS.id,
    sequence,
    commitRate: null,
  };
}

/** Counts usage products, and the composite before it. */
function composite(index: number): fc.Arbitrary<DrawdownCase['composites'][number]> {
  const id = COMPOSITE_IDS[index] ?? '';
  return fc
    .record({
      rate: percentages,
      productIds: fc.subarray([...PRODUCT_IDS, ...COMPOSITE_IDS.slice(0, index)], { minLength: 1 }),
      tags: fc.subarray(TAGS),
      terms,
    })
    .map(({ rate, productIds, tags, terms: time }) => {
      const product: CompositeProduct = {
        ...{ id, type: 'COMPOSITE', archivedAt: null },
        versions: [
          {
            ...versionOf(`Composite ${index}`),
            tags: ['composite'],
            compositeProductIds: productIds,
            compositeTags: tags,
            excludeFreeUsage: false,
            includeCompositeSpend: true,
          },
        ],
      };
      return { product, rateEntries: [{ ...rateEntry(id, 0), rate, ...time }] };
    });
}

function usageOverride(): fc.Arbitrary<Override> {
  return override({
    terms,
    productIds: PRODUCT_IDS,
    tags: TAGS,
    pricingGroupValues: MODEL_VALUES,
    presentationGroupValues: REGION_VALUES,
    creditTypeIds: [null, null, null, USD_CENTS.id, UNIT],
    withCommits: true,
  }).map(ofUsageOnly);
}

/** A price of usage is for a usage product, and only what is commit-specific names commits, as the service requires. */
function ofUsageOnly(one: Override): Override {
  const nobody = { commitIds: [], recurringCommitIds: [], anyCommitOrCreditIds: [] };
  const asked = one.isCommitSpecific
    ? { ...one, entitled: null }
    : { ...one, specifiers: one.specifiers.map((specifier) => ({ ...specifier, ...nobody })) };
  const isNamed =
    one.productId !== null ||
    (one.specifiers.length > 0 && one.specifiers.every(({ productId }) => productId !== null));
  if (one.type !== 'OVERWRITE' || isNamed) return asked;
  return { ...asked, productId: 'product-1', applicableProductTags: [], specifiers: [] };
}

function compositeOverride(): fc.Arbitrary<Override> {
  return fc
    .record({ one: usageOverride(), rate: percentages, productId: fc.constantFrom(...COMPOSITE_IDS) })
    .map(({ one, rate, productId }) => ({
      ...one,
      ...(one.overwriteRate === null ? {} : { overwriteRate: { rate, creditTypeId: null } }),
      ...{ productId, applicableProductTags: [], specifiers: [] },
      target: 'LIST_RATE' as const,
    }));
}

function bucket(): fc.Arbitrary<Omit<BookedBucket, 'segmentId' | 'name'>> {
  return fc
    .record({
      id: fc.constantFrom('c', 'd'),
      recurringId: fc.constantFrom(null, null, 'r'),
      rateType: fc.constantFrom('LIST_RATE' as const, 'COMMIT_RATE' as const),
      commitType: fc.constantFrom('PREPAID' as const, 'POSTPAID' as const, 'CREDIT' as const),
      unit: creditTypeId,
      applicability: applicability(),
      access: terms,
      left: fc.oneof(
        fc.integer({ min: 0, max: 100 }).map((whole) => decimal(String(whole))),
        hundredths(20_000),
        fc.constantFrom(
          decimal('33.33333333333333333333'),
          decimal('0.00000000000000000007'),
          decimal('1000000'),
        ),
      ),
    })
    .map(({ access, unit, ...rest }) => ({
      ...rest,
      creditTypeId: unit,
      access: { start: access.startingAt, end: access.endingBefore ?? at(100) },
      contractIds: null,
      source: null,
    }));
}

function applicability(): fc.Arbitrary<Applicability> {
  const specifier = fc.record({
    productId: fc.constantFrom(null, null, ...PRODUCT_IDS, ...COMPOSITE_IDS),
    productTags: fc.subarray(TAGS, { maxLength: 1 }),
    pricingGroupValues: fc.constantFrom({}, {}, ...MODEL_VALUES),
    presentationGroupValues: fc.constantFrom({}, {}, ...REGION_VALUES),
    exclude: exclusions(TAGS),
  });
  return fc.oneof(
    fc.constant(ANY_USAGE),
    fc.constant(ANY_USAGE),
    fc
      .record({
        productIds: fc.subarray([...PRODUCT_IDS, ...COMPOSITE_IDS]),
        productTags: fc.subarray([...TAGS, 'composite']),
      })
      .map((given) => ({ ...ANY_USAGE, ...given })),
    fc.array(specifier, { minLength: 1, maxLength: 2 }).map((specifiers) => ({ ...ANY_USAGE, specifiers })),
  );
}
