/**
 * Usage filters: the part of a customer's usage that a contract bills (docs/explanation/contracts.md, "Usage filters").
 */

import { type FieldPath, invalid } from '../../core/errors.ts';
import type { Contract, UsageFilter } from '../../core/terms/contract.ts';
import { contains, type Instant } from '../../core/time.ts';
import { missingFilterKey } from '../../rating/usage/filter-keys.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { filteredContracts, loadUsageFilters } from '../../store/contracts/contract-settings.ts';
import { loadMetrics } from '../../store/metrics/billable-metrics.ts';
import { loadProducts, type StoredProduct } from '../../store/products/products.ts';
import { rateCardProductOrder } from '../../store/rate-cards/rate-cards.ts';

/**
 * Refuses (`invalid`) a filter that starts outside the contract, and a key that the metrics of its
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
  const problem = await filterProblem(db, [...products.values()], filter.groupKey, filter.startingAt);
  if (problem !== null) throw invalid([...path, 'groupKey'], problem.text);
}

/**
 * Refuses (`invalid`, naming `field`) products whose metric cannot answer the usage filters of contracts on these
 * cards: each product as it is from `from` on. Contracts that are archived or have ended do not count.
 */
export async function checkFiltersOfCards(
  db: Database | Transaction,
  rateCardIds: readonly string[],
  products: readonly FilteredProduct[],
  { now, from }: { readonly now: Instant; readonly from: Instant },
  fieldOf: (productId: string) => FieldPath,
): Promise<void> {
  if (products.length === 0) return;
  const contracts = await filteredContracts(db, rateCardIds, now);
  const filters = await loadUsageFilters(
    db,
    contracts.map(({ id }) => id),
  );
  const checked = new Set<string>();
  for (const { id, endingBefore } of contracts) {
    const own = filters.get(id) ?? [];
    for (const [index, { groupKey, startingAt }] of own.entries()) {
      const end = own[index + 1]?.startingAt ?? endingBefore;
      // Many contracts have the same filter, and its answer is the same for all of them.
      const key = JSON.stringify([groupKey, Math.max(startingAt, from)]);
      if ((end !== null && end <= Math.max(now, from)) || checked.has(key)) continue;
      checked.add(key);
      const problem = await filterProblem(db, products, groupKey, Math.max(startingAt, from));
      if (problem === null) continue;
      throw invalid(
        fieldOf(problem.productId),
        `contract ${id} filters usage by ${groupKey}, but ${problem.text}`,
      );
    }
  }
}

type FilteredProduct = Pick<StoredProduct, 'id' | 'versions'>;

/**
 * One group key of each metric must hold the filter's key together with the product's own keys, in all versions that
 * apply from `from` on. Null if all do.
 */
async function filterProblem(
  db: Database | Transaction,
  products: readonly FilteredProduct[],
  groupKey: string,
  from: Instant,
): Promise<{ readonly productId: string; readonly text: string } | null> {
  const versions = products.flatMap(({ id, versions: all }) =>
    all.flatMap((version, index) => {
      const end = all[index + 1]?.startingAt ?? null;
      const { billableMetricId } = version;
      if (billableMetricId === null || (end !== null && end <= from)) return [];
      return [{ id, version, metricId: billableMetricId }];
    }),
  );
  const metrics = await loadMetrics(db, [...new Set(versions.map((one) => one.metricId))]);
  for (const { id, version, metricId } of versions) {
    const missing = missingFilterKey(metrics.get(metricId), version, groupKey);
    if (missing === null) continue;
    const names = missing.join(', ');
    return {
      productId: id,
      text: `billable metric ${metricId} of product ${id} has no group key that contains ${names}`,
    };
  }
  return null;
}
