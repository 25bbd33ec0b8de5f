/**
 * The terms of a rate card with the lookups that rating needs.
 *
 * A managed card may have tens of thousands of products, and a customer uses a few of them. Products that differ only
 * in their rates need the same usage, so one of them requests it for all; and only products with rates for existing
 * usage are rated. The others could give neither a line nor a warning, so this changes no invoice.
 */
import type { Product, RateEntry } from '../../../core/catalogue.ts';
import { eachInChunks } from '../../../core/in-chunks.ts';
import type { CardTerms } from '../../../core/invoice-terms.ts';
import type { BillableMetric } from '../../../core/metric.ts';
import { perObject } from '../../../core/per-object.ts';
import type { Override } from '../../../core/terms/overrides.ts';
import { MANAGED_TAG } from '../../../core/token-billing.ts';
import type { UsageSeries } from '../../../core/usage-series.ts';
import type { CompositeOnCard, ProductOnCard } from '../../../rating/lines/types.ts';
import { type GroupValues, groupValuesKey } from '../../../rating/quantities/group-values.ts';
import { type RateBook, rateBook } from '../../../rating/rates/rate-schedule.ts';
import type { UnitConversion } from '../../../rating/usage/cpu-conversion.ts';
import { overwrittenValues } from '../../../rating/usage/own-groups.ts';

export interface PricedCard {
  readonly terms: CardTerms;
  /** Usage products. */
  readonly products: readonly ProductOnCard[];
  /** The products whose usage includes the usage of all others. */
  readonly needing: readonly ProductOnCard[];
  readonly composites: readonly CompositeOnCard[];
  /** By custom pricing unit. */
  readonly conversions: ReadonlyMap<string, UnitConversion>;
  /** Products that are rated only if there is usage that they have a price for. */
  readonly optional: OptionalProducts;
}

interface OptionalProducts {
  readonly ids: ReadonlySet<string>;
  /** Ids of products with a rate for these pricing values, by `groupValuesKey`. */
  readonly byValues: ReadonlyMap<string, readonly string[]>;
}

type PricedProducts = Pick<PricedCard, 'products' | 'needing' | 'optional'>;

/** The metrics by which the card counts usage. */
export function metricsOfCard({ products }: CardTerms): string[] {
  const ids = new Set<string>();
  for (const { product } of products) {
    for (const { billableMetricId } of product.versions) {
      if (billableMetricId !== null) ids.add(billableMetricId);
    }
  }
  return [...ids];
}

/** Prepares the lookups of a card, once for all contracts on it. */
export async function pricedCard(
  terms: CardTerms,
  metrics: ReadonlyMap<string, BillableMetric>,
): Promise<PricedCard> {
  const own = await preparedProducts(terms.products, metrics);
  return {
    terms,
    ...own,
    composites: terms.composites.map(({ product, rateEntries }) => ({
      product,
      rates: rateBook(rateEntries),
    })),
    conversions: new Map(terms.conversions.map((one) => [one.customCreditTypeId, one])),
  };
}

/** The products that may give lines or warnings with this usage, in the order of the card. */
export function ratedProducts(
  { products, composites, optional }: PricedCard,
  overrides: readonly Override[],
  usage: readonly UsageSeries[],
): readonly ProductOnCard[] {
  // The base of a composite may depend on products without usage.
  if (optional.ids.size === 0 || composites.length > 0) return products;
  const used = new Set<string>(overwrittenValues(overrides).keys());
  for (const { groupValues } of usage) {
    for (const id of optional.byValues.get(groupValuesKey(groupValues)) ?? []) used.add(id);
  }
  return products.filter(({ product: { id } }) => !optional.ids.has(id) || used.has(id));
}

/** By the list of products in the terms, which never changes. */
const preparedProducts = perObject(prepareProducts);

async function prepareProducts(
  all: CardTerms['products'],
  metrics: ReadonlyMap<string, BillableMetric>,
): Promise<PricedProducts> {
  const products: ProductOnCard[] = [];
  const needing: ProductOnCard[] = [];
  const ids = new Set<string>();
  const byValues = new Map<string, string[]>();
  const alike = new Set<string>();
  await eachInChunks(all, ({ product, rateEntries }) => {
    const one = onCard(streamedByHour(product, metrics), rateEntries);
    products.push(one);
    const values = ownValues(one.product, rateEntries);
    const settings = values === null ? null : settingsOf(one.product);
    if (values === null || settings === null || !alike.has(settings)) {
      // The first of several similar products also warns of usage that none of them prices.
      needing.push(one);
      if (settings !== null) alike.add(settings);
      return;
    }
    ids.add(product.id);
    for (const key of values) {
      const owners = byValues.get(key);
      if (owners === undefined) byValues.set(key, [product.id]);
      else owners.push(product.id);
    }
  });
  return { products, needing, optional: { ids, byValues } };
}

/** Prices are resolved when the product is rated. */
function onCard(product: Product, rateEntries: readonly RateEntry[]): ProductOnCard {
  let book: RateBook | null = null;
  return {
    product,
    get rates() {
      book ??= rateBook(rateEntries);
      return book;
    },
  };
}

/**
 * The pricing values that the product is billed for, by `groupValuesKey`. Null if other usage may concern it, or its
 * usage is grouped by more than these values.
 */
function ownValues({ versions }: Product, rateEntries: readonly RateEntry[]): Set<string> | null {
  const [first, ...later] = versions;
  if (first === undefined || later.length > 0) return null;
  if (!first.tags.includes(MANAGED_TAG) || first.presentationGroupKey.length > 0) return null;
  const values = new Set<string>();
  for (const { pricingGroupValues, billingFrequency } of rateEntries) {
    if (billingFrequency !== null) continue;
    if (isEmpty(pricingGroupValues)) return null;
    values.add(groupValuesKey(pricingGroupValues));
  }
  return values;
}

function isEmpty(values: GroupValues): boolean {
  return Object.keys(values).length === 0;
}

/** The terms that decide which usage the only version of a product needs. */
function settingsOf({ versions: [version] }: Product): string {
  return JSON.stringify([
    version?.billableMetricId,
    version?.sqlBreakdownGranularity,
    version?.pricingGroupKey,
  ]);
}

/** A granularity applies to SQL metrics only; streaming metrics are always read by the hour. */
function streamedByHour(product: Product, metrics: ReadonlyMap<string, BillableMetric>): Product {
  const versions = product.versions.map((version) =>
    metrics.get(version.billableMetricId ?? '')?.kind === 'streaming'
      ? { ...version, sqlBreakdownGranularity: 'HOUR' as const }
      : version,
  );
  return { ...product, versions };
}
