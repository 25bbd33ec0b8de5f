/** The statements that evaluate a SQL metric for one customer: over an interval, over windows, or by hours. */
import { HOUR_MS, type Instant, type Interval, SECOND_MS } from '../../../core/time.ts';
import { ANY_VERSION } from '../../corrections/parameter-names.ts';
import { ingestedCondition, windowSql } from '../../query/groups-sql.ts';
import { type KeySlice, sliceConditions } from '../../query/key-slice.ts';
import { inCondition } from '../../query/match-sql.ts';
import { createParameters, type Parameters } from '../../query/parameters.ts';
import { propertySql } from '../../query/property-sql.ts';
import { placeConditions, type RowPlace } from '../../query/row-order-sql.ts';
import { renderStatement, scopeConditions } from '../../query/usage-relation.ts';
import { type UsageWindowSize, windowLength, windowStartOf } from '../../query/usage-windows.ts';
import { createDefinitions, createNames } from '../values/definitions.ts';
import { checkedSql, RESULT_DIGITS_MAX } from '../values/exact-sql.ts';
import { toNumber, toText, type Writer } from '../values/value.ts';
import { FOREVER } from './relation.ts';
import { OPEN_PARTS, type WrittenQuery, type WrittenRelation } from './written-query.ts';

/** The events of an evaluation. */
export interface EventScope {
  /** All values of `customer_id` in the customer's events. */
  readonly refs: readonly string[];
  readonly interval: Interval;
  /** Only events with one of these values of a property; null for all. */
  readonly usageFilter: { readonly property: string; readonly values: readonly string[] } | null;
  /** Only events ingested up to here, in epoch microseconds; null for all. */
  readonly ingestedUpTo: string | null;
  /** Events that are left out, because the query cannot be evaluated with them. */
  readonly leftOut?: LeftOutEvents | null;
  /** Only events with these values of properties; null: without the property. */
  readonly having?: readonly PropertyValue[] | undefined;
  /** Only these events; null for all. */
  readonly onlyIds?: readonly string[] | null;
}

interface PropertyValue {
  readonly property: string;
  readonly value: string | null;
}

export interface LeftOutEvents {
  readonly ids: readonly string[];
  /** Also all events from this instant on; null for none. */
  readonly from: Instant | null;
}

/** The indexes of the query's columns that are used. */
export interface OutputColumns {
  readonly value: number;
  readonly groups: readonly number[];
}

export interface CompiledStatement {
  readonly sql: string;
  readonly parameters: Parameters;
}

/** The filters on rows of windows, and their paging. */
export interface WindowPage {
  readonly size: UsageWindowSize;
  /** By index of the group: only these values; empty for all. */
  readonly groupFilters: ReadonlyArray<readonly string[]>;
  readonly place: RowPlace;
  readonly limit: number;
}

/** Rows `part`, `group_values`, `value`: the whole interval as one. */
export function compileWhole(
  query: WrittenQuery,
  columns: OutputColumns,
  scope: EventScope,
  slice: KeySlice | null = null,
): CompiledStatement {
  const started = startStatement(query, query.whole, createParameters(), scope, {});
  const { relation, from, output, parameters } = started;
  const { value, groups } = outputSql(output, relation, columns);
  const sql = renderStatement({
    definitions: output.definitions.list(),
    columns: ["'0' AS part", groupValuesSql(groups), `toString(sum(${value})) AS value`],
    from,
    conditions: lineConditions(parameters, groups, slice),
    groupBy: [relation.part, ...groups],
    orderBy: groups,
  });
  return { sql, parameters };
}

/** Rows `part` (start of the window), `group_values`, `value`, in this order; each window is evaluated separately. */
export function compileWindows(
  query: WrittenQuery,
  columns: OutputColumns,
  scope: EventScope,
  page: WindowPage,
): CompiledStatement {
  const own = createParameters();
  const time = {
    eventPart: windowSql(own, page.size, scope.interval),
    everyPart: () => windowStartsSql(own, page.size, scope.interval),
  };
  const { relation, from, output, parameters } = startStatement(query, query.windows, own, scope, time);
  const { value, groups } = outputSql(output, relation, columns);
  const filters = groups.flatMap((group, index) => {
    const values = page.groupFilters[index] ?? [];
    return values.length === 0 ? [] : [`${group} IN ${parameters.bind('values', 'Array(String)', values)}`];
  });
  const sql = renderStatement({
    definitions: output.definitions.list(),
    columns: [
      `toString(${relation.part}) AS part`,
      groupValuesSql(groups),
      `toString(sum(${value})) AS value`,
    ],
    from,
    conditions: filters,
    groupBy: [relation.part, ...groups],
    having: placeConditions(parameters, relation.part, groups, page.place),
    orderBy: [relation.part, ...groups.map((group) => `${group} ASC NULLS LAST`)],
    limit: parameters.bind('limit', 'UInt32', page.limit),
  });
  return { sql, parameters };
}

