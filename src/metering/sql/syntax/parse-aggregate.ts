/** The grammar of aggregate functions: DISTINCT, levels of quantiles, FILTER, `-If` and OVER. */
import { decimal } from '../../../core/decimal.ts';
import type { AggregateFunction } from '../functions/aggregate-functions.ts';
import { WINDOW_AGGREGATES } from '../functions/window-functions.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { build } from './expression-weight.ts';
import { parseOrder, parseOver } from './parse-window.ts';
import type { AggregateCall, Expression } from './query-syntax.ts';
import type { ParseOperand, TokenReader } from './token-reader.ts';
import type { Token } from './tokens.ts';

const DISTINCT_OPERANDS_MAX = 5;
const LEVEL = /^(?:0?\.\d{1,6}|[01](?:\.0{0,6})?)$/;

/** Its opening bracket has been read. `hasCondition`: its name ends in If. */
export function parseAggregate(
  reader: TokenReader,
  { text, position }: Token,
  spec: AggregateFunction,
  hasCondition: boolean,
  parseOperand: ParseOperand,
): Expression {
  const given = parseLevel(reader, spec);
  const call =
    spec.level === 'first'
      ? parseWithinGroup(reader, spec, given, parseOperand)
      : parseArguments(reader, spec, given, { text, hasCondition }, parseOperand);
  const filter = parseFilter(reader, call.filter, parseOperand);
  for (const operand of [...call.operands, ...(filter === null ? [] : [filter])]) {
    if (operand.aggregateAt !== null && !reader.isWord('OVER')) {
      throw new QueryProblem(
        operand.aggregateAt,
        'an aggregate function cannot stand inside another: use a subquery in FROM',
      );
    }
  }
  if (!reader.isWord('OVER')) return build(reader, position, { kind: 'aggregate', ...call, filter });
  if (!WINDOW_AGGREGATES.includes(spec.name)) {
    throw new QueryProblem(
      position,
      `${text} cannot stand with OVER; available are ${WINDOW_AGGREGATES.join(', ')}`,
    );
  }
  if (call.distinct) throw new QueryProblem(position, 'DISTINCT cannot stand with OVER');
  return parseOver(reader, position, { ...call, filter }, parseOperand);
}

/** `0.95)(` of quantile(0.95)(x), or `0.95` of PERCENTILE_CONT(0.95). */
function parseLevel(reader: TokenReader, spec: AggregateFunction): string | null {
  if (spec.level === undefined) return null;
  if (spec.level === 'half') return '0.5';
  const { kind, text, position } = reader.next;
  const isGiven = kind === 'number' && (spec.level === 'first' || reader.afterNext.text === ')');
  if (!isGiven) {
    if (spec.level === 'first') throw reader.unexpected('a number from 0 to 1');
    return '0.5';
  }
  if (!LEVEL.test(text)) {
    throw new QueryProblem(
      position,
      `a level is a number from 0 to 1 with at most 6 decimal places, not ${text}`,
    );
  }
  reader.take();
  if (spec.level === 'parameter') {
    reader.expectSymbol(')');
    if (!reader.takeSymbol('('))
      throw reader.unexpected('"(": the level stands first, as in quantile(0.95)(x)');
  }
  const level = decimal(text.replace(/^\./, '0.').replace(/\.$/, ''));
  if (level.gt('1')) throw new QueryProblem(position, `a level is a number from 0 to 1, not ${text}`);
  return level.toString();
}

function parseWithinGroup(
  reader: TokenReader,
  { name }: AggregateFunction,
  level: string | null,
  parseOperand: ParseOperand,
): AggregateCall {
  reader.expectSymbol(')');
  if (!reader.takeWords('WITHIN', 'GROUP')) throw reader.unexpected('WITHIN GROUP (ORDER BY …)');
  reader.expectSymbol('(');
  reader.expectWord('ORDER');
  reader.expectWord('BY');
  const { position } = reader.next;
  const [item, ...more] = parseOrder(reader, parseOperand);
  reader.expectSymbol(')');
  if (item === undefined || more.length > 0) throw new QueryProblem(position, `${name} orders by one number`);
  if (item.isDescending) throw new QueryProblem(position, `${name} orders ascending: use 1 - p`);
  return { name, distinct: false, operands: [item.expression], filter: null, level };
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the rules of the arguments, in the order in which they are read.
function parseArguments(
  reader: TokenReader,
  spec: AggregateFunction,
  level: string | null,
  { text, hasCondition }: { readonly text: string; readonly hasCondition: boolean },
  parseOperand: ParseOperand,
): AggregateCall {
  const { name } = spec;
  const { position } = reader.next;
  if (name === 'COUNT' && reader.takeSymbol('*')) {
    reader.expectSymbol(')');
    return { name, distinct: false, operands: [], filter: null, level };
  }
  const distinct = reader.takeWords('DISTINCT');
  if (distinct && name !== 'COUNT') {
    throw new QueryProblem(position, 'DISTINCT is available in COUNT(DISTINCT …) only');
  }
  const operands: Expression[] = [];
  if (!reader.isSymbol(')')) {
    do operands.push(parseOperand(reader));
    while (reader.takeSymbol(','));
  }
  const filter = hasCondition ? (operands.pop() ?? null) : null;
  if (hasCondition && filter === null) throw new QueryProblem(position, `${text} takes a condition last`);
  const isCount = name === 'COUNT' || spec.isDistinct === true;
  const most = isCount && (distinct || spec.isDistinct === true) ? DISTINCT_OPERANDS_MAX : spec.operands;
  const least = name === 'COUNT' && !distinct ? 0 : spec.operands;
  if (operands.length < least || operands.length > most) {
    const expected = spec.operands === 1 ? 'one argument' : `${spec.operands} arguments`;
    throw new QueryProblem(position, `${text} takes ${expected}${hasCondition ? ' and a condition' : ''}`);
  }
  reader.expectSymbol(')');
  return { name, distinct: distinct || spec.isDistinct === true, operands, filter, level };
}

function parseFilter(
  reader: TokenReader,
  condition: Expression | null,
  parseOperand: ParseOperand,
): Expression | null {
  const { position } = reader.next;
  if (!reader.takeWords('FILTER')) return condition;
  if (condition !== null) throw new QueryProblem(position, 'a function with -If has no FILTER');
  reader.expectSymbol('(');
  reader.expectWord('WHERE');
  const filter = parseOperand(reader);
  reader.expectSymbol(')');
  return filter;
}
