/** Random contracts like billing cases, with composite products of every kind on top of the usage. */
import fc from 'fast-check';
import type {
  CompositeVersion,
  PercentageRate,
  ProductVersion,
  RateEntry,
} from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { type BillingCase, billingCase } from './billing-cases.ts';
import type { NaiveCompositeInput, NaiveFee } from './naive/composites.ts';
import { fixed, HOURS, PERIOD, TAGS, tiersMode } from './rating-scenarios.ts';

export type CompositeCase = BillingCase & NaiveCompositeInput;

type Composite = CompositeCase['composites'][number];

const COUNTED_IDS = ['product-1', 'product-2', 'fee-1'];
const COMPOSITE_IDS = ['composite-1', 'composite-2', 'composite-3'] as const;
const at = (hours: number) => PERIOD.start + hours * HOUR_MS;
const hundredths = (max: number) => fc.integer({ min: 0, max }).map((value) => decimal(fixed(value, 2)));

const PLAIN_VERSION: ProductVersion = {
  startingAt: null,
  name: 'Composite',
  tags: [],
  billableMetricId: null,
  quantityConversion: null,
  quantityRounding: null,
  sqlBreakdownGranularity: null,
  pricingGroupKey: [],
  presentationGroupKey: [],
  createdAt: 0,
  createdBy: 'test',
};

const minimum = fc.option(hundredths(20_000), { freq: 2 });
/** Sums of money are larger than quantities. */
const size = fc.integer({ min: 1, max: 6_000 }).map((value) => decimal(fixed(value, 2)));

const percentageRate: fc.Arbitrary<PercentageRate> = fc.oneof(
  fc.record({ rateType: fc.constant('PERCENTAGE' as const), price: hundredths(250), minimum }),
  fc
    .tuple(
      fc.array(fc.record({ size, price: hundredths(250) }), { minLength: 1, maxLength: 2 }),
      hundredths(250),
      minimum,
      tiersMode,
    )
    .map(([sized, price, least, mode]) => ({
      rateType: 'TIERED_PERCENTAGE' as const,
      ...mode,
      tiers: [...sized, { size: null, price }],
      minimum: least,
    })),
);

/** In the unit with this number among the custom ones of the case, or in the currency. Some are free. */
const fee = fc.record({
  tags: fc.subarray(TAGS),
  later: fc.option(fc.record({ hour: fc.integer({ min: 1, max: HOURS - 1 }), tags: fc.subarray(TAGS) })),
  unit: fc.nat({ max: 3 }),
  total: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9_000_000 })),
});
type Fee = typeof fee extends fc.Arbitrary<infer Value> ? Value : never;

function feeOf({ tags, later, unit, total }: Fee, index: number, { worths }: BillingCase): NaiveFee {
  const named = { ...PLAIN_VERSION, name: 'Fee', tags };
  return {
    product: {
      ...{ id: `fee-${index + 1}`, type: 'SUBSCRIPTION', archivedAt: null },
      versions: [
        named,
        ...(later === null ? [] : [{ ...named, tags: later.tags, startingAt: at(later.hour) }]),
      ],
    },
    creditTypeId: [...worths.keys()][unit] ?? USD_CENTS.id,
    total,
  };
}

export const compositeCase: fc.Arbitrary<CompositeCase> = fc
  .record({
    given: billingCase,
    composites: fc.tuple(composite(0), composite(1), composite(2)),
    count: fc.integer({ min: 1, max: 3 }),
    isReversed: fc.boolean(),
    ofComposites: fc.array(compositeOverride(), { maxLength: 2 }),
    fees: fc.array(fee, { maxLength: 2 }),
  })
  .map(({ given, composites, count, isReversed, ofComposites, fees }) => {
    const first = composites.slice(0, count);
    const allowed = ofComposites.filter(
      ({ type }) => type !== 'TIERED' || given.prioritization === 'EXPLICIT',
    );
    return {
      ...given,
      overrides: [...given.overrides.map(ofUsageOnly), ...allowed],
      composites: isReversed ? first.reverse() : first,
      fees: fees.map((one, index) => feeOf(one, index, given)),
      currency: USD_CENTS.id,
    };
  });

/** A price of usage is for usage products, which the service requires. */
function ofUsageOnly(one: Override): Override {
  if (one.type !== 'OVERWRITE') return one;
  const namesProduct =
    one.productId !== null ||
    (one.specifiers.length > 0 && one.specifiers.every(({ productId }) => productId !== null));
  return namesProduct ? one : { ...one, productId: 'product-1', applicableProductTags: [], specifiers: [] };
}

