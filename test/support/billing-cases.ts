/**
 * Random contracts with all input of their usage invoice: events, metrics, products with versions, rates over
 * time, custom units, overrides and usage filters. Numbers suit the naive engine.
 */
import fc from 'fast-check';
import type { Rate, RateEntry } from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { AGGREGATIONS, type StreamingMetric } from '../../src/core/metric.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { NaiveInput } from './naive/rating.ts';
import type { NaiveEvent } from './naive/usage.ts';
import { allowedUnder, override, usageRate } from './override-cases.ts';
import {
  fixed,
  HOURS,
  HUNDREDTHS,
  METRICS,
  PERIOD,
  type ProductWithRates,
  productWithRates,
  TAGS,
} from './rating-scenarios.ts';

export interface BillingCase extends NaiveInput {
  /** The value of one of each custom unit, in hundredths of a cent. */
  readonly worths: ReadonlyMap<string, number>;
}

const PRODUCT_IDS = ['product-1', 'product-2'] as const;
const UNITS = ['unit-a', 'unit-b'] as const;
/** Pricing unit of a rate; the currency is as likely as both custom ones together. */
const creditTypeId = fc.constantFrom(USD_CENTS.id, USD_CENTS.id, ...UNITS);
/** Any hour of the period, half of them among the first. */
const hour = fc.oneof(fc.integer({ min: 0, max: HOURS - 1 }), fc.integer({ min: 0, max: 5 }));
/** The same, or from before the period. */
const start = fc.oneof(fc.constantFrom(-5, -1), hour);
const at = (hours: number) => PERIOD.start + hours * HOUR_MS;

/** The granularities of the versions in turn: by the hour, or once at the end of what is counted in one way. */
const granularities = fc.array(fc.constantFrom('HOUR' as const, 'HOUR' as const, 'SERVICE_PERIOD' as const), {
  minLength: 6,
  maxLength: 6,
});

export const billingCase: fc.Arbitrary<BillingCase> = fc
  .record({
    metrics: fc.tuple(metric(METRICS[0]), metric(METRICS[1])),
    events: fc.array(event(), { minLength: 1, maxLength: 30, size: 'max' }),
    products: fc.tuple(pricedProduct(PRODUCT_IDS[0]), pricedProduct(PRODUCT_IDS[1])),
    overrides: fc.array(contractOverride(), { maxLength: 4 }),
    prioritization: fc.constantFrom('LOWEST_MULTIPLIER' as const, 'EXPLICIT' as const),
    usageFilters: fc.array(usageFilter(), { maxLength: 2 }),
    worths: fc.tuple(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1, max: 999 })),
  })
  .map(({ events, overrides, usageFilters, worths, ...given }) => ({
    ...given,
    period: PERIOD,
    events: events.map((one, index) => ({ ...one, transactionId: `event-${index}`, ingestedAt: index })),
    overrides: allowedUnder(given.prioritization, overrides),
    usageFilters: usageFilters.sort((a, b) => a.startingAt - b.startingAt),
    worths: new Map(UNITS.map((unit, index) => [unit, worths[index] ?? 0])),
  }));

const IS_PRESENT = { exists: true, inValues: null, notInValues: null };

function metric(id: string): fc.Arbitrary<StreamingMetric> {
  const onlyUse = { inValues: ['use'], notInValues: null };
  return fc
    .record({
      aggregation: fc.constantFrom(...AGGREGATIONS),
      eventTypeFilter: fc.constantFrom(null, onlyUse),
    })
    .map(({ aggregation, eventTypeFilter }) => ({
      kind: 'streaming',
      id,
      name: aggregation,
      eventTypeFilter,
      propertyFilters: ['amount', 'model', 'region'].map((property) => ({ name: property, ...IS_PRESENT })),
      aggregation,
      aggregationKey: aggregation === 'COUNT' ? null : 'amount',
      groupKeys: [['model', 'region']],
      archivedAt: null,
    }));
}

/** Also at the first and the last instant of an hour. */
function event(): fc.Arbitrary<Omit<NaiveEvent, 'transactionId' | 'ingestedAt'>> {
  return fc
    .record({
      hour,
      millisecond: fc.oneof(fc.constantFrom(0, HOUR_MS - 1), fc.integer({ min: 0, max: HOUR_MS - 1 })),
      eventType: fc.constantFrom('use', 'use', 'use', 'other'),
      /** In tenths. */
      amount: fc.option(fc.integer({ min: -20, max: 60 }), { freq: 8 }),
      model: fc.constantFrom('m', 'm', 'm', 'm', 'n', 'n', 'n', null),
      region: fc.constantFrom('eu', 'eu', 'us', 'us', 'us', 'us', null),
    })
    .map(({ hour: hours, millisecond, eventType, amount, model, region }) => ({
      customerRef: 'customer',
      eventType,
      timestamp: at(hours) + millisecond,
      properties: {
        ...(amount === null ? {} : { amount: fixed(amount, 1) }),
        ...(model === null ? {} : { model }),
        ...(region === null ? {} : { region }),
      },
    }));
}

/** Mostly with one rate for everything from before the period, and others over time. */
function pricedProduct(id: string): fc.Arbitrary<ProductWithRates> {
  const units = fc.array(creditTypeId, { minLength: 8, maxLength: 8 });
  return fc
    .tuple(productWithRates(id, HUNDREDTHS), fc.option(usageRate, { freq: 5 }), units, granularities)
    .map(([{ product, rateEntries }, rate, chosen, granularity]) => ({
      product: {
        ...product,
        versions: product.versions.map((version, index) => ({
          ...version,
          sqlBreakdownGranularity: granularity[index] ?? 'HOUR',
        })),
      },
      rateEntries: [...(rate === null ? [] : [firstRate(id, rate)]), ...rateEntries].map(
        (entry, sequence) => ({ ...entry, sequence, creditTypeId: chosen[sequence] ?? USD_CENTS.id }),
      ),
    }));
}

function firstRate(productId: string, rate: Rate): RateEntry {
  return {
    id: 'first-rate',
    rateCardId: 'card-1',
    productId,
    pricingGroupValues: {},
    billingFrequency: null,
    startingAt: at(-100),
    endingBefore: null,
    entitled: true,
    rate,
    creditTypeId: USD_CENTS.id,
    sequence: 0,
    commitRate: null,
  };
}

function contractOverride() {
  return override({
    terms: fc
      .record({ from: start, length: fc.option(fc.integer({ min: 0, max: 40 })) })
      .map(({ from, length }) => ({
        startingAt: at(from),
        endingBefore: length === null ? null : at(from + length),
      })),
    productIds: PRODUCT_IDS,
    tags: TAGS,
    pricingGroupValues: [{ model: 'm' }, { region: 'eu' }],
    presentationGroupValues: [{ region: 'us' }, { model: 'n' }],
    creditTypeIds: [null, null, USD_CENTS.id, ...UNITS],
    withCommits: false,
  });
}

function usageFilter() {
  return fc
    .record({ from: start, groupValues: fc.subarray(['eu', 'us'], { minLength: 1 }) })
    .map(({ from, groupValues }) => ({ startingAt: at(from), groupKey: 'region', groupValues }));
}
