/**
 * The size of the conditions of a query after ClickHouse's planner has pushed them down. The planner moves a condition
 * on a subquery's column to the events and replaces every use of the column by its expression. In a chain of subqueries
 * that each use a column twice, the condition doubles with every subquery. Conditions are pushed down only through
 * subqueries that do not aggregate.
 */
import { QueryProblem } from '../values/query-refusal.ts';
import { type Expression, partsOf, queriesIn, type SelectQuery } from './query-syntax.ts';

/** ClickHouse takes up to 0.1 ms for each and checks no timeout in between: two seconds. */
const CONDITION_SIZE_MAX = 20_000;
/** Operations that become many operations in ClickHouse; the size of reading from text includes its number. */
const SIZES = { text: 50, product: 15, quotient: 200, function: 8 };
/** Functions that read numbers or members from text, or use doubles. */
const FUNCTION_SIZES: Readonly<Record<string, number>> = {
  JSON_EXTRACT: 60,
  JSON_VALUE: 60,
  POWER: 150,
  MOD: 50,
};

/** Name of a column in lower case → the size of its expression. */
type ColumnSizes = ReadonlyMap<string, number>;

/**
 * Throws a `QueryProblem` if a condition is too large when each of its columns is replaced by its expression.
 * `valueColumn` is the quantity; the other columns become conditions when usage is grouped by them.
 */
export function refuseExpansion(query: SelectQuery, valueColumn: number): void {
  const sizes = columnSizes(query);
  const groups = sizes.filter((_, index) => index !== valueColumn);
  refuseLarge(query, total(groups));
}

/** `refuseExpansion` for a query whose columns never become conditions. */
export function refuseLongConditions(query: SelectQuery): void {
  columnSizes(query);
}

/** The sizes of the columns of a query, in order. */
function columnSizes(query: SelectQuery): number[] {
  const { items, where, having } = query;
  const below: ColumnSizes = new Map(queriesIn(query).flatMap((each) => [...namedSizes(each)]));
  const sizes = items.map(({ expression }) => sizeOf(expression, below));
  refuseLarge(query, where === null ? 0 : sizeOf(where, below));
  // HAVING reads columns by the names that they have here.
  refuseLarge(query, having === null ? 0 : sizeOf(having, new Map([...below, ...named(query, sizes)])));
  return sizes;
}

function namedSizes(query: SelectQuery): ColumnSizes {
  return named(query, columnSizes(query));
}

function named({ items }: SelectQuery, sizes: readonly number[]): Map<string, number> {
  return new Map(
    items.flatMap(({ name }, index) => (name === null ? [] : [[name.toLowerCase(), sizes[index] ?? 1]])),
  );
}

function refuseLarge({ position }: SelectQuery, size: number): void {
  if (size <= CONDITION_SIZE_MAX) return;
  throw new QueryProblem(
    position,
    'the query is too long: its conditions read columns that stand for too much',
  );
}

function sizeOf(expression: Expression, columns: ColumnSizes): number {
  if (expression.kind === 'column') return columns.get(expression.name) ?? 1;
  // Results of aggregates stay above them, and so do conditions on these results.
  if (expression.aggregateAt !== null) return 1;
  return total([ownSize(expression), ...partsOf(expression).map((part) => sizeOf(part, columns))]);
}

function ownSize(expression: Expression): number {
  if (expression.kind === 'property' || expression.kind === 'cast') return SIZES.text;
  if (expression.kind === 'function') return FUNCTION_SIZES[expression.name] ?? SIZES.function;
  if (expression.kind !== 'arithmetic') return 1;
  if (expression.operator === '/') return SIZES.quotient;
  return expression.operator === '*' ? SIZES.product : 1;
}

function total(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}
