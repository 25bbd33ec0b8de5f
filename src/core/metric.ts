/** The definition of a billable metric, as metering compiles it and the store keeps it. */
import type { Instant } from './time.ts';

export const AGGREGATIONS = ['COUNT', 'SUM', 'MAX', 'UNIQUE', 'LATEST'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

export interface EventTypeFilter {
  readonly inValues: readonly string[] | null;
  readonly notInValues: readonly string[] | null;
}

export interface PropertyFilter {
  readonly name: string;
  /** true: the property must be present; false: it must be absent; null: either. */
  readonly exists: boolean | null;
  readonly inValues: readonly string[] | null;
  readonly notInValues: readonly string[] | null;
}

export interface StreamingMetric {
  readonly kind: 'streaming';
  readonly id: string;
  readonly name: string;
  readonly eventTypeFilter: EventTypeFilter | null;
  readonly propertyFilters: readonly PropertyFilter[];
  readonly aggregation: Aggregation;
  /** Null for COUNT only. */
  readonly aggregationKey: string | null;
  /** Each inner list is one key: simple (one property) or compound (several). */
  readonly groupKeys: readonly (readonly string[])[];
  readonly archivedAt: Instant | null;
}

/** The parts of a definition that decide which events count, and how. */
export type StreamingDefinition = Pick<
  StreamingMetric,
  'eventTypeFilter' | 'propertyFilters' | 'aggregation' | 'aggregationKey' | 'groupKeys'
>;

/** A metric that is one query over the customer's events (docs/sql-metrics.md). */
export interface SqlMetric {
  readonly kind: 'sql';
  readonly id: string;
  readonly name: string;
  /** As the analyst wrote it; it was checked when the metric was created. */
  readonly sql: string;
  readonly archivedAt: Instant | null;
}

export type BillableMetric = StreamingMetric | SqlMetric;
