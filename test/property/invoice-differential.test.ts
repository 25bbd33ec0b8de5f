/**
 * The whole service against two naive engines: random catalogues and events go through the public API,
 * and every hour of the breakdown, every day, every line and the total must be what a slow and obvious
 * calculation over the event list says. Covers all five aggregations, tiers, groups, duplicates and custom
 * pricing units.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Product, RateEntry, Tier } from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import { AGGREGATIONS, type Aggregation, type StreamingMetric } from '../../src/core/metric.ts';
import { formatInstant, HOUR_MS, type Interval } from '../../src/core/time.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import { createdId } from '../support/catalogue-api.ts';
import { addLines, breakdownAmounts, regroup } from '../support/invoice-amounts.ts';
import { type NaiveUnit, naiveConversions, naiveRating } from '../support/naive-rating.ts';
import { type NaiveEvent, naiveCumulative } from '../support/naive-usage.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PERIOD: Interval = { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 11, 1) };
const PERIOD_START = '2026-11-01T00:00:00Z';

let service: TestService;
/** Custom pricing units. */
let unitIds: string[];
beforeAll(async () => {
  service = await startTestService({ sandboxNow: '2026-11-30T23:00:00Z' });
  unitIds = [];
  for (const name of ['AI credits', 'Compute units']) {
    unitIds.push(await createdId(service.api, '/v1/credit-types/create', { name }));
  }
});
afterAll(() => service.close());

interface RandomEvent {
  readonly hour: number;
  readonly millisecond: number;
  /** In hundredths. */
  readonly value: number;
  readonly model: string;
  /** Sends the id of an earlier event again, with this content. */
  readonly repeats: number | null;
}

const randomEvent: fc.Arbitrary<RandomEvent> = fc.record({
  hour: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 719 })),
  millisecond: fc.oneof(fc.constantFrom(0, HOUR_MS - 1), fc.integer({ min: 0, max: HOUR_MS - 1 })),
  value: fc.integer({ min: -300, max: 900 }),
  model: fc.constantFrom('a', 'b'),
  repeats: fc.option(fc.nat(1_000), { freq: 4 }),
});

interface RandomRate {
  /** Widths of the tiers before the last one, in hundredths; none for a flat price. */
  readonly sizes: readonly number[];
  readonly prices: readonly number[];
}

const randomRate: fc.Arbitrary<RandomRate> = fc.record({
  sizes: fc.array(fc.integer({ min: 50, max: 800 }), { maxLength: 2 }),
  prices: fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 3, maxLength: 3 }),
});

