/** Random rating cases: versions, rates and usage of every shape over two or three days. */
import fc from 'fast-check';
import type {
  Product,
  ProductVersion,
  QuantityConversion,
  QuantityRounding,
  RateEntry,
  TiersMode,
  UsageRate,
} from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import type { BilledPeriod } from '../../src/core/invoice.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import { wholePeriod } from '../../src/rating/periods/billing-periods.ts';
import type { MeteredUsage } from '../../src/rating/quantities/usage-need.ts';

export const PERIOD: BilledPeriod = wholePeriod({
  start: Date.UTC(2026, 2, 1, 7),
  end: Date.UTC(2026, 2, 3, 5),
});
export const HOURS = (PERIOD.end - PERIOD.start) / HOUR_MS;
export const TAGS = ['ai', 'llm'];
export const METRICS = ['metric-a', 'metric-b'] as const;
const GROUPINGS: readonly string[][] = [[], ['model'], ['region'], ['model', 'region']];
const VALUES: Readonly<Record<string, readonly string[]>> = { model: ['m', 'n'], region: ['eu', 'us'] };

/** A usage product with the rates that were added for it. */
export interface ProductWithRates {
  readonly product: Product;
  readonly rateEntries: readonly RateEntry[];
}

export interface Scenario {
  readonly period: BilledPeriod;
  readonly products: readonly ProductWithRates[];
  readonly usage: readonly MeteredUsage[];
}

/** How fine the numbers of a scenario are. */
export interface Numbers {
  /** Decimal places of a usage value. */
  readonly usagePlaces: number;
  readonly price: fc.Arbitrary<string>;
  readonly tierSize: fc.Arbitrary<string>;
  readonly settings: fc.Arbitrary<Pick<ProductVersion, 'quantityConversion' | 'quantityRounding'>>;
}

/** Every quantity is a multiple of 0.01, as the naive engine needs. */
export const HUNDREDTHS: Numbers = {
  usagePlaces: 1,
  price: fc.integer({ min: 0, max: 9 }).map(String),
  tierSize: fc.integer({ min: 1, max: 900 }).map((n) => fixed(n, 2)),
  settings: fc.oneof(
    settings(fc.constant(null), rounding(2)),
    settings(conversion('MULTIPLY', '0.5', '2'), rounding(1)),
    settings(conversion('DIVIDE', '2'), fc.constant(null)),
    settings(conversion('DIVIDE', '3', '7', '1.5'), rounding(1, false)),
  ),
};

/** Long decimals, repeating quotients, prices far below a cent. */
export const LONG_DECIMALS: Numbers = {
  usagePlaces: 9,
  price: fc.integer({ min: 0, max: 10 ** 9 }).map((n) => fixed(n, 7)),
  tierSize: fc.integer({ min: 1, max: 10 ** 9 }).map((n) => fixed(n, 7)),
  settings: settings(
    fc.oneof(
      fc.constant(null),
      conversion('DIVIDE', '3', '7', '1024', '1000000'),
      conversion('MULTIPLY', '0.333'),
    ),
    rounding(6),
  ),
};

export function scenario(numbers: Numbers): fc.Arbitrary<Scenario> {
  return fc
    .tuple(
      productWithRates('product-1', numbers),
      productWithRates('product-2', numbers),
      meteredUsage(numbers),
    )
    .map(([one, two, usage]) => ({ period: PERIOD, products: [one, two], usage }));
}

export function productWithRates(id: string, numbers: Numbers): fc.Arbitrary<ProductWithRates> {
  return fc
    .tuple(product(id, numbers), fc.array(rateEntry(id, numbers), { maxLength: 6 }))
    .map(([one, entries]) => ({
      product: one,
      rateEntries: entries.map((entry, sequence) => ({ ...entry, sequence })),
    }));
}

function product(id: string, numbers: Numbers): fc.Arbitrary<Product> {
  const later = fc.array(fc.tuple(fc.integer({ min: -5, max: HOURS }), version(numbers)), { maxLength: 3 });
  return fc.tuple(version(numbers), later).map(([initial, updates]) => ({
    id,
    type: 'USAGE',
    archivedAt: null,
    versions: [
      initial,
      ...updates
        .sort(([a], [b]) => a - b)
        .map(([at, one]) => ({ ...one, startingAt: PERIOD.start + at * HOUR_MS })),
    ],
  }));
}

function version(numbers: Numbers): fc.Arbitrary<ProductVersion> {
  const grouping = fc.constantFrom(...GROUPINGS);
  return fc
    .record({
      name: fc.constantFrom('Tokens', 'Words'),
      tags: fc.subarray([...TAGS]),
      billableMetricId: fc.constantFrom(...METRICS),
      settings: numbers.settings,
      pricingGroupKey: grouping,
      presentationGroupKey: grouping,
    })
    .map(({ settings: given, ...fields }) => ({
      startingAt: null,
      sqlBreakdownGranularity: 'HOUR',
      createdAt: 0,
      createdBy: 'test',
      ...fields,
      ...given,
    }));
}

