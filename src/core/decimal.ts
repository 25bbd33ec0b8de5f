/**
 * Exact decimals: the only number type that money and quantities may use.
 *
 * Contains the number itself, the grammar of a number in an event property, and the only functions that divide or
 * round. Addition, subtraction and multiplication are exact.
 *
 * Results equal those of big.js, which is the reference (test/property/decimal.test.ts). Most numbers are short: a safe
 * integer divided by a power of ten is computed as such, which takes a tenth of the time and a fifth of the memory. All
 * others are computed by big.js.
 */
import BigFactory from 'big.js';

/** A separate constructor, so that no dependency can change its settings. */
const Big = BigFactory();
type Big = InstanceType<typeof Big>;

/** JavaScript numbers are refused. */
Big.strict = true;
/** Quotients keep 20 decimal places, rounded half-up (docs/explanation/rating.md, "Numbers"). */
Big.DP = 20;
Big.RM = 1;
/** `toString` never uses exponents. */
Big.NE = -1_000_000;
Big.PE = 1_000_000;

/** Powers of ten up to this one are exact as JavaScript numbers. */
const SCALE_MAX = 22;
const POWERS_OF_TEN = Array.from({ length: SCALE_MAX + 1 }, (_, exponent) => Number(`1e${exponent}`));

/** Modes of big.js: towards zero, half away from zero, away from zero. */
type RoundingMode = 0 | 1 | 3;

/**
 * An exact decimal number. Immutable. There is no negative zero.
 *
 * Equal numbers have equal members: a number is `coefficient` ÷ 10^`scale`, with the smallest scale, if both fit.
 * Otherwise `coefficient` is NaN, `scale` is 0, and `exact` has the number.
 */
export class Decimal {
  private readonly coefficient: number;
  private readonly scale: number;
  private readonly exact: Big | null;

  /** Parses text as big.js does: throws unless it is a number. */
  constructor(value: string | bigint | Decimal);
  /** For use in this file only: takes the members as they are. */
  constructor(coefficient: number, scale: number, exact: Big | null);
  constructor(value: string | bigint | Decimal | number, scale?: number, exact: Big | null = null) {
    if (typeof value === 'number' && scale !== undefined) {
      this.coefficient = value;
      this.scale = scale;
      this.exact = exact;
    } else {
      const parsed = value instanceof Decimal ? value : Decimal.parse(value);
      this.coefficient = parsed.coefficient;
      this.scale = parsed.scale;
      this.exact = parsed.exact;
    }
  }

  /** Refuses JavaScript numbers at run time, too. */
  static parse(value: string | bigint | number): Decimal {
    const short = typeof value === 'string' ? Decimal.parseShort(value, 0, value.length) : null;
    return short ?? Decimal.fromBig(new Big(value));
  }

  /** `parse` for a part of a text. */
  static parseWithin(text: string, start: number, end: number): Decimal {
    return Decimal.parseShort(text, start, end) ?? Decimal.fromBig(new Big(text.slice(start, end)));
  }

  plus(other: Decimal | string): Decimal {
    const b = Decimal.of(other);
    const scale = Math.max(this.scale, b.scale);
    const coefficient = this.coefficientAt(scale) + b.coefficientAt(scale);
    if (isSafe(coefficient)) return Decimal.normal(coefficient, scale);
    return Decimal.fromBig(this.toBig().plus(b.toBig()));
  }

  minus(other: Decimal | string): Decimal {
    const b = Decimal.of(other);
    const scale = Math.max(this.scale, b.scale);
    const coefficient = this.coefficientAt(scale) - b.coefficientAt(scale);
    if (isSafe(coefficient)) return Decimal.normal(coefficient, scale);
    return Decimal.fromBig(this.toBig().minus(b.toBig()));
  }

  times(other: Decimal | string): Decimal {
    const b = Decimal.of(other);
    const coefficient = this.coefficient * b.coefficient;
    if (isSafe(coefficient)) return Decimal.normal(coefficient, this.scale + b.scale);
    return Decimal.fromBig(this.toBig().times(b.toBig()));
  }

  /** To 20 decimal places, half-up. Throws if `other` is 0. */
  div(other: Decimal | string): Decimal {
    return Decimal.fromBig(this.toBig().div(Decimal.of(other).toBig()));
  }

  /** Throws if `other` is 0. */
  mod(other: Decimal | string): Decimal {
    return Decimal.fromBig(this.toBig().mod(Decimal.of(other).toBig()));
  }

  abs(): Decimal {
    return this.lt(ZERO) ? ZERO.minus(this) : this;
  }

