/**
 * Writes a SELECT that aggregates: a layer of rows (keys and arguments), a layer of groups
 * (`groups-sql.ts`), and a layer of results that computes with keys and aggregates.
 */
import { renderStatement } from '../query/usage-relation.ts';
import { needsEventOrder, writeAggregate } from './aggregate-function-sql.ts';
import { createDefinitions, type Definitions } from './definitions.ts';
import { type Scope, writeExpression } from './expression-sql.ts';
import { type Grouping, writeGroups } from './groups-sql.ts';
import { type Input, inputScope, whereConditions } from './input-scope.ts';
import { QueryProblem } from './query-refusal.ts';
import { type Expression, findAggregate, identityOf, type SelectQuery } from './query-syntax.ts';
import { named, type Relation, relationOf, type StatementContext } from './relation.ts';
import type { Value } from './value.ts';

export function writeGroupedSelect(context: StatementContext, query: SelectQuery, input: Input): Relation {
  const { names } = context;
  refuseDoubleGrouping(query);
  const grouping = startGrouping(context, query, input);
  const results = createDefinitions(names);
  const scope = resultScope(grouping, results, false);
  const columns = query.items.map(({ expression, name }) => {
    const { sql, type } = writeExpression(scope, expression);
    return { name, type, sql: names.fresh('c'), expression: sql };
  });
  const having = whereConditions(resultScope(grouping, results, true), query.having);
  // Only now are all arguments known, and with them the rows.
  const where = whereConditions(grouping.rowScope, query.where);
  const groups = writeGroups(grouping, where);
  const until = groups.until === null ? null : names.fresh('u');
  const sql = renderStatement({
    definitions: results.list(),
    columns: [
      groups.part,
      ...(groups.until === null || until === null ? [] : [named(groups.until, until)]),
      ...columns.map((column) => named(column.expression, column.sql)),
    ],
    from: groups.from,
    conditions: [...groups.conditions, ...having],
    groupBy: [],
  });
  return relationOf(sql, columns, { part: groups.part, until, eventOrder: null });
}

function refuseDoubleGrouping({ distinct, groupBy, having, items, position }: SelectQuery): void {
  if (!distinct) return;
  if (groupBy.length > 0 || having !== null || items.some(({ expression }) => findAggregate(expression))) {
    throw new QueryProblem(
      position,
      'SELECT DISTINCT cannot be combined with GROUP BY, HAVING or aggregates',
    );
  }
}

function startGrouping(context: StatementContext, query: SelectQuery, input: Input): Grouping {
  const { names } = context;
  const rows = createDefinitions(names);
  const rowScope = inputScope(context, rows, input);
  const keys = new Map<string, Value>();
  const keyColumns: string[] = [];
  for (const expression of query.distinct ? query.items.map((item) => item.expression) : query.groupBy) {
    const identity = identityOf(expression);
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
  };
}

/** Names as they are understood above GROUP BY: keys and aggregates; in HAVING also the names of columns. */
function resultScope(grouping: Grouping, definitions: Definitions, withAliases: boolean): Scope {
  const { context, query, keys } = grouping;
  const notGrouped = (what: string, position: number) =>
    new QueryProblem(position, `${what} must stand in GROUP BY or inside an aggregate function`);
  const scope: Scope = {
    parameters: context.parameters,
    definitions,
    known: (expression) => keys.get(identityOf(expression)) ?? null,
    property: ({ name, position }) => {
      throw notGrouped(`properties.${name}`, position);
    },
    column: ({ name, position }) => {
      const item = query.items.find((candidate) => candidate.name?.toLowerCase() === name);
      if (!withAliases || item === undefined) throw notGrouped(`the column ${name}`, position);
      return writeExpression(resultScope(grouping, definitions, false), item.expression);
    },
    aggregate: (expression) => {
      const identity = identityOf(expression);
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
  const operand = expression.operand === null ? null : writeExpression(rowScope, expression.operand);
  return writeAggregate(expression, operand, rowScope, {
    names: context.names,
    compute: (name, sql) => {
      const argument = grouping.arguments.get(sql) ?? context.names.fresh('a');
      grouping.arguments.set(sql, argument);
      const call = grouping.calls.get(`${name} ${argument}`);
      const result = call?.result ?? context.names.fresh('g');
      grouping.calls.set(`${name} ${argument}`, { name, argument, result });
      return result;
    },
  });
}
