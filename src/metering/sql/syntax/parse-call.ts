/** The grammar of calls of functions. Functions that are not in the table are refused. */

import {
  findAggregate,
  findAggregateIf,
  findScalar,
  findWindowFunction,
  functionNames,
} from '../functions/table.ts';
import { CLOCK_FUNCTIONS } from '../functions/time-functions.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { suggestion } from './did-you-mean.ts';
import { build } from './expression-weight.ts';
import { parseAggregate } from './parse-aggregate.ts';
import { parseCastTarget } from './parse-type.ts';
import { parseOver } from './parse-window.ts';
import type { Expression } from './query-syntax.ts';
import type { ParseOperand, TokenReader } from './token-reader.ts';
import type { Token } from './tokens.ts';

/** A function call, or null if no word with a bracket follows. */
export function parseCall(reader: TokenReader, parseOperand: ParseOperand): Expression | null {
  const { kind, text } = reader.next;
  const { kind: kindAfter, text: textAfter } = reader.afterNext;
  if ((kind !== 'word' && kind !== 'name') || kindAfter !== 'symbol' || textAfter !== '(') return null;
  const token = reader.take();
  if (kind === 'name') throw unknownFunction(token);
  reader.expectSymbol('(');
  const call = parseNamed(reader, token, parseOperand);
  refuseWhatMayFollow(reader, text);
  return call;
}

function parseNamed(reader: TokenReader, token: Token, parseOperand: ParseOperand): Expression {
  const { text, position } = token;
  const name = text.toUpperCase();
  if (name === 'CAST') return parseCast(reader, position, parseOperand);
  const aggregate = findAggregate(text);
  if (aggregate !== null) return parseAggregate(reader, token, aggregate, false, parseOperand);
  const window = findWindowFunction(text);
  if (window !== null) {
    const operands = parseOperands(reader, parseOperand);
    requireCount(token, operands.length, window.least, window.most);
    reader.expectSymbol(')');
    const call = { name: window.name, distinct: false, operands, filter: null, level: null };
    if (!reader.isWord('OVER')) throw new QueryProblem(position, `${window.name} stands with OVER (…)`);
    return parseOver(reader, position, call, parseOperand);
  }
  const scalar = findScalar(text);
  if (scalar !== null) {
    const operands = parseScalarOperands(reader, scalar.name, parseOperand);
    requireCount({ ...token, text: scalar.name }, operands.length, scalar.least, scalar.most);
    if (CLOCK_FUNCTIONS.includes(scalar.name)) requireClock(reader, token);
    reader.expectSymbol(')');
    return build(reader, position, { kind: 'function', name: scalar.name, operands });
  }
  const aggregateIf = findAggregateIf(text);
  if (aggregateIf === null) throw unknownFunction(token);
  return parseAggregate(reader, token, aggregateIf, true, parseOperand);
}

function requireClock({ hasClock }: TokenReader, { text, position }: Token): void {
  if (hasClock) return;
  throw new QueryProblem(
    position,
    `${text} is not available in a metric, whose usage must be the same whenever it is counted: the time that is billed is applied to events`,
  );
}

/** `CURRENT_TIMESTAMP` and `CURRENT_DATE`, which have no brackets; null for anything else. */
export function parseClock(reader: TokenReader): Expression | null {
  const token = reader.next;
  const isDate = reader.isWord('CURRENT_DATE');
  if (!isDate && !reader.isWord('CURRENT_TIMESTAMP')) return null;
  reader.take();
  if (reader.takeSymbol('(')) reader.expectSymbol(')');
  requireClock(reader, token);
  const name = isDate ? 'TODAY' : 'NOW';
  return build(reader, token.position, { kind: 'function', name, operands: [] });
}

function unknownFunction({ text, position, kind }: Token): QueryProblem {
  const near = kind === 'name' ? ': function names are not quoted' : suggestion(text, functionNames());
  return new QueryProblem(
    position,
    `the function ${text} is not available${near || '; GET /v1/billable-metrics/sql-reference lists those that are'}`,
  );
}

function parseCast(reader: TokenReader, position: number, parseOperand: ParseOperand): Expression {
  const operand = parseOperand(reader);
  reader.expectWord('AS');
  const target = parseCastTarget(reader);
  reader.expectSymbol(')');
  return build(reader, position, { kind: 'cast', operand, target });
}

function parseOperands(reader: TokenReader, parseOperand: ParseOperand): Expression[] {
  const operands: Expression[] = [];
  if (reader.isSymbol(')')) return operands;
  do operands.push(parseOperand(reader));
  while (reader.takeSymbol(','));
  return operands;
}

/** Also `EXTRACT(part FROM x)`, `SUBSTRING(x FROM a FOR b)`, `POSITION(a IN b)` and `DATE_DIFF(unit, a, b)`. */
function parseScalarOperands(reader: TokenReader, name: string, parseOperand: ParseOperand): Expression[] {
  const { kind, text, position } = reader.next;
  const after = reader.afterNext;
  const isUnit =
    (name === 'EXTRACT' && after.kind === 'word' && after.text.toUpperCase() === 'FROM') ||
    (['EXTRACT', 'DATE_DIFF', 'DATE_TRUNC'].includes(name) && after.kind === 'symbol' && after.text === ',');
  if (kind === 'word' && isUnit) {
    reader.take();
    const unit = build(reader, position, { kind: 'text', value: text });
    if (!reader.takeWords('FROM')) reader.expectSymbol(',');
    return [unit, ...parseOperands(reader, parseOperand)];
  }
  if (name === 'POSITION' && kind === 'text' && after.kind === 'word' && after.text.toUpperCase() === 'IN') {
    reader.take();
    reader.take();
    const part = build(reader, position, { kind: 'text', value: text });
    return [parseOperand(reader), part];
  }
  const operands = parseOperands(reader, parseOperand);
  if (name === 'SUBSTRING' && reader.takeWords('FROM')) operands.push(parseOperand(reader));
  if (name === 'SUBSTRING' && reader.takeWords('FOR')) operands.push(parseOperand(reader));
  return operands;
}

function requireCount({ text, position }: Token, count: number, least: number, most: number): void {
  if (count >= least && count <= most) return;
  const expected = least === most ? String(least) : `${least} to ${most}`;
  throw new QueryProblem(
    position,
    `${text} takes ${expected} argument${expected === '1' ? '' : 's'}, not ${count}`,
  );
}

function refuseWhatMayFollow(reader: TokenReader, name: string): void {
  const { position } = reader.next;
  if (reader.isWord('OVER')) throw new QueryProblem(position, `${name} cannot stand with OVER`);
  if (reader.isWord('FILTER')) throw new QueryProblem(position, `${name} cannot stand with FILTER`);
  if (reader.isSymbol('(')) throw new QueryProblem(position, `${name} has no parameters`);
}
