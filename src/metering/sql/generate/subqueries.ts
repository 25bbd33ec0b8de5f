/**
 * Queries inside expressions: a single value, or a list after IN.
 *
 * Each becomes a SELECT with at most one matching row for every part and value, in a left join, so it never changes the
 * number of rows. A join gives the same result on several shards as on one.
 */

import type { SelectQuery } from '../syntax/query-syntax.ts';
import type { Definitions } from '../values/definitions.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { toNumber, type Value, type Writer } from '../values/value.ts';
import { writeComparison } from './comparison-sql.ts';
import type { Relation, StatementContext } from './relation.ts';

/** The queries in the expressions of one SELECT. */
export interface Subqueries {
  /** The value of a query with one column and at most one row; NULL without a row. */
  scalar(query: SelectQuery, position: number): Value;
  /** Whether the query has this value; unknown as in the SQL standard. */
  contains(query: SelectQuery, value: Value, position: number): Value;
  /** The input to join with the rows whose part is `part`. */
  joins(part: string): readonly string[];
}

/** The error text of a query whose subquery has several rows. */
export const SEVERAL_ROWS_MESSAGE = 'a subquery in an expression has more than one row';

export function createSubqueries(
  context: StatementContext,
  definitions: Definitions,
  write: (context: StatementContext, query: SelectQuery) => Relation,
): Subqueries {
  const { names, parameters, time } = context;
  const joins: Array<(part: string) => string> = [];
  const leftJoin = (sql: string, on: string) => `LEFT JOIN (\n${sql}\n) AS ${names.fresh('s')} ON ${on}`;
  const inner: StatementContext = { ...context, time: { ...time, firstPart: time.everyPart } };
  const writer: Writer = { parameters, definitions: { ...definitions, define: (sql) => sql } };
  const columnOf = (query: SelectQuery, position: number) => {
    const relation = write(inner, query);
    const [column, ...more] = relation.columns;
    if (column === undefined || more.length > 0) {
      throw new QueryProblem(position, 'a query in an expression has one column');
    }
    return { relation, column };
  };
  return {
    scalar: (query, position) => {
      const { relation, column } = columnOf(query, position);
      const [part, value, count] = [names.fresh('p'), names.fresh('q'), names.fresh('q')];
      // `max` of a single row is that row.
      const single = `max(${column.sql}) AS ${value}, count() AS ${count}`;
      const sql = `SELECT ${relation.part} AS ${part}, ${single}\nFROM ${relation.from}\nGROUP BY ${relation.part}`;
      joins.push((own) => leftJoin(sql, `equals(${own}, ${part})`));
      const isSeveral = `throwIf(ifNull(${count}, 0) > 1, '${SEVERAL_ROWS_MESSAGE}')`;
      return { sql: definitions.define(`if(${isSeveral}, NULL, ${value})`), type: column.type };
    },
    contains: (query, value, position) => {
      const { relation, column } = columnOf(query, position);
      const right: Value = { sql: names.fresh('v'), type: column.type };
      // Compared by the rule of `=`: as numbers if one side is a number, else as text.
      const isNumber = value.type === 'number' || column.type === 'number';
      const listed = isNumber ? toNumber(writer, { ...right, sql: column.sql }, position) : column.sql;
      const compared: Value = isNumber ? { sql: right.sql, type: 'number' } : right;
      const left = isNumber
        ? { ...value, sql: toNumber(writer, value, position), type: 'number' as const }
        : value;
      const [part, unknownPart, unknown] = [names.fresh('p'), names.fresh('p'), names.fresh('q')];
      const rows = `SELECT ${relation.part} AS ${part}, ${listed} AS ${right.sql}\nFROM ${relation.from}`;
      const distinct = `SELECT ${part}, ${right.sql}\nFROM (\n${rows}\n)\nWHERE isNotNull(${right.sql})\nGROUP BY ${part}, ${right.sql}`;
      const flags = `SELECT ${part} AS ${unknownPart}, max(isNull(${right.sql})) AS ${unknown}\nFROM (\n${rows}\n)\nGROUP BY ${part}`;
      const equal = writeComparison(writer, { operator: '=', position }, left, compared).sql;
      joins.push(
        (ownPart) => leftJoin(distinct, `and(equals(${ownPart}, ${part}), ${equal})`),
        (ownPart) => leftJoin(flags, `equals(${ownPart}, ${unknownPart})`),
      );
      const tests = [
        `isNotNull(${right.sql})`,
        'toUInt8(1)',
        `isNull(${unknown})`,
        'toUInt8(0)',
        `isNull(${left.sql}) OR ${unknown} = 1`,
        'NULL',
      ];
      return { sql: definitions.define(`multiIf(${tests.join(', ')}, toUInt8(0))`), type: 'boolean' };
    },
    joins: (part) => joins.map((join) => join(part)),
  };
}
