/** Products of a managed card share metrics: each bills only its own model, and usage of no model has one warning. */
import { beforeAll, expect, test } from 'vitest';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { importModels, LARGE, SMALL } from '../support/token-prices.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;
const UPDATE = '/v1/contract-pricing/rate-cards/update';
let card = '';
let sequence = 0;

beforeAll(async () => {
  await importModels({ db, now: Date.UTC(2026, 10, 10) }, [LARGE, SMALL]);
  card = await newCard();
});

function newCard() {
  return createdId(api, RATE_CARDS, {
    name: 'Models',
    managed_pricing: { models: [{ model: 'large' }, { model: 'small' }], default_markup: 0 },
  });
}

/** A customer on the card that used a million input tokens of each of these models. */
async function customerWith(models: readonly string[], terms: object = {}, rateCardId = card) {
  sequence += 1;
  const alias = `customer-${sequence}`;
  const customerId = await createdId(api, '/v1/customers', { name: alias, ingest_aliases: [alias] });
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
  const events = models.map((model) => ({
    transaction_id: `${alias}-${model}`,
    customer_id: alias,
    event_type: 'token-billing',
    timestamp: '2026-11-02T10:00:00Z',
    properties: { provider: 'acme', model, input_tokens: 1_000_000 },
  }));
  await api.post('/v1/ingest', events);
  return customerId;
}

/** The product for input tokens of a model. */
async function productOf(rateCardId: string, model: string) {
  const rates = await api.post('/v1/contract-pricing/rate-cards/getRates', {
    rate_card_id: rateCardId,
    at: '2026-11-10T00:00:00Z',
    selectors: [{ partial_pricing_group_values: { model } }],
  });
  return rates.text('data[0].product_id');
}

/** Name and total of each usage line, and code and model of each warning. */
async function draftOf(customerId: string) {
  const answer = await api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  const usage = answer.list('data[0].line_items').map((line) => Object(line));
  return {
    lines: usage.filter((line) => line.type === 'usage').map((line) => [line.name, line.total]),
    warnings: answer
      .list('data[0].warnings')
      .map((warning) => Object(warning))
      .map((warning) => [warning.code, warning.pricing_group_values?.model, warning.quantity]),
  };
}

const BOTH = [
  ['acme/large input tokens', 250],
  ['acme/small input tokens', 15],
];

test('an invoice of models that are all priced has no warnings', async () => {
  const customerId = await customerWith(['large', 'acme/small']);
  expect(await draftOf(customerId)).toEqual({ lines: BOTH, warnings: [] });
});

test('tokens of a model that is not on the card are reported by one warning, however many products there are', async () => {
  const customerId = await customerWith(['large', 'small', 'unheard']);
  expect(await draftOf(customerId)).toEqual({
    lines: BOTH,
    warnings: [['unpriced_usage', 'unheard', 1]],
  });
});

test('a price of a contract for a product is charged for the models that it names, on the card or not', async () => {
  const product_id = await productOf(card, 'large');
  const overrides = [
    {
      starting_at: '2026-11-01T00:00:00Z',
      type: 'OVERWRITE',
      override_specifiers: ['large', 'tuned'].map((model) => ({
        product_id,
        pricing_group_values: { model, provider: 'acme' },
      })),
      overwrite_rate: { rate_type: 'FLAT', price: 7 },
    },
    {
      starting_at: '2026-11-01T00:00:00Z',
      type: 'MULTIPLIER',
      multiplier: 2,
      override_specifiers: [{ product_tags: ['ai_managed'], pricing_group_values: { model: 'small' } }],
    },
  ];
  const customerId = await customerWith(['large', 'small', 'tuned', 'unheard'], { overrides });
  expect(await draftOf(customerId)).toEqual({
    lines: [
      ['acme/large input tokens', 7],
      ['acme/large input tokens', 7],
      ['acme/small input tokens', 30],
    ],
    warnings: [['unpriced_usage', 'unheard', 1]],
  });
});

test('a product of our own for a model of our own takes its usage from the warnings', async () => {
  const own = await newCard();
  const product = await api.post('/v1/contract-pricing/products/get', { id: await productOf(own, 'small') });
  const billable_metric_id = product.text('data.current.billable_metric_id');
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Own models',
    type: 'USAGE',
    billable_metric_id,
    pricing_group_key: ['model', 'provider'],
  });
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id: own,
    rates: [
      {
        product_id,
        starting_at: '2026-11-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        price: 0.000001,
        pricing_group_values: { model: 'mine', provider: 'acme' },
      },
    ],
  });
  const customerId = await customerWith(['mine', 'unheard'], {}, own);
  const { lines, warnings } = await draftOf(customerId);
  expect(lines).toEqual([['Own models', 1]]);
  expect(warnings.filter(([, model]) => model === 'mine')).toEqual([]);
});

test('a model that was removed is neither billed nor reported', async () => {
  const own = await newCard();
  const customerId = await customerWith(['large', 'small'], {}, own);
  await api.post(UPDATE, {
    rate_card_id: own,
    managed_pricing: { starting_at: '2026-11-01T00:00:00Z', remove_models: ['small'] },
  });
  expect(await draftOf(customerId)).toEqual({ lines: BOTH.slice(0, 1), warnings: [] });
});
