/** Writes the SELECTs of a query, innermost first. SELECTs that aggregate are in `grouped-sql.ts`. */
import { renderStatement } from '../../query/usage-relation.ts';
import { unionColumn } from '../syntax/parse-source.ts';
import { isGrouped, type SelectQuery, type Source } from '../syntax/query-syntax.ts';
import { createDefinitions } from '../values/definitions.ts';
import { commonType, convert } from '../values/value.ts';
import { type Scope, writeExpression } from './expression-sql.ts';
import { listOf } from './function-sql.ts';
import { writeGroupedSelect } from './grouped-sql.ts';
import { type Input, inputScope, whereConditions } from './input-scope.ts';
import { keptNumber, limitedSql, writeRowNumber } from './limit-sql.ts';
import {
  eventsRelation,
  named,
  oneRow,
  type Relation,
  relationOf,
  type StatementContext,
} from './relation.ts';
import type { SideInput } from './source-side.ts';
import { createSubqueries } from './subqueries.ts';
import { viewRelation } from './view-sql.ts';
import { writeWindow } from './window-sql.ts';

export function writeSelect(context: StatementContext, query: SelectQuery): Relation {
  const joins = query.joins.map((join) => ({ ...join, input: readSource(context, join.source) }));
  const first = readSource(context, query.source);
  // A row of a join is not an event.
  const input: Input = { ...first, joins, ...(joins.length === 0 ? {} : { eventOrder: null }) };
  return isGrouped(query)
    ? writeGroupedSelect(context, query, input, writeSelect)
    : writeRows(context, query, input);
}

function readSource(context: StatementContext, source: Source): SideInput {
  const { qualifier } = source;
  switch (source.kind) {
    case 'events':
      return { ...eventsRelation(context), qualifier, title: 'events' };
    case 'view':
      return { ...viewRelation(context, source.view), qualifier, title: source.view };
    case 'query':
      return { ...writeSelect(context, source.query), qualifier, title: qualifier ?? 'the subquery' };
    case 'one':
      return { ...oneRow(context), qualifier, title: 'a SELECT without FROM' };
    case 'union':
      return { ...writeUnion(context, source.queries, writeSelect), qualifier, title: 'the UNION' };
    default:
      return writeElements(context, source);
  }
}

/** A row for each element of a list: all columns of the source, and the element as a property. */
function writeElements(context: StatementContext, source: Extract<Source, { kind: 'unnest' }>): SideInput {
  const input: Input = { ...readSource(context, source.source), joins: [] };
  const { names, parameters } = context;
  const definitions = createDefinitions(names);
  const subqueries = createSubqueries(context, definitions, writeSelect);
  const scope = inputScope(context, definitions, input, subqueries);
  const write = (operand: typeof source.list) => writeExpression(scope, operand);
  const list = listOf({ parameters, definitions, write }, source.list);
  const element = names.fresh('c');
  const kept = input.hasProperties ? ['properties'] : [];
  const known = [...input.names, ...kept, ...(input.partSql === null ? [] : [input.part])];
  const elements = source.isLeft
    ? `if(empty(${list}), CAST([NULL], 'Array(Nullable(String))'), ${list})`
    : list;
  const below = scope.source(kept);
  const sql = renderStatement({
    definitions: definitions.list(),
    columns: [...known, `arrayJoin(${elements}) AS ${element}`],
    from: below.from,
    conditions: below.conditions,
    groupBy: [],
  });
  return {
    ...input,
    from: `(\n${sql}\n)`,
    conditions: [],
    names: [...input.names, ...(input.partSql === null ? [] : [input.part]), element],
    columns: [...input.columns, { name: source.name, type: 'property', sql: element }],
    origins: new Map(),
    partSql: null,
    qualifier: source.qualifier,
  };
}

/** One row for each row of the input. */
function writeRows(context: StatementContext, query: SelectQuery, input: Input): Relation {
  const { names } = context;
  const definitions = createDefinitions(names);
  const rows = { part: input.part, ties: tiesOf(input) };
  const plain = inputScope(context, definitions, input, createSubqueries(context, definitions, writeSelect));
  const scope: Scope = { ...plain, window: (expression) => writeWindow(plain, expression, rows) };
  const columns = query.items.map(({ expression, name }) => {
    const { sql, type } = writeExpression(scope, expression);
    return { name, type, sql: names.fresh('c'), expression: sql };
  });
  const where = whereConditions(plain, query.where);
  const rowNumber = writeRowNumber(scope, query, rows);
  const part = names.fresh('p');
  const until = input.until === null ? null : names.fresh('u');
  const eventOrder = input.eventOrder === null ? null : names.fresh('o');
  const source = plain.source();
  const sql = renderStatement({
    definitions: definitions.list(),
    columns: [
      named(input.part, part),
      ...(input.until === null || until === null ? [] : [named(input.until, until)]),
      ...(input.eventOrder === null || eventOrder === null ? [] : [named(input.eventOrder, eventOrder)]),
      ...columns.map((column) => named(column.expression, column.sql)),
      ...(rowNumber?.columns ?? []),
    ],
    from: source.from,
    conditions: [...source.conditions, ...where],
    groupBy: [],
  });
  const number = keptNumber(context, query, rowNumber);
  const kept = [part, until, eventOrder, number, ...columns.map((column) => column.sql)].filter(
    (name) => name !== null,
  );
  return relationOf(limitedSql(sql, query, rowNumber, { part, columns: kept }), columns, {
    part,
    until,
    eventOrder,
    rowNumber: number,
  });
}

/** Columns that distinguish rows. */
function tiesOf(input: Input): string[] {
  return [input, ...input.joins.map((join) => join.input)].flatMap((side) =>
    side.names.filter((name) => name !== side.part),
  );
}

/** Concatenates the rows of queries. The columns have the names of the first query's, and a common type. */
function writeUnion(
  context: StatementContext,
  queries: readonly SelectQuery[],
  write: (context: StatementContext, query: SelectQuery) => Relation,
): Relation {
  const { names, parameters } = context;
  const relations = queries.map((query) => write(context, query));
  const part = names.fresh('p');
  const columns = (queries[0]?.items ?? []).map(({ name }, index) => ({
    name: unionColumn(name, index),
    sql: names.fresh('c'),
    type: commonType(
      relations.map((relation) => relation.columns[index]?.type ?? 'null'),
      queries.at(-1)?.items[index]?.expression.position ?? 0,
    ),
  }));
  const selects = relations.map((relation) => {
    const definitions = createDefinitions(names);
    const values = columns.map(({ type, sql }, index) => {
      const column = relation.columns[index];
      if (column === undefined) throw new Error('the queries of a UNION have as many columns');
      return named(
        convert({ parameters, definitions }, { sql: column.sql, type: column.type }, type, 0),
        sql,
      );
    });
    const clause = definitions.list().length === 0 ? '' : `WITH ${definitions.list().join(', ')}\n`;
    return `${clause}SELECT ${[named(relation.part, part), ...values].join(', ')}\nFROM ${relation.from}`;
  });
  return relationOf(selects.join('\nUNION ALL\n'), columns, { part, until: null, eventOrder: null });
}
