/** The syntax tree of a SQL metric. It can express what the grammar allows and nothing else of ClickHouse's SQL. */

export const SCALAR_FUNCTIONS = [
  'LEAST',
  'GREATEST',
  'ROUND',
  'CEIL',
  'FLOOR',
  'COALESCE',
  'NULLIF',
  'IF',
  'DATE_TRUNC',
] as const;
export type ScalarFunction = (typeof SCALAR_FUNCTIONS)[number];

export const AGGREGATE_FUNCTIONS = ['COUNT', 'SUM', 'MIN', 'MAX', 'AVG', 'EARLIEST', 'LATEST'] as const;
export type AggregateFunction = (typeof AGGREGATE_FUNCTIONS)[number];

export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';
export type ArithmeticOperator = '+' | '-' | '*' | '/';

export type CastTarget =
  /** `scale` null: all digits are kept. */
  | { readonly kind: 'decimal'; readonly scale: number | null }
  | { readonly kind: 'integer' }
  | { readonly kind: 'text' };

/** What an expression is, without its place. */
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
      /** What each WHEN is compared with; null where each WHEN is a condition. */
      readonly compared: Expression | null;
      readonly branches: readonly CaseBranch[];
      readonly otherwise: Expression | null;
    }
  | { readonly kind: 'cast'; readonly operand: Expression; readonly target: CastTarget }
  | { readonly kind: 'function'; readonly name: ScalarFunction; readonly operands: readonly Expression[] }
  | {
      readonly kind: 'aggregate';
      readonly name: AggregateFunction;
      readonly distinct: boolean;
      /** Null for COUNT(*). */
      readonly operand: Expression | null;
    };

/** Every operand stands in the tree once, so that the tree is no larger than the text of the query. */
export type Expression = ExpressionForm & {
  /** Index into the text of the query. */
  readonly position: number;
  /** Equal for expressions that mean the same, wherever they stand and however their names are written. */
  readonly identity: number;
  /** The position of the first aggregate function in it, itself included; null where it has none. */
  readonly aggregateAt: number | null;
};

export interface CaseBranch {
  readonly when: Expression;
  readonly result: Expression;
}

export interface SelectItem {
  readonly expression: Expression;
  /** The alias, or the name of a bare column or property; null for another expression. */
  readonly name: string | null;
}

export type Source =
  | { readonly kind: 'events'; readonly qualifier: string }
  | { readonly kind: 'query'; readonly query: SelectQuery; readonly qualifier: string | null };

export interface SelectQuery {
  readonly position: number;
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly source: Source;
  readonly where: Expression | null;
  /** Aliases and positions are already replaced by what they stand for. */
  readonly groupBy: readonly Expression[];
  readonly having: Expression | null;
}

/** Whether its rows are groups of rows. */
export function isGrouped(query: SelectQuery): boolean {
  return query.distinct || isAggregate(query);
}

/** Whether its rows may change with further rows of what it reads. */
export function isAggregate({ groupBy, having, items }: SelectQuery): boolean {
  return (
    groupBy.length > 0 || having !== null || items.some(({ expression }) => expression.aggregateAt !== null)
  );
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
      return expression.operand === null ? [] : [expression.operand];
    default:
      return [];
  }
}

/** The text under which an expression is identified: its parts stand in it by their own identities. */
export function identityText(form: ExpressionForm): string {
  return JSON.stringify(form, (key, value: unknown) => {
    if (key === 'qualifier') return undefined;
    return isIdentified(value) ? value.identity : value;
  });
}

function isIdentified(value: unknown): value is Expression {
  return typeof value === 'object' && value !== null && 'identity' in value;
}
