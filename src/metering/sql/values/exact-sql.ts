/**
 * Exact arithmetic in ClickHouse's SQL. Every number is a `Nullable(Decimal(76, 30))`.
 *
 * Sums, differences, and products with integers are exact. Other products and all quotients keep 30 decimal places,
 * rounded half away from zero. ClickHouse's own `multiplyDecimal` and `divideDecimal` cut instead of rounding and take
 * 30 µs each; these forms take one or two.
 *
 * Up to 10^36 everything works. Beyond, a query may end with an error, but never with a wrong number: ClickHouse checks
 * + - * of decimals for overflow (`decimal_check_overflow`); the operations that it does not check, sums over rows and
 * 256-bit integers, get only numbers that were checked here.
 */
import { type Decimal, USAGE_INTEGER_DIGITS_MAX, USAGE_SCALE_MAX } from '../../../core/decimal.ts';
import { bind } from './bind-sql.ts';
import type { NameSource } from './definitions.ts';

const PLAIN_TYPE = `Decimal(76, ${USAGE_SCALE_MAX})`;
export const NUMBER_TYPE = `Nullable(${PLAIN_TYPE})`;

/** The error text of a query whose numbers exceed the limit. */
export const OVERFLOW_MESSAGE = `a number has more than ${USAGE_INTEGER_DIGITS_MAX} digits before the point`;

/** Maximum digits before the point of one of many summands: ten billion of them still fit. */
export const SUMMAND_DIGITS_MAX = USAGE_INTEGER_DIGITS_MAX;
/** The limit for the rows of a result, which are fewer, and may be sums themselves. */
export const RESULT_DIGITS_MAX = 40;
/** Digits before the point that fit 256 bits with 30 after it. */
const DIGITS_MAX = 46;

/** Maximum digits after the point of a literal that is multiplied or divided in one step. */
const SHORT_SCALE_MAX = 10;

/** The remainder of a division, below 10^66, times this still fits 256 bits. */
const STEP_DIGITS = 10;
const STEP = wholeLiteral(STEP_DIGITS);

/** An exact literal. */
export function numberLiteral(value: Decimal): string {
  return `toDecimal256('${value.toString()}', ${USAGE_SCALE_MAX})`;
}

/** 10^exponent as Int256. */
function wholeLiteral(exponent: number): string {
  return `toInt256('1${'0'.repeat(exponent)}')`;
}

/** The number; an error if it has more digits before the point. */
export function checkedSql(names: NameSource, sql: string, digitsMax: number): string {
  const limit = `toDecimal256('1${'0'.repeat(digitsMax)}', ${USAGE_SCALE_MAX})`;
  return bind(names, [sql], ([value = '']) => {
    const isTooLarge = `throwIf(ifNull(abs(${value}) >= ${limit}, 0), '${OVERFLOW_MESSAGE}')`;
    return `if(${isTooLarge}, NULL, ${value})`;
  });
}

/**
 * x·y = x·⌊y⌋ + ⌊x⌋·{y} + {x}·{y}: only the last term has more than 30 decimal places, and all three have the
 * same sign, so rounding it rounds the whole.
 */
export function productSql(names: NameSource, left: string, right: string): string {
  return bind(names, [left, right], ([x = '', y = '']) => {
    const wholes = [x, y].map((value) => `CAST(${value}, 'Nullable(Decimal(76, 0))')`);
    return bind(names, wholes, ([wholeX = '', wholeY = '']) => {
      const rest = `round((${x} - ${wholeX}) * (${y} - ${wholeY}), ${USAGE_SCALE_MAX})`;
      return `${x} * ${wholeY} + ${wholeX} * (${y} - ${wholeY}) + CAST(${rest}, '${NUMBER_TYPE}')`;
    });
  });
}

/** A product in one step, or null if the literal has too many decimal places for it. */
export function literalProductSql(sql: string, literal: Decimal): string | null {
  const scale = scaleOf(literal);
  if (scale > SHORT_SCALE_MAX) return null;
  const product = `(${sql} * toDecimal256('${literal.toString()}', ${scale}))`;
  return scale === 0 ? product : `CAST(round(${product}, ${USAGE_SCALE_MAX}), '${NUMBER_TYPE}')`;
}