function rateEntry(productId: string, numbers: Numbers): fc.Arbitrary<RateEntry> {
  return fc
    .record({
      start: fc.integer({ min: -20, max: HOURS }),
      length: fc.option(fc.integer({ min: 1, max: 40 })),
      pricingGroupValues: fc.constantFrom<Record<string, string>>(
        {},
        {},
        { model: 'm' },
        { region: 'eu', model: 'm' },
      ),
      entitled: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
      rate: rate(numbers),
    })
    .map(({ start, length, ...fields }) => ({
      id: `rate-${start}`,
      rateCardId: 'card-1',
      productId,
      billingFrequency: null,
      startingAt: PERIOD.start + start * HOUR_MS,
      endingBefore: length === null ? null : PERIOD.start + (start + length) * HOUR_MS,
      creditTypeId: USD_CENTS.id,
      sequence: 0,
      commitRate: null,
      ...fields,
    }));
}

function rate({ price, tierSize }: Numbers): fc.Arbitrary<UsageRate> {
  const flat = price.map((text): UsageRate => ({ rateType: 'FLAT', price: decimal(text) }));
  const tiered = fc.tuple(fc.array(fc.tuple(tierSize, price), { maxLength: 3 }), price, tiersMode).map(
    ([sized, last, mode]): UsageRate => ({
      rateType: 'TIERED',
      ...mode,
      tiers: [
        ...sized.map(([size, text]) => ({ size: decimal(size), price: decimal(text) })),
        { size: null, price: decimal(last) },
      ],
    }),
  );
  return fc.oneof(flat, tiered);
}

/** Graduated and volume prices. */
export const tiersMode = fc.constantFrom<{ readonly tiersMode?: TiersMode }>({}, {}, { tiersMode: 'volume' });

function meteredUsage(numbers: Numbers): fc.Arbitrary<MeteredUsage[]> {
  const needs = METRICS.flatMap((billableMetricId) =>
    GROUPINGS.map((groupKeys) => ({ billableMetricId, groupKeys })),
  );
  return fc.tuple(
    ...needs.map(({ billableMetricId, groupKeys }) =>
      fc.tuple(...combinations(groupKeys).map((groupValues) => fc.option(series(groupValues, numbers)))).map(
        (found): MeteredUsage => ({
          billableMetricId,
          evaluatedAt: 'hour',
          usageFilter: null,
          groupKeys,
          series: found.filter((one) => one !== null),
        }),
      ),
    ),
  );
}

function combinations(groupKeys: readonly string[]): Record<string, string>[] {
  return groupKeys.reduce<Record<string, string>[]>(
    (found, name) =>
      found.flatMap((values) => (VALUES[name] ?? []).map((value) => ({ ...values, [name]: value }))),
    [{}],
  );
}

/** Rising as a sum does, resting as a maximum does, or jumping up and down below 0 as a last value does. */
function series(groupValues: Record<string, string>, { usagePlaces }: Numbers): fc.Arbitrary<UsageSeries> {
  const grain = 10 ** usagePlaces;
  const hours = fc.uniqueArray(fc.integer({ min: 1, max: HOURS }), { minLength: 1, maxLength: 12 });
  const rising = fc
    .array(fc.integer({ min: 0, max: 5 * grain }), { minLength: 12, maxLength: 12 })
    .map(runningSums);
  const jumping = fc.array(fc.integer({ min: -10 * grain, max: 25 * grain }), {
    minLength: 12,
    maxLength: 12,
  });
  return fc.tuple(hours, fc.oneof(rising, jumping)).map(([at, values]) => ({
    groupValues,
    steps: at
      .sort((a, b) => a - b)
      .map((end, index) => ({
        at: PERIOD.start + end * HOUR_MS,
        value: decimal(fixed(values[index] ?? 0, usagePlaces)),
      })),
  }));
}

function runningSums(increments: readonly number[]): number[] {
  let total = 0;
  return increments.map((increment) => {
    total += increment;
    return total;
  });
}

function settings(
  conversions: fc.Arbitrary<QuantityConversion | null>,
  roundings: fc.Arbitrary<QuantityRounding | null>,
) {
  return fc.record({ quantityConversion: conversions, quantityRounding: roundings });
}

function conversion(
  operation: QuantityConversion['operation'],
  ...factors: string[]
): fc.Arbitrary<QuantityConversion> {
  return fc
    .constantFrom(...factors)
    .map((factor) => ({ name: null, operation, conversionFactor: decimal(factor) }));
}

function rounding(placesMax: number, optional = true): fc.Arbitrary<QuantityRounding | null> {
  const given = fc.record({
    method: fc.constantFrom('ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP'),
    decimalPlaces: fc.integer({ min: 0, max: placesMax }),
  });
  return optional ? fc.option(given) : given;
}

/** `fixed(1234, 2)` is `12.34`: exact, unlike a division. */
export function fixed(units: number, places: number): string {
  const digits = String(Math.abs(units)).padStart(places + 1, '0');
  const split = digits.length - places;
  return `${units < 0 ? '-' : ''}${digits.slice(0, split)}${places === 0 ? '' : '.'}${digits.slice(split)}`;
}
