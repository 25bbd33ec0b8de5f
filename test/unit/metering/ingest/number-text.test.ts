import { describe, expect, it } from 'vitest';
import { extractNumbers, mayLoseDigits, plainDecimal } from '../../../../src/metering/ingest/number-text.ts';

describe('plainDecimal', () => {
  it.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.000', '0'],
    ['0e400', '0'],
    ['1', '1'],
    ['-1', '-1'],
    ['1.50', '1.5'],
    ['1.0', '1'],
    ['100', '100'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['-1.25e-2', '-0.0125'],
    ['12.5e1', '125'],
    ['0.00001e5', '1'],
    ['1e-7', '0.0000001'],
    ['9007199254740993', '9007199254740993'],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['123456789012345678901234567890.10', '123456789012345678901234567890.1'],
  ])('plainDecimal writes %s as %s', (token, text) => {
    expect(plainDecimal(token)).toBe(text);
  });

  it.each(['1e400', '-1e400', '1e-400', '1e999999999999', `1${'0'.repeat(170)}`, `0.${'0'.repeat(500)}1`])(
    'plainDecimal refuses %s, which has too many digits, instead of rounding it',
    (token) => {
      expect(plainDecimal(token)).toBeNull();
    },
  );

  it.each(['', '-', 'NaN', 'Infinity', '1e', '.5', '5.', '+1', '0x10', ' 1'])(
    'plainDecimal refuses %j, which is no JSON number',
    (token) => {
      expect(plainDecimal(token)).toBeNull();
    },
  );

  it('plainDecimal keeps a number with 160 digits and refuses one with 161', () => {
    expect(plainDecimal('7'.repeat(160))).toBe('7'.repeat(160));
    expect(plainDecimal('7'.repeat(161))).toBeNull();
    expect(plainDecimal('7e159')).toBe(`7${'0'.repeat(159)}`);
    expect(plainDecimal('7e160')).toBeNull();
  });
});

describe('mayLoseDigits', () => {
  it.each([
    '[1e3]',
    '[1E3]',
    '{"a":9007199254740993}',
    '{"a": -0.1234567890123456}',
    '[1,\n 2e-1]',
    '[\t-0e1]',
  ])('mayLoseDigits sees the number in %s', (json) => {
    expect(mayLoseDigits(json)).toBe(true);
  });

  it.each(['[123456789012345]', '{"a":"9007199254740993"}', '["1e3"]', '{"a":"x","b":-1.5}', '[true,null]'])(
    'mayLoseDigits sends %s the fast way',
    (json) => {
      expect(mayLoseDigits(json)).toBe(false);
    },
  );
});

describe('extractNumbers', () => {
  it('extractNumbers replaces numbers but not digits inside strings', () => {
    expect(extractNumbers('{"a1":1.50,"b":["2","\\"3",4e5,{"\\\\":-6}]}')).toEqual({
      json: '{"a1":0,"b":["2","\\"3",1,{"\\\\":2}]}',
      numbers: ['1.50', '4e5', '-6'],
    });
  });

  it('extractNumbers takes a string of megabytes', () => {
    const json = `["${'x'.repeat(5_000_000)}",1]`;
    expect(extractNumbers(json).numbers).toEqual(['1']);
  });

  it('extractNumbers takes a string of a million escapes', () => {
    const json = `["${'\\n'.repeat(1_000_000)}",1]`;
    expect(extractNumbers(json).numbers).toEqual(['1']);
  });
});