/**
 * Rows `part` (end of an hour), `group_values`, `value`: the change of V in that hour, in order. Hours without a change
 * have no row. `ends` are the ends of all hours with events, ascending.
 */
export function compileHours(
  query: WrittenQuery,
  columns: OutputColumns,
  scope: EventScope,
  ends: readonly Instant[],
  slice: KeySlice | null = null,
): CompiledStatement {
  const own = createParameters();
  const first = scope.interval.start + HOUR_MS;
  const boundaries = [...new Set([first, ...ends])].sort((a, b) => a - b).map((end) => end / SECOND_MS);
  const { relation, from, output, parameters } = startStatement(query, query.hours, own, scope, {
    eventPart: 'intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600',
    firstPart: own.bind('first', 'Int64', first / SECOND_MS),
    boundaries: () => own.bind('boundaries', 'Array(Int64)', boundaries),
  });
  const { value, groups } = outputSql(output, relation, columns);
  const { names } = output.definitions;
  const at = names.fresh('t');
  const change = names.fresh('v');
  const quantity = output.definitions.define(`ifNull(${value}, toDecimal256(0, 30))`);
  const { part, until } = relation;
  const pair =
    until === null
      ? [`${part} AS ${at}`, `${quantity} AS ${change}`]
      : [
          `arrayJoin([tuple(${part}, ${quantity}), tuple(${until}, -${quantity})]) AS ${at}_${change}`,
          `tupleElement(${at}_${change}, 1) AS ${at}`,
          `tupleElement(${at}_${change}, 2) AS ${change}`,
        ];
  const changes = renderStatement({
    definitions: output.definitions.list(),
    columns: [...pair, ...groups],
    from,
    conditions: lineConditions(parameters, groups, slice),
    groupBy: [],
  });
  const sql = renderStatement({
    definitions: [],
    columns: [`toString(${at}) AS part`, groupValuesSql(groups), `toString(sum(${change})) AS value`],
    from: `(\n${changes}\n)`,
    conditions: [`${at} < ${FOREVER}`],
    groupBy: [at, ...groups],
    orderBy: [...groups, at],
  });
  return { sql, parameters };
}

/** The start of every window in unix seconds, as rows. */
function windowStartsSql(parameters: Parameters, size: UsageWindowSize, range: Interval): string {
  const length = windowLength(size);
  if (length === null) return windowSql(parameters, size, range);
  const first = windowStartOf(size, range, range.start);
  const count = Math.ceil((range.end - first) / length);
  const starts = Array.from({ length: count }, (_, index) => (first + index * length) / SECOND_MS);
  return `arrayJoin(${parameters.bind('windows', 'Array(Int64)', starts)})`;
}

/**
 * Rows `part` (end of an hour), `group_values`, `value`: V itself at each of `ends`, ascending. Every event is read
 * once and counts for each later end.
 */
export function compileEnds(
  query: WrittenQuery,
  columns: OutputColumns,
  scope: EventScope,
  ends: readonly Instant[],
  slice: KeySlice | null = null,
): CompiledStatement {
  const own = createParameters();
  const list = own.bind(
    'ends',
    'Array(Int64)',
    ends.map((end) => end / SECOND_MS),
  );
  const hour = 'intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600';
  const everyPart = `arrayJoin(${list})`;
  const { relation, from, output, parameters } = startStatement(query, query.hours, own, scope, {
    eventPart: `arrayJoin(arrayFilter(x -> x >= ${hour}, ${list}))`,
    firstPart: everyPart,
    everyPart: () => everyPart,
    eventHour: hour,
    firstEnd: `arrayElement(${list}, 1)`,
    ends: list,
  });
  const { value, groups } = outputSql(output, relation, columns);
  const sql = renderStatement({
    definitions: output.definitions.list(),
    columns: [
      `toString(${relation.part}) AS part`,
      groupValuesSql(groups),
      `toString(sum(${value})) AS value`,
    ],
    from,
    conditions: lineConditions(parameters, groups, slice),
    groupBy: [relation.part, ...groups],
    orderBy: [...groups, relation.part],
  });
  return { sql, parameters };
}

/** Rows that belong to a line of the slice. */
function lineConditions(parameters: Parameters, groups: readonly string[], slice: KeySlice | null): string[] {
  return [...groups.map((group) => `isNotNull(${group})`), ...sliceConditions(parameters, groups, slice)];
}

/** Whether `compileHours` uses `ends`: if one aggregate reads another. */
export function needsEventHours({ readsGroups }: WrittenQuery): boolean {
  return readsGroups;
}

/** One row: the number of events of any type in the scope, and the instant of the middle one. */
export function compileEventCount(scope: EventScope): CompiledStatement {
  const parameters = createParameters();
  const sql = renderStatement({
    definitions: [],
    columns: [
      'toString(count()) AS event_count',
      'toString(quantileExactLow(0.5)(toUnixTimestamp64Milli(timestamp))) AS middle',
    ],
    conditions: scopeSql(parameters, scope),
    groupBy: [],
  });
  return { sql, parameters };
}

