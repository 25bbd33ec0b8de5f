/**
 * Writes a checked expression as ClickHouse SQL. No text of the query is included: names are resolved, numbers are
 * parsed, and texts and property names are sent as parameters.
 */
import { decimal } from '../../../core/decimal.ts';
import { findScalar } from '../functions/table.ts';
import type { Expression } from '../syntax/query-syntax.ts';
import { NUMBER_TYPE, numberLiteral } from '../values/exact-sql.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { addIntervalSql } from '../values/time-units.ts';
import {
  commonType,
  convert,
  requireBoolean,
  toNumber,
  toText,
  type Value,
  type ValueType,
  type Writer,
} from '../values/value.ts';
import { writeArithmetic, writeRounding } from './arithmetic-sql.ts';
import { type ComparisonWith, writeComparison, writeComparisons, writeIn } from './comparison-sql.ts';
import {
  type OperandWriter,
  timestampOf,
  writePlanned,
  writeSpecial,
  writeTimestamp,
} from './function-sql.ts';
import type { Subqueries } from './subqueries.ts';

/** The meaning of names at a place of the query. */
export interface Scope extends Writer {
  column(expression: Extract<Expression, { kind: 'column' }>): Value;
  property(expression: Extract<Expression, { kind: 'property' }>): Value;
  /** The value of an aggregate function, if one is allowed here; throws otherwise. */
  aggregate(expression: Extract<Expression, { kind: 'aggregate' }>): Value;
  /** The value of a window function; null if none is allowed here. */
  readonly window: ((expression: Extract<Expression, { kind: 'window' }>) => Value) | null;
  /** Queries in expressions; null if none are allowed here. */
  readonly subqueries: Subqueries | null;
  /** The value of an expression that is available as a whole, such as a key of GROUP BY; null for all others. */
  known(expression: Expression): Value | null;
}

export function writeExpression(scope: Scope, expression: Expression): Value {
  const known = scope.known(expression);
  if (known !== null) return known;
  switch (expression.kind) {
    case 'column':
      return scope.column(expression);
    case 'property':
      return scope.property(expression);
    case 'aggregate':
      return scope.aggregate(expression);
    case 'number':
    case 'text':
    case 'boolean':
    case 'null':
      return writeLiteral(scope, expression);
    case 'case':
      return writeCase(scope, expression);
    case 'cast':
      return writeCast(scope, expression);
    case 'function':
      return writeFunction(scope, expression);
    case 'window':
      if (scope.window === null) {
        throw new QueryProblem(
          expression.position,
          'window functions stand in SELECT and ORDER BY: use a subquery to filter or group by one, or for DISTINCT',
        );
      }
      return scope.window(expression);
    case 'subquery':
      return subqueriesOf(scope, expression.position).scalar(expression.query, expression.position);
    case 'in_query':
      return subqueriesOf(scope, expression.position).contains(
        expression.query,
        writeExpression(scope, expression.operand),
        expression.position,
      );
    case 'interval':
      throw new QueryProblem(
        expression.position,
        'an INTERVAL is added to a timestamp or subtracted from one',
      );
    default:
      return writeOperator(scope, expression);
  }
}

function subqueriesOf({ subqueries }: Scope, position: number): Subqueries {
  if (subqueries === null)
    throw new QueryProblem(position, 'a query cannot stand in the condition of a join');
  return subqueries;
}

type Form<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

function writeLiteral(scope: Scope, literal: Form<'number' | 'text' | 'boolean' | 'null'>): Value {
  switch (literal.kind) {
    case 'number': {
      const value = decimal(literal.digits);
      return { sql: numberLiteral(value), type: 'number', literal: value, isPlain: true };
    }
    case 'text':
      return {
        sql: scope.parameters.bind('text', 'String', literal.value),
        type: 'text',
        literal: literal.value,
        isPlain: true,
      };
    case 'boolean':
      return { sql: literal.value ? 'toUInt8(1)' : 'toUInt8(0)', type: 'boolean', isPlain: true };
    default:
      return { sql: 'NULL', type: 'null', isPlain: true };
  }
}

