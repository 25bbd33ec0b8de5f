/** `tallyhouse export` as an operator runs it: a process beside the running service. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  ADD_RATES,
  createdId,
  METRICS,
  PRODUCTS,
  RATE_CARDS,
  TOKENS_METRIC,
} from '../support/catalogue-api.ts';
import { runProgram } from '../support/child-process.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { api, url, token } = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });

async function exported(...args: string[]) {
  const program = runProgram('src/app/cli/main.ts', ['export', '--url', url, ...args], {
    DATA_DIR: '/nowhere',
  });
  const code = await program.ended;
  return { code, out: program.stdout(), err: program.stderr() };
}

test('tallyhouse export prints the catalogue with keys in place of ids, the same each time, and names a refused token', async () => {
  const credits = await createdId(api, '/v1/credit-types/create', { name: 'Credits' });
  await api.post('/v1/customFields/addKey', {
    entity: 'contract_product',
    key: 'key',
    enforce_uniqueness: true,
  });
  const metric = await createdId(api, METRICS, TOKENS_METRIC);
  const usage = { type: 'USAGE', billable_metric_id: metric };
  const first = await createdId(api, PRODUCTS, { name: 'Input tokens', ...usage });
  await createdId(api, PRODUCTS, { name: 'Input tokens', ...usage });
  const named = await createdId(api, PRODUCTS, { name: 'Output', ...usage, custom_fields: { key: 'out' } });
  await createdId(api, PRODUCTS, { name: 'Support', type: 'COMPOSITE', composite_product_ids: [named] });
  const rate_card_id = await createdId(api, RATE_CARDS, {
    name: 'Standard',
    aliases: [{ name: 'standard' }],
    credit_type_conversions: [{ custom_credit_type_id: credits, fiat_per_custom_credit: 2.5 }],
  });
  const tiers = [{ size: 1000, price: 3 }, { price: 2 }];
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, product_id: named };
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: [
      { ...rate, rate_type: 'TIERED', tiers, tiers_mode: 'volume' },
      { ...rate, starting_at: '2026-12-01T00:00:00Z', rate_type: 'FLAT', price: 1 },
      { ...rate, product_id: first, rate_type: 'FLAT', price: 0.5, credit_type_id: credits },
    ],
  });
  const { code, out, err } = await exported('--token', token);
  expect([code, err]).toEqual([0, '']);
  const file = parse(out) as Record<string, unknown>;
  expect(Object.keys(file)).toEqual([
    'pricing_units',
    'custom_field_keys',
    'metrics',
    'products',
    'rate_cards',
  ]);
  expect(file.pricing_units).toEqual([{ name: 'Credits' }]);
  expect(file.products).toEqual([
    { key: 'input-tokens', type: 'USAGE', name: 'Input tokens', billable_metric: 'tokens' },
    { key: 'input-tokens-2', type: 'USAGE', name: 'Input tokens', billable_metric: 'tokens' },
    { key: 'out', type: 'USAGE', name: 'Output', billable_metric: 'tokens' },
    expect.objectContaining({ key: 'support', type: 'COMPOSITE', composite_products: ['out'] }),
  ]);
  expect(file.rate_cards).toEqual([
    {
      ...{ key: 'standard', name: 'Standard', currency: 'USD (cents)' },
      conversions: [{ unit: 'Credits', fiat_per_custom_credit: '2.5' }],
      aliases: [{ name: 'standard' }],
      rates: [
        {
          product: expect.stringMatching(/^input-tokens/),
          starting_at: '2026-01-01T00:00:00.000Z',
          rate_type: 'FLAT',
          price: 0.5,
          unit: 'Credits',
        },
        {
          ...{
            product: 'out',
            starting_at: '2026-01-01T00:00:00.000Z',
            ending_before: '2026-12-01T00:00:00.000Z',
          },
          ...{ rate_type: 'TIERED', tiers, tiers_mode: 'volume' },
        },
        { product: 'out', starting_at: '2026-12-01T00:00:00.000Z', rate_type: 'FLAT', price: 1 },
      ],
    },
  ]);
  expect((await exported('--token', token)).out).toBe(out);
  const refused = await exported('--token', 'unknown');
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/^tallyhouse export: http.* answers 401: /);
});
