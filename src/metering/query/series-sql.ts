/**
 * The query behind `readUsageSeries`: one row for each window of a line in which there was usage.
 * COUNT, SUM, MAX and LATEST aggregate each window; UNIQUE counts values in the window in which they
 * were first seen. `series-fold.ts` makes V(t) from either.
 */
import { assert } from '../../core/errors.ts';
import { HOUR_MS, type Instant, isHourAligned, SECOND_MS } from '../../core/time.ts';
import { aggregateSql } from './aggregate-sql.ts';
import { guaranteesProperty, inCondition, matchSql } from './match-sql.ts';
import { createParameters, type Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';
import { renderStatement, scopeConditions } from './usage-relation.ts';
import type { UsageOwner, UsageSeriesRequest } from './usage-series.ts';

export interface CompiledSeries {
  readonly sql: string;
  readonly parameters: Parameters;
  /** End of the window that starts at these unix seconds. */
  readonly windowEnd: (startSeconds: number) => Instant;
}

export function compileUsageSeries(request: UsageSeriesRequest): CompiledSeries {
  const { metric, customers } = request;
  const parameters = createParameters();
  const events = lineEvents(parameters, request);
  const windows = seriesWindows(parameters, request);
  const groups = request.groupBy.map((_, index) => `group_${index}`);
  const keys = [...(customers.length > 1 ? ['owner'] : []), ...groups];
  const lineColumns = [
    customers.length > 1 ? 'owner' : '0 AS owner',
    `CAST([${groups.join(', ')}], 'Array(String)') AS group_values`,
  ];
  const rowKeys = [...keys, 'window_seconds'];
  const rowColumns = [...lineColumns, 'toString(window_seconds) AS window_start'];
  const sql =
    metric.aggregation === 'UNIQUE'
      ? renderStatement({
          definitions: [],
          columns: [...rowColumns, 'toString(count()) AS value'],
          from: `(\n${firstSeenStatement(events, keys, windows.startSql)}\n)`,
          conditions: [],
          groupBy: rowKeys,
          orderBy: rowKeys,
        })
      : renderStatement({
          definitions: [...events.definitions, `${windows.startSql} AS window_seconds`],
          columns: [...rowColumns, `${aggregateSql(metric.aggregation)} AS value`],
          conditions: events.conditions,
          groupBy: rowKeys,
          orderBy: rowKeys,
        });
  return { sql, parameters, windowEnd: windows.endOf };
}

interface LineEvents {
  readonly definitions: readonly string[];
  readonly conditions: readonly string[];
}

/** The matching events that belong to a line: those with every property that lines are made of. */
function lineEvents(parameters: Parameters, request: UsageSeriesRequest): LineEvents {
  const { metric, customers, period, groupBy, usageFilter = null } = request;
  const refs = customers.flatMap((customer) => customer.refs);
  const scope = scopeConditions(parameters, refs, period);
  const owner = customers.length > 1 ? [`${ownerSql(parameters, customers)} AS owner`] : [];
  const groups = groupBy.map((name, index) => `${propertySql(parameters, name).text} AS group_${index}`);
  const match = matchSql(parameters, metric);
  const presence = groupBy
    .filter((name) => !guaranteesProperty(metric, name))
    .map((name) => propertySql(parameters, name).isPresent);
  const filter =
    usageFilter === null ? [] : [inCondition(parameters, usageFilter.property, usageFilter.values)];
  return {
    definitions: [...owner, ...groups, ...match.definitions],
    conditions: [...scope, ...match.conditions, ...presence, ...filter],
  };
}

function firstSeenStatement(events: LineEvents, keys: readonly string[], windowStart: string): string {
  return renderStatement({
    ...events,
    columns: [...keys, `min(${windowStart}) AS window_seconds`],
    groupBy: [...keys, 'value_text'],
  });
}

/** Index of the customer that a row's `customer_ref` stands for. Aggregates must run across its aliases. */
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
  readonly endOf: (startSeconds: number) => Instant;
}

function seriesWindows(parameters: Parameters, { period, boundaries }: UsageSeriesRequest): SeriesWindows {
  assert(
    isHourAligned(period.start) && isHourAligned(period.end),
    'a billing period starts and ends on the hour',
  );
  if (boundaries === 'hour') {
    return {
      startSql: 'intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600',
      endOf: (startSeconds) => startSeconds * SECOND_MS + HOUR_MS,
    };
  }
  assert(boundaries.every(isHourAligned), 'boundaries are on the hour');
  const inside = boundaries.filter((at) => period.start < at && at < period.end);
  const starts = [...new Set([period.start, ...inside])].sort((a, b) => a - b);
  const endByStart = new Map(starts.map((start, index) => [start, starts[index + 1] ?? period.end]));
  const endOf = (startSeconds: number) => {
    const end = endByStart.get(startSeconds * SECOND_MS);
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
