/**
 * Exact arithmetic in ClickHouse's SQL. Every number is a `Nullable(Decimal(76, 30))` below 10^36.
 *
 * Sums, differences, and products with whole numbers are exact. Other products and all quotients keep 30
 * decimal places, rounded half away from zero. A result of 10^36 or more ends the query with an error
 * instead of wrapping around. ClickHouse's own `multiplyDecimal` and `divideDecimal` cut instead of
 * rounding and take 30 µs each; these forms take one.
 */
import type { Decimal } from '../../core/decimal.ts';
import { USAGE_INTEGER_DIGITS_MAX, USAGE_SCALE_MAX } from '../../core/decimal.ts';
import type { Definitions } from './definitions.ts';

export const NUMBER_TYPE = `Nullable(Decimal(76, ${USAGE_SCALE_MAX}))`;

/** The text of the error with which a query ends whose numbers outgrow the limit. */
export const OVERFLOW_MESSAGE = `a number has more than ${USAGE_INTEGER_DIGITS_MAX} digits before the point`;

/** Digits after the point that a literal may have to multiply or divide in one step. */
const SHORT_SCALE_MAX = 10;

/** A value below 10^36 at scale 30, times this, still fits 256 bits: the step of the long division. */
const DIVISION_STEP = "toInt256('10000000000')";
const DIVISION_STEPS = USAGE_SCALE_MAX / 10;

/** An exact literal. */
export function numberLiteral(value: Decimal): string {
  return `toDecimal256('${value.toString()}', ${USAGE_SCALE_MAX})`;
}

/** Ends the query where the number is too large; the number otherwise. */
export function checkedSql(definitions: Definitions, sql: string): string {
  const value = definitions.define(sql);
  const limit = `toDecimal256('1${'0'.repeat(USAGE_INTEGER_DIGITS_MAX)}', ${USAGE_SCALE_MAX})`;
  return definitions.define(
    `if(throwIf(ifNull(abs(${value}) >= ${limit}, 0), '${OVERFLOW_MESSAGE}'), NULL, ${value})`,
  );
}

export function productSql(definitions: Definitions, left: string, right: string): string {
  const { define } = definitions;
  const x = define(left);
  const y = define(right);
  // x·y = x·⌊y⌋ + ⌊x⌋·{y} + {x}·{y}: only the last term has more than 30 decimal places, and all three
  // have the same sign, so rounding it rounds the whole.
  const wholeX = define(`CAST(${x}, 'Nullable(Decimal(76, 0))')`);
  const wholeY = define(`CAST(${y}, 'Nullable(Decimal(76, 0))')`);
  const restX = define(`${x} - ${wholeX}`);
  const restY = define(`${y} - ${wholeY}`);
  const rounded = `CAST(round(${restX} * ${restY}, ${USAGE_SCALE_MAX}), '${NUMBER_TYPE}')`;
  return checkedSql(definitions, `${x} * ${wholeY} + ${wholeX} * ${restY} + ${rounded}`);
}

/** A product in one step, or null where the literal has too many decimal places for it. */
export function literalProductSql(definitions: Definitions, sql: string, literal: Decimal): string | null {
  const scale = scaleOf(literal);
  if (scale > SHORT_SCALE_MAX) return null;
  const product = `${sql} * toDecimal256('${literal.toString()}', ${scale})`;
  if (scale === 0) return checkedSql(definitions, product);
  return checkedSql(definitions, `CAST(round(${product}, ${USAGE_SCALE_MAX}), '${NUMBER_TYPE}')`);
}

/** Null where the divisor is 0. */
export function quotientSql(definitions: Definitions, dividend: string, divisor: string): string {
  const { define } = definitions;
  const isNumber = define(`isNotNull(${dividend}) AND ifNull(${divisor} != 0, 0)`);
  const a = define(`toInt256(abs(reinterpret(ifNull(${dividend}, toDecimal256(0, 30)), 'Int256')))`);
  const b = define(
    `if(${isNumber}, toInt256(abs(reinterpret(ifNull(${divisor}, toDecimal256(1, 30)), 'Int256'))), toInt256(1))`,
  );
  return divisionSql(definitions, {
    dividend: a,
    divisor: b,
    digits: DIVISION_STEPS,
    isNegative: define(`ifNull((${dividend} < 0) != (${divisor} < 0), 0)`),
    isNumber,
  });
}

/** A quotient in one step, or null where the literal has too many decimal places for it. It must not be 0. */
export function literalQuotientSql(definitions: Definitions, dividend: string, literal: Decimal): string | null {
  const { define } = definitions;
  const scale = scaleOf(literal);
  if (scale > SHORT_SCALE_MAX) return null;
  const power = `toInt256('1${'0'.repeat(scale)}')`;
  const raw = `toInt256(abs(reinterpret(ifNull(${dividend}, toDecimal256(0, 30)), 'Int256')))`;
  const digits = literal.abs().toFixed(scale).replace('.', '').replace(/^0+/, '');
  return divisionSql(definitions, {
    dividend: define(`${raw} * ${power}`),
    divisor: `toInt256('${digits}')`,
    digits: 0,
    isNegative: define(`ifNull(${dividend} ${literal.lt('0') ? '>' : '<'} 0, 0)`),
    isNumber: define(`isNotNull(${dividend})`),
  });
}

interface Division {
  /** Int256, not negative. */
  readonly dividend: string;
  /** Int256, positive. */
  readonly divisor: string;
  /** Steps of ten digits each. */
  readonly digits: number;
  readonly isNegative: string;
  readonly isNumber: string;
}

/** Long division, ten digits a step, rounded half up. The quotient is the unscaled number. */
function divisionSql(definitions: Definitions, division: Division): string {
  const { define } = definitions;
  const { divisor, isNegative, isNumber } = division;
  let quotient = define(`intDiv(${division.dividend}, ${divisor})`);
  let rest = define(`${division.dividend} - ${quotient} * ${divisor}`);
  const limit = `toInt256('1${'0'.repeat(USAGE_INTEGER_DIGITS_MAX + (division.digits > 0 ? 0 : USAGE_SCALE_MAX))}')`;
  quotient = define(`if(throwIf(${isNumber} AND ${quotient} >= ${limit}, '${OVERFLOW_MESSAGE}'), toInt256(0), ${quotient})`);
  for (let step = 0; step < division.digits; step += 1) {
    const shifted = define(`${rest} * ${DIVISION_STEP}`);
    const digits = define(`intDiv(${shifted}, ${divisor})`);
    quotient = define(`${quotient} * ${DIVISION_STEP} + ${digits}`);
    rest = define(`${shifted} - ${digits} * ${divisor}`);
  }
  const rounded = define(`toInt256(${quotient} + if(${rest} * 2 >= ${divisor}, 1, 0))`);
  const number = `reinterpret(if(${isNegative}, toInt256(negate(${rounded})), ${rounded}), 'Decimal(76, ${USAGE_SCALE_MAX})')`;
  return definitions.define(`if(${isNumber}, ${number}, NULL)`);
}

/** Decimal places of a literal. */
function scaleOf(literal: Decimal): number {
  return Math.max(0, literal.c.length - 1 - literal.e);
}
