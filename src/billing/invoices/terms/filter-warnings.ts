/** Warnings for usage that a contract's usage filter cannot see, because the metric has no such group key. Pure. */
import type { BilledPeriod, UnseenUsage } from '../../../core/invoice.ts';
import type { UsageFilter } from '../../../core/terms/contract.ts';
import { intersect } from '../../../core/time.ts';
import type { ProductOnCard } from '../../../rating/lines/types.ts';
import { missingFilterKey } from '../../../rating/usage/filter-keys.ts';
import type { InvoiceContext } from './invoice-context.ts';

/** One warning for each product version and filter with a common time in the period. */
export function filterWarnings(
  products: readonly ProductOnCard[],
  filters: readonly UsageFilter[],
  metrics: InvoiceContext['metrics'],
  period: BilledPeriod,
): UnseenUsage[] {
  if (filters.length === 0) return [];
  return products.flatMap(({ product }) =>
    product.versions.flatMap((version, index) => {
      const billableMetricId = version.billableMetricId ?? '';
      const start = version.startingAt ?? Number.NEGATIVE_INFINITY;
      const inForce = intersect(period, { start, end: product.versions[index + 1]?.startingAt ?? null });
      return filters.flatMap(({ groupKey, startingAt }, at): UnseenUsage[] => {
        const filtered = { start: startingAt, end: filters[at + 1]?.startingAt ?? null };
        const interval = inForce && intersect(inForce, filtered);
        if (
          interval === null ||
          missingFilterKey(metrics.get(billableMetricId), version, groupKey) === null
        ) {
          return [];
        }
        return [
          {
            kind: 'usage_filter_without_group_key',
            productId: product.id,
            productName: version.name,
            billableMetricId,
            interval,
          },
        ];
      });
    }),
  );
}
