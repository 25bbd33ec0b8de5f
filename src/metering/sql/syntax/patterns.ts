/** The patterns of a query: regular expressions, replacements of their matches, and patterns of LIKE. */
import { findScalar } from '../functions/table.ts';
import { type Expression, expressionsOf, partsOf, queriesIn, type SelectQuery } from './query-syntax.ts';

export interface TextPattern {
  readonly kind: 'regexp' | 'like';
  readonly pattern: string;
  /** Null if matches are not replaced. */
  readonly replacement: string | null;
  /** Index into the text of the query. */
  readonly position: number;
}

/** Distinct patterns in the order of the text. The work is linear in the length of the text. */
export function patternsIn(query: SelectQuery): TextPattern[] {
  const found = new Map<string, TextPattern>();
  const add = (pattern: TextPattern) => {
    const identity = JSON.stringify([pattern.kind, pattern.pattern, pattern.replacement]);
    const known = found.get(identity);
    if (known === undefined || pattern.position < known.position) found.set(identity, pattern);
  };
  // Keys of groups share nodes with their columns, and a WITH query is shared by each use of its name.
  const seen = new Set<unknown>();
  const visit = (expression: Expression): void => {
    if (seen.has(expression)) return;
    seen.add(expression);
    for (const pattern of patternOf(expression)) add(pattern);
    for (const part of partsOf(expression)) visit(part);
    if (expression.kind === 'subquery' || expression.kind === 'in_query') visitQuery(expression.query);
  };
  const visitQuery = (each: SelectQuery): void => {
    if (seen.has(each)) return;
    seen.add(each);
    for (const expression of expressionsOf(each)) visit(expression);
    for (const inner of queriesIn(each)) visitQuery(inner);
  };
  visitQuery(query);
  return [...found.values()].sort((a, b) => a.position - b.position);
}

/** The pattern among the arguments of a call, if the function takes one. */
function patternOf(expression: Expression): TextPattern[] {
  if (expression.kind !== 'function') return [];
  const { operands } = expression;
  const takes = findScalar(expression.name)?.plan?.takes ?? [];
  const textAt = (index: number) => {
    const operand = operands[index];
    return operand?.kind === 'text' ? operand : null;
  };
  const index = takes.findIndex((kind) => kind === 'pattern' || kind === 'like');
  const pattern = textAt(index);
  if (pattern === null) return [];
  const kind = takes[index] === 'like' ? 'like' : 'regexp';
  const replacement = textAt(takes.indexOf('replacement'))?.value ?? null;
  return [{ kind, pattern: pattern.value, replacement, position: pattern.position }];
}
