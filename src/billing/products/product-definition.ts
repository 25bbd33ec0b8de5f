/** Validates products (docs/explanation/catalogue.md, "Products"). Pure; loaded data is passed in. */
import type { ProductType } from '../../core/catalogue.ts';
import { ZERO } from '../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../core/errors.ts';
import type { BillableMetric } from '../../core/metric.ts';
import { lineKeyProblem } from '../../metering/usage/metric-usage.ts';
import type { ProductTerms } from '../../store/products/product-versions.ts';

/** Refuses (`invalid`) terms that do not belong to products of this type, and missing ones that do. */
export function checkTermsOfType(type: ProductType, terms: ProductTerms): void {
  refuseForeignTerms(type, 'USAGE', {
    billableMetricId: terms.billableMetricId !== null,
    sqlBreakdownGranularity: terms.sqlBreakdownGranularity !== null,
    quantityConversion: terms.quantityConversion !== null,
    quantityRounding: terms.quantityRounding !== null,
    pricingGroupKey: terms.pricingGroupKey.length > 0,
    presentationGroupKey: terms.presentationGroupKey.length > 0,
  });
  refuseForeignTerms(type, 'COMPOSITE', {
    compositeProductIds: terms.compositeProductIds.length > 0,
    compositeTags: terms.compositeTags.length > 0,
    excludeFreeUsage: terms.excludeFreeUsage,
    includeCompositeSpend: terms.includeCompositeSpend,
  });
  if (type === 'USAGE' && terms.billableMetricId === null) {
    throw invalid(['billableMetricId'], 'is required for USAGE products');
  }
  if (type === 'COMPOSITE' && terms.compositeProductIds.length === 0 && terms.compositeTags.length === 0) {
    throw invalid(
      ['compositeProductIds'],
      words`a COMPOSITE product needs ${['compositeProductIds']} or ${['compositeTags']}`,
    );
  }
  if (terms.quantityConversion?.conversionFactor.lte(ZERO)) {
    throw invalid(['quantityConversion', 'conversionFactor'], 'must be greater than 0');
  }
  refuseRepeats(['pricingGroupKey'], terms.pricingGroupKey);
  refuseRepeats(['presentationGroupKey'], terms.presentationGroupKey);
}

/**
 * Refuses (`invalid`, naming `field`) pricing and presentation keys that the metric cannot answer: one of
 * its group keys must contain them all.
 */
export async function checkGroupKeys(
  terms: ProductTerms,
  metric: BillableMetric,
  field: FieldPath,
): Promise<void> {
  const names = new Set([...terms.pricingGroupKey, ...terms.presentationGroupKey]);
  const problem = await lineKeyProblem(metric, [...names]);
  if (problem !== null) throw invalid(field, problem);
}

function refuseForeignTerms(
  type: ProductType,
  owner: ProductType,
  given: Readonly<Record<string, boolean>>,
): void {
  if (type === owner) return;
  const field = Object.keys(given).find((name) => given[name]);
  if (field !== undefined) throw invalid([field], `is for ${owner} products, not for ${type}`);
}

function refuseRepeats(field: FieldPath, names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) !== index) throw invalid([...field, index], `repeats ${name}`);
  }
}
