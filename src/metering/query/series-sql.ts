/**
 * The query of `readUsageSeries`: one row for each line, with the windows that have usage. COUNT, SUM, MAX and LATEST
 * aggregate each window; UNIQUE counts values in the window in which they were first seen. `series-fold.ts` computes
 * V(t) from either.
 *
 * Windows are returned as two texts per line, because a row of JSON for each costs several times the aggregation
 * itself, and lists in JSON cost more to write and to read than texts.
 */
import { assert } from '../../core/errors.ts';
import { type Aggregation, readsProperty, type StreamingMetric } from '../../core/metric.ts';
import { HOUR_MS, type Instant, type Interval, isHourAligned, SECOND_MS } from '../../core/time.ts';
import { AGGREGATES, aggregateSql } from './aggregate-sql.ts';
import { type CompiledQuery, ingestedCondition } from './groups-sql.ts';
import { type KeySlice, sliceConditions } from './key-slice.ts';
import { guaranteesProperty, inCondition, matchSql } from './match-sql.ts';
import type { NumberReader } from './number-sql.ts';
import { WINDOW_SEPARATOR } from './packed-series.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import { renderStatement, scopeConditions } from './usage-relation.ts';

/** A customer and all values of `customer_id` in its events: its id and its ingest aliases. */
export interface UsageOwner {
  readonly customerId: string;
  readonly refs: readonly string[];
}

/** The references of all of them. */
export function refsOf(owners: readonly UsageOwner[]): string[] {
  return owners.flatMap(({ refs }) => refs);
}

export interface UsageSeriesRequest {
  readonly metric: StreamingMetric;
  readonly customers: readonly UsageOwner[];
  /** On hour boundaries. */
  readonly period: Interval;
  /** The instants at which V is computed besides the end of the period: every hour, or these (hour-aligned). */
  readonly boundaries: 'hour' | readonly Instant[];
  /** Properties that form a line; events that lack one of them belong to no line. */
  readonly groupBy: readonly string[];
  /** Only events with one of these values of a property; null for all events. */
  readonly usageFilter?: { readonly property: string; readonly values: readonly string[] } | null;
  /** Only events ingested up to here, in epoch microseconds; null for all. */
  readonly ingestedUpTo?: string | null;
  /** Only these line keys; null for all. */
  readonly slice?: KeySlice | null;
  /** Counts matching events, instead of computing the metric's aggregate. */
  readonly countsEvents?: boolean;
  /** Maximum windows of all lines together. Default `USAGE_ROWS_MAX`. */
  readonly rowsMax?: number;
}

export interface CompiledSeries {
  readonly sql: string;
  readonly parameters: Parameters;
  /** End of the window that starts this many seconds after the period. */
  readonly windowEnd: (offsetSeconds: number) => Instant;
}

/** At most `windowsMax + 1` windows of all lines together are returned; the last one shows that there are too many. */
export function compileUsageSeries(
  request: UsageSeriesRequest,
  windowsMax: number,
  numbers: NumberReader,
): CompiledSeries {
  const { customers, groupBy } = request;
  const parameters = createParameters();
  const windows = seriesWindows(parameters, request);
  const groups = groupBy.map((_, index) => `group_${index}`);
  const keys = [...(customers.length > 1 ? ['owner'] : []), ...groups];
  // Counting does not read the numbers.
  const reader = readsProperty(aggregationOf(request)) ? numbers : 'exact';
  const perWindow = windowsStatement(parameters, request, keys, windows.startSql, reader);
  const sql = renderStatement({
    definitions: ['arraySort(groupArray((window_offset, value))) AS windows'],
    columns: [
      customers.length > 1 ? 'owner' : '0 AS owner',
      `CAST([${groups.join(', ')}], 'Array(String)') AS group_values`,
      // A length is a 64-bit number, which JSON represents as text.
      'toUInt32(length(windows)) AS window_count',
      `arrayStringConcat(windows.1, '${WINDOW_SEPARATOR}') AS window_offsets`,
      `arrayStringConcat(windows.2, '${WINDOW_SEPARATOR}') AS window_values`,
    ],
    from: `(\n${perWindow}\nLIMIT ${windowsMax + 1}\n)`,
    conditions: [],
    groupBy: keys,
    having: ['notEmpty(windows)'],
    orderBy: keys,
  });
  return { sql, parameters, windowEnd: windows.endOf };
}

/** Rows `owner`, `value_count`: the number of windows with usage of each customer. Customers without any are absent. */
export function compileSeriesSizes(request: UsageSeriesRequest): CompiledQuery {
  const { customers, groupBy } = request;
  const parameters = createParameters();
  const windows = seriesWindows(parameters, request);
  const owner = customers.length > 1 ? ['owner'] : [];
  const keys = [...owner, ...groupBy.map((_, index) => `group_${index}`)];
  const sql = renderStatement({
    definitions: [],
    columns: [customers.length > 1 ? 'owner' : '0 AS owner', 'toString(count()) AS value_count'],
    from: `(\n${windowsStatement(parameters, request, keys, windows.startSql, 'exact')}\n)`,
    conditions: [],
    groupBy: owner,
  });
  return { sql, parameters };
}

/** The aggregation to compute; which events match depends on the metric alone. */
export function aggregationOf({ metric, countsEvents = false }: UsageSeriesRequest): Aggregation {
  return countsEvents ? 'COUNT' : metric.aggregation;
}

