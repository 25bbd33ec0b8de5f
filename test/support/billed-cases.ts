/** Billing cases through the public API: written as catalogue, contracts and events, read back as invoices. */
import type {
  CompositeVersion,
  ProductVersion,
  Rate,
  RateEntry,
  TiersMode,
} from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import type { StreamingMetric } from '../../src/core/metric.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { formatInstant, type Instant } from '../../src/core/time.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from './catalogue-api.ts';
import type { CompositeCase } from './composite-cases.ts';
import { naivePairs } from './naive/rates.ts';
import { fixed } from './rating-scenarios.ts';
import type { SendableCustomer } from './sendable-cases.ts';
import { atoms, CONVERSION_LINE, lineText, type Share } from './shares.ts';

/** A rate card with what is on it, and what its ids are called in the case. */
export interface BilledCard {
  readonly id: string;
  /** From the name in the case to the id. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Creates metrics, products, units and rates. */
export async function createCard(api: ApiClient, given: CompositeCase): Promise<BilledCard> {
  const ids = new Map([[USD_CENTS.id, USD_CENTS.id]]);
  for (const metric of given.metrics) ids.set(metric.id, await createdId(api, METRICS, metricBody(metric)));
  for (const unit of given.worths.keys())
    ids.set(unit, await createdId(api, '/v1/credit-types/create', { name: `${unit} ${nextName()}` }));
  const id = await createdId(api, RATE_CARDS, {
    name: 'card',
    credit_type_conversions: [...given.worths].map(([unit, worth]) => ({
      custom_credit_type_id: ids.get(unit),
      fiat_per_custom_credit: decimal(fixed(worth, 2)),
    })),
  });
  for (const { product } of given.products) {
    const [first, ...updates] = product.versions;
    if (first === undefined) throw new Error('a product has a version');
    const product_id = await createdId(api, PRODUCTS, { type: 'USAGE', ...versionBody(first, ids) });
    ids.set(product.id, product_id);
    for (const version of updates) {
      await api.post('/v1/contract-pricing/products/update', {
        product_id,
        starting_at: formatInstant(version.startingAt ?? 0),
        ...versionBody(version, ids),
      });
    }
  }
  for (const { product } of given.composites) {
    const [first, ...updates] = product.versions;
    if (first === undefined) throw new Error('a product has a version');
    const product_id = await createdId(api, PRODUCTS, { type: 'COMPOSITE', ...compositeBody(first, ids) });
    ids.set(product.id, product_id);
    for (const version of updates) {
      await api.post('/v1/contract-pricing/products/update', {
        product_id,
        starting_at: formatInstant(version.startingAt ?? 0),
        ...compositeBody(version, ids),
      });
    }
  }
  const priced = [...given.products, ...given.composites];
  for (const entry of priced.flatMap(({ rateEntries }) => rateEntries)) {
    await api.post(ADD_RATES, { rate_card_id: id, rates: [rateBody(entry, ids)] });
  }
  return { id, ids };
}

let names = 0;
function nextName(): string {
  names += 1;
  return `customer-${names}`;
}

/** Creates a customer with a contract for the period, and sends its events. Returns the customer's id. */
export async function billCustomer(
  api: ApiClient,
  card: BilledCard,
  { given, repeated }: SendableCustomer,
): Promise<string> {
  const alias = nextName();
  const customer_id = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  const [firstFilter, ...laterFilters] = given.usageFilters.map((filter) => ({
    group_key: filter.groupKey,
    group_values: filter.groupValues,
    starting_at: formatInstant(filter.startingAt),
  }));
  const contract_id = await createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id: card.id,
    starting_at: formatInstant(given.period.start),
    ending_before: formatInstant(given.period.end),
    multiplier_override_prioritization: given.prioritization,
    overrides: given.overrides.map((one) => overrideBody(one, card.ids)),
    ...(firstFilter === undefined ? {} : { usage_filter: firstFilter }),
  });
  for (const filter of laterFilters)
    await api.post('/v1/contracts/setUsageFilter', { customer_id, contract_id, ...filter });
  const events = [...given.events, ...repeated.map(withOtherContent)].map((event) => ({
    transaction_id: `${alias} ${event.transactionId}`,
    customer_id: alias,
    event_type: event.eventType,
    timestamp: formatInstant(event.timestamp),
    properties: event.properties,
  }));
  for (let from = 0; from < events.length; from += 12)
    await api.post('/v1/ingest', events.slice(from, from + 12));
  return customer_id;
}

