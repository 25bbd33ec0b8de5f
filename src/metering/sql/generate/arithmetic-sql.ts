/** + - * / and rounding, over values that are numbers already. */
import { Decimal, ZERO } from '../../../core/decimal.ts';
import type { ArithmeticOperator } from '../syntax/query-syntax.ts';
import {
  literalProductSql,
  literalQuotientSql,
  NUMBER_TYPE,
  productSql,
  quotientSql,
  remainderSql,
} from '../values/exact-sql.ts';
import type { Value, Writer } from '../values/value.ts';

/** NULL if an operand is NULL or the divisor is 0. A remainder has the sign of the dividend. */
export function writeArithmetic(
  writer: Writer,
  operator: ArithmeticOperator,
  left: Value,
  right: Value,
): Value {
  return { sql: arithmeticSql(writer, operator, left, right), type: 'number' };
}

function arithmeticSql(
  { definitions }: Writer,
  operator: ArithmeticOperator,
  left: Value,
  right: Value,
): string {
  const { names } = definitions;
  const { sql: x } = left;
  const { sql: y } = right;
  const short = (value: Value) => (value.literal instanceof Decimal ? value.literal : null);
  if (operator === '*') {
    const rightLiteral = short(right);
    const leftLiteral = short(left);
    const byLiteral =
      (rightLiteral === null ? null : literalProductSql(x, rightLiteral)) ??
      (leftLiteral === null ? null : literalProductSql(y, leftLiteral));
    return byLiteral ?? productSql(names, x, y);
  }
  if (operator === '%') return remainderSql(names, x, y);
  if (operator === '/') {
    const divisor = short(right);
    if (divisor?.eq(ZERO)) return `CAST(NULL, '${NUMBER_TYPE}')`;
    return (divisor === null ? null : literalQuotientSql(names, x, divisor)) ?? quotientSql(names, x, y);
  }
  return `(${x} ${operator} ${y})`;
}

const ROUNDING_FUNCTIONS = { ROUND: 'round', CEIL: 'ceil', FLOOR: 'floor' } as const;

/** ROUND: half away from zero. CEIL and FLOOR: up and down. */
export function writeRounding(name: keyof typeof ROUNDING_FUNCTIONS, number: string, places: number): Value {
  const sql = `CAST(${ROUNDING_FUNCTIONS[name]}(${number}, ${places}), '${NUMBER_TYPE}')`;
  return { sql, type: 'number' };
}
