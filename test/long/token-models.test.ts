/** A managed card of 10,000 models is created in one call and bills like a small one. */
import { expect, test } from 'vitest';
import { createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { importModels } from '../support/token-prices.ts';

const MODELS = 10_000;
const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, db } = service;

test('10,000 models have their rates after one call, and a draft finds those that were used, also after they changed', async () => {
  const now = Date.UTC(2026, 10, 10);
  const models = Array.from({ length: MODELS }, (_, index) => ({
    provider: 'many',
    model: `many/model-${index}`,
    aliases: [`model-${index}`],
    prices: [{ from: '2026-01-01', usd: { input_tokens: `${index + 1}`, output_tokens: '1' } }],
  }));
  await importModels({ db, now }, models);
  const rateCardId = await createdId(api, RATE_CARDS, {
    name: 'Many',
    managed_pricing: { providers: ['many'], default_markup: 0.5 },
  });
  const customerId = await createdId(api, '/v1/customers', { name: 'ada', ingest_aliases: ['ada'] });
  await api.post('/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  await api.post(
    '/v1/ingest',
    [0, 4_999, 9_999].map((index) => ({
      transaction_id: `event-${index}`,
      customer_id: 'ada',
      event_type: 'token-billing',
      timestamp: '2026-11-02T00:00:00Z',
      properties: { provider: 'many', model: `model-${index}`, input_tokens: 1_000_000 },
    })),
  );
  const draft = () => api.get(`/v1/customers/${customerId}/invoices`, { query: { status: 'DRAFT' } });
  const answer = await draft();
  // 1, 5,000 and 10,000 USD a million tokens, with half as much on top.
  expect(answer.at('data[0].total')).toBe(150 + 750_000 + 1_500_000);
  expect(answer.at('data[0].warnings')).toEqual([]);
  await api.post('/v1/contract-pricing/rate-cards/update', {
    rate_card_id: rateCardId,
    managed_pricing: {
      starting_at: '2026-11-01T00:00:00Z',
      markups: models.map(({ model }) => ({ model, markup: 0 })),
    },
  });
  expect((await draft()).at('data[0].total')).toBe(100 + 500_000 + 1_000_000);
}, 600_000);
