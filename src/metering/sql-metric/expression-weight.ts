/** Creates the nodes of an expression and counts them, so that the size of a query is limited. */
import { type Expression, type ExpressionForm, identityText, partsOf } from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** Exact division takes several steps. */
const DIVISION_WEIGHT = 10;

/** An expression node, weighed. */
export function build(reader: TokenReader, position: number, form: ExpressionForm): Expression {
  reader.addWeight(position, weightOf(form));
  return node(reader, position, form);
}

/** A node that weighs nothing of its own. */
export function node(reader: TokenReader, position: number, form: ExpressionForm): Expression {
  const first = partsOf(form).find(({ aggregateAt }) => aggregateAt !== null);
  return {
    ...form,
    position,
    identity: reader.identify(identityText(form)),
    aggregateAt: form.kind === 'aggregate' ? position : (first?.aggregateAt ?? null),
  };
}

/** How much there is to plan in what it becomes. */
function weightOf(form: ExpressionForm): number {
  if (form.kind === 'property') return 2;
  if (form.kind === 'between') return 3;
  if (form.kind === 'case' && form.compared !== null) return 1 + form.branches.length;
  if (form.kind === 'aggregate') return form.name === 'AVG' ? DIVISION_WEIGHT : 1;
  if (form.kind !== 'arithmetic') return 1;
  if (form.operator === '/') return form.right.kind === 'number' ? DIVISION_WEIGHT / 2 : DIVISION_WEIGHT;
  return form.operator === '*' ? 3 : 1;
}
