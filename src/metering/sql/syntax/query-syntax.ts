/**
 * The syntax tree of a SQL metric. It can express only what the grammar allows, and nothing else of ClickHouse's SQL.
 */

import type { IntervalUnit } from '../values/time-units.ts';
import type { ViewName } from '../values/views.ts';

export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

export type CastTarget =
  /** `scale` null: all digits are kept. */
  | { readonly kind: 'decimal'; readonly scale: number | null }
  | { readonly kind: 'integer' }
  | { readonly kind: 'text' }
  | { readonly kind: 'timestamp' };

/** A call of an aggregate function. */
export interface AggregateCall {
  /** The name in the table of functions. */
  readonly name: string;
  readonly distinct: boolean;
  /** Empty for COUNT(*). */
  readonly operands: readonly Expression[];
  /** The rows that it counts, from FILTER or `-If`; null for all. */
  readonly filter: Expression | null;
  /** The level of a quantile: plain decimal digits from 0 to 1. */
  readonly level: string | null;
}

/** The rows that a window function reads, within the rows of a query. */
export interface WindowFrame {
  /** Rows before the current one; null for all. */
  readonly preceding: number | null;
  /** Rows after the current one; null for all. */
  readonly following: number | null;
}

export interface OrderItem {
  readonly expression: Expression;
  readonly isDescending: boolean;
  readonly areNullsFirst: boolean;
}

/** An expression without its position. */
export type ExpressionForm =
  /** Plain decimal digits, checked to fit. */
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'column'; readonly qualifier: string | null; readonly name: string }
  | { readonly kind: 'property'; readonly qualifier: string | null; readonly name: string }
  | { readonly kind: 'negate' | 'not'; readonly operand: Expression }
  | {
      readonly kind: 'arithmetic';
      readonly operator: ArithmeticOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'comparison';
      readonly operator: ComparisonOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'is_null'; readonly operand: Expression }
  | { readonly kind: 'in'; readonly operand: Expression; readonly values: readonly Expression[] }
  | {
      readonly kind: 'between';
      readonly operand: Expression;
      readonly low: Expression;
      readonly high: Expression;
    }
  | {
      readonly kind: 'case';
      /** The value that each WHEN is compared with; null if each WHEN is a condition. */
      readonly compared: Expression | null;
      readonly branches: readonly CaseBranch[];
      readonly otherwise: Expression | null;
    }
  | { readonly kind: 'cast'; readonly operand: Expression; readonly target: CastTarget }
  | { readonly kind: 'function'; readonly name: string; readonly operands: readonly Expression[] }
  | ({ readonly kind: 'aggregate' } & AggregateCall)
  | {
      readonly kind: 'window';
      readonly call: AggregateCall;
      readonly partitionBy: readonly Expression[];
      readonly orderBy: readonly OrderItem[];
      /** Null: from the first row to the last that is equal to the current one. */
      readonly frame: WindowFrame | null;
    }
  | { readonly kind: 'interval'; readonly amount: number; readonly unit: IntervalUnit }
  | { readonly kind: 'subquery'; readonly query: SelectQuery; readonly at: number }
  | {
      readonly kind: 'in_query';
      readonly operand: Expression;
      readonly query: SelectQuery;
      readonly at: number;
    };

/** Every operand is in the tree once, so that the tree is no larger than the text of the query. */
export type Expression = ExpressionForm & {
  /** Index into the text of the query. */
  readonly position: number;
  /** Equal for equivalent expressions, at any position and with any spelling of names. */
  readonly identity: number;
  /** The position of the first aggregate function in it, itself included; null if it has none. */
  readonly aggregateAt: number | null;
};

export interface CaseBranch {
  readonly when: Expression;
  readonly result: Expression;
}

export interface SelectItem {
  readonly expression: Expression;
  /** The alias, or the name of a bare column or property; null for any other expression. */
  readonly name: string | null;
}

/** A table or a query that is read. */
export type Source =
  | { readonly kind: 'events'; readonly qualifier: string }
  /** Only in queries across customers. */
  | { readonly kind: 'view'; readonly view: ViewName; readonly qualifier: string }
  | { readonly kind: 'query'; readonly query: SelectQuery; readonly qualifier: string | null }
  /** One row without columns: a SELECT without FROM. Only in queries across customers. */
  | { readonly kind: 'one'; readonly qualifier: null }
  /** The concatenated rows of several queries with equally many columns. */
  | { readonly kind: 'union'; readonly queries: readonly SelectQuery[]; readonly qualifier: null }
  /** A row for each element of a list in a row of `source`. */
  | {
      readonly kind: 'unnest';
      readonly source: Source;
      readonly list: Expression;
      readonly name: string;
      /** Whether an empty list gives a row, too. */
      readonly isLeft: boolean;
      readonly qualifier: string | null;
    };

