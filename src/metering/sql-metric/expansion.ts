/**
 * How large a query is once ClickHouse has put together what it is made of. Where a query reads a column of a
 * subquery, ClickHouse plans with the expression that the column stands for, as often as the column is read. A
 * chain of short subqueries that each read a column twice doubles with every one of them.
 */
import { QueryProblem } from './query-refusal.ts';
import { type Expression, partsOf, type SelectQuery } from './query-syntax.ts';

/** ClickHouse takes up to 10 µs for each and looks at no clock meanwhile: one second. */
const EXPANDED_EXPRESSIONS_MAX = 100_000;

/** Name of a column in lower case → how many expressions it stands for. */
type ColumnSizes = ReadonlyMap<string, number>;

/** Throws a `QueryProblem` where a query is too large when every column is replaced by what it stands for. */
export function refuseExpansion(query: SelectQuery): void {
  columnSizes(query);
}

function columnSizes(query: SelectQuery): ColumnSizes {
  const { source, items, where, groupBy, having, position } = query;
  const below: ColumnSizes = source.kind === 'events' ? new Map() : columnSizes(source.query);
  const sizes = items.map(({ expression }) => expandedSize(expression, below));
  const named = new Map(
    items.flatMap(({ name }, index) => (name === null ? [] : [[name.toLowerCase(), sizes[index] ?? 1]])),
  );
  const total = [
    ...sizes,
    ...groupBy.map((key) => expandedSize(key, below)),
    where === null ? 0 : expandedSize(where, below),
    // HAVING reads columns by the names that they are given here.
    having === null ? 0 : expandedSize(having, new Map([...below, ...named])),
  ].reduce((sum, size) => sum + size, 0);
  if (total > EXPANDED_EXPRESSIONS_MAX) {
    throw new QueryProblem(position, 'the query is too long: its columns stand for too many others');
  }
  return named;
}

function expandedSize(expression: Expression, columns: ColumnSizes): number {
  if (expression.kind === 'column') return columns.get(expression.name) ?? 1;
  return partsOf(expression).reduce((sum, part) => sum + expandedSize(part, columns), 1);
}