function withOtherContent(event: CompositeCase['events'][number]): CompositeCase['events'][number] {
  return { ...event, timestamp: event.timestamp - 1, properties: { ...event.properties, amount: '1000' } };
}

function metricBody(metric: StreamingMetric) {
  return {
    name: metric.name,
    aggregation_type: metric.aggregation,
    group_keys: metric.groupKeys,
    property_filters: metric.propertyFilters.map(({ name }) => ({ name, exists: true })),
    ...(metric.aggregationKey === null ? {} : { aggregation_key: metric.aggregationKey }),
    ...(metric.eventTypeFilter === null
      ? {}
      : { event_type_filter: { in_values: metric.eventTypeFilter.inValues } }),
  };
}

function versionBody(version: ProductVersion, ids: BilledCard['ids']) {
  const { quantityConversion: conversion, quantityRounding: rounding } = version;
  return {
    name: version.name,
    tags: version.tags,
    billable_metric_id: ids.get(version.billableMetricId ?? ''),
    quantity_conversion:
      conversion === null
        ? null
        : { operation: conversion.operation, conversion_factor: conversion.conversionFactor },
    quantity_rounding:
      rounding === null ? null : { rounding_method: rounding.method, decimal_places: rounding.decimalPlaces },
    ...(version.pricingGroupKey.length === 0 ? {} : { pricing_group_key: version.pricingGroupKey }),
    ...(version.presentationGroupKey.length === 0
      ? {}
      : { presentation_group_key: version.presentationGroupKey }),
  };
}

function compositeBody(version: CompositeVersion, ids: BilledCard['ids']) {
  return {
    name: version.name,
    tags: version.tags,
    composite_product_ids: version.compositeProductIds.map((id) => ids.get(id)),
    composite_tags: version.compositeTags,
    exclude_free_usage: version.excludeFreeUsage,
    include_composite_spend: version.includeCompositeSpend,
  };
}

function rateBody(entry: RateEntry, ids: BilledCard['ids']) {
  return {
    product_id: ids.get(entry.productId),
    starting_at: formatInstant(entry.startingAt),
    ...(entry.endingBefore === null ? {} : { ending_before: formatInstant(entry.endingBefore) }),
    pricing_group_values: entry.pricingGroupValues,
    entitled: entry.entitled,
    credit_type_id: ids.get(entry.creditTypeId),
    ...priceBody(entry.rate),
  };
}

function priceBody(rate: Rate) {
  const { rateType: rate_type } = rate;
  const minimum =
    'minimum' in rate && rate.minimum !== null ? { minimum_config: { minimum: rate.minimum } } : {};
  if (!('tiers' in rate)) return { rate_type, price: rate.price, ...minimum };
  const tiers = rate.tiers.map(({ size, price }) => ({ price, ...(size === null ? {} : { size }) }));
  return { rate_type, tiers, ...modeBody(rate.tiersMode), ...minimum };
}

function modeBody(mode: TiersMode | null | undefined) {
  return mode == null ? {} : { tiers_mode: mode };
}

