/** Finds which views a query reads, and for which customers, so that only their rows are fetched. */
import { isUuid } from '../../../core/ids.ts';
import {
  type Expression,
  expressionsOf,
  partsOf,
  queriesIn,
  type SelectQuery,
  type Source,
} from '../syntax/query-syntax.ts';
import type { ViewName } from '../values/views.ts';

interface ReportReads {
  readonly views: readonly ViewName[];
  /** The only customers whose rows matter; null: all. */
  readonly customerIds: readonly string[] | null;
}

export function readsOf(query: SelectQuery): ReportReads {
  const queries = everyQuery(query);
  const views = queries.flatMap((each) => sourcesOf(each).flatMap(viewsIn));
  const named = queries
    .filter((each) => sourcesOf(each).some((source) => viewsIn(source).length > 0))
    .map(customersNamed);
  const ids = named.flatMap((each) => each ?? []);
  return {
    views: [...new Set(views)],
    customerIds: named.includes(null) ? null : [...new Set(ids)],
  };
}

/** A query and all queries that it reads, including those in expressions. */
function everyQuery(query: SelectQuery): SelectQuery[] {
  const inner = [...queriesIn(query), ...expressionsOf(query).flatMap(queriesInExpression)];
  return [query, ...inner.flatMap(everyQuery)];
}

function queriesInExpression(expression: Expression): SelectQuery[] {
  const own = expression.kind === 'subquery' || expression.kind === 'in_query' ? [expression.query] : [];
  return [...own, ...partsOf(expression).flatMap(queriesInExpression)];
}

function sourcesOf({ source, joins }: SelectQuery): Source[] {
  return [source, ...joins.map((join) => join.source)];
}

function viewsIn(source: Source): ViewName[] {
  if (source.kind === 'unnest') return viewsIn(source.source);
  return source.kind === 'view' ? [source.view] : [];
}

/** The customers that WHERE selects by `customer_id = '…'` or `IN`; null if it does not restrict them. */
function customersNamed({ where, joins }: SelectQuery): readonly string[] | null {
  if (where === null || joins.length > 0) return null;
  const conditions = where.kind === 'and' ? where.operands : [where];
  return conditions.map(customersIn).find((ids) => ids !== null) ?? null;
}

function customersIn(condition: Expression): readonly string[] | null {
  if (condition.kind === 'in' && isCustomer(condition.operand)) return textsOf(condition.values);
  if (condition.kind !== 'comparison' || condition.operator !== '=') return null;
  const { left, right } = condition;
  if (isCustomer(left)) return textsOf([right]);
  return isCustomer(right) ? textsOf([left]) : null;
}

function isCustomer(expression: Expression): boolean {
  return expression.kind === 'column' && expression.name === 'customer_id';
}

/** Ids without a customer select no row. */
function textsOf(values: readonly Expression[]): readonly string[] | null {
  const texts = values.map((value) => (value.kind === 'text' ? value.value : null));
  if (!texts.every((text) => text !== null)) return null;
  return texts.filter(isUuid);
}