export interface Join {
  readonly kind: 'inner' | 'left';
  readonly source: Source;
  /** Null: every pair of rows. */
  readonly on: Expression | null;
  /** Columns that both sides have. */
  readonly using: readonly string[];
  readonly position: number;
}

export interface SelectQuery {
  readonly position: number;
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly source: Source;
  readonly joins: readonly Join[];
  readonly where: Expression | null;
  /** Aliases and positions are already resolved. */
  readonly groupBy: readonly Expression[];
  readonly having: Expression | null;
  /** Likewise; has an effect only with `limit`. */
  readonly orderBy: readonly OrderItem[];
  readonly limit: number | null;
  readonly offset: number;
}

/** The direct subqueries of a query. */
export function queriesIn(query: SelectQuery): SelectQuery[] {
  return [query.source, ...query.joins.map(({ source }) => source)].flatMap(queriesOf);
}

function queriesOf(source: Source): readonly SelectQuery[] {
  switch (source.kind) {
    case 'events':
    case 'view':
    case 'one':
      return [];
    case 'query':
      return [source.query];
    case 'union':
      return source.queries;
    default:
      return queriesOf(source.source);
  }
}

/** Whether its rows are groups of rows. */
export function isGrouped(query: SelectQuery): boolean {
  return query.distinct || isAggregate(query);
}

/** Whether further rows of its source may change its rows. */
export function isAggregate({ groupBy, having, items }: SelectQuery): boolean {
  return (
    groupBy.length > 0 || having !== null || items.some(({ expression }) => expression.aggregateAt !== null)
  );
}

/** The direct expressions of a query. */
export function expressionsOf({
  items,
  source,
  joins,
  where,
  groupBy,
  having,
  orderBy,
}: SelectQuery): Expression[] {
  return [
    ...items.map(({ expression }) => expression),
    ...groupBy,
    ...orderBy.map(({ expression }) => expression),
    ...[where, having, ...joins.map(({ on }) => on)].flatMap((each) => (each === null ? [] : [each])),
    ...[source, ...joins.map((join) => join.source)].flatMap(listsIn),
  ];
}

/** The lists that a source unnests. */
export function listsIn(source: Source): Expression[] {
  return source.kind === 'unnest' ? [source.list, ...listsIn(source.source)] : [];
}

/** Direct parts of an expression. */
export function partsOf(expression: ExpressionForm): readonly Expression[] {
  switch (expression.kind) {
    case 'negate':
    case 'not':
    case 'is_null':
    case 'cast':
      return [expression.operand];
    case 'arithmetic':
    case 'comparison':
      return [expression.left, expression.right];
    case 'and':
    case 'or':
    case 'function':
      return expression.operands;
    case 'in':
      return [expression.operand, ...expression.values];
    case 'between':
      return [expression.operand, expression.low, expression.high];
    case 'case':
      return [
        ...(expression.compared === null ? [] : [expression.compared]),
        ...expression.branches.flatMap(({ when, result }) => [when, result]),
        ...(expression.otherwise === null ? [] : [expression.otherwise]),
      ];
    case 'aggregate':
      return callParts(expression);
    case 'window':
      return [
        ...callParts(expression.call),
        ...expression.partitionBy,
        ...expression.orderBy.map((item) => item.expression),
      ];
    case 'in_query':
      return [expression.operand];
    default:
      return [];
  }
}

function callParts({ operands, filter }: AggregateCall): readonly Expression[] {
  return filter === null ? operands : [...operands, filter];
}

/** The text that identifies an expression: its parts are represented by their own identities. */
export function identityText(form: ExpressionForm): string {
  return JSON.stringify(form, (key, value: unknown) => {
    // A query in an expression is unique: `at` distinguishes it from others.
    if (key === 'qualifier' || key === 'query') return undefined;
    return isIdentified(value) ? value.identity : value;
  });
}

function isIdentified(value: unknown): value is Expression {
  return typeof value === 'object' && value !== null && 'identity' in value;
}
