/** The grammar of expressions, from OR down to a single value. */
import { parseUsageDecimal } from '../../../core/decimal.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { INTERVAL_UNITS, intervalUnit, isIntervalTooLong } from '../values/time-units.ts';
import { build, node } from './expression-weight.ts';
import { parseCall, parseClock } from './parse-call.ts';
import { parseCastTarget } from './parse-type.ts';
import type {
  ArithmeticOperator,
  CaseBranch,
  ComparisonOperator,
  Expression,
  SelectQuery,
} from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

/** Maximum values of one IN list. */
const LIST_VALUES_MAX = 1_000;

const COMPARISONS: Readonly<Record<string, ComparisonOperator>> = {
  '=': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
const SUMS: Readonly<Record<string, ArithmeticOperator>> = { '+': '+', '-': '-' };
const PRODUCTS: Readonly<Record<string, ArithmeticOperator>> = { '*': '*', '/': '/', '%': '%' };

export function parseExpression(reader: TokenReader): Expression {
  return reader.nested(() =>
    parseChain(reader, 'or', 'OR', () => parseChain(reader, 'and', 'AND', parseNot)),
  );
}

function parseChain(
  reader: TokenReader,
  kind: 'and' | 'or',
  word: string,
  parseOperand: (reader: TokenReader) => Expression,
): Expression {
  const first = parseOperand(reader);
  const operands = [first];
  while (reader.takeWords(word)) operands.push(parseOperand(reader));
  return operands.length === 1 ? first : build(reader, first.position, { kind, operands });
}

function parseNot(reader: TokenReader): Expression {
  const { position } = reader.next;
  if (!reader.takeWords('NOT')) return parsePredicate(reader);
  return build(reader, position, { kind: 'not', operand: reader.nested(() => parseNot(reader)) });
}

/** A comparison, IS NULL, IN, BETWEEN, LIKE; these do not chain. */
function parsePredicate(reader: TokenReader): Expression {
  const left = parseConcat(reader);
  const { position } = reader.next;
  const operator = takeOperator(reader, COMPARISONS);
  if (operator !== null) {
    return build(reader, position, { kind: 'comparison', operator, left, right: parseConcat(reader) });
  }
  if (reader.takeWords('IS')) {
    const isNegated = reader.takeWords('NOT');
    if (reader.isWord('TRUE') || reader.isWord('FALSE'))
      return negatedIf(reader, isNegated, parseIsTrue(reader, position, left));
    reader.expectWord('NULL');
    return negatedIf(reader, isNegated, build(reader, position, { kind: 'is_null', operand: left }));
  }
  const isNegated = reader.takeWords('NOT');
  if (reader.takeWords('IN')) return negatedIf(reader, isNegated, parseIn(reader, position, left));
  for (const name of ['LIKE', 'ILIKE']) {
    if (!reader.takeWords(name)) continue;
    const operands = [left, parseConcat(reader)];
    return negatedIf(reader, isNegated, build(reader, position, { kind: 'function', name, operands }));
  }
  if (reader.takeWords('BETWEEN')) {
    const low = parseConcat(reader);
    reader.expectWord('AND');
    const high = parseConcat(reader);
    const between = build(reader, position, { kind: 'between', operand: left, low, high });
    return negatedIf(reader, isNegated, between);
  }
  if (isNegated) throw reader.unexpected('IN, BETWEEN or LIKE after NOT');
  return left;
}

/** `x IS TRUE` is never unknown: NULL is neither true nor false. */
function parseIsTrue(reader: TokenReader, position: number, left: Expression): Expression {
  const value = reader.take().text.toUpperCase() === 'TRUE';
  const right = build(reader, position, { kind: 'boolean', value });
  const equal = build(reader, position, { kind: 'comparison', operator: '=', left, right });
  const otherwise = build(reader, position, { kind: 'boolean', value: false });
  return build(reader, position, { kind: 'function', name: 'COALESCE', operands: [equal, otherwise] });
}

function negatedIf(reader: TokenReader, isNegated: boolean, operand: Expression): Expression {
  return isNegated ? build(reader, operand.position, { kind: 'not', operand }) : operand;
}

function parseIn(reader: TokenReader, position: number, operand: Expression): Expression {
  const { next, afterNext } = reader;
  const word = afterNext.kind === 'word' ? afterNext.text.toUpperCase() : '';
  if (next.text !== '(' || (word !== 'SELECT' && word !== 'WITH')) {
    return build(reader, position, { kind: 'in', operand, values: parseList(reader) });
  }
  reader.take();
  const before = reader.weighed;
  const query = parseSubquery(reader, 2);
  reader.addWeight(position, reader.weighed - before);
  return build(reader, position, { kind: 'in_query', operand, query, at: position });
}

/** A query whose opening bracket has been read. It will be written `times` times. */
function parseSubquery(reader: TokenReader, times: 1 | 2): SelectQuery {
  if (reader.parseSubquery === null) {
    throw new QueryProblem(reader.next.position, 'a query cannot stand here');
  }
  return reader.parseSubquery(times);
}

/** `(literal, …)`. Its values are not weighed one by one: they are checked to be literals when they are used. */
function parseList(reader: TokenReader): Expression[] {
  reader.expectSymbol('(');
  const values: Expression[] = [];
  do {
    if (values.length >= LIST_VALUES_MAX) {
      throw new QueryProblem(reader.next.position, `a list has at most ${LIST_VALUES_MAX} values`);
    }
    values.push(parseLiteral(reader));
  } while (reader.takeSymbol(','));
  reader.expectSymbol(')');
  return values;
}

function parseLiteral(reader: TokenReader): Expression {
  const { position } = reader.next;
  const isNegative = reader.takeSymbol('-');
  const { kind, text, position: at } = reader.next;
  if (kind === 'number') {
    reader.take();
    const digits = numberDigits(`${isNegative ? '-' : ''}${text}`, at);
    return node(reader, position, { kind: 'number', digits });
  }
  if (!isNegative && kind === 'text') {
    reader.take();
    return node(reader, position, { kind: 'text', value: text });
  }
  if (!isNegative && (reader.isWord('TRUE') || reader.isWord('FALSE'))) {
    const value = reader.take().text.toUpperCase() === 'TRUE';
    return node(reader, position, { kind: 'boolean', value });
  }
  if (reader.isWord('NULL')) throw new QueryProblem(at, 'NULL is in no list: use IS NULL');
  throw reader.unexpected('a literal');
}

/** `a || b`, which has lower precedence than a sum. */
function parseConcat(reader: TokenReader): Expression {
  const first = parseSum(reader);
  const operands = [first];
  const { position } = reader.next;
  while (reader.takeSymbol('||')) operands.push(parseSum(reader));
  if (operands.length === 1) return first;
  return build(reader, position, { kind: 'function', name: 'CONCAT', operands });
}

function parseSum(reader: TokenReader): Expression {
  return parseArithmetic(reader, SUMS, () => parseArithmetic(reader, PRODUCTS, () => parseSign(reader)));
}

function parseArithmetic(
  reader: TokenReader,
  operators: Readonly<Record<string, ArithmeticOperator>>,
  parseOperand: () => Expression,
): Expression {
  let left = parseOperand();
  for (;;) {
    const { position } = reader.next;
    const operator = takeOperator(reader, operators);
    if (operator === null) return left;
    left = build(reader, position, { kind: 'arithmetic', operator, left, right: parseOperand() });
  }
}

function parseSign(reader: TokenReader): Expression {
  const { position } = reader.next;
  if (reader.takeSymbol('+')) return reader.nested(() => parseSign(reader));
  if (!reader.takeSymbol('-')) return parseSuffixes(reader, parseValue(reader));
  const operand = reader.nested(() => parseSign(reader));
  if (operand.kind !== 'number') return build(reader, position, { kind: 'negate', operand });
  const digits = operand.digits.startsWith('-') ? operand.digits.slice(1) : `-${operand.digits}`;
  return node(reader, position, { kind: 'number', digits });
}

/** `x::type`, `x ->> 'member'`, `x[n]`, `x AT TIME ZONE 'zone'`, in any number. */
function parseSuffixes(reader: TokenReader, value: Expression): Expression {
  let result = value;
  for (;;) {
    const { position } = reader.next;
    if (reader.takeSymbol('::')) {
      result = build(reader, position, { kind: 'cast', operand: result, target: parseCastTarget(reader) });
    } else if (reader.takeSymbol('->>') || reader.takeSymbol('->')) {
      const operands = [result, parseValue(reader)];
      result = build(reader, position, { kind: 'function', name: 'JSON_EXTRACT', operands });
    } else if (reader.takeSymbol('[')) {
      const operands = [result, parseExpression(reader)];
      reader.expectSymbol(']');
      result = build(reader, position, { kind: 'function', name: 'ELEMENT', operands });
    } else if (reader.takeWords('AT', 'TIME', 'ZONE')) {
      const operands = [result, parseValue(reader)];
      result = build(reader, position, { kind: 'function', name: 'AT_TIME_ZONE', operands });
    } else {
      return result;
    }
  }
}

/** `INTERVAL '1 day'`, `INTERVAL 1 DAY` or `INTERVAL '1' DAY`. */
function parseInterval(reader: TokenReader): Expression {
  const { position } = reader.take();
  const { kind, text } = reader.take();
  const whole = kind === 'text' && /[a-z]/i.test(text) ? text : `${text} ${reader.take().text}`;
  const match = /^\s*(-?\d{1,9})\s+([a-z]+)\s*$/i.exec(whole);
  const unit = intervalUnit(match?.[2] ?? '');
  if (match === null || unit === null) {
    throw new QueryProblem(position, `INTERVAL takes a whole number and one of ${INTERVAL_UNITS.join(', ')}`);
  }
  const amount = Number(match[1]);
  if (isIntervalTooLong(amount, unit)) throw new QueryProblem(position, 'an INTERVAL has at most 100 years');
  return build(reader, position, { kind: 'interval', amount, unit });
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one case for each form, as in the grammar.
function parseValue(reader: TokenReader): Expression {
  const { kind, text, position } = reader.next;
  if (kind === 'number') {
    reader.take();
    return build(reader, position, { kind: 'number', digits: numberDigits(text, position) });
  }
  if (kind === 'text') {
    reader.take();
    return build(reader, position, { kind: 'text', value: text });
  }
  if (reader.takeSymbol('(')) {
    if (reader.isWord('SELECT') || reader.isWord('WITH')) {
      return build(reader, position, { kind: 'subquery', query: parseSubquery(reader, 1), at: position });
    }
    const inner = parseExpression(reader);
    reader.expectSymbol(')');
    return inner;
  }
  if (reader.takeWords('NULL')) return build(reader, position, { kind: 'null' });
  if (reader.takeWords('TRUE')) return build(reader, position, { kind: 'boolean', value: true });
  if (reader.takeWords('FALSE')) return build(reader, position, { kind: 'boolean', value: false });
  if (reader.takeWords('CASE')) return parseCase(reader, position);
  if (reader.isWord('EXISTS') && reader.afterNext.text === '(') {
    throw new QueryProblem(position, 'EXISTS is not available: use IN (SELECT …)');
  }
  if (reader.isWord('INTERVAL') && ['text', 'number'].includes(reader.afterNext.kind)) {
    return parseInterval(reader);
  }
  if (isTimeLiteral(reader)) {
    reader.take();
    const literal = build(reader, position, { kind: 'text', value: reader.take().text });
    return build(reader, position, { kind: 'cast', operand: literal, target: { kind: 'timestamp' } });
  }
  if (reader.isSymbol('*')) {
    throw new QueryProblem(position, '* is available in COUNT(*) only: name the columns');
  }
  return parseClock(reader) ?? parseCall(reader, parseExpression) ?? parseName(reader);
}

/** `TIMESTAMP '2026-11-20T00:00:00Z'`, `DATE '2026-11-20'` */
function isTimeLiteral(reader: TokenReader): boolean {
  return (reader.isWord('TIMESTAMP') || reader.isWord('DATE')) && reader.afterNext.kind === 'text';
}

/** `CASE WHEN …` and `CASE value WHEN …`, which compares the value with each. */
function parseCase(reader: TokenReader, position: number): Expression {
  const compared = reader.isWord('WHEN') ? null : parseExpression(reader);
  const branches: CaseBranch[] = [];
  while (reader.takeWords('WHEN')) {
    const when = parseExpression(reader);
    reader.expectWord('THEN');
    branches.push({ when, result: parseExpression(reader) });
  }
  if (branches.length === 0) throw reader.unexpected('WHEN');
  const otherwise = reader.takeWords('ELSE') ? parseExpression(reader) : null;
  reader.expectWord('END');
  return build(reader, position, { kind: 'case', compared, branches, otherwise });
}

/** A column, a qualified column, or a property: `properties.a.b`, `properties['a.b']`, `properties."a"`. */
function parseName(reader: TokenReader): Expression {
  const { position } = reader.next;
  const first = reader.expectColumnName('a column, a property, a literal or a function');
  if (isPropertiesName(first.text)) return parseProperty(reader, position, null);
  if (!reader.takeSymbol('.')) {
    return build(reader, position, { kind: 'column', qualifier: null, name: first.text.toLowerCase() });
  }
  const qualifier = first.text.toLowerCase();
  const second = reader.expectColumnName('a column');
  if (isPropertiesName(second.text)) return parseProperty(reader, position, qualifier);
  if (reader.isSymbol('.') || reader.isSymbol('(')) {
    throw new QueryProblem(position, 'names have at most two parts, as in events.timestamp');
  }
  return build(reader, position, { kind: 'column', qualifier, name: second.text.toLowerCase() });
}

function isPropertiesName(text: string): boolean {
  return text.toLowerCase() === 'properties';
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one case for each form, as in the grammar.
function parseProperty(reader: TokenReader, position: number, qualifier: string | null): Expression {
  const steps: string[] = [];
  for (;;) {
    if (reader.takeSymbol('.')) {
      const { kind, text } = reader.next;
      if (kind !== 'word' && kind !== 'name') throw reader.unexpected('the name of a property');
      reader.take();
      steps.push(text);
    } else if (reader.isSymbol('[') && (steps.length === 0 || reader.afterNext.kind === 'text')) {
      reader.take();
      if (reader.next.kind !== 'text')
        throw reader.unexpected("the name of a property, as in properties['a']");
      steps.push(reader.take().text);
      reader.expectSymbol(']');
    } else {
      break;
    }
  }
  if (steps.length === 0) {
    throw new QueryProblem(position, 'properties must be followed by a name, as in properties.tokens');
  }
  return build(reader, position, { kind: 'property', qualifier, name: steps.join('.') });
}

function takeOperator<Operator>(
  reader: TokenReader,
  operators: Readonly<Record<string, Operator>>,
): Operator | null {
  const { kind, text } = reader.next;
  if (kind !== 'symbol' || !Object.hasOwn(operators, text)) return null;
  reader.take();
  return operators[text] ?? null;
}

/** Plain digits of a number literal. */
function numberDigits(text: string, position: number): string {
  // `1.` and `.5` are numbers in SQL, but not in a property.
  const value = parseUsageDecimal(text.replace(/\.(?=$|[eE])/, '').replace(/^(-?)\./, '$10.'));
  if (value === null) {
    throw new QueryProblem(
      position,
      `the number ${text} is too long: at most 36 digits before and 30 after the point`,
    );
  }
  return value.toString();
}
