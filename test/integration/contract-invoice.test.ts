/** The effects of a contract's own terms on its invoice: overrides and usage filters, through the API. */
import { beforeAll, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile();
let scenario: Scenario;
/** A card with tokens alone: every metric of a usage filter has to know the filter's property. */
let tokensOnlyCardId: string;

beforeAll(async () => {
  scenario = await createScenario(service.api, { alias: 'terms' });
  tokensOnlyCardId = await createdId(service.api, '/v1/contract-pricing/rate-cards/create', {
    name: 'Tokens only',
  });
  await service.api.post('/v1/contract-pricing/rate-cards/addRate', {
    rate_card_id: tokensOnlyCardId,
    product_id: scenario.tokensProductId,
    starting_at: '2026-01-01T00:00:00Z',
    entitled: true,
    rate_type: 'FLAT',
    price: 0.03,
  });
  await service.api.post('/v1/ingest', [
    completion('terms', { id: 't-1', at: '2026-11-02T10:00:00Z', tokens: 100 }),
    completion('terms', { id: 't-2', at: '2026-11-03T10:00:00Z', tokens: 100, region: 'us' }),
    completion('terms', { id: 't-3', at: '2026-11-08T10:00:00Z', tokens: 100 }),
    completion('terms', { id: 't-4', at: '2026-11-08T11:00:00Z', tokens: 100, model: 'small' }),
  ]);
});

/** `quantity × unit price` of the token lines of a new contract with these terms, by start. */
async function tokenLines(terms: object): Promise<string[]> {
  const { api } = service;
  const created = await api.post('/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
  return await linesOf(created.text('data.id'));
}

async function linesOf(contractId: string): Promise<string[]> {
  const invoices = await service.api.get(`/v1/customers/${scenario.customerId}/invoices`, {
    query: { contract_id: contractId },
  });
  return invoices.list('data[0].line_items').flatMap((_, index) => {
    const at = `data[0].line_items[${index}]`;
    if (invoices.text(`${at}.name`) !== 'Tokens') return [];
    const { model } = invoices.at(`${at}.pricing_group_values`) as { model: string };
    const { region } = invoices.at(`${at}.presentation_group_values`) as { region: string };
    const day = invoices.text(`${at}.starting_at`).slice(8, 10);
    return [
      `${day} ${model} ${region} ${invoices.digits(`${at}.quantity`)} × ${invoices.digits(`${at}.unit_price`)}`,
    ];
  });
}

it('an invoice of a contract bills list prices without further terms', async () => {
  expect(await tokenLines({})).toEqual([
    '01 large eu 200 × 0.03',
    '01 large us 100 × 0.03',
    '01 small eu 100 × 0.005',
  ]);
});

it('applies an override from its start on, to the values it names only', async () => {
  const overrides = [
    {
      type: 'MULTIPLIER',
      multiplier: 0.5,
      starting_at: '2026-11-05T00:00:00Z',
      override_specifiers: [
        { product_id: scenario.tokensProductId, pricing_group_values: { model: 'large' } },
      ],
    },
  ];
  expect(await tokenLines({ overrides })).toEqual([
    '01 large eu 100 × 0.03',
    '01 large us 100 × 0.03',
    '01 small eu 100 × 0.005',
    '05 large eu 100 × 0.015',
  ]);
});

it('an invoice of a contract bills only the usage that passes its usage filter', async () => {
  const usage_filter = {
    group_key: 'region',
    group_values: ['us'],
    starting_at: '2026-11-01T00:00:00Z',
  };
  expect(await tokenLines({ rate_card_id: tokensOnlyCardId, usage_filter })).toEqual([
    '01 large us 100 × 0.03',
  ]);
});

it('splits the lines where the usage filter changes', async () => {
  const created = await service.api.post('/v1/contracts/create', {
    customer_id: scenario.customerId,
    rate_card_id: tokensOnlyCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const contractId = created.text('data.id');
  await service.api.post('/v1/contracts/setUsageFilter', {
    customer_id: scenario.customerId,
    contract_id: contractId,
    group_key: 'region',
    group_values: ['us'],
    starting_at: '2026-11-05T00:00:00Z',
  });
  expect(await linesOf(contractId)).toEqual(['01 large eu 100 × 0.03', '01 large us 100 × 0.03']);
});
