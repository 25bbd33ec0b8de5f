/** Creates the nodes of an expression and sums their weights, so that the size of a query is limited. */
import type { AggregateKind } from '../functions/aggregate-functions.ts';
import { findAggregate } from '../functions/table.ts';
import {
  type AggregateCall,
  type Expression,
  type ExpressionForm,
  identityText,
  partsOf,
} from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** Exact division takes several steps. */
const DIVISION_WEIGHT = 10;

/** An expression node, weighed. */
export function build(reader: TokenReader, position: number, form: ExpressionForm): Expression {
  reader.addWeight(position, weightOf(form));
  return node(reader, position, form);
}

/** A node without weight. */
export function node(reader: TokenReader, position: number, form: ExpressionForm): Expression {
  const first = partsOf(form).find(({ aggregateAt }) => aggregateAt !== null);
  return {
    ...form,
    position,
    identity: reader.identify(identityText(form)),
    aggregateAt: form.kind === 'aggregate' ? position : (first?.aggregateAt ?? null),
  };
}

/** The planning cost of its SQL. */
function weightOf(form: ExpressionForm): number {
  switch (form.kind) {
    case 'property':
      return 2;
    case 'between':
      return 3;
    case 'case':
      return form.compared === null ? 1 : 1 + form.branches.length;
    case 'aggregate':
      return callWeight(form);
    case 'window':
      return 2 + callWeight(form.call);
    case 'function':
      return FUNCTION_WEIGHTS[form.name] ?? 1;
    case 'arithmetic':
      return arithmeticWeight(form);
    case 'in_query':
    case 'subquery':
      return 5;
    default:
      return 1;
  }
}

/** Functions that become several functions in ClickHouse. */
const FUNCTION_WEIGHTS: Readonly<Record<string, number>> = {
  ...{ SQRT: 4, LN: 4, LOG2: 4, LOG10: 4, EXP: 4, POWER: 30, MOD: 4 },
  ...{
    JSON_EXTRACT: 4,
    JSON_VALUE: 4,
    HAS: 4,
    ELEMENT: 4,
    LENGTH: 3,
    DATE_DIFF: 3,
    DATE_TRUNC: 2,
    SPLIT_PART: 4,
  },
};

function callWeight({ name, filter }: AggregateCall): number {
  const kind = findAggregate(name)?.kind;
  const own = kind === undefined ? 1 : (AGGREGATE_WEIGHTS[kind] ?? 1);
  return own + (filter === null ? 0 : 1);
}

const AGGREGATE_WEIGHTS: Partial<Readonly<Record<AggregateKind, number>>> = {
  avg: DIVISION_WEIGHT,
  variance: 3 * DIVISION_WEIGHT,
  deviation: 3 * DIVISION_WEIGHT + 4,
  interpolated: 5,
  discrete: 3,
  weighted: 5,
};

function arithmeticWeight({ operator, right }: Extract<ExpressionForm, { kind: 'arithmetic' }>): number {
  if (operator === '/') return right.kind === 'number' ? DIVISION_WEIGHT / 2 : DIVISION_WEIGHT;
  if (operator === '%') return 4;
  return operator === '*' ? 3 : 1;
}
