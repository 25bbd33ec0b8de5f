/** `Decimal` computes what big.js computes, whether a number is short or not. */
import BigFactory from 'big.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Decimal, decimalWithin } from '../../src/core/decimal.ts';
import { runs } from '../support/shares-of-tests.ts';

const Big = BigFactory();
type Big = InstanceType<typeof Big>;
Big.strict = true;
Big.DP = 20;
Big.RM = 1;
Big.NE = -1_000_000;
Big.PE = 1_000_000;

const RUNS = { numRuns: runs(2_000) };

/** Around the largest integers that JavaScript has exactly, where one way of computing ends and the other begins. */
const edges = fc
  .tuple(
    fc.constantFrom(2n ** 52n, 2n ** 53n, 10n ** 15n, 10n ** 16n, 3n * 2n ** 51n),
    fc.integer({ min: -3, max: 3 }),
  )
  .map(([edge, offset]) => String(edge + BigInt(offset)));
const short = fc.integer({ min: 0, max: 5_000 }).map(String);
const long = fc.bigInt({ min: 0n, max: 10n ** 45n }).map(String);
const power = fc.integer({ min: 0, max: 24 }).map((zeros) => `1${'0'.repeat(zeros)}`);
const digits = fc.oneof(short, short, edges, long, power, fc.constant('0'));

/** Digits with a point somewhere in or before them, and zeros that mean nothing. */
const plain = fc
  .tuple(fc.boolean(), digits, fc.integer({ min: 0, max: 26 }), fc.integer({ min: 0, max: 2 }))
  .map(([isNegative, coefficient, scale, zeros]) => {
    const padded = `${'0'.repeat(zeros)}${coefficient.padStart(scale + zeros, '0')}`;
    const point = padded.length - scale;
    const text =
      scale === 0 ? padded : `${padded.slice(0, point)}.${padded.slice(point)}${'0'.repeat(zeros)}`;
    return isNegative ? `-${text}` : text;
  });
const withExponent = fc
  .tuple(plain, fc.integer({ min: -40, max: 40 }))
  .map(([text, exponent]) => `${text}e${exponent}`);
const number = fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: withExponent });

/** Numbers that are equal may be stored in two forms, a short and a long one. The members show which. */
function expectSame(actual: Decimal, expected: Big): void {
  expect(actual.toString()).toBe(expected.toString());
  expect(actual).toStrictEqual(new Decimal(expected.toString()));
}

function outcome(work: () => unknown): string {
  try {
    return `returns ${work()}`;
  } catch (error) {
    return `throws ${error}`;
  }
}

test('a number within a text is read as alone, and the text around it is not looked at', () => {
  const around = fc.constantFrom('', '1', '-', '.', ' ', '0.5 ');
  fc.assert(
    fc.property(number, around, around, (text, before, after) => {
      const whole = before + text + after;
      const read = decimalWithin(whole, before.length, whole.length - after.length);
      expect(read).toStrictEqual(new Decimal(text));
    }),
    RUNS,
  );
  expect(() => decimalWithin('1x2', 0, 2)).toThrow();
  for (const text of ['12', '1-', '1.']) expect(() => decimalWithin(text, 1, 1)).toThrow();
});

test('a number is written into bytes as its text, within the room that it asks for', () => {
  fc.assert(
    fc.property(number, fc.nat(3), (text, offset) => {
      const value = new Decimal(text);
      const bytes = Buffer.alloc(offset + value.textLengthMax() + 1, '#');
      const end = value.writeTo(bytes, offset);
      expect(bytes.toString('latin1', offset, end)).toBe(value.toString());
      expect(bytes.toString('latin1', 0, offset) + bytes.toString('latin1', end)).toMatch(/^#+$/);
    }),
    RUNS,
  );
});

test('a number is read and written as by big.js', () => {
  fc.assert(
    fc.property(number, (text) => {
      const expected = new Big(text);
      expectSame(new Decimal(text), expected);
      expect(new Decimal(text).toFixed()).toBe(expected.toFixed());
      expect(JSON.stringify([new Decimal(text)])).toBe(JSON.stringify([expected]));
    }),
    RUNS,
  );
});

test('text that is no number is refused as by big.js', () => {
  const pieces = fc.constantFrom('-', '+', '.', 'e', 'E', '0', '12', ' ', '٣', 'NaN', 'Infinity', '_', '');
  const texts = fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      expect(outcome(() => new Decimal(text))).toBe(outcome(() => new Big(text)));
    }),
    RUNS,
  );
});

test('sums, differences and products are those of big.js', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [x, y] = [new Big(a), new Big(b)];
      expectSame(new Decimal(a).plus(new Decimal(b)), x.plus(y));
      expectSame(new Decimal(a).minus(new Decimal(b)), x.minus(y));
      expectSame(new Decimal(a).times(b), x.times(y));
      expectSame(new Decimal(a).abs(), x.abs());
    }),
    RUNS,
  );
});

test('quotients and remainders are those of big.js, and so is the refusal to divide by 0', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      const [x, y] = [new Big(a), new Big(b)];
      expect(outcome(() => new Decimal(a).div(b))).toBe(outcome(() => x.div(y)));
      expect(outcome(() => new Decimal(a).mod(b))).toBe(outcome(() => x.mod(y)));
    }),
    RUNS,
  );
});

test('numbers compare as in big.js, also those that are nearly or exactly equal', () => {
  const pairs = fc.oneof(
    fc.tuple(number, number),
    number.map((text) => [text, `${text.includes('e') ? text : `${text}e0`}`] as const),
    fc
      .tuple(number, number)
      .map(([a, b]) => [a, new Big(a).plus(new Big(b).times('1e-30')).toFixed()] as const),
  );
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const order = new Big(a).cmp(b);
      const [x, y] = [new Decimal(a), new Decimal(b)];
      expect(x.cmp(y)).toBe(order);
      expect([x.lt(y), x.lte(y), x.eq(y), x.gte(y), x.gt(y)]).toEqual([
        order < 0,
        order <= 0,
        order === 0,
        order >= 0,
        order > 0,
      ]);
    }),
    RUNS,
  );
});

test('rounding is that of big.js', () => {
  const modes = fc.constantFrom(0 as const, 1 as const, 3 as const);
  fc.assert(
    fc.property(number, fc.integer({ min: -20, max: 30 }), modes, (text, places, mode) => {
      expectSame(new Decimal(text).round(places, mode), new Big(text).round(places, mode));
      expect(new Decimal(text).toFixed(Math.abs(places))).toBe(new Big(text).toFixed(Math.abs(places)));
    }),
    RUNS,
  );
});

test('digits are counted on both sides of the point', () => {
  fc.assert(
    fc.property(number, (text) => {
      const [whole = '', fraction = ''] = new Big(text).abs().toFixed().split('.');
      expect(new Decimal(text).decimalPlaces()).toBe(fraction.length);
      expect(new Decimal(text).integerDigits()).toBe(whole === '0' ? 0 : whole.length);
    }),
    RUNS,
  );
});

test('JavaScript numbers and operators are refused', () => {
  const five = new Decimal('5');
  const numbers = [5, 0.5, Number.NaN];
  for (const one of numbers) {
    const value = one as unknown as string;
    expect(outcome(() => new Decimal(value))).toBe(outcome(() => new Big(one)));
    expect(outcome(() => five.plus(value))).toBe(outcome(() => new Big('5').plus(one)));
    expect(outcome(() => five.eq(value))).toBe(outcome(() => new Big('5').eq(one)));
  }
  expect(() => Number(five)).toThrow('operand');
  expect(() => five < new Decimal('6')).toThrow('operand');
});