/** Null if an operand is NULL or the divisor is 0. */
export function quotientSql(names: NameSource, dividend: string, divisor: string): string {
  // A larger divisor would not leave room for the steps of the division.
  const operands = [dividend, checkedSql(names, divisor, USAGE_INTEGER_DIGITS_MAX)];
  return bind(names, operands, ([a = '', b = '']) => {
    // If there is no quotient, 0 is divided by 1 and the result is discarded.
    const isNumber = `isNotNull(${a}) AND ifNull(${b} != 0, 0)`;
    const digits = [
      `if(${isNumber}, ${unscaled(a)}, toInt256(0))`,
      `if(${isNumber}, ${unscaled(b)}, toInt256(1))`,
    ];
    const quotient = bind(names, digits, ([dividendDigits = '', divisorDigits = '']) =>
      divisionSql(names, dividendDigits, divisorDigits, USAGE_SCALE_MAX / STEP_DIGITS),
    );
    const isNegative = `ifNull((${a} < 0) != (${b} < 0), 0)`;
    return `if(${isNumber}, ${signed(names, quotient, isNegative)}, NULL)`;
  });
}

/** The exact remainder of an integer division. NULL if an operand is NULL or the divisor is 0. */
export function remainderSql(names: NameSource, dividend: string, divisor: string): string {
  return bind(names, [dividend, divisor], ([a = '', b = '']) => {
    const isNumber = `isNotNull(${a}) AND ifNull(${b} != 0, 0)`;
    const digits = `if(${isNumber}, ${unscaled(b)}, toInt256(1))`;
    const remainder = `toInt256(modulo(${unscaled(a)}, ${digits}))`;
    return `if(${isNumber}, ${signed(names, remainder, `ifNull(${a} < 0, 0)`)}, NULL)`;
  });
}

/** A quotient in one step, or null if the literal has too many decimal places for it. It must not be 0. */
export function literalQuotientSql(names: NameSource, dividend: string, literal: Decimal): string | null {
  const scale = scaleOf(literal);
  if (scale > SHORT_SCALE_MAX) return null;
  const divisor = `toInt256('${literal.abs().toFixed(scale).replace('.', '')}')`;
  // A larger dividend would not leave room for the shift.
  const operand = scale === 0 ? dividend : checkedSql(names, dividend, USAGE_INTEGER_DIGITS_MAX);
  return bind(names, [operand], ([a = '']) => {
    const quotient = bind(names, [`${unscaled(a)} * ${wholeLiteral(scale)}`], ([digits = '']) =>
      divisionSql(names, digits, divisor, 0),
    );
    const isNegative = `ifNull(${a} ${literal.lt('0') ? '>' : '<'} 0, 0)`;
    return `if(isNotNull(${a}), ${signed(names, quotient, isNegative)}, NULL)`;
  });
}

/** The digits of a number as Int256, without sign and point; 0 for NULL. */
function unscaled(number: string): string {
  return `toInt256(abs(reinterpret(ifNull(${number}, toDecimal256(0, ${USAGE_SCALE_MAX})), 'Int256')))`;
}

/** Long division of Int256, ten digits a step, rounded half up: the digits of the quotient. */
function divisionSql(names: NameSource, dividend: string, divisor: string, steps: number): string {
  const limit = wholeLiteral(DIGITS_MAX + USAGE_SCALE_MAX - steps * STEP_DIGITS);
  const first = [`intDiv(${dividend}, ${divisor})`, `modulo(${dividend}, ${divisor})`];
  return bind(names, first, ([quotient = '', rest = '']) => {
    const isTooLarge = `throwIf(${quotient} >= ${limit}, '${OVERFLOW_MESSAGE}')`;
    const checked = `if(${isTooLarge}, toInt256(0), ${quotient})`;
    return divisionStep(names, checked, rest, divisor, steps);
  });
}

function divisionStep(
  names: NameSource,
  quotient: string,
  rest: string,
  divisor: string,
  steps: number,
): string {
  if (steps === 0) return `${quotient} + if(${rest} * 2 >= ${divisor}, 1, 0)`;
  const shifted = `toInt256(${rest} * ${STEP})`;
  const next = [`${quotient} * ${STEP} + intDiv(${shifted}, ${divisor})`, `modulo(${shifted}, ${divisor})`];
  return bind(names, next, ([nextQuotient = '', nextRest = '']) =>
    divisionStep(names, nextQuotient, nextRest, divisor, steps - 1),
  );
}

/** Digits as a number, with a sign. */
function signed(names: NameSource, digits: string, isNegative: string): string {
  return bind(
    names,
    [digits],
    ([value = '']) => `reinterpret(toInt256(if(${isNegative}, -${value}, ${value})), '${PLAIN_TYPE}')`,
  );
}

/** Decimal places of a literal. */
function scaleOf(literal: Decimal): number {
  return literal.decimalPlaces();
}
