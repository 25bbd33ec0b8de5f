/** Managed rate cards with the terms of any card: names of models, wallets in custom units, previews, later prices. */
import { beforeAll, expect, test } from 'vitest';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { importModels, type TestModel } from '../support/token-prices.ts';

const START = '2026-11-01T00:00:00Z';
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
let sequence = 0;

const modelOf = (provider: string, name: string, aliases: readonly string[], input: string): TestModel => ({
  provider,
  model: `${provider}/${name}`,
  aliases,
  prices: [{ from: '2026-01-01', usd: { input_tokens: input, output_tokens: '8' } }],
});

/** USD a million input tokens: 2 at acme, and 3 for a model of the same name elsewhere. */
const NAMES = ['large', 'large-2026-01-15', 'eu.acme.large-v1:0', 'us-east-1/large'];
const LARGE = modelOf('acme', 'large', NAMES, '2');
const OTHER = modelOf('other', 'large', ['large', 'large-2026-01-15'], '3');

beforeAll(async () => {
  await importModels({ db, now: Date.UTC(2026, 10, 10) }, [LARGE, OTHER]);
});

function managed(pricing: object, card: object = {}) {
  return createdId(api, RATE_CARDS, { name: 'Models', ...card, managed_pricing: pricing });
}

async function customerOn(rate_card_id: string, terms: object = {}) {
  sequence += 1;
  const alias = `customer-${sequence}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    ...{ customer_id: customerId, rate_card_id, starting_at: START },
    ...terms,
  });
  return { alias, customerId };
}

async function use(alias: string, model: string, at: string, tokens: object, provider = 'acme') {
  sequence += 1;
  await api.post('/v1/ingest', [
    {
      transaction_id: `event-${sequence}`,
      customer_id: alias,
      event_type: 'token-billing',
      timestamp: at,
      properties: { provider, model, ...tokens },
    },
  ]);
}

type Answer = Awaited<ReturnType<typeof api.get>>;

/** Type, model or name, quantity, price and total of each line. */
function linesOf(answer: Answer) {
  return answer
    .list('data[0].line_items')
    .map((line) => Object(line))
    .map((line) => [
      line.type,
      line.pricing_group_values?.model ?? line.name,
      ...['quantity', 'unit_price', 'total'].map((name) => String(line[name] ?? '')),
    ]);
}

const draftOf = (customerId: string, status = 'DRAFT') =>
  api.get(`/v1/customers/${customerId}/invoices`, { query: { status } });

test('dated, regional and short names of a model cost its price, and the same name elsewhere another', async () => {
  const card = await managed({ providers: ['acme', 'other'], default_markup: 0.5 });
  const { alias, customerId } = await customerOn(card);
  for (const name of ['acme/large', ...NAMES]) {
    await use(alias, name, '2026-11-02T10:00:00Z', { input_tokens: 1_000_000 });
  }
  await use(alias, 'large', '2026-11-02T10:00:00Z', { input_tokens: 1_000_000 }, 'other');
  await use(alias, 'Large', '2026-11-02T10:00:00Z', { input_tokens: 1_000_000 });
  const answer = await draftOf(customerId);
  // 2 USD and 3 USD, with half as much on top.
  const own = ['acme/large', ...NAMES].sort().map((name) => ['usage', name, '1', '300', '300']);
  expect(linesOf(answer)).toEqual([...own, ['usage', 'large', '1', '450', '450']]);
  // Names are as they are sent, in their case.
  const warnings = answer.list('data[0].warnings').map((warning) => Object(warning));
  expect(warnings.map((warning) => warning.pricing_group_values)).toEqual([
    { model: 'Large', provider: 'acme' },
  ]);
});

test('a prepaid wallet of custom units pays first, the rest is converted, and a preview says so before', async () => {
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Token credits' });
  const card = await managed(
    { models: [{ model: 'acme/large', markup: 1 }], custom_credit_type_id: unit },
    { credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 4 }] },
  );
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Wallet',
    type: 'FIXED',
  });
  const access = (amount: number, day: string) => ({
    credit_type_id: unit,
    schedule_items: [{ amount, starting_at: START, ending_before: `2027-01-${day}T00:00:00Z` }],
  });
  const { alias, customerId } = await customerOn(card, {
    credits: [{ product_id, name: 'Gift', priority: 1, access_schedule: access(20, '01') }],
    commits: [
      {
        ...{ product_id, name: 'Wallet', type: 'PREPAID', priority: 2 },
        access_schedule: access(100, '01'),
      },
    ],
  });
  // 2 USD × 2 = 400 cents = 100 units a million; 8 USD × 2 = 1,600 cents = 400 units.
  const tokens = { input_tokens: 500_000, output_tokens: 250_000 };
  const event = { event_type: 'token-billing', properties: { provider: 'acme', model: 'large', ...tokens } };
  const preview = await api.post(`/v1/customers/${customerId}/previewEvents`, { events: [event] });
  // 50 + 100 units are used, 20 + 100 of them paid: 30 units of 4 cents are left.
  expect(preview.digits('data[0].total')).toBe('120');
  expect((await draftOf(customerId)).digits('data[0].total')).toBe('0');
  await use(alias, 'large', '2026-11-09T10:00:00Z', tokens);
  const answer = await draftOf(customerId);
  expect(linesOf(answer)).toEqual(linesOf(preview));
  expect(answer.digits('data[0].total')).toBe('120');
  const balances = await api.post('/v1/contracts/customerBalances/list', {
    ...{ customer_id: customerId, include_contract_balances: true, include_balance: true },
  });
  const left = balances.list('data').map((_, index) => balances.digits(`data[${index}].balance`));
  expect(left).toEqual(['0', '0']);
  const margin = await api.get('/v1/token-billing/margin', {
    query: { customer_id: customerId, starting_on: START, ending_before: '2026-11-10T00:00:00Z' },
  });
  // Before balances: 150 units of 4 cents; the provider takes 100 and 200 cents.
  const of = (name: string) => margin.digits(`data[0].${name}`);
  expect([of('revenue'), of('provider_cost'), of('margin')]).toEqual(['600', '300', '300']);
});

test('a price that becomes valid inside a period is charged from its hour on by the card that follows prices', async () => {
  const moving = modelOf('acme', 'moving', ['moving'], '2');
  await importModels({ db, now: Date.UTC(2026, 10, 10, 0, 1) }, [moving]);
  const pricing = { models: [{ model: 'moving' }], default_markup: 0.25 };
  const follows = await customerOn(await managed({ ...pricing, reprice: 'auto' }));
  const stays = await customerOn(await managed({ ...pricing, reprice: 'off' }));
  const dearer = { from: '2026-11-12T10:30:00Z', usd: { input_tokens: '3', output_tokens: '8' } };
  await importModels({ db, now: Date.UTC(2026, 10, 10, 0, 2) }, [
    { ...moving, prices: [...moving.prices, dearer] },
  ]);
  await service.moveClock('2026-11-13T00:00:00Z');
  for (const { alias } of [follows, stays]) {
    await use(alias, 'moving', '2026-11-12T10:59:59Z', { input_tokens: 1_000_000, output_tokens: 500_000 });
    await use(alias, 'moving', '2026-11-12T11:00:00Z', { input_tokens: 2_000_000 });
  }
  // 2 USD × 1.25 = 250 cents until 11:00, 3 USD × 1.25 = 375 cents from then on; 8 USD × 1.25 = 1,000 cents.
  const output = ['usage', 'moving', '0.5', '1000', '500'];
  expect(linesOf(await draftOf(follows.customerId))).toEqual([
    ['usage', 'moving', '1', '250', '250'],
    ['usage', 'moving', '2', '375', '750'],
    output,
  ]);
  expect(linesOf(await draftOf(stays.customerId))).toEqual([['usage', 'moving', '3', '250', '750'], output]);
  await service.moveClock('2026-12-05T00:00:00Z');
  const issued = await draftOf(follows.customerId, 'FINALIZED');
  expect(issued.digits('data[0].total')).toBe('1500');
});
