/**
 * Writes a SELECT that aggregates: a layer of rows (keys and arguments), a layer of groups
 * (`groups-sql.ts`), and a layer of results that computes with keys and aggregates.
 */
import { renderStatement } from '../../query/usage-relation.ts';
import {
  type Expression,
  expressionsOf,
  partsOf,
  type SelectItem,
  type SelectQuery,
} from '../syntax/query-syntax.ts';
import { createDefinitions, type Definitions } from '../values/definitions.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import type { Value } from '../values/value.ts';
import { needsEventOrder, writeAggregate, writeOperands } from './aggregate-function-sql.ts';
import { type Scope, writeExpression } from './expression-sql.ts';
import { type Grouping, type Groups, keyNames, writeGroups } from './groups-sql.ts';
import { type Input, inputScope, whereConditions } from './input-scope.ts';
import { keptNumber, limitedSql, writeRowNumber } from './limit-sql.ts';
import { named, type Relation, relationOf, type StatementContext } from './relation.ts';
import { createSubqueries, type Subqueries } from './subqueries.ts';
import { writeWindow } from './window-sql.ts';

/** Writes a query in an expression. */
type WriteQuery = (context: StatementContext, query: SelectQuery) => Relation;

export function writeGroupedSelect(
  context: StatementContext,
  query: SelectQuery,
  input: Input,
  write: WriteQuery,
): Relation {
  const { names } = context;
  refuseDoubleGrouping(query);
  const grouping = startGrouping(context, query, input, write);
  const results = createDefinitions(names);
  const subqueries = createSubqueries(context, results, write);
  const plain = resultScope(grouping, results, null, subqueries);
  const windowRows = () => ({ part: grouping.part, ties: keyNames(grouping) });
  const scope: Scope = { ...plain, window: (expression) => writeWindow(plain, expression, windowRows()) };
  const columns = query.items.map(({ expression, name }) => {
    const { sql, type } = writeExpression(scope, expression);
    return { name, type, sql: names.fresh('c'), expression: sql };
  });
  const aliased = createAliasedColumns(grouping);
  const having = whereConditions(resultScope(grouping, results, aliased, subqueries), query.having);
  const rowNumber = writeRowNumber(scope, query, windowRows());
  // All arguments are known only now, and with them the rows.
  const where = whereConditions(grouping.rowScope, query.where);
  const groups = aliased.addTo(writeGroups(grouping, where));
  const until = groups.until === null ? null : names.fresh('u');
  const sql = renderStatement({
    definitions: results.list(),
    columns: [
      groups.part,
      ...(groups.until === null || until === null ? [] : [named(groups.until, until)]),
      ...columns.map((column) => named(column.expression, column.sql)),
      ...(rowNumber?.columns ?? []),
    ],
    from: withJoins(context, groups.from, subqueries.joins(groups.part)),
    conditions: [...groups.conditions, ...having],
    groupBy: [],
  });
  const number = keptNumber(context, query, rowNumber);
  const kept = [groups.part, until, number, ...columns.map((column) => column.sql)].filter(
    (name) => name !== null,
  );
  return relationOf(limitedSql(sql, query, rowNumber, { part: groups.part, columns: kept }), columns, {
    part: groups.part,
    until,
    eventOrder: null,
    rowNumber: number,
  });
}

function withJoins({ names }: StatementContext, from: string, joins: readonly string[]): string {
  return joins.length === 0 ? from : [`${from} AS ${names.fresh('s')}`, ...joins].join('\n');
}

function refuseDoubleGrouping({ distinct, groupBy, having, items, position }: SelectQuery): void {
  if (!distinct) return;
  if (
    groupBy.length > 0 ||
    having !== null ||
    items.some(({ expression }) => expression.aggregateAt !== null)
  ) {
    throw new QueryProblem(
      position,
      'SELECT DISTINCT cannot be combined with GROUP BY, HAVING or aggregates',
    );
  }
}

/** Whether its groups consist of events only, so that their hour determines when they are valid. */
function canBeByHour({ time }: StatementContext, query: SelectQuery, input: Input): boolean {
  if (time.hourly === null || input.partSql === null || input.joins.length > 0) return false;
  const readsQuery = (expression: Expression): boolean =>
    expression.kind === 'subquery' || expression.kind === 'in_query' || partsOf(expression).some(readsQuery);
  return !expressionsOf(query).some(readsQuery);
}

