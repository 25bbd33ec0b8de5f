/** Composite products on invoices: drafts, breakdowns, finalized invoices, late usage, through the API. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Decimal, sum } from '../../src/core/decimal.ts';
import { ADD_RATES, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;
let unitId: string;
let customerId: string;
let rateCardId: string;
let supportId: string;
let platformId: string;

const JANUARY = '2026-01-01T00:00:00Z';

/**
 * Tokens at 0.01 credits, a credit at 2.5 cents; requests at 2 cents. Support is 10 % of both, then 5 %, and at
 * least 8 cents; the platform fee 50 % of support and requests.
 */
beforeEach(async () => {
  service = await startTestService({ usage: 'naive', sandboxNow: '2026-11-10T00:00:00Z' });
  const { api } = service;
  scenario = await createScenario(api, { alias: 'other' });
  customerId = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  unitId = await createdId(api, '/v1/credit-types/create', { name: 'AI credits' });
  rateCardId = await createdId(api, RATE_CARDS, {
    name: 'In credits',
    credit_type_conversions: [{ custom_credit_type_id: unitId, fiat_per_custom_credit: 2.5 }],
  });
  const { tokensProductId, requestsProductId } = scenario;
  supportId = await createdId(api, PRODUCTS, {
    name: 'Support',
    type: 'COMPOSITE',
    tags: ['help'],
    composite_product_ids: [tokensProductId, requestsProductId],
  });
  platformId = await createdId(api, PRODUCTS, {
    name: 'Platform',
    type: 'COMPOSITE',
    composite_product_ids: [requestsProductId],
    composite_tags: ['help'],
    include_composite_spend: true,
  });
  const rate = { starting_at: JANUARY, entitled: true };
  const flat = { ...rate, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: platformId, rate_type: 'PERCENTAGE', price: 0.5 },
      { ...flat, product_id: tokensProductId, price: 0.01, credit_type_id: unitId },
      {
        ...rate,
        product_id: supportId,
        rate_type: 'TIERED_PERCENTAGE',
        tiers: [{ size: 8, price: 0.1 }, { price: 0.05 }],
        minimum_config: { minimum: 8 },
      },
      { ...flat, product_id: requestsProductId, price: 2 },
    ],
  });
  await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
});
afterEach(() => service.close());

/** 10 credits for tokens, 4 cents for 2 requests. */
async function use(): Promise<void> {
  await service.api.post('/v1/ingest', [
    completion('ada', { id: 'u-1', at: '2026-11-03T10:00:00Z', tokens: 700 }),
    completion('ada', { id: 'u-2', at: '2026-11-05T11:30:00Z', tokens: 300 }),
  ]);
}

async function readInvoice() {
  const invoices = await service.api.get(`/v1/customers/${customerId}/invoices`);
  return service.api.get(`/v1/customers/${customerId}/invoices/${invoices.text('data[0].id')}`);
}

type Answer = Awaited<ReturnType<typeof readInvoice>>;

function described(answer: Answer, path: string): string[] {
  return answer.list(path).map((_, index) => {
    const at = `${path}[${index}]`;
    const [quantity, price, total] = ['quantity', 'unit_price', 'total'].map((name) =>
      answer.digits(`${at}.${name}`),
    );
    const tier = answer.at(`${at}.tier.level`);
    const unit = answer.text(`${at}.credit_type.name`);
    const level = tier === undefined ? '' : ` tier ${tier}`;
    return `${answer.text(`${at}.name`)}${level}: ${quantity} × ${price} = ${total} ${unit}`;
  });
}

async function lines(): Promise<string[]> {
  return described(await readInvoice(), 'data.line_items');
}

/** The sum of each line over all windows, and of the totals of the windows. */
async function breakdownSums(window_size: 'HOUR' | 'DAY'): Promise<Record<string, string>> {
  const sums = new Map<string, Decimal[]>();
  const add = (name: string, value: string) =>
    sums.set(name, [...(sums.get(name) ?? []), new Decimal(value)]);
  let next_page: string | undefined;
  do {
    const page = await service.api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
      query: {
        starting_on: '2026-11-01T00:00:00Z',
        ending_before: '2026-12-01T00:00:00Z',
        window_size,
        next_page,
      },
    });
    for (const index of page.list('data').keys()) {
      add('total', page.digits(`data[${index}].total`));
      for (const line of page.list(`data[${index}].line_items`).keys()) {
        const at = `data[${index}].line_items[${line}]`;
        const unit = page.text(`${at}.credit_type.name`);
        const tier = page.at(`${at}.tier.level`) ?? '';
        add(`${page.text(`${at}.name`)} ${tier} ${unit}`, page.digits(`${at}.total`));
      }
    }
    const cursor = page.at('next_page');
    next_page = typeof cursor === 'string' ? cursor : undefined;
  } while (next_page !== undefined);
  return Object.fromEntries([...sums].map(([name, values]) => [name, sum(values).toFixed()]));
}

/**
 * Lines of 0.9 credits of support, and of 4 cents of requests and 5.75 of support. 0.9 credits and 0.4 are 2.65
 * cents.
 */
const LINES = [
  'Platform: 0.9 × 0.5 = 0.45 AI credits',
  'Platform: 9.75 × 0.5 = 4.875 USD (cents)',
  'Tokens: 1000 × 0.01 = 10 AI credits',
  'Support tier 1: 8 × 0.1 = 0.8 AI credits',
  'Support tier 2: 2 × 0.05 = 0.1 AI credits',
  'Support tier 1: 4 × 0.1 = 0.4 USD (cents)',
  'Support (minimum): 1 × 5.35 = 5.35 USD (cents)',
  'Requests: 2 × 2 = 4 USD (cents)',
  'Conversion of AI credits: 11.35 × 2.5 = 28.375 USD (cents)',
];
const TOTAL = '43';

