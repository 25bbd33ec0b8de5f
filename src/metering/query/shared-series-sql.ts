/**
 * The query behind `readSharedSeries`: the series of several metrics in one statement, which reads each event once. One
 * row for each line, with the windows of every metric in their order. Windows are written as by `series-sql.ts`.
 */
import { assert, unreachable } from '../../core/errors.ts';
import type { StreamingMetric } from '../../core/metric.ts';
import { eventConditions } from './match-sql.ts';
import { numbersSql } from './number-sql.ts';
import { WINDOW_SEPARATOR } from './packed-series.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import {
  type CompiledSeries,
  lineEvents,
  seriesWindows,
  type UsageSeriesRequest,
  windowOffsetSql,
} from './series-sql.ts';
import { renderStatement } from './usage-relation.ts';

/** Of two customers at least. */
export interface SharedSeriesRequest
  extends Omit<UsageSeriesRequest, 'metric' | 'slice' | 'countsEvents' | 'rowsMax'> {
  readonly metrics: readonly SharingMetric[];
  /** Windows of all lines together in which there is usage of any metric. */
  readonly rowsMax: number;
}

/** UNIQUE and LATEST need more of an event than whether it matches and one number. */
export type SharingMetric = StreamingMetric & { readonly aggregation: 'COUNT' | 'SUM' | 'MAX' };

export function canShare(metric: StreamingMetric): metric is SharingMetric {
  return metric.aggregation !== 'UNIQUE' && metric.aggregation !== 'LATEST';
}

export function compileSharedSeries(request: SharedSeriesRequest): CompiledSeries {
  const { metrics, groupBy, rowsMax } = request;
  assert(request.customers.length > 1, 'one customer reads its metrics side by side');
  const parameters = createParameters();
  const windows = seriesWindows(parameters, request);
  const keys = ['owner', ...groupBy.map((_, index) => `group_${index}`)];
  const each = (sqlOf: (index: number) => string) => metrics.map((_, index) => sqlOf(index));
  const list = (sqlOf: (index: number) => string) => `[${each(sqlOf).join(', ')}]`;
  const sql = renderStatement({
    definitions: each(
      (index) =>
        `arraySort(groupArrayIf((window_offset, value_${index}), value_${index} != '')) AS windows_${index}`,
    ),
    columns: [
      'owner',
      `CAST([${keys.slice(1).join(', ')}], 'Array(String)') AS group_values`,
      'toUInt32(count()) AS used_windows',
      `${list((index) => `toUInt32(length(windows_${index}))`)} AS window_counts`,
      `${list((index) => `arrayStringConcat(windows_${index}.1, '${WINDOW_SEPARATOR}')`)} AS window_offsets`,
      `${list((index) => `arrayStringConcat(windows_${index}.2, '${WINDOW_SEPARATOR}')`)} AS window_values`,
    ],
    from: `(\n${windowsStatement(parameters, request, keys, windows.startSql)}\nLIMIT ${rowsMax + 1}\n)`,
    conditions: [],
    groupBy: keys,
    orderBy: keys,
  });
  return { sql, parameters, windowEnd: windows.endOf };
}

/** A row for each line and window in which an event matched a metric; empty text for the metrics that none matched. */
function windowsStatement(
  parameters: Parameters,
  request: SharedSeriesRequest,
  keys: readonly string[],
  startSql: string,
): string {
  const { metrics, period } = request;
  // Counting reads no numbers.
  const events = lineEvents(parameters, { ...request, metric: anyEvent(metrics) }, 'exact');
  const names = [...new Set(metrics.flatMap(({ aggregationKey }) => aggregationKey ?? []))];
  const texts = names.map((name) => propertySql(parameters, name).text);
  const numberOf = (metric: SharingMetric) => `numbers[${names.indexOf(metric.aggregationKey ?? '') + 1}]`;
  const matches = metrics.map((metric) => {
    const isCounted = metric.aggregation === 'COUNT' ? [] : [`isNotNull(${numberOf(metric)})`];
    return ['1', ...eventConditions(parameters, metric), ...isCounted].join(' AND ');
  });
  return renderStatement({
    definitions: [
      ...events.definitions,
      ...(texts.length === 0 ? [] : [`${numbersSql(texts)} AS numbers`]),
      ...matches.map((match, index) => `(${match}) AS matches_${index}`),
      `${startSql} AS window_seconds`,
    ],
    columns: [
      ...keys,
      windowOffsetSql(parameters, period),
      ...metrics.map((metric, index) => {
        return `${valueSql(metric, numberOf(metric), `matches_${index}`)} AS value_${index}`;
      }),
    ],
    conditions: [...events.conditions, `(${matches.map((_, index) => `matches_${index}`).join(' OR ')})`],
    groupBy: [...keys, 'window_seconds'],
  });
}

/** It matches every event that one of the metrics can match: those of their event types. */
function anyEvent(metrics: readonly SharingMetric[]): StreamingMetric {
  const [first] = metrics;
  assert(first !== undefined, 'a metric is asked for');
  const types = metrics.map(({ eventTypeFilter }) => eventTypeFilter?.inValues ?? null);
  const inValues = types.every((values) => values !== null) ? [...new Set(types.flat())] : null;
  return {
    ...first,
    aggregation: 'COUNT',
    aggregationKey: null,
    propertyFilters: [],
    eventTypeFilter: inValues === null ? null : { inValues, notInValues: null },
  };
}

/** Numbers are nullable, so that their aggregate is NULL where there is none. */
function valueSql({ aggregation }: SharingMetric, number: string, match: string): string {
  switch (aggregation) {
    case 'COUNT':
      return `if(countIf(${match}) = 0, '', toString(countIf(${match})))`;
    case 'SUM':
      return `ifNull(toString(sumIf(${number}, ${match})), '')`;
    case 'MAX':
      return `ifNull(toString(maxIf(${number}, ${match})), '')`;
    default:
      return unreachable(aggregation);
  }
}
