/** Usage filters: the part of a customer's usage that a contract bills (docs/contracts.md, "Usage filters"). */

import { type FieldPath, invalid } from '../../core/errors.ts';
import type { Contract, UsageFilter } from '../../core/terms/contract.ts';
import { contains } from '../../core/time.ts';
import { loadMetrics } from '../../store/billable-metrics.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { loadProducts, type StoredProduct } from '../../store/products.ts';
import { rateCardProductOrder } from '../../store/rate-cards.ts';

/**
 * Refuses (`invalid`) a filter that starts outside the contract, and a key that the metrics behind its
 * rate card cannot answer. `path` is the filter's place in the request.
 */
export async function checkUsageFilter(
  db: Database | Transaction,
  contract: Pick<Contract, 'startingAt' | 'endingBefore' | 'rateCardId'>,
  filter: UsageFilter,
  path: FieldPath,
): Promise<void> {
  const { startingAt: start, endingBefore: end, rateCardId } = contract;
  if (!contains({ start, end }, filter.startingAt)) {
    throw invalid([...path, 'startingAt'], 'must lie within the contract');
  }
  if (rateCardId === null) return;
  const onCard = (await rateCardProductOrder(db, [rateCardId])).get(rateCardId) ?? [];
  const products = await loadProducts(db, onCard);
  await checkGroupKey(db, [...products.values()], filter.groupKey, [...path, 'groupKey']);
}

/** One group key of each metric must hold the filter's key together with the product's own keys. */
async function checkGroupKey(
  db: Database | Transaction,
  products: readonly StoredProduct[],
  groupKey: string,
  field: FieldPath,
): Promise<void> {
  const versions = products.flatMap(({ id, versions: all }) => {
    const version = all.at(-1);
    return version?.billableMetricId == null ? [] : [{ id, version, metricId: version.billableMetricId }];
  });
  const metrics = await loadMetrics(db, [...new Set(versions.map((one) => one.metricId))]);
  for (const { id, version, metricId } of versions) {
    const metric = metrics.get(metricId);
    // Metrics in SQL can be filtered by any property.
    if (metric?.kind !== 'streaming') continue;
    const needed = [groupKey, ...version.pricingGroupKey, ...version.presentationGroupKey];
    if (metric.groupKeys.some((key) => needed.every((name) => key.includes(name)))) continue;
    throw invalid(
      field,
      `billable metric ${metricId} of product ${id} has no group key that contains ${[...new Set(needed)].join(', ')}`,
    );
  }
}
