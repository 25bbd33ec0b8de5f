import { describe, expect, test } from 'vitest';
import type { QuantityConversion } from '../../../../src/core/catalogue.ts';
import { decimal, type RoundingMethod } from '../../../../src/core/decimal.ts';
import { quantityFunction } from '../../../../src/rating/quantities/quantity.ts';

type Operation = QuantityConversion['operation'];

describe('quantity of a value', () => {
  const rows: [string, Operation | null, string, RoundingMethod | null, number, string][] = [
    ['5.5', null, '1', null, 0, '5.5'],
    ['5.5', null, '1', 'ROUND_UP', 0, '6'],
    ['-5.5', null, '1', 'ROUND_UP', 0, '-6'],
    ['-5.5', null, '1', 'ROUND_DOWN', 0, '-5'],
    ['-5.5', null, '1', 'ROUND_HALF_UP', 0, '-6'],
    ['2.345', null, '1', 'ROUND_HALF_UP', 2, '2.35'],
    ['3', 'MULTIPLY', '0.1', null, 0, '0.3'],
    ['1500', 'DIVIDE', '1000', null, 0, '1.5'],
    ['1', 'DIVIDE', '1000000', 'ROUND_UP', 0, '1'],
    ['0', 'DIVIDE', '1000000', 'ROUND_UP', 0, '0'],
    ['1', 'DIVIDE', '7', null, 0, '0.14285714285714285714'],
    ['0.000000000000000000015', 'DIVIDE', '1000', null, 0, '0'],
    ['0.000000000000000005', 'DIVIDE', '1000', null, 0, '0.00000000000000000001'],
  ];
  test.each(rows)(
    '%s %s %s, %s to %i places, is %s',
    (value, operation, factor, method, decimalPlaces, expected) => {
      const quantityOf = quantityFunction({
        quantityConversion:
          operation === null ? null : { name: null, operation, conversionFactor: decimal(factor) },
        quantityRounding: method === null ? null : { method, decimalPlaces },
      });
      expect(quantityOf(decimal(value)).toString()).toBe(expected);
    },
  );

  test('a factor that is not positive is a bug of the caller', () => {
    const quantityConversion = { name: null, operation: 'DIVIDE', conversionFactor: decimal('0') } as const;
    expect(() => quantityFunction({ quantityConversion, quantityRounding: null })).toThrow(/positive/);
  });
});