  /** 1 if this is greater, -1 if it is less, 0 if both are equal. */
  cmp(other: Decimal | string): -1 | 0 | 1 {
    const b = Decimal.of(other);
    const scale = Math.max(this.scale, b.scale);
    const difference = this.coefficientAt(scale) - b.coefficientAt(scale);
    if (difference < 0) return -1;
    if (difference > 0) return 1;
    return difference === 0 ? 0 : this.toBig().cmp(b.toBig());
  }

  eq(other: Decimal | string): boolean {
    const b = Decimal.of(other);
    if (this.exact !== null && b.exact !== null) return this.exact.eq(b.exact);
    return this.coefficient === b.coefficient && this.scale === b.scale;
  }

  gt(other: Decimal | string): boolean {
    return this.cmp(other) > 0;
  }

  gte(other: Decimal | string): boolean {
    return this.cmp(other) >= 0;
  }

  lt(other: Decimal | string): boolean {
    return this.cmp(other) < 0;
  }

  lte(other: Decimal | string): boolean {
    return this.cmp(other) <= 0;
  }

  /** Rounded to `decimalPlaces`, from -1,000,000 to 1,000,000. */
  round(decimalPlaces: number, mode: RoundingMode): Decimal {
    return Decimal.fromBig(this.toBig().round(decimalPlaces, mode));
  }

  /** Digits after the point, without trailing zeros. */
  decimalPlaces(): number {
    return this.exact === null ? this.scale : placesOf(this.exact);
  }

  /** Digits before the point; 0 for a number below 1. */
  integerDigits(): number {
    if (this.exact !== null) return Math.max(0, this.exact.e + 1);
    const { coefficient, scale } = this;
    return coefficient === 0 ? 0 : Math.max(0, String(Math.abs(coefficient)).length - scale);
  }

  /** All digits; with `decimalPlaces`, rounded half-up, with trailing zeros. */
  toFixed(decimalPlaces?: number): string {
    return decimalPlaces === undefined ? this.toString() : this.toBig().toFixed(decimalPlaces);
  }

