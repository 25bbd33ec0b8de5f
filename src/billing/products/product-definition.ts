/**
 * What makes a product sound (docs/catalogue.md, "Products"). Pure; what must be looked up is passed in.
 * `field` paths are those of the create and the update request.
 */
import type { ProductType } from '../../core/catalogue.ts';
import { ZERO } from '../../core/decimal.ts';
import { invalid } from '../../core/errors.ts';
import type { BillableMetric } from '../../core/metric.ts';
import { lineKeyProblem } from '../../metering/metric-usage.ts';
import type { ProductTerms } from '../../store/product-versions.ts';

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
 * Refuses (`invalid`, naming `field`) pricing and presentation keys that the metric cannot answer: one of
 * its group keys must contain them all.
 */
export function checkGroupKeys(terms: ProductTerms, metric: BillableMetric, field: string): void {
  const names = new Set([...terms.pricingGroupKey, ...terms.presentationGroupKey]);
  const problem = lineKeyProblem(metric, [...names]);
  if (problem !== null) throw invalid(field, problem);
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
