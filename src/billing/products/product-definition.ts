/**
 * What makes a product sound (docs/rating.md, "Products"). Pure; what must be looked up is passed in.
 * `field` paths are those of the create request.
 */
import type { ProductType } from '../../core/catalogue.ts';
import { ZERO } from '../../core/decimal.ts';
import { invalid } from '../../core/errors.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { StoredProductVersion } from '../../store/products.ts';

/** A version as a client describes it: without its dates and its author. */
export type ProductTerms = Omit<StoredProductVersion, 'startingAt' | 'createdAt' | 'createdBy'>;

/** Refuses (`invalid`) terms that do not belong to products of this type, and missing ones that do. */
export function checkTermsOfType(type: ProductType, terms: ProductTerms): void {
  refuseForeignTerms(type, 'USAGE', {
    billable_metric_id: terms.billableMetricId !== null,
    sql_breakdown_granularity: terms.sqlBreakdownGranularity !== null,
    quantity_conversion: terms.quantityConversion !== null,
    quantity_rounding: terms.quantityRounding !== null,
    pricing_group_key: terms.pricingGroupKey.length > 0,
    presentation_group_key: terms.presentationGroupKey.length > 0,
  });
  refuseForeignTerms(type, 'COMPOSITE', {
    composite_product_ids: terms.compositeProductIds.length > 0,
    composite_tags: terms.compositeTags.length > 0,
    exclude_free_usage: terms.excludeFreeUsage,
    include_composite_spend: terms.includeCompositeSpend,
  });
  if (type === 'USAGE' && terms.billableMetricId === null) {
    throw invalid('billable_metric_id', 'is required for USAGE products');
  }
  if (type === 'COMPOSITE' && terms.compositeProductIds.length === 0 && terms.compositeTags.length === 0) {
    throw invalid(
      'composite_product_ids',
      'a COMPOSITE product needs composite_product_ids or composite_tags',
    );
  }
  if (terms.quantityConversion?.conversionFactor.lte(ZERO)) {
    throw invalid('quantity_conversion.conversion_factor', 'must be greater than 0');
  }
  refuseRepeats('pricing_group_key', terms.pricingGroupKey);
  refuseRepeats('presentation_group_key', terms.presentationGroupKey);
}

/**
 * Refuses (`invalid`) pricing and presentation keys that the metric cannot answer: one of its group keys
 * must contain them all.
 */
export function checkGroupKeys(terms: ProductTerms, metric: BillableMetric): void {
  const needed = new Set([...terms.pricingGroupKey, ...terms.presentationGroupKey]);
  if (needed.size === 0) return;
  const answered = metric.groupKeys.some((key) => [...needed].every((name) => key.includes(name)));
  if (answered) return;
  const field = terms.pricingGroupKey.length > 0 ? 'pricing_group_key' : 'presentation_group_key';
  throw invalid(
    field,
    `billable metric ${metric.id} has no group key that contains ${[...needed].join(', ')}`,
  );
}

function refuseForeignTerms(
  type: ProductType,
  owner: ProductType,
  given: Readonly<Record<string, boolean>>,
): void {
  if (type === owner) return;
  const field = Object.keys(given).find((name) => given[name]);
  if (field !== undefined) throw invalid(field, `is for ${owner} products, not for ${type}`);
}

function refuseRepeats(field: string, names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) !== index) throw invalid(`${field}[${index}]`, `repeats ${name}`);
  }
}
