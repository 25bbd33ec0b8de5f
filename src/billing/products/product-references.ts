/** Loads and validates the references of a product: its metric, and the parts of a composite. */
import { assert, invalid } from '../../core/errors.ts';
import { compositeCycle } from '../../rating/composites/composite-cycles.ts';
import type { Transaction } from '../../store/base/database.ts';
import { findMetric, loadMetrics } from '../../store/metrics/billable-metrics.ts';
import type { ProductChanges, StoredProductVersion } from '../../store/products/product-versions.ts';
import {
  loadComposites,
  loadProducts,
  lockComposites,
  type StoredProduct,
} from '../../store/products/products.ts';
import { checkGroupKeys } from './product-definition.ts';

/** Refuses (`invalid`) terms that name a metric or products which do not exist, or a metric that is archived. */
export async function checkNamedEntities(tx: Transaction, given: ProductChanges): Promise<void> {
  const { billableMetricId = null, compositeProductIds = [] } = given;
  if (billableMetricId !== null) {
    const metric = await findMetric(tx, billableMetricId);
    if (metric === null) throw invalid(['billableMetricId'], `billable metric ${billableMetricId} not found`);
    if (metric.archivedAt !== null) {
      throw invalid(['billableMetricId'], `billable metric ${billableMetricId} is archived`);
    }
  }
  const parts = await loadProducts(tx, compositeProductIds);
  for (const [index, id] of compositeProductIds.entries()) {
    if (!parts.has(id)) throw invalid(['compositeProductIds', index], `product ${id} not found`);
  }
}

/** Refuses (`invalid`) versions whose metric cannot answer their pricing and presentation keys. */
export async function checkKeysOfVersions(
  tx: Transaction,
  versions: readonly StoredProductVersion[],
  given: ProductChanges,
): Promise<void> {
  const metrics = await loadMetrics(tx, [...new Set(versions.flatMap((one) => one.billableMetricId ?? []))]);
  for (const version of versions) {
    if (version.billableMetricId === null) continue;
    const metric = metrics.get(version.billableMetricId);
    assert(metric !== undefined, `metric ${version.billableMetricId} of a product exists`);
    await checkGroupKeys(version, metric, [keyField(given)]);
  }
}

/** The given field to blame for keys that the metric does not answer. */
export function keyField({ pricingGroupKey, presentationGroupKey }: ProductChanges): keyof ProductChanges {
  if (pricingGroupKey !== undefined && pricingGroupKey.length > 0) return 'pricingGroupKey';
  return presentationGroupKey !== undefined && presentationGroupKey.length > 0
    ? 'presentationGroupKey'
    : 'billableMetricId';
}

/** Refuses (`invalid`) a composite product that would be part of its base. Serializes such checks. */
export async function checkCycles(
  tx: Transaction,
  product: Pick<StoredProduct, 'id' | 'type' | 'versions'>,
  given: ProductChanges,
): Promise<void> {
  if (product.type !== 'COMPOSITE') return;
  await lockComposites(tx);
  const others = (await loadComposites(tx)).filter(({ id }) => id !== product.id);
  const cycle = compositeCycle([...others, product], product.id);
  if (cycle === null) return;
  const through = cycle.slice(1).join(', ');
  throw invalid(
    [cycleField(given)],
    `the product would be part of its base${through === '' ? '' : `, through ${through}`}`,
  );
}

function cycleField(given: ProductChanges): keyof ProductChanges {
  if (given.compositeProductIds !== undefined && given.compositeProductIds.length > 0) {
    return 'compositeProductIds';
  }
  if (given.compositeTags !== undefined && given.compositeTags.length > 0) return 'compositeTags';
  return given.includeCompositeSpend === true ? 'includeCompositeSpend' : 'tags';
}
