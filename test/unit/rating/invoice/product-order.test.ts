import { describe, expect, test } from 'vitest';
import type { RateEntry } from '../../../../src/core/catalogue.ts';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { windowBoundaries } from '../../../../src/rating/invoices/breakdown.ts';
import { sortProducts } from '../../../../src/rating/invoices/product-order.ts';
import { wholePeriod } from '../../../../src/rating/periods/billing-periods.ts';
import { NO_OVERRIDES } from '../../../../src/rating/rates/overrides.ts';
import { rateBook } from '../../../../src/rating/rates/rate-schedule.ts';
import { rateUsage } from '../../../support/rate-at-once.ts';
import {
  describeLine,
  flat,
  grouped,
  hour,
  METRIC,
  PERIOD,
  product,
  rate,
  rateCase,
  tiers,
  version,
} from '../fixtures.ts';

test('products follow the rate card, the others come after by name, then id', () => {
  const named = (id: string, name: string) => ({ id, name });
  const products = [named('4', 'b'), named('3', 'a'), named('1', 'z'), named('2', 'y'), named('0', 'b')];
  expect(sortProducts(products, ['2', 'gone', '1']).map(({ id }) => id)).toEqual(['2', '1', '3', '0', '4']);
});

test('inside a product: start, pricing values, presentation values, tier', () => {
  const keyed = product(version({ pricingGroupKey: ['model'], presentationGroupKey: ['region'] }));
  const stepped = tiers(['2', '5'], [null, '1']);
  const { lines } = rateCase({
    product: keyed,
    rates: [rate(stepped), rate(flat('9'), { startingAt: hour(24) })],
    usage: {
      [METRIC]: [
        grouped({ model: 'b', region: 'eu' }, [1, '3'], [30, '4']),
        grouped({ model: 'a', region: 'us' }, [1, '1']),
        grouped({ model: 'a', region: 'eu' }, [1, '1'], [30, '2']),
      ],
    },
  });
  expect(lines.map(describeLine)).toEqual([
    'h0-24 model=a region=eu L1 1 @ 5 = 5',
    'h0-24 model=a region=us L1 1 @ 5 = 5',
    'h0-24 model=b region=eu L1 2 @ 5 = 10',
    'h0-24 model=b region=eu L2 1 @ 1 = 1',
    'h24-48 model=a region=eu 1 @ 9 = 9',
    'h24-48 model=b region=eu 1 @ 9 = 9',
  ]);
});

describe('several products on one metric', () => {
  test('several products on one metric are rated from the same usage, each on its own line', () => {
    const second = { ...product(version({ name: 'Again' })), id: 'product-2' };
    const entries: RateEntry[] = [rate(flat('1'))];
    const { lines } = rateUsage({
      period: wholePeriod(PERIOD),
      boundaries: windowBoundaries(PERIOD, 'day'),
      products: [product(), second].map((one) => ({ product: one, rates: rateBook(entries) })),
      usage: [
        {
          billableMetricId: METRIC,
          evaluatedAt: 'hour',
          usageFilter: null,
          groupKeys: [],
          series: [grouped({}, [3, '4'])],
        },
      ],
      overrides: NO_OVERRIDES,
      usageFilters: [],
      fiatCreditTypeId: USD_CENTS.id,
      productOrder: ['product-2'],
    });
    expect(lines.map(({ productId, creditTypeId }) => [productId, creditTypeId])).toEqual([
      ['product-2', USD_CENTS.id],
      ['product-1', USD_CENTS.id],
    ]);
  });
});
