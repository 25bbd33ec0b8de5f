/** Aggregate functions: the arguments computed per row, and the expression of the result. */
import { unreachable } from '../../../core/errors.ts';
import type { AggregateFunction } from '../functions/aggregate-functions.ts';
import { rootSql } from '../functions/number-functions.ts';
import { findAggregate } from '../functions/table.ts';
import type { AggregateCall, Expression } from '../syntax/query-syntax.ts';
import { bind } from '../values/bind-sql.ts';
import type { NameSource } from '../values/definitions.ts';
import { checkedSql, NUMBER_TYPE, productSql, quotientSql, SUMMAND_DIGITS_MAX } from '../values/exact-sql.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { describe, requireBoolean, toNumber, toText, type Value, type Writer } from '../values/value.ts';
import { splitNumber, writeQuantile, writeWeightedQuantile } from './quantile-sql.ts';

/** A ClickHouse function over one or two columns. */
export type EngineFunction =
  | 'count'
  | 'uniqExact'
  | 'sum'
  | 'min'
  | 'max'
  | 'argMin'
  | 'argMax'
  | 'groupArray'
  | 'groupBitOr'
  | 'groupBitAnd'
  | 'groupBitXor';

/**
 * Has the engine compute a function of the value `argument`; returns the name of its result. `by`: the deciding value
 * of argMin and argMax; null for the order of events.
 */
type Compute = (name: EngineFunction, argument: string, by?: string | null) => string;

interface Output {
  readonly names: NameSource;
  readonly compute: Compute;
}

/** A call with its operands written among the rows. */
export interface WrittenCall {
  readonly call: AggregateCall;
  readonly position: number;
  readonly operands: readonly Value[];
  readonly filter: Value | null;
}

export function aggregateOf(name: string): AggregateFunction {
  const spec = findAggregate(name);
  if (spec === null) throw new Error(`${name} is no aggregate function`);
  return spec;
}

/** The operands of a call, in the rows that it aggregates. */
export function writeOperands(
  call: AggregateCall,
  position: number,
  write: (expression: Expression) => Value,
): WrittenCall {
  return {
    call,
    position,
    operands: call.operands.map(write),
    filter: call.filter === null ? null : write(call.filter),
  };
}

