/** The grammar of functions: aggregates, scalar functions and CAST. What is not listed is refused. */
import { build } from './expression-weight.ts';
import { QueryProblem } from './query-refusal.ts';
import {
  AGGREGATE_FUNCTIONS,
  type AggregateFunction,
  type CastTarget,
  type Expression,
  SCALAR_FUNCTIONS,
  type ScalarFunction,
} from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** Other names of the same functions. */
const SYNONYMS: Readonly<Record<string, string>> = { CEILING: 'CEIL' };

const ARGUMENT_COUNTS: Readonly<Record<ScalarFunction, readonly [least: number, most: number]>> = {
  LEAST: [2, 20],
  GREATEST: [2, 20],
  ROUND: [1, 2],
  CEIL: [1, 1],
  FLOOR: [1, 1],
  COALESCE: [2, 20],
  NULLIF: [2, 2],
  IF: [3, 3],
  DATE_TRUNC: [2, 2],
};

const AVAILABLE_FUNCTIONS = [...AGGREGATE_FUNCTIONS, 'COUNT(DISTINCT …)', ...SCALAR_FUNCTIONS, 'CAST'].join(
  ', ',
);

/** The grammar of what stands between the brackets: any expression, which may hold calls again. */
type ParseOperand = (reader: TokenReader) => Expression;

/** A function call, or null where no word with a bracket follows. */
export function parseCall(reader: TokenReader, parseOperand: ParseOperand): Expression | null {
  const { kind, text, position } = reader.next;
  const { kind: kindAfter, text: textAfter } = reader.afterNext;
  if ((kind !== 'word' && kind !== 'name') || kindAfter !== 'symbol' || textAfter !== '(') return null;
  const name = kind === 'word' ? (SYNONYMS[text.toUpperCase()] ?? text.toUpperCase()) : text;
  const aggregate = AGGREGATE_FUNCTIONS.find((known) => known === name);
  const scalar = SCALAR_FUNCTIONS.find((known) => known === name);
  if (kind === 'name' || (aggregate === undefined && scalar === undefined && name !== 'CAST')) {
    throw new QueryProblem(
      position,
      `the function ${text} is not available; available are ${AVAILABLE_FUNCTIONS}`,
    );
  }
  reader.take();
  reader.expectSymbol('(');
  const call =
    aggregate !== undefined
      ? parseAggregate(reader, position, aggregate, parseOperand)
      : scalar !== undefined
        ? parseScalar(reader, position, scalar, parseOperand)
        : parseCast(reader, position, parseOperand);
  reader.expectSymbol(')');
  refuseWhatMayFollow(reader);
  return call;
}

function parseCast(reader: TokenReader, position: number, parseOperand: ParseOperand): Expression {
  const operand = parseOperand(reader);
  reader.expectWord('AS');
  return build(reader, position, { kind: 'cast', operand, target: parseCastTarget(reader) });
}

function parseAggregate(
  reader: TokenReader,
  position: number,
  name: AggregateFunction,
  parseOperand: ParseOperand,
): Expression {
  if (name === 'COUNT' && reader.takeSymbol('*')) {
    return build(reader, position, { kind: 'aggregate', name, distinct: false, operand: null });
  }
  const distinctAt = reader.next.position;
  const distinct = reader.takeWords('DISTINCT');
  if (distinct && name !== 'COUNT') {
    throw new QueryProblem(distinctAt, 'DISTINCT is available in COUNT(DISTINCT …) only');
  }
  const operand = parseOperand(reader);
  if (operand.aggregateAt !== null) {
    throw new QueryProblem(
      operand.aggregateAt,
      'an aggregate function cannot stand inside another: use a subquery in FROM',
    );
  }
  if (reader.isSymbol(',')) throw new QueryProblem(reader.next.position, `${name} takes one argument`);
  return build(reader, position, { kind: 'aggregate', name, distinct, operand });
}

function parseScalar(
  reader: TokenReader,
  position: number,
  name: ScalarFunction,
  parseOperand: ParseOperand,
): Expression {
  const operands: Expression[] = [];
  if (!reader.isSymbol(')')) {
    do operands.push(parseOperand(reader));
    while (reader.takeSymbol(','));
  }
  const [least, most] = ARGUMENT_COUNTS[name];
  if (operands.length < least || operands.length > most) {
    const expected = least === most ? String(least) : `${least} to ${most}`;
    throw new QueryProblem(position, `${name} takes ${expected} arguments, not ${operands.length}`);
  }
  return build(reader, position, { kind: 'function', name, operands });
}

const DECIMAL_TYPES = ['DECIMAL', 'NUMERIC', 'DEC'];
const INTEGER_TYPES = ['INTEGER', 'INT', 'BIGINT'];
const TEXT_TYPES = ['VARCHAR', 'TEXT', 'STRING', 'CHAR'];
const CAST_SCALE_MAX = 30;

function parseCastTarget(reader: TokenReader): CastTarget {
  const { text, position, kind } = reader.take();
  const type = kind === 'word' ? text.toUpperCase() : '';
  if (INTEGER_TYPES.includes(type)) return { kind: 'integer' };
  if (TEXT_TYPES.includes(type)) {
    parseTypeArguments(reader, 1);
    return { kind: 'text' };
  }
  if (DECIMAL_TYPES.includes(type)) {
    const [precision, scale = 0] = parseTypeArguments(reader, 2);
    if (scale > CAST_SCALE_MAX) {
      throw new QueryProblem(position, `a DECIMAL has at most ${CAST_SCALE_MAX} digits after the point`);
    }
    return { kind: 'decimal', scale: precision === undefined ? null : scale };
  }
  throw new QueryProblem(
    position,
    `CAST to ${text} is not available; available are DECIMAL, DECIMAL(p, s), INTEGER and VARCHAR`,
  );
}

function parseTypeArguments(reader: TokenReader, most: number): number[] {
  const values: number[] = [];
  if (!reader.takeSymbol('(')) return values;
  do {
    const { kind, text } = reader.next;
    if (kind !== 'number' || !/^\d{1,3}$/.test(text) || values.length >= most) {
      throw reader.unexpected('the length of the type');
    }
    reader.take();
    values.push(Number(text));
  } while (reader.takeSymbol(','));
  reader.expectSymbol(')');
  return values;
}

function refuseWhatMayFollow(reader: TokenReader): void {
  const { position } = reader.next;
  if (reader.isWord('OVER')) throw new QueryProblem(position, 'window functions (OVER) are not available');
  if (reader.isWord('FILTER')) {
    throw new QueryProblem(
      position,
      'FILTER is not available: use CASE WHEN … THEN … END inside the function',
    );
  }
  if (reader.isSymbol('(')) throw new QueryProblem(position, 'functions with parameters are not available');
}