function writeOperator(
  scope: Scope,
  expression: Form<
    'negate' | 'not' | 'arithmetic' | 'comparison' | 'between' | 'and' | 'or' | 'is_null' | 'in'
  >,
): Value {
  const { position } = expression;
  const written = (part: Expression) => writeExpression(scope, part);
  const condition = (part: Expression) => requireBoolean(written(part), part.position);
  switch (expression.kind) {
    case 'negate':
      return { sql: `(-(${toNumber(scope, written(expression.operand), position)}))`, type: 'number' };
    case 'arithmetic': {
      const { operator, left, right } = expression;
      if (left.kind === 'interval' || right.kind === 'interval') return writeInterval(scope, expression);
      return writeArithmetic(scope, operator, operandOf(scope, left), operandOf(scope, right));
    }
    case 'comparison':
      return writeComparison(scope, expression, written(expression.left), written(expression.right));
    case 'between':
      return writeBetween(scope, expression);
    case 'in':
      return writeIn(
        scope,
        expression,
        written(expression.operand),
        expression.values.map((value) => listValue(scope, value)),
      );
    case 'is_null':
      return { sql: `isNull(${written(expression.operand).sql})`, type: 'boolean' };
    case 'not':
      return { sql: `not(${condition(expression.operand)})`, type: 'boolean' };
    default:
      return {
        sql: scope.definitions.define(`${expression.kind}(${expression.operands.map(condition).join(', ')})`),
        type: 'boolean',
      };
  }
}

/** A text in a list is sent with the list, not separately. */
function listValue(scope: Scope, value: Expression): Value {
  return value.kind === 'text'
    ? { sql: "''", type: 'text', literal: value.value }
    : writeExpression(scope, value);
}

/** `time + INTERVAL`, `INTERVAL + time`, `time - INTERVAL`. */
function writeInterval(scope: Scope, { operator, left, right, position }: Form<'arithmetic'>): Value {
  const [time, interval] = left.kind === 'interval' ? [right, left] : [left, right];
  if (interval.kind !== 'interval' || (operator !== '+' && (operator !== '-' || left === interval))) {
    throw new QueryProblem(position, 'an INTERVAL is added to a timestamp or subtracted from one');
  }
  const sql = timestampOf(operandWriter(scope), time);
  const amount = operator === '-' ? -interval.amount : interval.amount;
  return { sql: scope.definitions.define(addIntervalSql(sql, amount, interval.unit)), type: 'timestamp' };
}

function operandOf(scope: Scope, expression: Expression): Value {
  const value = writeExpression(scope, expression);
  if (value.type === 'timestamp') {
    throw new QueryProblem(
      expression.position,
      "a number is needed here, not a timestamp: DATE_DIFF('second', a, b) is the time between two, INTERVAL '1 day' is added to one",
    );
  }
  return { ...value, sql: toNumber(scope, value, expression.position), type: 'number' };
}

function writeBetween(scope: Scope, { operand, low, high, position }: Form<'between'>): Value {
  const comparisons: ComparisonWith[] = [
    { operator: '>=', position, other: writeExpression(scope, low) },
    { operator: '<=', position, other: writeExpression(scope, high) },
  ];
  const sql = writeComparisons(
    scope,
    writeExpression(scope, operand),
    comparisons,
    (conditions) => `and(${conditions.join(', ')})`,
  );
  return { sql, type: 'boolean' };
}

function writeCase(
  scope: Scope,
  { compared, branches, otherwise, position }: Omit<Form<'case'>, 'identity' | 'aggregateAt'>,
): Value {
  const whens = branches.map(({ when }) => writeExpression(scope, when));
  const positionOf = (index: number) => branches[index]?.when.position ?? position;
  const conditions = compared === null ? whens.map((when, i) => requireBoolean(when, positionOf(i))) : null;
  const value = compared === null ? null : writeExpression(scope, compared);
  const parts = [...branches.map(({ result }) => result), ...(otherwise === null ? [] : [otherwise])];
  const { type, results } = writeAlternatives(scope, parts, position);
  const last = otherwise === null ? 'NULL' : results.at(-1);
  const write = (tests: readonly string[]) =>
    `multiIf(${tests.map((test, index) => `${test}, ${results[index]}`).join(', ')}, ${last})`;
  if (value === null) return { sql: scope.definitions.define(write(conditions ?? [])), type };
  const comparisons = whens.map(
    (other, index): ComparisonWith => ({ operator: '=', position: positionOf(index), other }),
  );
  return { sql: writeComparisons(scope, value, comparisons, write), type };
}

/** Several expressions, one of which is the result. */
function writeAlternatives(
  scope: Scope,
  parts: readonly Expression[],
  position: number,
): { type: ValueType; results: string[] } {
  const values = parts.map((part) => writeExpression(scope, part));
  const type = commonType(
    values.map((value) => value.type),
    position,
  );
  if (type === 'null') return { type: 'number', results: values.map(() => `CAST(NULL, '${NUMBER_TYPE}')`) };
  return { type, results: values.map((value) => convert(scope, value, type, position)) };
}

