import { describe, expect, test } from 'vitest';
import type { Rate, Tier } from '../../../../src/core/catalogue.ts';
import { decimal, ZERO } from '../../../../src/core/decimal.ts';
import type { FieldPath } from '../../../../src/core/errors.ts';
import { bandAt, priceBands, validateTiers, walkBands } from '../../../../src/rating/rates/tiers.ts';
import { flat, tiers } from '../fixtures.ts';

const STEPPED = priceBands(tiers(['10', '5'], ['20', '3'], [null, '1']), ZERO);

function walk(rate: Rate, from: string, to: string): string {
  return walkBands(priceBands(rate, ZERO), decimal(from), decimal(to))
    .map(({ band, quantity, amount }) => `L${band.level} ${quantity} = ${amount}`)
    .join(', ');
}

describe('walking through graduated tiers', () => {
  const stepped = tiers(['10', '5'], ['20', '3'], [null, '1']);
  const rows: [string, string, string][] = [
    ['0', '0', ''],
    ['0', '10', 'L1 10 = 50'],
    ['10', '10.5', 'L2 0.5 = 1.5'],
    ['9.9', '30.1', 'L1 0.1 = 0.5, L2 20 = 60, L3 0.1 = 0.1'],
    ['30.1', '9.9', 'L1 -0.1 = -0.5, L2 -20 = -60, L3 -0.1 = -0.1'],
    ['30', '10', 'L2 -20 = -60'],
    ['0', '-4', 'L1 -4 = -20'],
    ['-4', '12', 'L1 14 = 70, L2 2 = 6'],
    ['-4', '-1', 'L1 3 = 15'],
  ];
  test.each(rows)('walking through graduated tiers from %s to %s: %s', (from, to, slices) =>
    expect(walk(stepped, from, to)).toBe(slices),
  );

  test('a flat price is one band without bounds', () => {
    expect(walk(flat('0.5'), '-3', '7')).toBe('L1 10 = 5');
  });

  test('the last unit of a bound lies in the lower tier', () => {
    const levels = ['-1', '0', '10', '10.01', '30', '31'].map((q) => bandAt(STEPPED, decimal(q)).level);
    expect(levels).toEqual([1, 1, 1, 2, 2, 3]);
  });
});

describe('validateTiers', () => {
  const list = (...rows: [string | null, string][]): readonly Tier[] => {
    const rate = tiers(...rows);
    return rate.rateType === 'TIERED' ? rate.tiers : [];
  };
  test('validateTiers accepts a single unbounded tier and several ones', () => {
    expect(validateTiers(list([null, '0']))).toBeNull();
    expect(validateTiers(list(['0.5', '2'], [null, '1']))).toBeNull();
  });

  const bad: [string, readonly Tier[], FieldPath][] = [
    ['no tiers', list(), []],
    ['an end to the last tier', list(['10', '1'], ['10', '2']), [1, 'size']],
    ['no end to an earlier tier', list([null, '1'], [null, '2']), [0, 'size']],
    ['a width of 0', list(['0', '1'], [null, '2']), [0, 'size']],
    ['a negative width', list(['5', '1'], ['-1', '1'], [null, '2']), [1, 'size']],
    ['a negative price', list(['5', '-1'], [null, '2']), [0, 'price']],
  ];
  test.each(bad)('validateTiers refuses %s', (_, given, path) =>
    expect(validateTiers(given)?.path).toEqual(path),
  );
});
