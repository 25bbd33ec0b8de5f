/** The definition of a billable metric, shared by metering and the store. */
import type { Instant } from './time.ts';

interface AggregationRule {
  /**
   * The value that an event must have in the property of the aggregation key: none, because there is no key; any text;
   * or a decimal number.
   */
  readonly reads: 'nothing' | 'text' | 'number';
}

/** The aggregations. Every other table of them is a full record, so that a new one does not compile until all have it. */
export const AGGREGATION_RULES = {
  COUNT: { reads: 'nothing' },
  SUM: { reads: 'number' },
  MAX: { reads: 'number' },
  UNIQUE: { reads: 'text' },
  LATEST: { reads: 'number' },
} as const satisfies Readonly<Record<string, AggregationRule>>;

export type Aggregation = keyof typeof AGGREGATION_RULES;

export const AGGREGATIONS = Object.keys(AGGREGATION_RULES) as [Aggregation, ...Aggregation[]];

/** The aggregations that read such a value. */
export function aggregationsReading(reads: AggregationRule['reads']): Aggregation[] {
  return AGGREGATIONS.filter((aggregation) => AGGREGATION_RULES[aggregation].reads === reads);
}

/** Whether it has an aggregation key, the property that it reads. */
export function readsProperty(aggregation: Aggregation): boolean {
  return AGGREGATION_RULES[aggregation].reads !== 'nothing';
}

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
  /** Null for an aggregation that reads no property. */
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

/** A metric that is one query over the customer's events (docs/explanation/sql-metrics.md). */
export interface SqlMetric {
  readonly kind: 'sql';
  readonly id: string;
  readonly name: string;
  /** As the analyst wrote it; it was checked when the metric was created. */
  readonly sql: string;
  readonly archivedAt: Instant | null;
}

export type BillableMetric = StreamingMetric | SqlMetric;