/** A row for each line and window with usage. */
function windowsStatement(
  parameters: Parameters,
  request: UsageSeriesRequest,
  keys: readonly string[],
  startSql: string,
  numbers: NumberReader,
): string {
  const { period } = request;
  const events = lineEvents(parameters, request, numbers);
  const rowKeys = [...keys, 'window_seconds'];
  const offset = windowOffsetSql(parameters, period);
  const aggregation = aggregationOf(request);
  if (AGGREGATES[aggregation].countsFirstSeen) {
    return renderStatement({
      definitions: [],
      columns: [...keys, offset, 'toString(count()) AS value'],
      from: `(\n${firstSeenStatement(events, keys, startSql)}\n)`,
      conditions: [],
      groupBy: rowKeys,
    });
  }
  return renderStatement({
    definitions: [...events.definitions, `${startSql} AS window_seconds`],
    columns: [...keys, offset, `${aggregateSql(aggregation)} AS value`],
    conditions: events.conditions,
    groupBy: rowKeys,
  });
}

/** The start of a window relative to the period, in 32 bits, which JSON represents as a number. */
export function windowOffsetSql(parameters: Parameters, { start }: Interval): string {
  const seconds = parameters.bind('period_seconds', 'Int64', start / SECOND_MS);
  return `toUInt32(window_seconds - ${seconds}) AS window_offset`;
}

export interface LineEvents {
  readonly definitions: readonly string[];
  readonly conditions: readonly string[];
}

/** The matching events that belong to a line: those with every property that a line key contains. */
export function lineEvents(
  parameters: Parameters,
  request: Omit<UsageSeriesRequest, 'boundaries'>,
  numbers: NumberReader,
): LineEvents {
  const {
    metric,
    customers,
    period,
    groupBy,
    usageFilter = null,
    ingestedUpTo = null,
    slice = null,
  } = request;
  const refs = customers.flatMap((customer) => customer.refs);
  const scope = scopeConditions(parameters, refs, period);
  const owner = customers.length > 1 ? [`${ownerSql(parameters, customers)} AS owner`] : [];
  const groups = groupBy.map((name, index) => `${propertySql(parameters, name).text} AS group_${index}`);
  const match = matchSql(parameters, metric, numbers);
  const presence = groupBy
    .filter((name) => !guaranteesProperty(metric, name))
    .map((name) => propertySql(parameters, name).isPresent);
  const filter =
    usageFilter === null ? [] : [inCondition(parameters, usageFilter.property, usageFilter.values)];
  return {
    definitions: [...owner, ...groups, ...match.definitions],
    conditions: [
      ...scope,
      ...match.conditions,
      ...presence,
      ...filter,
      ...ingestedCondition(parameters, ingestedUpTo),
      ...sliceConditions(
        parameters,
        groupBy.map((_, index) => `group_${index}`),
        slice,
      ),
    ],
  };
}

function firstSeenStatement(events: LineEvents, keys: readonly string[], windowStart: string): string {
  return renderStatement({
    ...events,
    columns: [...keys, `min(${windowStart}) AS window_seconds`],
    groupBy: [...keys, 'value_text'],
  });
}

/** Index of the customer of a row's `customer_ref`. Aggregates must include all its aliases. */
export function ownerSql(parameters: Parameters, customers: readonly UsageOwner[]): string {
  const refs = customers.flatMap((customer) => customer.refs);
  assert(new Set(refs).size === refs.length, 'a reference belongs to one customer');
  const indexes = customers.flatMap((customer, index) => customer.refs.map(() => index));
  const refsParameter = parameters.bind('refs', 'Array(String)', refs);
  const indexesParameter = parameters.bind('owners', 'Array(UInt32)', indexes);
  return `transform(customer_ref, ${refsParameter}, ${indexesParameter}, toUInt32(0))`;
}

interface SeriesWindows {
  /** Start of an event's window in unix seconds, Int64. */
  readonly startSql: string;
  readonly endOf: CompiledSeries['windowEnd'];
}

export function seriesWindows(
  parameters: Parameters,
  { period, boundaries }: Pick<UsageSeriesRequest, 'period' | 'boundaries'>,
): SeriesWindows {
  assert(
    isHourAligned(period.start) && isHourAligned(period.end),
    'a billing period starts and ends on the hour',
  );
  if (boundaries === 'hour') {
    return {
      startSql: 'intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600',
      endOf: (offsetSeconds) => period.start + offsetSeconds * SECOND_MS + HOUR_MS,
    };
  }
  assert(boundaries.every(isHourAligned), 'boundaries are on the hour');
  const inside = boundaries.filter((at) => period.start < at && at < period.end);
  const starts = [...new Set([period.start, ...inside])].sort((a, b) => a - b);
  const endByStart = new Map(starts.map((start, index) => [start, starts[index + 1] ?? period.end]));
  const endOf = (offsetSeconds: number) => {
    const end = endByStart.get(period.start + offsetSeconds * SECOND_MS);
    assert(end !== undefined, 'a row belongs to a requested window');
    return end;
  };
  if (starts.length === 1) {
    return { startSql: parameters.bind('window_start', 'Int64', period.start / SECOND_MS), endOf };
  }
  const seconds = starts.map((start) => start / SECOND_MS);
  const list = parameters.bind('window_starts', 'Array(Int64)', seconds);
  return { startSql: `roundDown(intDiv(toUnixTimestamp64Milli(timestamp), 1000), ${list})`, endOf };
}
