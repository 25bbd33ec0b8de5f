/** The usage that rating needs from metering, and the result. */
import type { Instant } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';

/** Usage needed from metering: one metric, grouped by exactly these properties (sorted, unique). */
export interface UsageNeed {
  readonly billableMetricId: string;
  readonly groupKeys: readonly string[];
  /**
   * Instants at which V is evaluated: at the end of every hour, or (SQL metrics of `service_period`) at these
   * ascending instants. V is constant in between, so all usage since the last one counts in the last hour.
   */
  readonly evaluatedAt: 'hour' | readonly Instant[];
  /** Only events with one of these values; null for all events. */
  readonly usageFilter: { readonly property: string; readonly values: readonly string[] } | null;
}

/** Metered usage: V(t) of every group, cumulative from the start of the counters, at most one step per hour. */
export interface MeteredUsage extends UsageNeed {
  readonly series: readonly UsageSeries[];
}
