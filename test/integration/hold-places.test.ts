/**
 * Holds of several products, whose balances have priorities and are limited to some products: places are those that the
 * invoice then gives (docs/explanation/holds.md, "The law").
 */
import { expect, test } from 'vitest';
import { ADD_RATES, CONTRACTS, createdId, METRICS, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { reserve } from '../support/holds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

const starting_at = '2026-11-01T00:00:00Z';
const PRICES = { a: 100, b: 200, c: 100 };
type Name = keyof typeof PRICES;

/** A card with products whose units cost so much, each counted by a separate event type. */
async function createCard() {
  const products: Partial<Record<Name, string>> = {};
  for (const name of ['a', 'b', 'c'] as const) {
    const billable_metric_id = await createdId(api, METRICS, {
      ...{ name, aggregation_type: 'SUM', aggregation_key: 'size' },
      ...{ event_type_filter: { in_values: [name] }, property_filters: [{ name: 'size', exists: true }] },
    });
    products[name] = await createdId(api, PRODUCTS, { name, type: 'USAGE', billable_metric_id });
  }
  const card = await createdId(api, RATE_CARDS, { name: 'Card' });
  const rates = Object.entries(products).map(([name, product_id]) => ({
    ...{ product_id, starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' },
    price: PRICES[name as Name],
  }));
  await api.post(ADD_RATES, { rate_card_id: card, rates });
  const fee = await createdId(api, PRODUCTS, { name: 'Fee', type: 'FIXED' });
  return { card, fee, products };
}

type Card = Awaited<ReturnType<typeof createCard>>;

interface Balance {
  readonly name: string;
  readonly amount: number;
  readonly priority: number;
  readonly only?: readonly Name[];
}

async function createCustomer({ card, fee, products }: Card, balances: readonly Balance[]) {
  const customer_id = await createdId(api, '/v1/customers', { name: 'Held' });
  const credits = balances.map(({ name, amount, priority, only }) => ({
    ...{ product_id: fee, name, priority },
    ...(only === undefined ? {} : { applicable_product_ids: only.map((one) => products[one]) }),
    access_schedule: { schedule_items: [{ amount, starting_at, ending_before: '2027-11-01T00:00:00Z' }] },
  }));
  const terms = { customer_id, rate_card_id: card, starting_at, credits };
  const contract_id = await createdId(api, CONTRACTS, terms);
  const idOf = (name: Name) => `${customer_id} ${name}`;
  return {
    hold: async (name: Name, size: number) => {
      const event = { event_type: name, properties: { size } };
      const [answer] = await reserve(api, { customer_id, transaction_id: idOf(name), event });
      return answer;
    },
    settle: async (...names: readonly Name[]) => {
      const settlements = names.map((name) => ({ transaction_id: idOf(name) }));
      return (await api.post('/v1/holds/settle', { settlements })).list('data');
    },
    /** The total of the draft, and what its balances have left, in their order. */
    billed: async () => {
      const drafts = await api.get(`/v1/customers/${customer_id}/invoices`, { query: { status: 'DRAFT' } });
      const answer = await api.post('/v2/contracts/get', { customer_id, contract_id, include_balance: true });
      const left = balances.map((_, index) => answer.at(`data.credits[${index}].balance`));
      return { total: drafts.at('data[0].total'), left };
    },
  };
}

test('equal terms give equal answers for every customer, whatever the ids of its balances', async () => {
  const card = await createCard();
  for (let customer = 0; customer < 6; customer += 1) {
    const { hold, settle, billed } = await createCustomer(card, [
      { name: 'Own', amount: 300, priority: 1, only: ['a'] },
      { name: 'Shared', amount: 1000, priority: 1 },
      { name: 'Closed', amount: 5000, priority: 1, only: ['c'] },
    ]);
    expect(await hold('a', 13)).toMatchObject({ granted: true, amount: 1300, remaining: 0 });
    expect(await hold('c', 1)).toMatchObject({ granted: true, amount: 100, remaining: 4900 });
    await settle('c', 'a');
    expect(await billed()).toEqual({ total: 0, left: [0, 0, 4900] });
  }
});

test('a hold whose room the invoice gives to another hold first is refused, and all that is held is paid by balances', async () => {
  const { hold, settle, billed } = await createCustomer(await createCard(), [
    { name: 'Any', amount: 500, priority: 1 },
    { name: 'For b', amount: 500, priority: 2, only: ['b'] },
  ]);
  expect(await hold('b', 4)).toMatchObject({ granted: true, amount: 800, remaining: 200 });
  expect(await hold('a', 2)).toMatchObject({
    granted: false,
    reason: 'balance',
    required: 200,
    remaining: 0,
  });
  await settle('b');
  expect(await billed()).toEqual({ total: 0, left: [0, 200] });
});

test('a hold is granted if what the invoice gives to others before it still leaves both their room', async () => {
  const { hold, settle, billed } = await createCustomer(await createCard(), [
    { name: 'For b', amount: 800, priority: 1, only: ['b'] },
    { name: 'Any', amount: 500, priority: 2 },
  ]);
  expect(await hold('a', 4)).toMatchObject({ granted: true, remaining: 100 });
  expect(await hold('b', 4)).toMatchObject({ granted: true, amount: 800, remaining: 100 });
  await settle('a', 'b');
  expect(await billed()).toEqual({ total: 0, left: [0, 100] });
});