function startGrouping(
  context: StatementContext,
  query: SelectQuery,
  events: Input,
  write: WriteQuery,
): Grouping {
  const { names } = context;
  const rows = createDefinitions(names);
  const isByHour = canBeByHour(context, query, events);
  const input = isByHour ? { ...events, partSql: context.time.hourly?.eventHour ?? null } : events;
  const rowScope = inputScope(context, rows, input, createSubqueries(context, rows, write));
  const keys = new Map<number, Value>();
  const keyColumns: string[] = [];
  for (const expression of query.distinct ? query.items.map((item) => item.expression) : query.groupBy) {
    const { identity } = expression;
    if (keys.has(identity)) continue;
    const { sql, type } = writeExpression(rowScope, expression);
    const name = names.fresh('k');
    keys.set(identity, { sql: name, type });
    keyColumns.push(`${sql} AS ${name}`);
  }
  return {
    context,
    input,
    query,
    rows,
    rowScope,
    part: names.fresh('p'),
    order: names.fresh('o'),
    keys,
    keyColumns,
    arguments: new Map(),
    calls: new Map(),
    aggregates: new Map(),
    isByHour,
  };
}

/**
 * Columns that HAVING reads by their names. They are computed in a separate SELECT below, so that each is
 * planned once, however often HAVING reads it.
 */
interface AliasedColumns {
  read(item: SelectItem): Value;
  /** The groups with these columns. */
  addTo(groups: Groups): Groups;
}

function createAliasedColumns(grouping: Grouping): AliasedColumns {
  const definitions = createDefinitions(grouping.context.names);
  const scope = resultScope(grouping, definitions, null, null);
  const read = new Map<SelectItem, Value>();
  const write = ({ expression }: SelectItem): Value => {
    const { sql, type } = writeExpression(scope, expression);
    return { sql: definitions.define(sql), type, isPlain: true };
  };
  return {
    read: (item) => {
      const value = read.get(item) ?? write(item);
      read.set(item, value);
      return value;
    },
    addTo: (groups) => {
      if (definitions.list().length === 0) return groups;
      const until = groups.until === null ? null : grouping.context.names.fresh('u');
      const columns = [...keyNames(grouping), ...[...grouping.calls.values()].map(({ result }) => result)];
      const aliased = [...read.values()].map(({ sql }) => sql).filter((name) => !columns.includes(name));
      const sql = renderStatement({
        definitions: definitions.list(),
        columns: [
          groups.part,
          ...(groups.until === null || until === null ? [] : [named(groups.until, until)]),
          ...columns,
          ...new Set(aliased),
        ],
        from: groups.from,
        conditions: groups.conditions,
        groupBy: [],
      });
      return { from: `(\n${sql}\n)`, conditions: [], part: groups.part, until };
    },
  };
}

/** The names that are valid above GROUP BY: keys and aggregates; in HAVING also the names of columns. */
function resultScope(
  grouping: Grouping,
  definitions: Definitions,
  aliased: AliasedColumns | null,
  subqueries: Subqueries | null,
): Scope {
  const { context, query, keys } = grouping;
  const notGrouped = (what: string, position: number) =>
    new QueryProblem(position, `${what} must stand in GROUP BY or inside an aggregate function`);
  const scope: Scope = {
    parameters: context.parameters,
    definitions,
    window: null,
    subqueries,
    known: (expression) => keys.get(expression.identity) ?? null,
    property: ({ name, position }) => {
      throw notGrouped(`properties.${name}`, position);
    },
    column: ({ name, position }) => {
      const item = query.items.find((candidate) => candidate.name?.toLowerCase() === name);
      if (aliased === null || item === undefined) throw notGrouped(`the column ${name}`, position);
      return aliased.read(item);
    },
    aggregate: (expression) => {
      const { identity } = expression;
      const value = grouping.aggregates.get(identity) ?? writeGroupAggregate(grouping, expression);
      grouping.aggregates.set(identity, value);
      return value;
    },
  };
  return scope;
}

function writeGroupAggregate(
  grouping: Grouping,
  expression: Extract<Expression, { kind: 'aggregate' }>,
): Value {
  const { rowScope, context, input } = grouping;
  if (needsEventOrder(expression.name) && input.eventOrder === null) {
    throw new QueryProblem(
      expression.position,
      `${expression.name} goes by the time of events: use it where events are read, not over grouped rows`,
    );
  }
  const written = writeOperands(expression, expression.position, (operand) =>
    writeExpression(rowScope, operand),
  );
  const columnOf = (sql: string) => {
    const argument = grouping.arguments.get(sql) ?? context.names.fresh('a');
    grouping.arguments.set(sql, argument);
    return argument;
  };
  return writeAggregate(written, rowScope, {
    names: context.names,
    compute: (name, sql, decides = null) => {
      const argument = columnOf(sql);
      const by = decides === null ? null : columnOf(decides);
      const identity = `${name} ${argument} ${by ?? ''}`;
      const call = grouping.calls.get(identity);
      const result = call?.result ?? context.names.fresh('g');
      grouping.calls.set(identity, { name, argument, by, result });
      return result;
    },
  });
}
