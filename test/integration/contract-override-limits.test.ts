/** How many overrides a contract and how many tiers a rate can have: 400 with the field and the limit. */
import { beforeAll, expect, test } from 'vitest';
import { ADD_RATE, CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { refusalOf } from '../support/refusal.ts';
import { type Body, START, termFixtures } from '../support/term-fixtures.ts';

const { api } = await catalogueForFile();
let ids: TermsCatalogue;
let customer_id: string;

beforeAll(async () => {
  ids = await createTermsCatalogue(api);
  customer_id = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const EDIT = '/v2/contracts/edit';
const many = (count: number, one: Body) => Array.from({ length: count }, () => one);
const contract = (overrides: readonly Body[], fields: Body = {}) =>
  createdId(api, CONTRACTS, {
    customer_id,
    rate_card_id: ids.card,
    starting_at: START,
    overrides,
    ...fields,
  });

test('a contract takes 10,000 overrides, also by edits, and not one more', async () => {
  const multiplier = termFixtures(ids).multiplier();
  const contract_id = await contract(many(5_000, multiplier));
  const edit = (count: number) => ({ customer_id, contract_id, add_overrides: many(count, multiplier) });
  await api.post(EDIT, edit(4_999));
  const refused = 'add_overrides[1]: a contract has at most 10,000 overrides';
  expect(await refusalOf(api, EDIT, edit(2))).toBe(refused);
  await api.post(EDIT, edit(1));
  const read = await api.post('/v2/contracts/get', { customer_id, contract_id });
  expect(read.list('data.overrides')).toHaveLength(10_000);
  expect(await refusalOf(api, EDIT, edit(1))).toBe(refused.replace('[1]', '[0]'));
});

test('a contract takes 10,000 specifiers in all its overrides', async () => {
  const { multiplier } = termFixtures(ids);
  const override_specifiers = many(1_000, { product_id: ids.tokens });
  const full = many(10, multiplier({ override_specifiers }));
  const one = multiplier({ override_specifiers: [{ product_id: ids.tokens }] });
  const base = { customer_id, rate_card_id: ids.card, starting_at: START };
  expect(await refusalOf(api, CONTRACTS, { ...base, overrides: [...full, one] })).toBe(
    'overrides[10].override_specifiers: a contract has at most 10,000 specifiers of overrides',
  );
  expect(await contract([...full, multiplier()])).toBeDefined();
});

test('a contract takes 1,000 tiers in all its TIERED overrides', async () => {
  const tiered = (count: number) => ({
    starting_at: START,
    type: 'TIERED',
    priority: 1,
    tiers: [...many(count - 1, { size: 1, multiplier: 0.5 }), { multiplier: 0.4 }],
  });
  const fields = { multiplier_override_prioritization: 'EXPLICIT' };
  const contract_id = await contract([tiered(600), tiered(400)], fields);
  const edit = { customer_id, contract_id, add_overrides: [tiered(1)] };
  expect(await refusalOf(api, EDIT, edit)).toBe(
    'add_overrides[0].tiers: a contract has at most 1,000 tiers of overrides',
  );
});

test('a rate takes 1,000 tiers, on a card and in an override', async () => {
  const price = (count: number) => ({
    rate_type: 'TIERED',
    tiers: [...many(count - 1, { size: 1, price: 2 }), { price: 1 }],
  });
  const rate = (count: number) => ({
    rate_card_id: ids.card,
    product_id: ids.tokens,
    starting_at: START,
    entitled: true,
    ...price(count),
  });
  expect(await refusalOf(api, ADD_RATE, rate(1_001))).toBe('tiers: a rate has at most 1,000 tiers');
  expect((await api.send('POST', ADD_RATE, rate(1_000))).status).toBe(200);
  const body = { customer_id, rate_card_id: ids.card, starting_at: START };
  const overrides = [termFixtures(ids).overwrite({ overwrite_rate: price(1_001) })];
  expect(await refusalOf(api, CONTRACTS, { ...body, overrides })).toMatch(
    /^overrides\[0\]\.overwrite_rate\.tiers: .*1,?000/,
  );
});
