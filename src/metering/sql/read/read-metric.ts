/**
 * Parses the definition of a SQL metric (docs/explanation/sql-metrics.md).
 *
 * The text never reaches ClickHouse. It is parsed by a separate grammar (`parse-query.ts`) that accepts only allowed
 * constructs, typed and written again as SQL; ClickHouse's own parse tree of that SQL is checked against a list
 * (`parse-tree.ts`) before it runs.
 */

import { type WrittenQuery, writeQuery } from '../generate/written-query.ts';
import { refuseExpansion } from '../syntax/expansion.ts';
import { parseQuery } from '../syntax/parse-query.ts';
import { patternsIn, type TextPattern } from '../syntax/patterns.ts';
import type { SelectItem, SelectQuery } from '../syntax/query-syntax.ts';
import { locatingProblems, QueryProblem } from '../values/query-refusal.ts';
import { describe } from '../values/value.ts';

/** A SQL metric that can be evaluated. Plain data; only this module creates it. */
export interface CheckedSqlMetric {
  /** As the analyst wrote it. */
  readonly sql: string;
  readonly query: WrittenQuery;
  /** Index of the quantity column: the one named `value`, or the first. */
  readonly valueColumn: number;
  /** The other named columns, by which usage can be grouped. */
  readonly groupColumns: readonly string[];
  /** The patterns that ClickHouse must be able to compile before the metric is stored. */
  readonly patterns: readonly TextPattern[];
}

/**
 * Parses, checks and writes a definition, without ClickHouse. The work and the result are linear in the length of the
 * text. Throws an `invalid` refusal for the field `sql` with line, column and the allowed alternatives.
 */
export function readSqlMetric(sql: string): CheckedSqlMetric {
  return locatingProblems(sql, () => {
    const query = parseQuery(sql);
    const value = query.items.findIndex(({ name }) => name?.toLowerCase() === 'value');
    const valueColumn = Math.max(value, 0);
    refuseExpansion(query, valueColumn);
    const groupColumns = query.items.flatMap(({ name }, index) =>
      name === null || index === valueColumn ? [] : [name],
    );
    // Writing detects wrong names and types.
    const written = writeQuery(query);
    requireQuantity(query, written, valueColumn);
    refuseTooManyValues(query, written);
    return { sql, query: written, valueColumn, groupColumns, patterns: patternsIn(query) };
  });
}

/** Each distinct name and text is sent in a separate field, and a server accepts 1,000 fields with a statement. */
const VALUES_MAX = 800;

function refuseTooManyValues(query: SelectQuery, { parameters }: WrittenQuery): void {
  const count = Object.keys(parameters).length;
  if (count <= VALUES_MAX) return;
  throw new QueryProblem(
    query.position,
    `the query has ${count} different names, texts and lists, more than ${VALUES_MAX}`,
  );
}

/** Refuses a quantity that is not a number, and a key of GROUP BY, which is most likely a mistake. */
function requireQuantity(query: SelectQuery, { whole }: WrittenQuery, index: number): void {
  const item = query.items[index];
  const type = whole.columns[index]?.type;
  if (item === undefined || type === undefined) throw new QueryProblem(query.position, 'a query has columns');
  const which = item.name?.toLowerCase() === 'value' ? 'the column value' : 'the first column';
  if (type === 'property' && isGroupKey(query, item)) {
    throw new QueryProblem(
      item.expression.position,
      `${which} is the quantity, and here it is what is grouped by: name the quantity with AS value`,
    );
  }
  if (type !== 'number' && type !== 'property' && type !== 'null') {
    throw new QueryProblem(
      item.expression.position,
      `${which} is the quantity and must be a number, not ${describe(type)}: name the quantity with AS value`,
    );
  }
}

function isGroupKey({ groupBy }: SelectQuery, { expression }: SelectItem): boolean {
  return groupBy.some((key) => key.identity === expression.identity);
}
