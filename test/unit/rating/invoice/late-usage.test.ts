import { describe, expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import type { UsageSeries } from '../../../../src/core/usage-series.ts';
import { type LateUsage, lateUsage } from '../../../../src/rating/invoices/late-usage.ts';
import {
  type Case,
  flat,
  grouped,
  hour,
  METRIC,
  product,
  rate,
  rateCase,
  series,
  tiers,
  version,
} from '../fixtures.ts';

const BY_MODEL = product(version({ pricingGroupKey: ['model'] }));

/** `model=m 5 = 10`: values, quantity, total; `unpriced` instead of a total. */
function describeLate({ pricingGroupValues, quantity, price }: LateUsage): string {
  const values = Object.entries(pricingGroupValues).map(([name, value]) => `${name}=${value} `);
  return `${values.join('')}${quantity} ${price === null ? 'unpriced' : `= ${price.total}`}`;
}

function lateIn(terms: Omit<Case, 'usage'>, frozen: UsageSeries[], now: UsageSeries[]): string[] {
  const rated = (usage: UsageSeries[]) => rateCase({ ...terms, usage: { [METRIC]: usage } });
  return resultAtOnce(lateUsage(rated(now), rated(frozen))).map(describeLate);
}

describe('late usage', () => {
  test.each<[string, Omit<Case, 'usage'>, UsageSeries[], UsageSeries[], string[]]>([
    [
      'nothing where nothing changed',
      { rates: [rate(flat('2'))] },
      [series([5, '3'])],
      [series([5, '3'])],
      [],
    ],
    ['nothing where nothing was ever used', { rates: [rate(flat('2'))] }, [], [], []],
    ['the first usage of all', { rates: [rate(flat('2'))] }, [], [series([5, '3'])], ['3 = 6']],
    ['what was added', { rates: [rate(flat('2'))] }, [series([5, '3'])], [series([5, '7'])], ['4 = 8']],
    [
      'nothing where the counter only rose earlier',
      { rates: [rate(flat('2'))] },
      [series([5, '3'])],
      [series([2, '3'])],
      [],
    ],
    [
      'an amount without a quantity, where usage moved to a time with another price',
      { rates: [rate(flat('2')), rate(flat('5'), { startingAt: hour(24) })] },
      [series([30, '3'])],
      [series([5, '3'])],
      ['0 = -9'],
    ],
    [
      'the sum over tiers and segments of a key',
      { rates: [rate(tiers(['4', '10'], [null, '1'])), rate(flat('2'), { startingAt: hour(24) })] },
      [series([5, '3'], [30, '5'])],
      [series([5, '8'], [30, '10'])],
      // In time: 4 × 10 + 4 × 1 + 2 × 2 = 48. Frozen: 3 × 10 + 2 × 2 = 34.
      ['5 = 14'],
    ],
    [
      'the converted and rounded quantity, which may be none',
      {
        product: product(
          version({
            quantityConversion: { name: null, operation: 'DIVIDE', conversionFactor: decimal('10') },
            quantityRounding: { method: 'ROUND_UP', decimalPlaces: 0 },
          }),
        ),
        rates: [rate(flat('2'))],
      },
      [series([5, '21'])],
      [series([5, '29'])],
      [],
    ],
    [
      'only what is entitled',
      { rates: [rate(flat('2')), rate(flat('2'), { startingAt: hour(24), entitled: false })] },
      [series([5, '3'], [30, '5'])],
      [series([5, '4'], [30, '9'])],
      ['1 = 2'],
    ],
    [
      'usage of new values, and what has no rate at the end',
      { product: BY_MODEL, rates: [rate(flat('2'), { pricingGroupValues: { model: 'm' } })] },
      [grouped({ model: 'a' }, [5, '3'])],
      [grouped({ model: 'a' }, [5, '4']), grouped({ model: 'm' }, [5, '7'])],
      ['model=m 7 = 14', 'model=a 1 unpriced'],
    ],
    [
      'a negative quantity, where a late value is a lower one',
      { rates: [rate(flat('2'))] },
      [series([5, '9'])],
      [series([5, '9'], [7, '4'])],
      ['-5 = -10'],
    ],
  ])('late usage is %s', (_, terms, frozen, now, expected) => {
    expect(lateIn(terms, frozen, now)).toEqual(expected);
  });
});