function writeCast(scope: Scope, { operand, target, position }: Form<'cast'>): Value {
  const value = writeExpression(scope, operand);
  if (target.kind === 'text') return { sql: scope.definitions.define(toText(scope, value)), type: 'text' };
  if (target.kind === 'timestamp') return writeTimestamp(operandWriter(scope), value, position);
  const number = toNumber(scope, value.type === 'text' ? { ...value, type: 'property' } : value, position);
  if (target.kind === 'integer') {
    return {
      sql: scope.definitions.define(`CAST(CAST(${number}, 'Nullable(Decimal(76, 0))'), '${NUMBER_TYPE}')`),
      type: 'number',
    };
  }
  if (target.scale === null) return { sql: number, type: 'number' };
  return writeRounding('ROUND', number, target.scale);
}

function writeFunction(scope: Scope, expression: Form<'function'>): Value {
  const { name, operands, position } = expression;
  const plan = findScalar(name)?.plan ?? null;
  if (plan !== null) return writePlanned(operandWriter(scope), plan, operands);
  switch (name) {
    case 'MULTIIF':
      return writeMultiIf(scope, expression);
    case 'MOD': {
      const [left, right] = operands;
      if (left === undefined || right === undefined) throw misuse(expression);
      return writeArithmetic(scope, '%', operandOf(scope, left), operandOf(scope, right));
    }
    case 'COALESCE': {
      const { type, results } = writeAlternatives(scope, operands, position);
      return { sql: scope.definitions.define(`coalesce(${results.join(', ')})`), type };
    }
    case 'IF': {
      const [when, result, otherwise = null] = operands;
      if (when === undefined || result === undefined) throw misuse(expression);
      const branches = [{ when, result }];
      return writeCase(scope, { kind: 'case', compared: null, branches, otherwise, position });
    }
    case 'NULLIF': {
      const { type, results } = writeAlternatives(scope, operands, position);
      return { sql: scope.definitions.define(`nullIf(${results.join(', ')})`), type };
    }
    case 'LEAST':
    case 'GREATEST':
      return writeExtreme(scope, expression);
    case 'ROUND':
    case 'CEIL':
    case 'FLOOR':
      return writeRoundingCall(scope, expression);
    default:
      return writeSpecial(operandWriter(scope), expression);
  }
}

function operandWriter(scope: Scope): OperandWriter {
  const { parameters, definitions } = scope;
  return { parameters, definitions, write: (operand) => writeExpression(scope, operand) };
}

/** `multiIf(condition, x, …, else)` */
function writeMultiIf(scope: Scope, expression: Form<'function'>): Value {
  const { operands, position } = expression;
  const otherwise = operands.at(-1) ?? null;
  if (operands.length % 2 === 0) {
    throw new QueryProblem(
      position,
      'multiIf takes pairs of a condition and a value, and a value for all others',
    );
  }
  const branches = operands.slice(0, -1).flatMap((when, index) => {
    const result = operands[index + 1];
    return index % 2 === 0 && result !== undefined ? [{ when, result }] : [];
  });
  return writeCase(scope, { kind: 'case', compared: null, branches, otherwise, position });
}

/** NULL is skipped, as in most databases; NULL if there is nothing else. */
function writeExtreme(scope: Scope, { name, operands, position }: Form<'function'>): Value {
  const values = operands.map((operand) => writeExpression(scope, operand));
  const types = values.map((value) => value.type);
  const type = types.includes('timestamp') ? commonType(types, position) : 'number';
  const list = values.map((value, index) =>
    convert(scope, value, type, operands[index]?.position ?? position),
  );
  return { sql: scope.definitions.define(`${name.toLowerCase()}(${list.join(', ')})`), type };
}

function writeRoundingCall(scope: Scope, expression: Form<'function'>): Value {
  const [operand, digits] = expression.operands;
  if (operand === undefined) throw misuse(expression);
  const number = operandOf(scope, operand).sql;
  const { name } = expression;
  if (name !== 'ROUND' && name !== 'CEIL' && name !== 'FLOOR') throw misuse(expression);
  if (digits === undefined) return writeRounding(name, number, 0);
  if (digits.kind !== 'number' || !/^(?:-?[12]?\d|30|-3[0-6])$/.test(digits.digits)) {
    throw new QueryProblem(digits.position, 'the number of decimal places is a whole number from -36 to 30');
  }
  return writeRounding(name, number, Number(digits.digits));
}

/** The grammar has counted the operands. */
function misuse({ name, position }: Form<'function'>): QueryProblem {
  return new QueryProblem(position, `${name} has the wrong number of arguments`);
}
