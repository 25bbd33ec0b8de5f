/**
 * Exact decimals: the only number type that money and quantities may use.
 *
 * Contains the configured `big.js` constructor, the grammar of a number in an event property, and the only
 * functions that divide or round. Addition, subtraction and multiplication are exact. `Big.strict` throws if a
 * JavaScript number is used in a calculation with money.
 */
import BigFactory from 'big.js';

/** A separate constructor, so that no dependency can change its settings. */
export const Decimal = BigFactory();
export type Decimal = InstanceType<typeof Decimal>;

Decimal.strict = true;
/** Quotients keep 20 decimal places, rounded half-up (docs/rating.md, "Numbers"). */
Decimal.DP = 20;
Decimal.RM = 1;
/** `toString` never uses exponents. */
Decimal.NE = -1_000_000;
Decimal.PE = 1_000_000;

export const ZERO = new Decimal('0');
export const ONE = new Decimal('1');

/**
 * Digits that a usage quantity may have on each side of the point. ClickHouse sums in `Decimal(76, 30)`,
 * which overflows without an error; 36 integer digits leave room for 10 billion events of the largest size.
 */
export const USAGE_INTEGER_DIGITS_MAX = 36;
export const USAGE_SCALE_MAX = 30;

/** Parses text that must be a decimal (a database column, a literal of ours). Throws otherwise. */
export function decimal(text: string): Decimal {
  return new Decimal(text);
}

/** An exponent has at most two digits: numbers with a larger one are out of range. */
const DECIMAL_TEXT = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/;

/**
 * Reads the value of an event property as an exact decimal.
 *
 * Returns null for text that is not a number or does not fit `Decimal(76, 30)` without losing a digit. Such an
 * event does not match the metric; it never counts as 0.
 */
export function parseUsageDecimal(text: string): Decimal | null {
  if (!DECIMAL_TEXT.test(text)) return null;
  const value = new Decimal(text.startsWith('+') ? text.slice(1) : text);
  if (value.eq(ZERO)) return ZERO;
  // big.js keeps the coefficient without leading and trailing zeros: value = 0.c[0]c[1]… × 10^(e+1).
  const scale = value.c.length - 1 - value.e;
  if (scale > USAGE_SCALE_MAX || value.e + 1 > USAGE_INTEGER_DIGITS_MAX) return null;
  return value;
}

/** Sum of any number of decimals; exact. */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO;
  for (const value of values) total = total.plus(value);
  return total;
}

/** a ÷ b kept to 20 decimal places, half-up. The only division of the rating engine. */
export function divideTo20Places(a: Decimal, b: Decimal): Decimal {
  return a.div(b);
}

/** a ÷ b rounded down to 20 decimal places, so that b times the result is never above a. Neither is negative. */
export function quotientDown(a: Decimal, b: Decimal): Decimal {
  const quotient = a.div(b);
  return quotient.times(b).gt(a) ? quotient.minus(SMALLEST_QUOTIENT) : quotient;
}

const SMALLEST_QUOTIENT = new Decimal('0.00000000000000000001');

export type RoundingMethod = 'ROUND_UP' | 'ROUND_DOWN' | 'ROUND_HALF_UP';

const ROUNDING_MODES: Record<RoundingMethod, 0 | 1 | 3> = {
  ROUND_DOWN: 0,
  ROUND_HALF_UP: 1,
  ROUND_UP: 3,
};

/** Rounds to `decimalPlaces`. UP and DOWN mean away from and towards zero, HALF_UP half away from zero. */
export function roundDecimal(value: Decimal, method: RoundingMethod, decimalPlaces: number): Decimal {
  return value.round(decimalPlaces, ROUNDING_MODES[method]);
}

export function minimum(a: Decimal, b: Decimal): Decimal {
  return a.lte(b) ? a : b;
}

export function maximum(a: Decimal, b: Decimal): Decimal {
  return a.gte(b) ? a : b;
}