/** The value of an aggregate. `input` writes its arguments among the rows. */
export function writeAggregate(written: WrittenCall, input: Writer, { names, compute }: Output): Value {
  const { call, position, filter } = written;
  const condition = filter === null ? null : requireBoolean(filter, call.filter?.position ?? position);
  // A filter maps excluded rows to NULL, which all functions skip.
  const filtered: Compute = (name, argument, by) =>
    compute(name, condition === null ? argument : `if(${condition}, ${argument}, NULL)`, by);
  return writeKind(written, input, { names, compute: filtered });
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of aggregate function.
function writeKind({ call, position, operands }: WrittenCall, input: Writer, output: Output): Value {
  const { names, compute } = output;
  const [operand, second] = operands;
  const spec = aggregateOf(call.name);
  if (operand === undefined) return countValue(compute('count', 'toUInt8(1)'));
  const place = (index: number) => call.operands[index]?.position ?? position;
  const number = () => toNumber(input, operand, place(0));
  const addend = () => summand(names, operand, number());
  switch (spec.kind) {
    case 'count':
      return writeCount(call, operands, input, output);
    case 'sum':
      return { sql: compute('sum', addend()), type: 'number' };
    case 'avg': {
      const argument = addend();
      const count = countValue(compute('count', argument));
      return { sql: quotientSql(names, compute('sum', argument), count.sql), type: 'number' };
    }
    case 'min':
    case 'max':
      if (operand.type === 'boolean' || operand.type === 'list') {
        throw new QueryProblem(position, `${spec.name} does not take ${describe(operand.type)}`);
      }
      return pickedValue(compute, spec.kind, operand, number);
    case 'earliest':
    case 'latest':
      return pickedValue(compute, spec.kind === 'earliest' ? 'argMin' : 'argMax', operand, number);
    case 'least_by':
    case 'greatest_by':
      return writeBy(spec.kind, [operand, second ?? operand], [place(0), place(1)], input, output);
    case 'variance':
    case 'deviation':
      return writeVariance(spec, addend(), output);
    case 'bits':
      return writeBits(spec, number(), output);
    case 'any_true':
    case 'all_true': {
      const argument = requireBoolean(operand, place(0));
      return { sql: compute(spec.kind === 'any_true' ? 'max' : 'min', argument), type: 'boolean' };
    }
    case 'interpolated':
    case 'discrete':
    case 'quantile_exact':
      return writeQuantile(
        spec.kind,
        call.level ?? '0.5',
        splitNumber(input, number()).map((sql) => compute('groupArray', sql)),
        names,
      );
    case 'weighted': {
      const weight = toNumber(input, second ?? operand, place(1));
      // Both are NULL in the same rows, so the two lists correspond.
      const isCounted = `isNotNull(${number()}) AND ifNull(${weight} > 0, 0)`;
      const [values, weights] = [number(), weight].map((sql) =>
        compute('groupArray', `if(${isCounted}, ${sql}, NULL)`),
      );
      return writeWeightedQuantile(call.level ?? '0.5', values ?? '', weights ?? '', names);
    }
    default:
      return unreachable(spec.kind);
  }
}

/** A computed value may be larger than a property can be. */
function summand(names: NameSource, operand: Value, number: string): string {
  return operand.type === 'property' ? number : checkedSql(names, number, SUMMAND_DIGITS_MAX);
}

function countValue(result: string): Value {
  return { sql: `toDecimal256(${result}, 30)`, type: 'number' };
}

function writeCount(
  { distinct, operands: expressions }: AggregateCall,
  operands: readonly Value[],
  input: Writer,
  { compute }: Output,
): Value {
  const [operand] = operands;
  if (operand === undefined) return countValue(compute('count', 'toUInt8(1)'));
  const name = distinct ? 'uniqExact' : 'count';
  if (operands.length > 1) {
    // Each text is preceded by its length, so that different lists of texts differ.
    const texts = operands.map((value) => toText(input, value));
    const parts = texts.flatMap((text) => [`toString(length(${text}))`, "':'", text]);
    return countValue(compute(name, `concat(${parts.join(', ')})`));
  }
  // A bare NULL has no type, and so no state that could be merged.
  const isBare = operand.type === 'null';
  const argument = isBare ? toNumber(input, operand, expressions[0]?.position ?? 0) : operand.sql;
  return countValue(compute(name, argument));
}

/** One of the values themselves. Properties are numbers here; CAST(… AS VARCHAR) keeps them as text. */
function pickedValue(
  compute: Compute,
  engine: EngineFunction,
  operand: Value,
  number: () => string,
  by: string | null = null,
): Value {
  if (operand.type === 'property' || operand.type === 'null') {
    return { sql: compute(engine, number(), by), type: 'number' };
  }
  return { sql: compute(engine, operand.sql, by), type: operand.type };
}

/** Among rows with an equal `by` the value itself decides. */
function writeBy(
  kind: 'least_by' | 'greatest_by',
  [operand, by]: readonly [Value, Value],
  [operandAt, byAt]: readonly [number, number],
  input: Writer,
  { compute }: Output,
): Value {
  const isNumber = operand.type === 'property' || operand.type === 'null';
  const value = isNumber ? toNumber(input, operand, operandAt) : operand.sql;
  const isByNumber = by.type === 'property' || by.type === 'null';
  const deciding = isByNumber ? toNumber(input, by, byAt) : by.sql;
  const order = `tuple(${deciding}, ${value})`;
  // A row without a deciding value is skipped, like one without a value.
  const argument = `if(isNull(${deciding}), NULL, ${value})`;
  const sql = compute(kind === 'least_by' ? 'argMin' : 'argMax', argument, order);
  return { sql, type: isNumber ? 'number' : operand.type };
}

/**
 * (n·Σx² − (Σx)²) / n², or / (n·(n − 1)) for a sample: one division, whose dividend is exact for numbers of 15 places.
 */
function writeVariance(spec: AggregateFunction, argument: string, { names, compute }: Output): Value {
  const square = checkedSql(names, productSql(names, argument, argument), SUMMAND_DIGITS_MAX);
  const sums = [compute('sum', argument), compute('sum', square), compute('count', argument)];
  const variance = bind(names, sums, ([sum = '', squares = '', n = '']) => {
    const count = `toDecimal256(${n}, 0)`;
    const dividend = `${squares} * ${count} - ${productSql(names, sum, sum)}`;
    const divisor = `toDecimal256(${count} * ${spec.isSample === true ? `(${count} - 1)` : count}, 30)`;
    // Rounding must not make it negative.
    return bind(names, [dividend], ([x = '']) =>
      quotientSql(names, `if(${x} < 0, toDecimal256(0, 30), ${x})`, divisor),
    );
  });
  if (spec.kind === 'variance') return { sql: variance, type: 'number' };
  return { sql: bind(names, [variance], ([x = '']) => rootSql(x)), type: 'number' };
}

const BITS_MAX = "toDecimal256('9223372036854775807', 30)";

/** NULL unless it is a non-negative integer that fits. */
function writeBits(spec: AggregateFunction, number: string, { names, compute }: Output): Value {
  const whole = bind(
    names,
    [number],
    ([x = '']) => `toInt64(if(${x} >= 0 AND ${x} <= ${BITS_MAX} AND ${x} = floor(${x}), ${x}, NULL))`,
  );
  const result = compute(spec.engine ?? 'groupBitOr', whole);
  return { sql: `CAST(toDecimal256(${result}, 30), '${NUMBER_TYPE}')`, type: 'number' };
}

export function needsEventOrder(name: string): boolean {
  return name === 'EARLIEST' || name === 'LATEST';
}
