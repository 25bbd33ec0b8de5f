import { describe, expect, it } from 'vitest';
import { decimal } from '../../../src/core/decimal.ts';
import { productPrice, tieredPrice } from '../../../src/demo/expected-price.ts';

const tiers = [
  { size: decimal('10'), price: decimal('2') },
  { size: decimal('20'), price: decimal('1.5') },
  { size: null, price: decimal('0.1') },
];

describe('the price worked out by the demo', () => {
  it.each([
    ['0', '0'],
    ['10', '20'],
    ['10.5', '20.75'],
    ['30', '50'],
    ['31', '50.1'],
  ])('the price worked out by the demo of %s units in three tiers is %s', (quantity, cents) => {
    expect(tieredPrice(decimal(quantity), tiers).toString()).toBe(cents);
  });

  it('the price worked out by the demo adds the groups, each with separate tiers', () => {
    const product = {
      name: 'Tokens',
      unit: 'tokens',
      aggregation: 'SUM' as const,
      property: 'tokens',
      pricingGroupKey: ['model'],
      prices: [
        { groupValues: { model: 'a' }, tiers },
        { groupValues: { model: 'b' }, tiers: [{ size: null, price: decimal('3') }] },
      ],
    };
    const quantities = new Map([
      ['a', decimal('12')],
      ['b', decimal('2')],
    ]);
    expect(productPrice(product, quantities).toString()).toBe('29');
    expect(() => productPrice(product, new Map([['c', decimal('1')]]))).toThrow('Tokens has no price for c');
  });
});