/** Counts usage products, and composites of lower numbers. */
function composite(number: number): fc.Arbitrary<Composite> {
  const id = COMPOSITE_IDS[number] ?? '';
  const turn = fc.integer({ min: 1, max: HOURS - 1 });
  return fc
    .record({
      initial: version(COMPOSITE_IDS.slice(0, number)),
      later: fc.option(version(COMPOSITE_IDS.slice(0, number)), { freq: 2 }),
      turn,
      rateEntries: fc.array(rateEntry(id), { minLength: 0, maxLength: 2 }),
      first: fc.option(percentageRate, { freq: 5 }),
    })
    .map(({ initial, later, turn: hour, rateEntries, first }) => ({
      product: {
        id,
        type: 'COMPOSITE' as const,
        archivedAt: null,
        versions: [
          { ...initial, tags: [`tag-${id}`] },
          ...(later === null ? [] : [{ ...later, tags: [`tag-${id}`], startingAt: at(hour) }]),
        ],
      },
      rateEntries: [...(first === null ? [] : [entry(id, first, -100, null)]), ...rateEntries].map(
        (one, sequence) => ({ ...one, sequence }),
      ),
    }));
}

function version(others: readonly string[]): fc.Arbitrary<CompositeVersion> {
  return fc
    .record({
      compositeProductIds: fc.subarray([...COUNTED_IDS, ...others], { minLength: 1 }),
      compositeTags: fc.subarray([...TAGS, ...others.map((id) => `tag-${id}`)]),
      excludeFreeUsage: fc.boolean(),
      includeCompositeSpend: fc.constantFrom(true, true, false),
    })
    .map((terms) => ({
      ...PLAIN_VERSION,
      ...terms,
    }));
}

function rateEntry(productId: string): fc.Arbitrary<RateEntry> {
  return fc
    .record({
      rate: percentageRate,
      start: fc.integer({ min: -5, max: HOURS }),
      length: fc.option(fc.integer({ min: 1, max: 40 })),
      entitled: fc.constantFrom(true, true, true, false),
    })
    .map(({ rate, start, length, entitled }) => ({ ...entry(productId, rate, start, length), entitled }));
}

function entry(productId: string, rate: PercentageRate, start: number, length: number | null): RateEntry {
  return {
    id: `rate-${start}`,
    rateCardId: 'card-1',
    productId,
    pricingGroupValues: {},
    billingFrequency: null,
    startingAt: at(start),
    endingBefore: length === null ? null : at(start + length),
    entitled: true,
    rate,
    creditTypeId: USD_CENTS.id,
    sequence: 0,
    commitRate: null,
  };
}

function compositeOverride(): fc.Arbitrary<Override> {
  const nothing = { multiplier: null, overwriteRate: null, tiers: [] };
  const change = fc.oneof(
    hundredths(300).map((multiplier) => ({ ...nothing, type: 'MULTIPLIER' as const, multiplier })),
    fc
      .array(fc.record({ size, multiplier: hundredths(300) }), { minLength: 1, maxLength: 2 })
      .map((tiers) => ({ ...nothing, type: 'TIERED' as const, tiers })),
    fc.tuple(percentageRate, fc.constantFrom(null, USD_CENTS.id, 'unit-a')).map(([rate, creditTypeId]) => ({
      ...nothing,
      type: 'OVERWRITE' as const,
      overwriteRate: { rate, creditTypeId },
    })),
    fc.constant({ ...nothing, type: null }),
  );
  return fc
    .record({
      change,
      start: fc.integer({ min: -5, max: HOURS - 1 }),
      length: fc.option(fc.integer({ min: 1, max: 40 })),
      productId: fc.constantFrom(...COMPOSITE_IDS),
      entitled: fc.constantFrom(null, null, true, false),
      priority: fc.integer({ min: 1, max: 3 }).map((value) => decimal(String(value))),
    })
    .map(({ change: changed, start, length, entitled, ...rest }) => ({
      id: 'id',
      contractId: 'contract',
      createdAt: 0,
      startingAt: at(start),
      endingBefore: length === null ? null : at(start + length),
      applicableProductTags: [],
      specifiers: [],
      isCommitSpecific: false,
      target: 'LIST_RATE' as const,
      ...rest,
      ...changed,
      // An override has to say something.
      entitled: changed.type === null ? entitled === true : entitled,
    }));
}