function hundredths(value: number): string {
  const digits = String(Math.abs(value)).padStart(3, '0');
  return `${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

function tiersOf({ sizes, prices }: RandomRate): Tier[] {
  return [...sizes, null].map((size, index) => ({
    size: size === null ? null : decimal(hundredths(size)),
    price: decimal(hundredths(prices[index] ?? 0)),
  }));
}

interface RandomUnits {
  /** Which unit each product is priced in; null: the currency. */
  readonly ofProducts: readonly (number | null)[];
  /** What one of each unit is worth, in hundredths of a cent. */
  readonly worths: readonly number[];
}

const randomUnits: fc.Arbitrary<RandomUnits> = fc.record({
  ofProducts: fc.array(fc.constantFrom(null, 0, 1), { minLength: 5, maxLength: 5 }),
  worths: fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 2, maxLength: 2 }),
});

/** One metric and one product per aggregation, on one card: through the API and as plain values. */
async function createCatalogue(rates: readonly RandomRate[], { ofProducts, worths }: RandomUnits) {
  const { api } = service;
  const rateCardId = await createdId(api, '/v1/contract-pricing/rate-cards/create', {
    name: 'card',
    credit_type_conversions: unitIds.map((id, index) => ({
      custom_credit_type_id: id,
      fiat_per_custom_credit: decimal(hundredths(worths[index] ?? 0)),
    })),
  });
  const units = new Map<string, NaiveUnit>();
  const metrics: StreamingMetric[] = [];
  const products: { product: Product; rateEntries: RateEntry[] }[] = [];
  for (const [index, aggregation] of AGGREGATIONS.entries()) {
    const metric = await createMetric(aggregation);
    const keys =
      index % 2 === 0 ? { pricing: ['model'], presentation: [] } : { pricing: [], presentation: ['model'] };
    const productId = await createdId(api, '/v1/contract-pricing/products/create', {
      name: aggregation,
      type: 'USAGE',
      billable_metric_id: metric.id,
      ...(keys.pricing.length > 0 ? { pricing_group_key: keys.pricing } : {}),
      ...(keys.presentation.length > 0 ? { presentation_group_key: keys.presentation } : {}),
    });
    const tiers = tiersOf(rates[index] ?? { sizes: [], prices: [100] });
    const [first] = tiers;
    const isTiered = tiers.length > 1;
    const unit = ofProducts[index] ?? null;
    const creditTypeId = unit === null ? USD_CENTS.id : (unitIds[unit] ?? '');
    if (unit !== null) units.set(productId, { id: creditTypeId, worth: worths[unit] ?? 0 });
    await api.post('/v1/contract-pricing/rate-cards/addRate', {
      rate_card_id: rateCardId,
      product_id: productId,
      starting_at: PERIOD_START,
      entitled: true,
      credit_type_id: creditTypeId,
      ...(isTiered
        ? {
            rate_type: 'TIERED',
            tiers: tiers.map(({ size, price }) => ({ price, ...(size === null ? {} : { size }) })),
          }
        : { rate_type: 'FLAT', price: first?.price }),
    });
    metrics.push(metric);
    products.push({
      product: plainProduct(productId, metric, keys),
      rateEntries: [
        {
          id: productId,
          rateCardId,
          productId,
          pricingGroupValues: {},
          billingFrequency: null,
          startingAt: PERIOD.start,
          endingBefore: null,
          entitled: true,
          rate: isTiered
            ? { rateType: 'TIERED', tiers }
            : { rateType: 'FLAT', price: first?.price ?? decimal('0') },
          creditTypeId,
          sequence: index,
        },
      ],
    });
  }
  return { rateCardId, metrics, products, units };
}

async function createMetric(aggregation: Aggregation): Promise<StreamingMetric> {
  const id = await createdId(service.api, '/v1/billable-metrics/create', {
    name: aggregation,
    aggregation_type: aggregation,
    ...(aggregation === 'COUNT' ? {} : { aggregation_key: 'amount' }),
    property_filters: [
      { name: 'amount', exists: true },
      { name: 'model', exists: true },
    ],
    group_keys: [['model']],
  });
  const filter = { exists: true, inValues: null, notInValues: null };
  return {
    kind: 'streaming',
    id,
    name: aggregation,
    eventTypeFilter: null,
    propertyFilters: [
      { name: 'amount', ...filter },
      { name: 'model', ...filter },
    ],
    aggregation,
    aggregationKey: aggregation === 'COUNT' ? null : 'amount',
    groupKeys: [['model']],
    archivedAt: null,
  };
}

function plainProduct(
  id: string,
  metric: StreamingMetric,
  keys: { pricing: readonly string[]; presentation: readonly string[] },
): Product {
  return {
    id,
    type: 'USAGE',
    archivedAt: null,
    versions: [
      {
        startingAt: null,
        name: metric.name,
        tags: [],
        billableMetricId: metric.id,
        quantityConversion: null,
        quantityRounding: null,
        sqlBreakdownGranularity: null,
        pricingGroupKey: keys.pricing,
        presentationGroupKey: keys.presentation,
        createdAt: 0,
        createdBy: 'test',
      },
    ],
  };
}

/** Sends the events in requests of a few, repeats included, and returns those that must count. */
async function sendEvents(alias: string, events: readonly RandomEvent[]): Promise<NaiveEvent[]> {
  const sent = events.map((event, index) => {
    const original = event.repeats === null ? index : event.repeats % (index + 1);
    return { ...event, id: `${alias}-${original}`, isFirst: original === index };
  });
  const known = new Set<string>();
  const counted: NaiveEvent[] = [];
  for (const [index, event] of sent.entries()) {
    if (known.has(event.id)) continue;
    known.add(event.id);
    counted.push({
      transactionId: event.id,
      customerRef: alias,
      eventType: 'use',
      timestamp: PERIOD.start + event.hour * HOUR_MS + event.millisecond,
      properties: { amount: hundredths(event.value), model: event.model },
      ingestedAt: index,
    });
  }
  const wire = sent.map((event) => ({
    transaction_id: event.id,
    customer_id: alias,
    event_type: 'use',
    timestamp: formatInstant(PERIOD.start + event.hour * HOUR_MS + event.millisecond),
    properties: { amount: hundredths(event.value), model: event.model },
  }));
  for (let from = 0; from < wire.length; from += 7) {
    await service.api.post('/v1/ingest', wire.slice(from, from + 7));
  }
  return counted;
}

/** V at the end of every hour that has an event, by the naive aggregation. */
function naiveSeries(metric: StreamingMetric, alias: string, events: readonly NaiveEvent[]): UsageSeries[] {
  const ends = [...new Set(events.map(({ timestamp }) => Math.floor(timestamp / HOUR_MS + 1) * HOUR_MS))];
  const byModel = new Map<string, { at: number; value: ReturnType<typeof decimal> }[]>();
  for (const at of ends.sort((a, b) => a - b)) {
    for (const { group, value } of naiveCumulative(metric, events, [alias], PERIOD, at, ['model'])) {
      const model = group[0] ?? '';
      byModel.set(model, [...(byModel.get(model) ?? []), { at, value: decimal(value) }]);
    }
  }
  return [...byModel].map(([model, steps]) => ({ groupValues: { model }, steps }));
}

let run = 0;

it('invoices, hours and days equal the naive engines over random events, prices and duplicates', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomEvent, { minLength: 1, maxLength: 60 }),
      fc.array(randomRate, { minLength: 5, maxLength: 5 }),
      randomUnits,
      async (events, rates, randomlyPriced) => {
        run += 1;
        const alias = `customer-${run}`;
        const customerId = await createdId(service.api, '/v1/customers', {
          name: alias,
          ingest_aliases: [alias],
        });
        const { rateCardId, metrics, products, units } = await createCatalogue(rates, randomlyPriced);
        await createdId(service.api, '/v1/contracts/create', {
          customer_id: customerId,
          rate_card_id: rateCardId,
          starting_at: PERIOD_START,
        });
        const counted = await sendEvents(alias, events);
        const usage = metrics.map((metric) => ({
          billableMetricId: metric.id,
          groupKeys: ['model'],
          series: naiveSeries(metric, alias, counted),
        }));
        const usageHours = naiveRating(PERIOD, products, usage);
        const expectedHours = {
          usage: usageHours,
          conversions: naiveConversions(usageHours, (productId) => units.get(productId) ?? null),
        };
        const expectedIn = (windowOf: (hour: number) => number) => ({
          usage: regroup(expectedHours.usage, windowOf),
          conversions: regroup(expectedHours.conversions, windowOf),
        });
        expect(await breakdownAmounts(service.api, customerId, PERIOD, 'HOUR')).toEqual(expectedHours);
        expect(await breakdownAmounts(service.api, customerId, PERIOD, 'DAY')).toEqual(
          expectedIn((hour) => Math.floor(hour / (24 * HOUR_MS)) * 24 * HOUR_MS),
        );
        const invoices = await service.api.get(`/v1/customers/${customerId}/invoices`);
        const lines = { usage: new Map(), conversions: new Map() };
        addLines(lines, invoices, 'data[0]', 0);
        expect(lines).toEqual(expectedIn(() => 0));
        const inCents = [...usageHours].filter(([key]) => !units.has(key.split('|')[0] ?? ''));
        const total =
          inCents.reduce((all, [, amount]) => all + amount.total * 100, 0) +
          [...expectedHours.conversions.values()].reduce((all, amount) => all + amount.total, 0);
        expect(decimal(invoices.digits('data[0].total')).times('1000000').toFixed()).toBe(String(total));
      },
    ),
    { numRuns: 6 },
  );
}, 120_000);
