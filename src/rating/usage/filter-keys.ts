/** Whether a metric can answer a usage filter together with the keys of a product. Pure. */
import type { ProductVersion } from '../../core/catalogue.ts';
import type { BillableMetric } from '../../core/metric.ts';

type GroupedVersion = Pick<ProductVersion, 'pricingGroupKey' | 'presentationGroupKey'>;

/**
 * The property names that must be in one group key of the metric and are in none; null if the metric supports the
 * filter. SQL metrics can be filtered by any property.
 */
export function missingFilterKey(
  metric: BillableMetric | undefined,
  version: GroupedVersion,
  filterKey: string,
): readonly string[] | null {
  if (metric?.kind !== 'streaming') return null;
  const needed = [...new Set([filterKey, ...version.pricingGroupKey, ...version.presentationGroupKey])];
  return metric.groupKeys.some((key) => needed.every((name) => key.includes(name))) ? null : needed;
}
