/**
 * ORDER BY with LIMIT: the first rows of each part. Ties are broken, so the result is always the same.
 *
 * Rows are numbered by a window function. If the order itself uses a window function, they are numbered one SELECT
 * above, because ClickHouse does not nest window functions.
 */
import { renderStatement } from '../../query/usage-relation.ts';
import { type Expression, partsOf, type SelectQuery } from '../syntax/query-syntax.ts';
import type { Scope } from './expression-sql.ts';
import { named, type StatementContext } from './relation.ts';
import { orderKeys, orderOf, type WindowRows } from './window-sql.ts';

export interface RowNumber {
  readonly name: string;
  /** The columns that the numbered SELECT provides for it. */
  readonly columns: readonly string[];
  /** The number, for a SELECT above with a column for the part; null: it is among the columns. */
  readonly above: ((part: string) => string) | null;
}

/** The number of a row in the order of the query; null if it has no limit. */
export function writeRowNumber(scope: Scope, query: SelectQuery, rows: WindowRows): RowNumber | null {
  if (query.limit === null) return null;
  const { names } = scope.definitions;
  const name = names.fresh('r');
  const keys = [...orderKeys(scope, query.orderBy), ...rows.ties.map((tie) => ({ sql: tie, direction: '' }))];
  if (!query.orderBy.some(({ expression }) => hasWindow(expression)))
    return { name, columns: [named(numbered(rows.part, keys.map(orderOf)), name)], above: null };
  const own = keys.map((key) => ({ ...key, name: names.fresh('w') }));
  const order = own.map((key) => orderOf({ sql: key.name, direction: key.direction }));
  return {
    name,
    columns: own.map((key) => `${key.sql} AS ${key.name}`),
    above: (part) => numbered(part, order),
  };
}

function numbered(part: string, order: readonly string[]): string {
  const orderBy = order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`;
  return `row_number() OVER (PARTITION BY ${part}${orderBy})`;
}

function hasWindow(expression: Expression): boolean {
  return expression.kind === 'window' || partsOf(expression).some(hasWindow);
}

/** The name of the row number, if the statement keeps the order of this query. */
export function keptNumber(
  { ordered }: StatementContext,
  query: SelectQuery,
  rowNumber: RowNumber | null,
): string | null {
  return ordered === query ? (rowNumber?.name ?? null) : null;
}

/** `sql` with only the rows between OFFSET and LIMIT. `columns`: the resulting ones, including `part`. */
export function limitedSql(
  sql: string,
  { limit, offset }: SelectQuery,
  rowNumber: RowNumber | null,
  { part, columns }: { readonly part: string; readonly columns: readonly string[] },
): string {
  if (rowNumber === null || limit === null) return sql;
  const { name, above } = rowNumber;
  return renderStatement({
    definitions: [],
    columns,
    from: `(\n${above === null ? sql : numberedSql(sql, name, above(part), columns)}\n)`,
    conditions: [`${name} > ${offset}`, `${name} <= ${offset + limit}`],
    groupBy: [],
  });
}

function numberedSql(sql: string, name: string, number: string, columns: readonly string[]): string {
  const others = columns.filter((column) => column !== name);
  return renderStatement({
    definitions: [],
    columns: [...others, `${number} AS ${name}`],
    from: `(\n${sql}\n)`,
    conditions: [],
    groupBy: [],
  });
}