  toString(): string {
    const { coefficient, scale, exact } = this;
    if (exact !== null) return exact.toString();
    if (scale === 0) return String(coefficient);
    const isNegative = coefficient < 0;
    const digits = String(isNegative ? -coefficient : coefficient).padStart(scale + 1, '0');
    const point = digits.length - scale;
    return `${isNegative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
  }

  /** The maximum length of `toString`, in ASCII characters. */
  textLengthMax(): number {
    return this.exact === null ? SHORT_TEXT_MAX : this.exact.toString().length;
  }

  /** Writes the text of `toString`, without creating a string, and returns the offset after it. */
  writeTo(bytes: Uint8Array, offset: number): number {
    const { scale, exact } = this;
    if (exact !== null) return writeAscii(bytes, offset, exact.toString());
    let rest = Math.abs(this.coefficient);
    let start = offset;
    if (this.coefficient < 0) {
      bytes[start] = MINUS;
      start += 1;
    }
    const end = start + Math.max(digitsOf(rest), scale + 1) + (scale > 0 ? 1 : 0);
    const point = scale > 0 ? end - 1 - scale : -1;
    for (let index = end - 1; index >= start; index -= 1) {
      if (index === point) {
        bytes[index] = POINT;
      } else {
        const digit = rest % 10;
        bytes[index] = DIGIT_0 + digit;
        rest = (rest - digit) / 10;
      }
    }
    return end;
  }

  toJSON(): string {
    return this.toString();
  }

  /** Operators of JavaScript would round. */
  valueOf(): never {
    throw new Error('a decimal is no operand of a JavaScript operator');
  }

  private toBig(): Big {
    return this.exact ?? new Big(this.toString());
  }

  /** The number as an integer over 10^`scale`; NaN if that is not a safe integer. */
  private coefficientAt(scale: number): number {
    const coefficient = this.coefficient * (POWERS_OF_TEN[scale - this.scale] ?? Number.NaN);
    return isSafe(coefficient) ? coefficient : Number.NaN;
  }

  private static of(value: Decimal | string): Decimal {
    return value instanceof Decimal ? value : Decimal.parse(value);
  }

  /** The decimal for a safe integer over 10^`scale`. */
  private static normal(coefficient: number, scale: number): Decimal {
    let digits = coefficient;
    let places = scale;
    while (places > 0 && digits % 10 === 0) {
      digits /= 10;
      places -= 1;
    }
    // Adding 0 makes -0 a 0.
    return places <= SCALE_MAX
      ? new Decimal(digits + 0, places, null)
      : new Decimal(Number.NaN, 0, new Big(`${digits}e-${places}`));
  }

  private static fromBig(exact: Big): Decimal {
    const { s, e, c } = exact;
    const scale = placesOf(exact);
    if (e <= SAFE_DIGITS && scale <= SCALE_MAX) {
      let coefficient = 0;
      for (const digit of c) coefficient = coefficient * 10 + digit;
      coefficient *= s * (POWERS_OF_TEN[scale - (c.length - 1 - e)] ?? Number.NaN);
      if (isSafe(coefficient)) return new Decimal(coefficient + 0, scale, null);
    }
    return new Decimal(Number.NaN, 0, exact);
  }

  /** Null if the text is not short, or not a number. */
  private static parseShort(text: string, start: number, end: number): Decimal | null {
    const isNegative = text.charCodeAt(start) === MINUS;
    const first = isNegative ? start + 1 : start;
    let coefficient = 0;
    let point = -1;
    if (end - start > SAFE_DIGITS + 2) return null;
    for (let index = first; index < end; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= DIGIT_0 && code <= DIGIT_9) coefficient = coefficient * 10 + (code - DIGIT_0);
      else if (code === POINT && point < 0) point = index;
      else return null;
    }
    const digits = end - first - (point < 0 ? 0 : 1);
    if (digits <= 0 || digits > SAFE_DIGITS) return null;
    return Decimal.normal(isNegative ? -coefficient : coefficient, point < 0 ? 0 : end - 1 - point);
  }
}

/** All integers with at most this many digits are safe. */
const SAFE_DIGITS = 15;
const [MINUS, POINT, DIGIT_0, DIGIT_9] = [0x2d, 0x2e, 0x30, 0x39];

/** A sign, a point, and `SCALE_MAX` digits with one in front: more than the digits of a safe integer. */
const SHORT_TEXT_MAX = SCALE_MAX + 3;

/** The number of digits of a safe integer that is not negative. */
function digitsOf(whole: number): number {
  let digits = 1;
  while ((POWERS_OF_TEN[digits] ?? Number.POSITIVE_INFINITY) <= whole) digits += 1;
  return digits;
}

function writeAscii(bytes: Uint8Array, offset: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) bytes[offset + index] = text.charCodeAt(index);
  return offset + text.length;
}

/** If a sum or product of safe integers is safe, JavaScript has computed it exactly. */
function isSafe(value: number): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

/** big.js keeps the coefficient without leading and trailing zeros: value = 0.c[0]c[1]… × 10^(e+1). */
function placesOf({ c, e }: Big): number {
  return Math.max(0, c.length - 1 - e);
}

export const ZERO = new Decimal('0');
export const ONE = new Decimal('1');

/**
 * The maximum digits of a usage quantity on each side of the point. ClickHouse sums in `Decimal(76, 30)`, which
 * overflows without an error; 36 integer digits leave room for 10 billion events of the largest size.
 */
export const USAGE_INTEGER_DIGITS_MAX = 36;
export const USAGE_SCALE_MAX = 30;

/** Parses text that must be a decimal (a database column, a literal in the code). Throws otherwise. */
export function decimal(text: string): Decimal {
  return Decimal.parse(text);
}

/** `decimal` for the part of a text from `start` up to `end`. */
export function decimalWithin(text: string, start: number, end: number): Decimal {
  return Decimal.parseWithin(text, start, end);
}

/** An exponent has at most two digits: numbers with a larger one are out of range. */
const DECIMAL_TEXT = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/;

/**
 * Parses the value of an event property as an exact decimal.
 *
 * Returns null for text that is not a number or does not fit `Decimal(76, 30)` without losing a digit. Such an event
 * does not match the metric; it never counts as 0.
 */
export function parseUsageDecimal(text: string): Decimal | null {
  if (!DECIMAL_TEXT.test(text)) return null;
  const value = new Decimal(text.startsWith('+') ? text.slice(1) : text);
  return fitsUsage(value) ? value : null;
}

/** Whether `Decimal(76, 30)` of ClickHouse holds every digit. */
export function fitsUsage(value: Decimal): boolean {
  return value.decimalPlaces() <= USAGE_SCALE_MAX && value.integerDigits() <= USAGE_INTEGER_DIGITS_MAX;
}

/** Sum of any number of decimals; exact. */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = ZERO;
  for (const value of values) total = total.plus(value);
  return total;
}

/** a ÷ b rounded to 20 decimal places, half-up. The only division of the rating engine. */
export function divideTo20Places(a: Decimal, b: Decimal): Decimal {
  return a.div(b);
}

/**
 * a ÷ b rounded down to 20 decimal places, so that b times the result is never above a. Requires that neither is
 * negative.
 */
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
