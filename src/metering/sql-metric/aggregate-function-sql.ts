/** Aggregate functions: the arguments computed per row, and the expression of the result. */
import { unreachable } from '../../core/errors.ts';
import type { NameSource } from './definitions.ts';
import { checkedSql, quotientSql, SUMMAND_DIGITS_MAX } from './exact-sql.ts';
import { QueryProblem } from './query-refusal.ts';
import type { AggregateFunction, Expression } from './query-syntax.ts';
import { describe, toNumber, type Value, type Writer } from './value.ts';

/** A function of ClickHouse over one or two columns. */
export type EngineFunction = 'count' | 'uniqExact' | 'sum' | 'min' | 'max' | 'argMin' | 'argMax';

type AggregateExpression = Extract<Expression, { kind: 'aggregate' }>;

/** Lets the engine compute a function of the value `argument`; returns the name of its result. */
export type Compute = (name: EngineFunction, argument: string) => string;

/**
 * The value of an aggregate. `input` writes its argument among the rows, `operand` is that argument (null
 * for COUNT(*)).
 */
export function writeAggregate(
  expression: AggregateExpression,
  operand: Value | null,
  input: Writer,
  output: { readonly names: NameSource; readonly compute: Compute },
): Value {
  const { name, distinct, position } = expression;
  const { names, compute } = output;
  if (operand === null) return countValue(compute('count', 'toUInt8(1)'));
  const number = () => toNumber(input, operand, expression.operand?.position ?? position);
  switch (name) {
    case 'COUNT':
      // A bare NULL has no type, and so no state that could be merged.
      return countValue(
        compute(distinct ? 'uniqExact' : 'count', operand.type === 'null' ? number() : operand.sql),
      );
    case 'SUM':
      return { sql: compute('sum', summand(names, operand, number())), type: 'number' };
    case 'AVG': {
      const argument = summand(names, operand, number());
      const count = countValue(compute('count', argument));
      return { sql: quotientSql(names, compute('sum', argument), count.sql), type: 'number' };
    }
    case 'MIN':
    case 'MAX':
      if (operand.type === 'boolean') {
        throw new QueryProblem(position, `${name} does not take ${describe('boolean')}`);
      }
      return pickedValue(compute, name === 'MIN' ? 'min' : 'max', operand, number);
    case 'EARLIEST':
    case 'LATEST':
      return pickedValue(compute, name === 'EARLIEST' ? 'argMin' : 'argMax', operand, number);
    default:
      return unreachable(name);
  }
}

/** What is computed may be larger than a property can be. */
function summand(names: NameSource, operand: Value, number: string): string {
  return operand.type === 'property' ? number : checkedSql(names, number, SUMMAND_DIGITS_MAX);
}

function countValue(result: string): Value {
  return { sql: `toDecimal256(${result}, 30)`, type: 'number' };
}

/** One of the values themselves. Properties are numbers here; CAST(… AS VARCHAR) keeps them as text. */
function pickedValue(compute: Compute, engine: EngineFunction, operand: Value, number: () => string): Value {
  if (operand.type === 'property' || operand.type === 'null') {
    return { sql: compute(engine, number()), type: 'number' };
  }
  return { sql: compute(engine, operand.sql), type: operand.type };
}

export function needsEventOrder(name: AggregateFunction): boolean {
  return name === 'EARLIEST' || name === 'LATEST';
}
