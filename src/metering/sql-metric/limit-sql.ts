/** ORDER BY with LIMIT: the first rows of each part. Rows with equal keys are told apart, so the result is always the same. */
import { renderStatement } from '../query/usage-relation.ts';
import type { Scope } from './expression-sql.ts';
import type { SelectQuery } from './query-syntax.ts';
import type { StatementContext } from './relation.ts';
import { orderSql, type WindowRows } from './window-sql.ts';

export interface RowNumber {
  readonly sql: string;
  readonly name: string;
}

/** The number of a row in the order of the query; null where it has no limit. */
export function writeRowNumber(scope: Scope, query: SelectQuery, rows: WindowRows): RowNumber | null {
  if (query.limit === null) return null;
  const order = orderSql(scope, query.orderBy, rows.ties);
  const orderBy = order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`;
  return {
    sql: `row_number() OVER (PARTITION BY ${rows.part}${orderBy})`,
    name: scope.definitions.names.fresh('r'),
  };
}

/** The name under which rows keep their number, where the statement keeps the order of this query. */
export function keptNumber(
  { ordered }: StatementContext,
  query: SelectQuery,
  rowNumber: RowNumber | null,
): string | null {
  return ordered === query ? (rowNumber?.name ?? null) : null;
}

/** `sql` with only the rows between OFFSET and LIMIT. `columns` are those that it keeps. */
export function limitedSql(
  sql: string,
  { limit, offset }: SelectQuery,
  rowNumber: RowNumber | null,
  columns: readonly string[],
): string {
  if (rowNumber === null || limit === null) return sql;
  return renderStatement({
    definitions: [],
    columns,
    from: `(\n${sql}\n)`,
    conditions: [`${rowNumber.name} > ${offset}`, `${rowNumber.name} <= ${offset + limit}`],
    groupBy: [],
  });
}
