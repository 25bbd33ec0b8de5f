import { describe, expect, it } from 'vitest';
import { decimal } from '../../../src/core/decimal.ts';
import type { MeteredProduct } from '../../../src/demo/scenario.ts';
import { createTally } from '../../../src/demo/tally.ts';

const product = (part: Partial<MeteredProduct>): MeteredProduct => ({
  name: 'x',
  unit: 'x',
  aggregation: 'COUNT',
  property: null,
  pricingGroupKey: [],
  prices: [],
  ...part,
});

const tally = createTally([
  product({ aggregation: 'SUM', property: 'tokens', pricingGroupKey: ['model', 'region'] }),
  product({ aggregation: 'COUNT' }),
  product({ aggregation: 'UNIQUE', property: 'user' }),
]);

const add = (customer: number, model: string, tokens: string, user: string) =>
  tally.add({ customer, timestamp: 0, properties: { model, region: 'eu', tokens, user } });

add(0, 'small', '0.1', 'ann');
add(0, 'small', '0.2', 'ben');
add(0, 'large', '9007199254740993', 'ann');
add(1, 'small', '5', 'ann');

describe("the demo's own books", () => {
  it('sum by customer and group without losing a digit', () => {
    const groups = [...tally.groups(0, 0)].map(([group, value]) => [group, value.toString()]);
    expect(groups).toEqual([
      ['small / eu', '0.3'],
      ['large / eu', '9007199254740993'],
    ]);
    expect(tally.quantity(0, 0)).toEqual(decimal('9007199254740993.3'));
  });

  it('count events and distinct values of each customer on its own', () => {
    expect(tally.quantity(0, 1).toString()).toBe('3');
    expect(tally.quantity(0, 2).toString()).toBe('2');
    expect(tally.quantity(1, 1).toString()).toBe('1');
    expect(tally.quantity(1, 2).toString()).toBe('1');
  });

  it("the demo's own books say 0 for a customer without events", () => {
    expect(tally.quantity(7, 0).toString()).toBe('0');
  });
});