function overrideBody(one: Override, ids: BilledCard['ids']) {
  const { overwriteRate } = one;
  return {
    starting_at: formatInstant(one.startingAt),
    ...(one.endingBefore === null ? {} : { ending_before: formatInstant(one.endingBefore) }),
    ...(one.entitled === null ? {} : { entitled: one.entitled }),
    ...(one.type === null ? {} : { type: one.type }),
    ...(one.multiplier === null ? {} : { multiplier: one.multiplier }),
    priority: one.priority,
    ...(overwriteRate === null
      ? {}
      : {
          overwrite_rate: {
            ...priceBody(overwriteRate.rate),
            ...(overwriteRate.creditTypeId === null
              ? {}
              : { credit_type_id: ids.get(overwriteRate.creditTypeId) }),
          },
        }),
    ...(one.tiers.length === 0
      ? {}
      : {
          tiers: one.tiers.map(({ size, multiplier }) => ({
            multiplier,
            ...(size === null ? {} : { size }),
          })),
          ...modeBody(one.tiersMode),
        }),
    ...(one.productId === null ? {} : { product_id: ids.get(one.productId) }),
    applicable_product_tags: one.applicableProductTags,
    override_specifiers: one.specifiers.map((specifier) => ({
      ...(specifier.productId === null ? {} : { product_id: ids.get(specifier.productId) }),
      product_tags: specifier.productTags,
      pricing_group_values: specifier.pricingGroupValues,
      presentation_group_values: specifier.presentationGroupValues,
      exclude: specifier.exclude.map(({ productTags }) => ({ product_tags: productTags })),
    })),
  };
}

/** The breakdown of the customer's invoice. */
export async function breakdownShares(
  api: ApiClient,
  card: BilledCard,
  customerId: string,
  { period }: CompositeCase,
  windowSize: 'HOUR' | 'DAY',
): Promise<Share[]> {
  const shares: Share[] = [];
  let next: string | undefined;
  do {
    const page = await api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
      query: {
        starting_on: formatInstant(period.start),
        ending_before: formatInstant(period.end),
        window_size: windowSize,
        next_page: next,
      },
    });
    for (const index of page.list('data').keys()) {
      const at = Date.parse(page.text(`data[${index}].breakdown_start_timestamp`));
      shares.push(...sharesAt(card, page, `data[${index}]`, at));
    }
    next = page.at('next_page') === null ? undefined : page.text('next_page');
  } while (next !== undefined);
  return shares;
}

/** The lines of the invoice at `path` of an answer, as those of a window that starts at `at`. */
export function sharesAt(card: BilledCard, answer: ApiAnswer, path: string, at: Instant): Share[] {
  const nameOf = (id: string) => [...card.ids].find(([, known]) => known === id)?.[0] ?? id;
  return answer.list(`${path}.line_items`).map((_, index): Share => {
    const line = `${path}.line_items[${index}]`;
    const [quantity, total] = [`${line}.quantity`, `${line}.total`].map((one) =>
      atoms(decimal(answer.digits(one))),
    ) as [bigint, bigint];
    if (answer.text(`${line}.type`) === 'cpu_conversion') {
      const creditTypeId = nameOf(answer.text(`${line}.converted_credit_type.id`));
      return { line: CONVERSION_LINE, creditTypeId, at, quantity, total };
    }
    const text = lineText(
      nameOf(answer.text(`${line}.product_id`)),
      levelAt(answer, line),
      pairsAt(answer, `${line}.pricing_group_values`),
      pairsAt(answer, `${line}.presentation_group_values`),
    );
    return { line: text, creditTypeId: nameOf(answer.text(`${line}.credit_type.id`)), at, quantity, total };
  });
}

/** 0 without tiers, null for the minimum of a composite. */
function levelAt(answer: ApiAnswer, line: string): number | null {
  if (answer.text(`${line}.name`).endsWith(' (minimum)')) return null;
  return answer.at(`${line}.tier.level`) === undefined ? 0 : Number(answer.digits(`${line}.tier.level`));
}

function pairsAt(answer: ApiAnswer, path: string): string {
  const values = answer.at(path) ?? {};
  if (typeof values !== 'object') throw new Error(`no values at ${path}`);
  return naivePairs(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])));
}
