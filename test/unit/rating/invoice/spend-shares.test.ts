/** How an hour of a line is divided among the values of properties. */
import { describe, expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import { resultAtOnce } from '../../../../src/core/in-chunks.ts';
import type { InvoiceLine, UsageInvoiceLine } from '../../../../src/core/invoice.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { spendSharesInSteps, type Weight } from '../../../../src/rating/invoices/spend-shares.ts';

const HOUR = { start: 0, end: HOUR_MS };

const LINE: UsageInvoiceLine = {
  type: 'usage',
  name: 'Tokens',
  productId: 'product-1',
  productType: 'USAGE',
  productTags: [],
  creditTypeId: 'usd',
  interval: HOUR,
  quantity: decimal('0'),
  unitPrice: decimal('1'),
  total: decimal('0'),
  pricingGroupValues: {},
  presentationGroupValues: {},
  tier: null,
  payer: null,
};

const weight = (team: string | null, value: string): Weight => ({ shares: [team], value: decimal(value) });

function hour(position: number, quantity: string, total: string) {
  return { position, window: HOUR, quantity: decimal(quantity), total: decimal(total) };
}

function divided(lines: readonly InvoiceLine[], hours: ReturnType<typeof hour>[], ...weights: Weight[]) {
  return resultAtOnce(spendSharesInSteps(lines, hours, () => weights)).map(
    ({ position, shares, quantity, total }) =>
      `${position} ${shares?.[0]} ${quantity.toFixed()} ${total.toFixed()}`,
  );
}

describe('an hour of a usage line', () => {
  test('an hour of a usage line is divided in proportion to the contributions', () => {
    expect(divided([LINE], [hour(0, '4', '20')], weight('a', '3'), weight(null, '1'))).toEqual([
      '0 a 3 15',
      '0 null 1 5',
    ]);
  });

  test('an hour of a usage line is divided to the last digit: the largest share takes what is left over', () => {
    const thirds = divided(
      [LINE],
      [hour(0, '1', '10')],
      weight('a', '1'),
      weight('b', '1'),
      weight('c', '1'),
    );
    expect(thirds).toEqual([
      '0 a 0.33333333333333333334 3.33333333333333333334',
      '0 b 0.33333333333333333333 3.33333333333333333333',
      '0 c 0.33333333333333333333 3.33333333333333333333',
    ]);
  });

  test('an hour of a usage line may have shares of both signs, where events lower the usage', () => {
    expect(divided([LINE], [hour(0, '2', '10')], weight('a', '3'), weight('b', '-1'))).toEqual([
      '0 a 3 15',
      '0 b -1 -5',
    ]);
  });

  test('an hour of a usage line belongs to no events where none are known, or where they cancel out', () => {
    expect(divided([LINE], [hour(0, '2', '10')])).toEqual(['0 undefined 2 10']);
    expect(divided([LINE], [hour(0, '2', '10')], weight('a', '1'), weight('b', '-1'))).toEqual([
      '0 undefined 2 10',
    ]);
  });
});

test('a conversion is divided like the lines in its unit', () => {
  const custom = { ...LINE, creditTypeId: 'credits' };
  const { name, interval, quantity, unitPrice, total } = LINE;
  const conversion: InvoiceLine = {
    ...{ name, interval, quantity, unitPrice, total },
    type: 'cpu_conversion',
    creditTypeId: 'usd',
    convertedCreditTypeId: 'credits',
    payer: null,
  };
  const hours = [hour(0, '4', '8'), hour(1, '8', '80')];
  expect(divided([custom, conversion], hours, weight('a', '3'), weight('b', '1'))).toEqual([
    '0 a 3 6',
    '0 b 1 2',
    '1 a 6 60',
    '1 b 2 20',
  ]);
});

test('charges of composite products, minimums and schedules belong to no events', () => {
  const composite: UsageInvoiceLine = { ...LINE, productType: 'COMPOSITE' };
  const minimum: UsageInvoiceLine = { ...composite, type: 'minimum' };
  const hours = [hour(0, '1', '5'), hour(1, '1', '6')];
  expect(divided([composite, minimum], hours, weight('a', '1'))).toEqual([
    '0 undefined 1 5',
    '1 undefined 1 6',
  ]);
});
