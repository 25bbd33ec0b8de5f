/** Whether a query can be carried along the hours: each hour changes the result only by its own events. */
import { findAggregate } from '../functions/table.ts';
import {
  type Expression,
  listsIn,
  partsOf,
  queriesIn,
  type SelectQuery,
  type Source,
} from './query-syntax.ts';

/** False if rows are joined, ordered or compared with each other, or if all values of a group are needed. */
export function isHourly(query: SelectQuery): boolean {
  if (query.joins.length > 0 || query.limit !== null || hasUnion(query.source)) return false;
  const { items, where, having, groupBy, source } = query;
  const expressions = [
    ...items.map(({ expression }) => expression),
    ...groupBy,
    ...(where === null ? [] : [where]),
    ...(having === null ? [] : [having]),
    ...listsIn(source),
  ];
  return expressions.every(isHourlyExpression) && queriesIn(query).every(isHourly);
}

function hasUnion(source: Source): boolean {
  return source.kind === 'union' || (source.kind === 'unnest' && hasUnion(source.source));
}

function isHourlyExpression(expression: Expression): boolean {
  if (['window', 'subquery', 'in_query'].includes(expression.kind)) return false;
  if (expression.kind === 'aggregate' && findAggregate(expression.name)?.isHourly !== true) return false;
  return partsOf(expression).every(isHourlyExpression);
}