test('composites are billed in each unit, in their place on the card, and count in conversions and total', async () => {
  await use();
  expect(await lines()).toEqual(LINES);
  const invoice = await readInvoice();
  expect(invoice.digits('data.total')).toBe(TOTAL);
  for (const index of [0, 6]) {
    expect(invoice.at(`data.line_items[${index}]`)).toMatchObject({
      type: 'usage',
      product_id: index === 0 ? platformId : supportId,
      product_type: 'CompositeProductListItem',
      product_tags: index === 0 ? [] : ['help'],
      starting_at: '2026-11-01T00:00:00.000Z',
      ending_before: '2026-12-01T00:00:00.000Z',
    });
  }
});

const SUMS = {
  total: TOTAL,
  'Platform  AI credits': '0.45',
  'Platform  USD (cents)': '4.875',
  'Tokens  AI credits': '10',
  'Support 1 AI credits': '0.8',
  'Support 2 AI credits': '0.1',
  'Support 1 USD (cents)': '0.4',
  'Support (minimum)  USD (cents)': '5.35',
  'Requests  USD (cents)': '4',
  'Conversion of AI credits  USD (cents)': '28.375',
};

test('hours and days of a draft add up to it', async () => {
  await use();
  expect(await breakdownSums('HOUR')).toEqual(SUMS);
  expect(await breakdownSums('DAY')).toEqual(SUMS);
});

test('a finalized invoice, its hours and its days are what the draft was', async () => {
  await use();
  await service.moveClock('2026-12-02T00:00:00Z');
  await service.restart();
  const invoice = await readInvoice();
  expect(invoice.at('data.status')).toBe('FINALIZED');
  expect(invoice.digits('data.total')).toBe(TOTAL);
  expect(await lines()).toEqual(LINES);
  expect(await breakdownSums('HOUR')).toEqual(SUMS);
  expect(await breakdownSums('DAY')).toEqual(SUMS);
  expect(invoice.at('data.unbilled_late_usage')).toEqual([]);
});

test('late usage is reported with what composites would have charged for it, at the terms of the invoice', async () => {
  await service.moveClock('2026-12-02T00:00:00Z');
  expect((await readInvoice()).digits('data.total')).toBe('12');
  await service.api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { product_id: platformId, starting_at: JANUARY, entitled: true, rate_type: 'PERCENTAGE', price: 9 },
    ],
  });
  await use();
  const invoice = await readInvoice();
  const late = invoice.list('data.unbilled_late_usage').map((_, index) => {
    const at = `data.unbilled_late_usage[${index}]`;
    const [quantity, total] = ['quantity', 'total'].map((name) => invoice.digits(`${at}.${name}`));
    return `${invoice.text(`${at}.product_name`)}: ${quantity} = ${total} ${invoice.text(`${at}.credit_type.name`)}`;
  });
  expect(late).toEqual([
    'Platform: 0.9 = 0.45 AI credits',
    // The invoice has 50 % of a minimum of 8.
    'Platform: 1.75 = 0.875 USD (cents)',
    'Tokens: 1000 = 10 AI credits',
    'Support: 10 = 0.9 AI credits',
    // 0.4 more, and 2.65 less for the minimum.
    'Support: 4 = -2.25 USD (cents)',
    'Requests: 2 = 4 USD (cents)',
  ]);
});

test('a period without usage has the minimum, and one zero line of a composite without one', async () => {
  await service.api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { product_id: supportId, starting_at: JANUARY, entitled: true, rate_type: 'PERCENTAGE', price: 0.1 },
    ],
  });
  expect(await lines()).toEqual([
    'Platform: 0 × 0.5 = 0 USD (cents)',
    'Support: 0 × 0.1 = 0 USD (cents)',
    'Requests: 0 × 2 = 0 USD (cents)',
  ]);
});

test('overrides of the contract and new versions of the product change the draft', async () => {
  await use();
  await service.api.post('/v1/contract-pricing/products/update', {
    product_id: platformId,
    starting_at: '2026-11-04T00:00:00Z',
    include_composite_spend: false,
  });
  const contracts = await service.api.post('/v2/contracts/list', { customer_id: customerId });
  await service.api.post('/v2/contracts/edit', {
    customer_id: customerId,
    contract_id: contracts.text('data[0].id'),
    add_overrides: [
      { starting_at: '2026-11-01T00:00:00Z', product_id: supportId, entitled: false },
      {
        starting_at: '2026-11-05T00:00:00Z',
        type: 'OVERWRITE',
        product_id: platformId,
        overwrite_rate: { rate_type: 'PERCENTAGE', price: 2 },
      },
      { starting_at: '2026-11-01T00:00:00Z', type: 'MULTIPLIER', multiplier: 0.5 },
    ],
  });
  expect(await lines()).toEqual([
    // An override without a target halves the percentage, and what it is a percentage of.
    'Platform: 1 × 0.25 = 0.25 USD (cents)',
    'Platform: 1 × 2 = 2 USD (cents)',
    'Tokens: 1000 × 0.005 = 5 AI credits',
    'Requests: 2 × 1 = 2 USD (cents)',
    'Conversion of AI credits: 5 × 2.5 = 12.5 USD (cents)',
  ]);
});
