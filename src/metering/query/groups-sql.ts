/** The query of `readUsageGroups`: one page of (window, group) rows, in order, each aggregated separately. */
import type { StreamingMetric } from '../../core/metric.ts';
import { ownValue } from '../../core/own-value.ts';
import { type Interval, SECOND_MS } from '../../core/time.ts';
import { CORRECTED_AT, COUNTED_UP_TO } from '../corrections/parameter-names.ts';
import { aggregateSql } from './aggregate-sql.ts';
import { guaranteesProperty, inCondition, matchSql } from './match-sql.ts';
import type { NumberReader } from './number-sql.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import { placeConditions, type RowPlace } from './row-order-sql.ts';
import { renderStatement, scopeConditions } from './usage-relation.ts';
import { type UsageWindowSize, windowLength } from './usage-windows.ts';

export interface GroupsQuery {
  readonly metric: StreamingMetric;
  readonly refs: readonly string[];
  /** The rest of the requested range: from the cursor's window on. */
  readonly range: Interval;
  readonly windowSize: UsageWindowSize;
  /** Sorted property names. */
  readonly groupKey: readonly string[];
  readonly groupFilters: Readonly<Record<string, readonly string[]>>;
  readonly place: RowPlace;
  /** Only events ingested up to here, in epoch microseconds; null for all. */
  readonly ingestedUpTo: string | null;
  readonly limit: number;
}

export interface CompiledQuery {
  readonly sql: string;
  readonly parameters: Parameters;
}

/**
 * Rows: `window_start` (unix seconds), `group_values`, `value`, and `ingested_up_to`, the last ingestion time among all
 * events that the query aggregated, including rows beyond the page.
 */
export function compileUsageGroups(query: GroupsQuery, numbers: NumberReader): CompiledQuery {
  const { metric, groupKey, range, place } = query;
  const parameters = createParameters();
  const groups = groupKey.map((_, index) => `group_${index}`);
  const scope = scopeConditions(parameters, query.refs, range);
  const definitions = groupKey.map(
    (name, index) => `${groupSql(parameters, metric, name)} AS group_${index}`,
  );
  const match = matchSql(parameters, metric, numbers);
  const filters = groupKey.flatMap((name) => {
    const values = ownValue(query.groupFilters, name) ?? [];
    return values.length === 0 ? [] : [inCondition(parameters, name, values)];
  });
  const keys = ['window_seconds', ...groups];
  const sql = renderStatement({
    definitions: [
      ...definitions,
      ...match.definitions,
      `${windowSql(parameters, query.windowSize, range)} AS window_seconds`,
    ],
    columns: [
      'toString(window_seconds) AS window_start',
      `CAST([${groups.join(', ')}], 'Array(Nullable(String))') AS group_values`,
      `${aggregateSql(metric.aggregation)} AS value`,
      `${momentSql(parameters, 'max(max(ingested_at)) OVER ()')} AS ingested_up_to`,
    ],
    conditions: [
      ...scope,
      ...match.conditions,
      ...filters,
      ...ingestedCondition(parameters, query.ingestedUpTo),
    ],
    groupBy: keys,
    having: placeConditions(parameters, 'window_seconds', groups, place),
    orderBy: ['window_seconds', ...groups.map((group) => `${group} ASC NULLS LAST`)],
    limit: parameters.bind('limit', 'UInt32', query.limit),
  });
  return { sql, parameters };
}

/** The last ingestion time of the customer's events in the range, as one row `ingested_up_to`. */
export function compileWatermark(refs: readonly string[], range: Interval): CompiledQuery {
  const parameters = createParameters();
  const sql = renderStatement({
    definitions: [],
    columns: [`${momentSql(parameters, 'max(ingested_at)')} AS ingested_up_to`],
    from: 'usage_events',
    conditions: scopeConditions(parameters, refs, range),
    groupBy: [],
  });
  return { sql, parameters };
}

/** An event without the property is in the group with value null. */
function groupSql(parameters: Parameters, metric: StreamingMetric, name: string): string {
  const { text, value } = propertySql(parameters, name);
  return guaranteesProperty(metric, name) ? text : value;
}

/** The last ingestion or correction, in epoch microseconds as text: `last` is SQL of the last ingestion time. */
export function momentSql(parameters: Parameters, last: string): string {
  parameters.note(CORRECTED_AT, '0');
  return `toString(toUnixTimestamp64Micro(greatest(${last}, fromUnixTimestamp64Micro({${CORRECTED_AT}:Int64}, 'UTC'))))`;
}

export function windowSql(parameters: Parameters, size: UsageWindowSize, range: Interval): string {
  const length = windowLength(size);
  if (length === null) return parameters.bind('window_start', 'Int64', range.start / SECOND_MS);
  return `intDiv(toUnixTimestamp64Milli(timestamp), ${length}) * ${length / SECOND_MS}`;
}

export function ingestedCondition(parameters: Parameters, ingestedUpTo: string | null): string[] {
  if (ingestedUpTo === null) return [];
  // Corrections that were applied later do not hold.
  parameters.note(COUNTED_UP_TO, ingestedUpTo);
  return [
    `ingested_at <= fromUnixTimestamp64Micro(${parameters.bind('ingested_up_to', 'Int64', ingestedUpTo)}, 'UTC')`,
  ];
}
