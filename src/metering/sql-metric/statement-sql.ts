/** The statements that evaluate a SQL metric for one customer: over an interval, over windows, or by hours. */
import { HOUR_MS, type Instant, type Interval, SECOND_MS } from '../../core/time.ts';
import { ingestedCondition, windowSql } from '../query/groups-sql.ts';
import { inCondition } from '../query/match-sql.ts';
import { createParameters, type Parameters } from '../query/parameters.ts';
import { placeConditions, type RowPlace } from '../query/row-order-sql.ts';
import { renderStatement, scopeConditions } from '../query/usage-relation.ts';
import type { UsageWindowSize } from '../query/usage-windows.ts';
import { createDefinitions, createNames } from './definitions.ts';
import { checkedSql, RESULT_DIGITS_MAX } from './exact-sql.ts';
import { findAggregate, type SelectQuery } from './query-syntax.ts';
import { FOREVER, type Relation, type StatementContext, type TimeSql } from './relation.ts';
import { writeSelect } from './select-sql.ts';
import { toNumber, toText, type ValueType, type Writer } from './value.ts';

/** The events that an evaluation sees. */
export interface EventScope {
  /** Everything that the customer's events may carry as `customer_id`. */
  readonly refs: readonly string[];
  readonly interval: Interval;
  /** Only events with one of these values of a property; null for all. */
  readonly usageFilter: { readonly property: string; readonly values: readonly string[] } | null;
  /** Only events ingested up to here, in epoch microseconds; null for all. */
  readonly ingestedUpTo: string | null;
}

/** Which columns of the query count, by their index. */
export interface OutputColumns {
  readonly value: number;
  readonly groups: readonly number[];
}

export interface CompiledStatement {
  readonly sql: string;
  readonly parameters: Parameters;
}

/** What rows of windows are narrowed to and how they are cut into pages. */
export interface WindowPage {
  readonly size: UsageWindowSize;
  /** By index of the group: only these values; empty for all. */
  readonly groupFilters: ReadonlyArray<readonly string[]>;
  readonly place: RowPlace;
  readonly limit: number;
}

/** The types of the columns of a query. Throws a `QueryProblem` where it does not fit together. */
export function outputTypes(query: SelectQuery, scope: EventScope): ValueType[] {
  const time = { eventPart: 'toInt64(0)', firstPart: null, boundaries: null };
  return startStatement(query, scope, time).relation.columns.map(({ type }) => type);
}

/** Rows `part`, `group_values`, `value`: the whole interval as one. */
export function compileWhole(
  query: SelectQuery,
  columns: OutputColumns,
  scope: EventScope,
): CompiledStatement {
  const { context, relation, output } = startStatement(query, scope, {
    eventPart: 'toInt64(0)',
    firstPart: 'toInt64(0)',
    boundaries: null,
  });
  const { value, groups } = outputSql(output, relation, columns);
  const sql = renderStatement({
    definitions: output.definitions.list(),
    columns: ["'0' AS part", groupValuesSql(groups), `toString(sum(${value})) AS value`],
    from: relation.from,
    conditions: groups.map((group) => `isNotNull(${group})`),
    groupBy: [relation.part, ...groups],
    orderBy: groups,
  });
  return { sql, parameters: context.parameters };
}

/** Rows `part` (start of the window), `group_values`, `value`, in this order; each window on its own. */
export function compileWindows(
  query: SelectQuery,
  columns: OutputColumns,
  scope: EventScope,
  page: WindowPage,
): CompiledStatement {
  const parameters = createParameters();
  const eventPart = windowSql(parameters, page.size, scope.interval);
  const time = { eventPart, firstPart: null, boundaries: null };
  const { relation, output } = startStatement(query, scope, time, parameters);
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
    from: relation.from,
    conditions: filters,
    groupBy: [relation.part, ...groups],
    having: placeConditions(parameters, relation.part, groups, page.place),
    orderBy: [relation.part, ...groups.map((group) => `${group} ASC NULLS LAST`)],
    limit: parameters.bind('limit', 'UInt32', page.limit),
  });
  return { sql, parameters };
}

/**
 * Rows `part` (end of an hour), `group_values`, `value`: by how much V changes there, in order. Hours in
 * which it does not change have no row. `ends` are the ends of all hours with events, ascending.
 */
export function compileHours(
  query: SelectQuery,
  columns: OutputColumns,
  scope: EventScope,
  ends: readonly Instant[],
): CompiledStatement {
  const parameters = createParameters();
  const first = scope.interval.start + HOUR_MS;
  const boundaries = [...new Set([first, ...ends])].sort((a, b) => a - b).map((end) => end / SECOND_MS);
  const { context, relation, output } = startStatement(
    query,
    scope,
    {
      eventPart: 'intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600',
      firstPart: parameters.bind('first', 'Int64', first / SECOND_MS),
      boundaries: () => parameters.bind('boundaries', 'Array(Int64)', boundaries),
    },
    parameters,
  );
  const { value, groups } = outputSql(output, relation, columns);
  const at = context.names.fresh('t');
  const change = context.names.fresh('v');
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
    from: relation.from,
    conditions: groups.map((group) => `isNotNull(${group})`),
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

/** Whether `compileHours` looks at `ends`: where one aggregate reads another. */
export function needsEventHours({ source }: SelectQuery): boolean {
  return source.kind === 'query' && (isAggregate(source.query) || needsEventHours(source.query));
}

function isAggregate({ groupBy, having, items }: SelectQuery): boolean {
  return (
    groupBy.length > 0 ||
    having !== null ||
    items.some(({ expression }) => findAggregate(expression) !== null)
  );
}

/** Rows `part`: the ends of the hours in which the customer has events. */
export function compileEventHours(scope: EventScope): CompiledStatement {
  const parameters = createParameters();
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
  readonly context: StatementContext;
  readonly relation: Relation;
  /** Writes into the SELECT around the query. */
  readonly output: Writer;
}

function startStatement(
  query: SelectQuery,
  scope: EventScope,
  time: TimeSql,
  parameters: Parameters = createParameters(),
): StartedStatement {
  const names = createNames();
  const context = { parameters, names, time, scope: scopeSql(parameters, scope) };
  const relation = writeSelect(context, query);
  return { context, relation, output: { parameters, definitions: createDefinitions(names) } };
}

function scopeSql(
  parameters: Parameters,
  { refs, interval, usageFilter, ingestedUpTo }: EventScope,
): string[] {
  return [
    ...scopeConditions(parameters, refs, interval),
    ...(usageFilter === null ? [] : [inCondition(parameters, usageFilter.property, usageFilter.values)]),
    ...ingestedCondition(parameters, ingestedUpTo),
  ];
}

function outputSql(
  output: Writer,
  { columns }: Relation,
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