/** Rows `transaction_id`, `at` (epoch milliseconds): the first events of the scope, in the order of time, then id. */
export function compileEventList(scope: EventScope, limit: number): CompiledStatement {
  const parameters = createParameters();
  const sql = renderStatement({
    definitions: [],
    columns: ['transaction_id', 'toString(toUnixTimestamp64Milli(timestamp)) AS at'],
    conditions: scopeSql(parameters, scope),
    groupBy: [],
    orderBy: ['timestamp', 'transaction_id'],
    limit: parameters.bind('limit', 'UInt32', limit),
  });
  return { sql, parameters };
}

/** Rows `part`: the ends of the hours in which the customer has events. */
export function compileEventHours(scope: EventScope): CompiledStatement {
  const parameters = createParameters();
  parameters.note(ANY_VERSION, '1');
  const sql = renderStatement({
    definitions: [],
    columns: ['toString(intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600) AS part'],
    from: 'usage_events',
    conditions: scopeSql(parameters, scope),
    groupBy: ['part'],
    orderBy: ['part'],
  });
  return { sql, parameters };
}

interface StartedStatement {
  readonly relation: WrittenRelation;
  /** The text after FROM. */
  readonly from: string;
  /** Writes into the SELECT around the query. */
  readonly output: Writer;
  readonly parameters: Parameters;
}

interface EvaluationTime {
  readonly eventPart?: string;
  readonly firstPart?: string;
  /** Bound only if the query uses them. */
  readonly boundaries?: () => string;
  readonly everyPart?: () => string;
  readonly eventHour?: string;
  readonly firstEnd?: string;
  readonly ends?: string;
}

/** Fills in the open parts of a relation. `own`: the parameters of this evaluation. */
function startStatement(
  query: WrittenQuery,
  relation: WrittenRelation,
  own: Parameters,
  scope: EventScope,
  time: EvaluationTime,
): StartedStatement {
  const from = relation.from
    .replaceAll(OPEN_PARTS.scope, () => scopeSql(own, scope).join('\n  AND '))
    .replaceAll(OPEN_PARTS.eventPart, () => time.eventPart ?? '')
    .replaceAll(OPEN_PARTS.firstPart, () => time.firstPart ?? '')
    .replaceAll(OPEN_PARTS.boundaries, () => time.boundaries?.() ?? '')
    .replaceAll(OPEN_PARTS.everyPart, () => time.everyPart?.() ?? '')
    .replaceAll(OPEN_PARTS.eventHour, () => time.eventHour ?? '')
    .replaceAll(OPEN_PARTS.firstEnd, () => time.firstEnd ?? '')
    .replaceAll(OPEN_PARTS.ends, () => time.ends ?? '');
  const parameters = { ...own, values: () => ({ ...query.parameters, ...own.values() }) };
  const definitions = createDefinitions(createNames(relation.nameCount));
  return { relation, from, output: { parameters, definitions }, parameters };
}

function scopeSql(
  parameters: Parameters,
  { refs, interval, usageFilter, ingestedUpTo, leftOut = null, having = [], onlyIds = null }: EventScope,
): string[] {
  const end = Math.min(interval.end, leftOut?.from ?? interval.end);
  const ids = (values: readonly string[]) => parameters.bind('event_ids', 'Array(String)', values);
  return [
    ...scopeConditions(parameters, refs, { start: interval.start, end }),
    ...(leftOut === null || leftOut.ids.length === 0 ? [] : [`NOT (transaction_id IN ${ids(leftOut.ids)})`]),
    ...(onlyIds === null ? [] : [`transaction_id IN ${ids(onlyIds)}`]),
    ...(usageFilter === null ? [] : [inCondition(parameters, usageFilter.property, usageFilter.values)]),
    ...having.map(({ property, value }) =>
      value === null
        ? `NOT ${propertySql(parameters, property).isPresent}`
        : inCondition(parameters, property, [value]),
    ),
    ...ingestedCondition(parameters, ingestedUpTo),
  ];
}

function outputSql(
  output: Writer,
  { columns }: WrittenRelation,
  { value, groups }: OutputColumns,
): { value: string; groups: string[] } {
  const columnAt = (index: number) => {
    const column = columns[index];
    if (column === undefined) throw new Error(`the query has no column ${index}`);
    return column;
  };
  const column = columnAt(value);
  const number = toNumber(output, column, 0);
  const quantity =
    column.type === 'property' ? number : checkedSql(output.definitions.names, number, RESULT_DIGITS_MAX);
  return {
    value: output.definitions.define(quantity),
    groups: groups.map((index) => output.definitions.define(toText(output, columnAt(index)))),
  };
}

function groupValuesSql(groups: readonly string[]): string {
  return `CAST([${groups.join(', ')}], 'Array(Nullable(String))') AS group_values`;
}
