/** Managed rate cards: one call creates what prices the tokens of AI models, and the catalogue keeps it up. */
import { beforeAll, expect, test } from 'vitest';
import { importPrices } from '../../src/billing/token-billing/import-prices.ts';
import { readPriceFile } from '../../src/billing/token-billing/price-files.ts';
import { syncManagedCards } from '../../src/billing/token-billing/sync-cards.ts';
import { decimal } from '../../src/core/decimal.ts';
import { holdJobs } from '../../src/store/jobs/jobs.ts';
import { loadManagedModels } from '../../src/store/token-billing/managed-rate-cards.ts';
import { loadTokenModels } from '../../src/store/token-billing/token-prices.ts';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { linesOf } from '../support/draft-lines.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { importModels, LARGE, SMALL } from '../support/token-prices.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const NOW = Date.UTC(2026, 10, 10);
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const UPDATE = '/v1/contract-pricing/rate-cards/update';

beforeAll(async () => {
  await importModels({ db, now: NOW }, [LARGE, SMALL]);
});

let sequence = 0;

async function customerOn(rateCardId: string, startingAt = '2026-11-01T00:00:00Z', terms: object = {}) {
  sequence += 1;
  const alias = `customer-${sequence}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: startingAt,
    ...terms,
  });
  return { alias, customerId };
}

async function use(alias: string, properties: object, at = '2026-11-02T10:00:00Z') {
  sequence += 1;
  const event = {
    transaction_id: `event-${sequence}`,
    customer_id: alias,
    event_type: 'token-billing',
    timestamp: at,
    properties: { provider: 'acme', ...properties },
  };
  await api.post('/v1/ingest', [event]);
  return event.transaction_id;
}

/** All items of a list, one by one. */
async function allPages(path: string): Promise<unknown[]> {
  const items: unknown[] = [];
  let next: unknown;
  do {
    const query = next === undefined ? { limit: 1 } : { limit: 1, next_page: String(next) };
    const page = await api.get(path, { query });
    items.push(...page.list('data'));
    next = page.at('next_page') ?? undefined;
  } while (next !== undefined);
  return items;
}

function managed(pricing: object, card: object = {}) {
  return createdId(api, RATE_CARDS, { name: 'Models', ...card, managed_pricing: pricing });
}

test('every kind of tokens costs the price of the provider with the markup of its model', async () => {
  const card = await managed({
    models: [{ model: 'large', markup: 0.2 }, { model: 'acme/small' }],
    default_markup: 0.5,
  });
  const { alias, customerId } = await customerOn(card);
  await use(alias, {
    model: 'acme/large',
    input_tokens: 1_000_000,
    cached_input_tokens: 300_000,
    output_tokens: 123_457,
    cached_write_tokens: 8,
  });
  await use(alias, { model: 'small', input_tokens: 7, output_tokens: 1_000 });
  // 2.5 USD × 1.2 = 300 cents a million, and so on.
  expect(await linesOf(api, customerId)).toEqual([
    ['acme/large input tokens', '1', '300', '300'],
    ['acme/large cached input tokens', '0.3', '30', '9'],
    ['acme/large output tokens', '0.123457', '1200', '148.1484'],
    ['acme/large cached write tokens', '0.000008', '375', '0.003'],
    ['acme/small input tokens', '0.000007', '22.5', '0.0001575'],
    ['acme/small output tokens', '0.001', '90', '0.09'],
  ]);
});

test('rates in a custom unit are converted, and products and card are marked', async () => {
  const unit = await createdId(api, '/v1/credit-types/create', { name: 'Token credits' });
  const card = await managed(
    {
      providers: ['acme'],
      markups: [{ model: 'small', markup: 1 }],
      default_markup: 0,
      custom_credit_type_id: unit,
    },
    { credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 3 }] },
  );
  const { alias, customerId } = await customerOn(card);
  await use(alias, { model: 'small', input_tokens: 2_000_000 });
  // 0.15 USD × 2 = 30 cents = 10 units a million.
  expect(await linesOf(api, customerId)).toEqual([['acme/small input tokens', '2', '10', '20']]);
  const answer = await api.post('/v1/contract-pricing/rate-cards/get', { id: card });
  expect(answer.at('data.custom_fields')).toEqual({
    ai_managed: 'true',
    ai_managed_last_updated_at: '2026-11-10T00:00:00.000Z',
    default_ai_markup: '0',
  });
});

test('a markup changes from its date on, and what was used before keeps the old one', async () => {
  const card = await managed({ models: [{ model: 'small' }], default_markup: 0 });
  const { alias, customerId } = await customerOn(card);
  await use(alias, { model: 'small', input_tokens: 1_000_000 }, '2026-11-02T10:00:00Z');
  await use(alias, { model: 'small', input_tokens: 1_000_000 }, '2026-11-05T10:00:00Z');
  await api.post(UPDATE, {
    rate_card_id: card,
    managed_pricing: { starting_at: '2026-11-04T00:00:00Z', markups: [{ model: 'small', markup: 1 }] },
  });
  expect(await linesOf(api, customerId)).toEqual([
    ['acme/small input tokens', '1', '15', '15'],
    ['acme/small input tokens', '1', '30', '30'],
  ]);
  await api.post(UPDATE, {
    rate_card_id: card,
    managed_pricing: { starting_at: '2026-11-05T00:00:00Z', remove_models: ['small'] },
  });
  expect(await linesOf(api, customerId)).toEqual([['acme/small input tokens', '1', '15', '15']]);
});

test('a model is added later with its markup, and a call that is repeated with its key makes one card', async () => {
  const body = { name: 'Repeated', managed_pricing: { models: [{ model: 'small', markup: 0 }] } };
  const options = { headers: { 'idempotency-key': 'managed-card' } };
  const card = (await api.post(RATE_CARDS, body, options)).text('data.id');
  expect((await api.post(RATE_CARDS, body, options)).text('data.id')).toBe(card);
  const { alias, customerId } = await customerOn(card);
  await use(alias, { model: 'large-2026-01-01', input_tokens: 1_000_000 });
  expect(await linesOf(api, customerId)).toEqual([]);
  await api.post(UPDATE, {
    rate_card_id: card,
    managed_pricing: { add_models: [{ model: 'large', markup: 1 }] },
  });
  expect(await linesOf(api, customerId)).toEqual([['acme/large input tokens', '1', '500', '500']]);
});

test('a prepaid wallet pays for tokens of every model, and each line says which rate it is of', async () => {
  const card = await managed({ models: [{ model: 'large' }, { model: 'small' }], default_markup: 0 });
  const wallet = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Wallet',
    type: 'FIXED',
  });
  const terms = { amount: 260, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' };
  const { alias, customerId } = await customerOn(card, '2026-11-01T00:00:00Z', {
    commits: [{ product_id: wallet, type: 'PREPAID', access_schedule: { schedule_items: [terms] } }],
  });
  await use(alias, { model: 'large', input_tokens: 1_000_000 }, '2026-11-02T10:00:00Z');
  await use(alias, { model: 'small', input_tokens: 1_000_000 }, '2026-11-03T10:00:00Z');
  const drafts = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  // 250 and 15 cents, of which the wallet pays 260.
  expect(drafts.digits('data[0].total')).toBe('5');
  const path = `/v1/customers/${customerId}/invoices/${drafts.text('data[0].id')}/explain`;
  const explained = JSON.stringify((await api.get(path)).body);
  expect(explained).toContain('acme/large input tokens');
  const balance = await api.post('/v1/contracts/customerBalances/list', {
    ...{ customer_id: customerId, include_contract_balances: true, include_balance: true },
  });
  expect(balance.digits('data[0].balance')).toBe('0');
});

test('a change of managed prices before their last change is refused, because that would still hold', async () => {
  const card = await managed({ models: [{ model: 'small' }], default_markup: 0 });
  const change = (at: string) =>
    api.send('POST', UPDATE, {
      rate_card_id: card,
      managed_pricing: { starting_at: at, markups: [{ model: 'small', markup: 1 }] },
    });
  expect((await change('2026-11-04T00:00:00Z')).status).toBe(200);
  expect((await change('2026-11-03T23:00:00Z')).text('message')).toContain('2026-11-04');
  expect((await change('2026-11-04T00:00:00Z')).status).toBe(200);
});

test('a later model joins once at the default markup and prices the open period', async () => {
  const card = await managed({ models: [{ model: 'small', markup: 0 }], default_markup: 0.1 });
  const chosen = await managed({ models: [{ model: 'small', markup: 0 }] });
  const { alias, customerId } = await customerOn(card);
  const other = await customerOn(chosen);
  for (const one of [alias, other.alias]) await use(one, { model: 'next', input_tokens: 1_000_000 });
  expect(await linesOf(api, customerId)).toEqual([]);
  const unheard = await use(alias, { model: 'unheard', input_tokens: 5 });
  const reasons = async () =>
    (await api.get('/v1/token-billing/unpriced'))
      .list('data')
      .map((one) => Object(one))
      .filter((one) => one.customer_id === alias)
      .map((one) => [one.model, one.token_kinds, one.events, one.reason])
      .sort();
  const isUnknown = 'unheard of acme is not in the catalogue';
  expect(await reasons()).toEqual([
    ['next', ['input_tokens'], 1, 'next of acme is not in the catalogue'],
    ['unheard', ['input_tokens'], 1, isUnknown],
  ]);
  const paged = await allPages('/v1/token-billing/unpriced');
  expect(paged).toEqual((await api.get('/v1/token-billing/unpriced')).list('data'));
  expect(paged.length).toBeGreaterThan(2);
  const found = await api.post('/v1/events/search', { transactionIds: [unheard] });
  expect(found.at('[0].unpriced')).toEqual({ reason: isUnknown });
  const next = { ...SMALL, model: 'acme/next', aliases: ['next'] };
  expect(await importModels({ db, now: NOW + 1 }, [next])).toMatchObject({ addedPrices: 2, addedAliases: 1 });
  expect(await importModels({ db, now: NOW + 2 }, [next])).toMatchObject({ addedPrices: 0, addedAliases: 0 });
  expect(await linesOf(api, customerId)).toEqual([['acme/next input tokens', '1', '16.5', '16.5']]);
  expect(await linesOf(api, other.customerId)).toEqual([]);
  expect((await reasons()).map(([model]) => model)).toEqual(['unheard']);
});

test('a price change of a provider changes no rate by itself; it is listed, adopted, or followed where asked', async () => {
  const model = { ...SMALL, model: 'acme/moving', aliases: ['moving'] };
  await importModels({ db, now: NOW + 3 }, [model]);
  const pricing = { models: [{ model: 'moving', markup: 0 }] };
  const [off, notify, auto] = await Promise.all(
    ['off', 'notify', 'auto'].map((reprice) => managed({ ...pricing, reprice })),
  );
  const customers = [];
  for (const card of [off, notify, auto]) customers.push(await customerOn(card ?? ''));
  for (const { alias } of customers) {
    await use(alias, { model: 'moving', input_tokens: 1_000_000 }, '2026-11-09T10:00:00Z');
  }
  const cheaper = { from: '2026-11-09T05:30:00Z', usd: { input_tokens: '0.1', output_tokens: '0.5' } };
  await importModels({ db, now: NOW + 4 }, [{ ...model, prices: [...model.prices, cheaper] }]);
  await Promise.all(
    customers.map(async ({ customerId }) =>
      expect(await linesOf(api, customerId)).toEqual([['acme/moving input tokens', '1', '15', '15']]),
    ),
  );
  const pending = `/v1/contract-pricing/rate-cards/${notify}/pendingRepricing`;
  const answer = await api.get(pending);
  expect(answer.list('data')).toHaveLength(2);
  expect(await allPages(pending)).toEqual(answer.list('data'));
  expect([answer.digits('data[0].usd_per_token'), answer.digits('data[0].new_usd_per_token')]).toEqual([
    '1.5e-7',
    '1e-7',
  ]);
  await api.post(UPDATE, {
    rate_card_id: notify,
    managed_pricing: { adopt_prices: true, starting_at: '2026-11-09T00:00:00Z' },
  });
  expect((await api.get(pending)).list('data')).toEqual([]);
  expect(await linesOf(api, customers[1]?.customerId ?? '')).toEqual([
    ['acme/moving input tokens', '1', '10', '10'],
  ]);
  const rates = await api.post('/v1/contract-pricing/rate-cards/getRates', {
    rate_card_id: auto,
    at: '2026-11-10T00:00:00Z',
    selectors: [{ partial_pricing_group_values: { model: 'moving' } }],
  });
  expect(rates.list('data').map((_, index) => rates.digits(`data[${index}].rate.price`))).toEqual([
    '10',
    '50',
  ]);
});

test.each([
  ['another currency', {}, { fiat_credit_type_id: '58f0be15-cc47-4220-bdaf-072ab0e44f96' }],
  ['a model without a markup', { models: [{ model: 'small' }] }, {}],
  ['an unknown model', { models: [{ model: 'unheard-of', markup: 0 }] }, {}],
  ['an unknown provider', { providers: ['nobody'], default_markup: 0 }, {}],
  [
    'a unit that is not converted',
    { custom_credit_type_id: '58f0be15-cc47-4220-bdaf-072ab0e44f96', default_markup: 0 },
    {},
  ],
  ['a misspelled field', { models: [], defaultmarkup: 1 }, {}],
])('a managed card with %s is refused', async (_, pricing, card) => {
  const body = { name: 'Models', ...card, managed_pricing: pricing };
  expect((await api.send('POST', RATE_CARDS, body)).status).toBe(400);
});

test('new prices wait for a sync that is running, so that the two never wait for each other', async () => {
  const later = (usd: string) => ({
    ...{ provider: 'later', model: 'later/large' },
    prices: [{ from: '2027-01-01', usd: { input_tokens: usd } }],
  });
  await importModels({ db, now: NOW }, [later('1')]);
  const queued = { kind: 'sync_token_prices', key: String(Date.UTC(2027, 0, 1)) };
  let importing: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    // As a job that is being carried out.
    expect(await holdJobs(tx, queued.kind, [queued.key])).toHaveLength(1);
    const other = { ...later('1'), model: 'later/small' };
    importing = importModels({ db, now: NOW }, [other]);
    await waitForLock(db);
    await syncManagedCards(tx, { db, clock: { now: () => NOW } });
  });
  await importing;
});

test('a catalogue with the former name of a provider gets later prices under it, and its cards the models', async () => {
  const price = {
    kind: 'input_tokens' as const,
    usdPerToken: decimal('0.000001'),
    validFrom: Date.UTC(2026, 0, 1),
    source: 'test',
  };
  const former = {
    provider: 'bedrock_converse',
    model: 'bedrock_converse/nova',
    aliases: ['nova'],
    prices: [price],
  };
  await importPrices({ db, clock: { now: () => Date.UTC(2026, 9, 1) } }, [{ ...former, former: [] }]);
  const card = await createdId(api, RATE_CARDS, {
    name: 'Former',
    managed_pricing: { providers: ['bedrock_converse'], default_markup: 0 },
  });
  const { models } = readPriceFile(
    JSON.stringify({
      nova: { litellm_provider: 'bedrock_converse', mode: 'chat', input_cost_per_token: 2e-6 },
    }),
    { validFrom: Date.UTC(2026, 10, 1) },
  );
  await importPrices({ db, clock: { now: () => NOW + 10 } }, models);
  const catalogue = await loadTokenModels(db, ['bedrock', 'bedrock_converse']);
  expect([...catalogue.values()].map(({ provider, prices }) => [provider, prices.length])).toEqual([
    ['bedrock', 1],
    ['bedrock_converse', 2],
  ]);
  const onCard = await loadManagedModels(db, [card]);
  expect(onCard.map(({ provider }) => provider).toSorted()).toEqual(['bedrock', 'bedrock_converse']);
});
