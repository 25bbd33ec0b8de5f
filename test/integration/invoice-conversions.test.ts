/** Usage priced in a custom pricing unit, on the invoice: listed in the unit, and billed in the currency. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Decimal, sum } from '../../src/core/decimal.ts';
import { ADD_RATES, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;
let unitId: string;
let customerId: string;
let rateCardId: string;

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
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: scenario.tokensProductId, price: 0.01, credit_type_id: unitId },
      { ...rate, product_id: scenario.requestsProductId, price: 2 },
    ],
  });
  await createdId(api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
});
afterEach(() => service.close());

/** 2 requests, and 700 + 300 tokens at 0.01 credits, a credit at 2.5 cents. */
async function use(): Promise<void> {
  await service.api.post('/v1/ingest', [
    completion('ada', { id: 'u-1', at: '2026-11-03T10:00:00Z', tokens: 700 }),
    completion('ada', { id: 'u-2', at: '2026-11-05T11:30:00Z', tokens: 300, region: 'us' }),
  ]);
}

/** The period that has usage, as a draft or issued. */
async function readInvoice() {
  const invoices = await service.api.get(`/v1/customers/${customerId}/invoices`);
  return service.api.get(`/v1/customers/${customerId}/invoices/${invoices.text('data[0].id')}`);
}

async function lines(): Promise<string[]> {
  const invoice = await readInvoice();
  return invoice.list('data.line_items').map((_, index) => {
    const at = `data.line_items[${index}]`;
    const [quantity, price, total] = ['quantity', 'unit_price', 'total'].map((name) =>
      invoice.digits(`${at}.${name}`),
    );
    const unit = invoice.text(`${at}.credit_type.name`);
    return `${invoice.text(`${at}.name`)}: ${quantity} × ${price} = ${total} ${unit}`;
  });
}

/** Sums of the totals of all windows, of the conversions in them, and of the tokens in credits. */
async function breakdownSums(window_size: 'HOUR' | 'DAY'): Promise<string[]> {
  const sums: Decimal[][] = [[], [], []];
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
      sums[0]?.push(new Decimal(page.digits(`data[${index}].total`)));
      for (const line of page.list(`data[${index}].line_items`).keys()) {
        const at = `data[${index}].line_items[${line}]`;
        const total = new Decimal(page.digits(`${at}.total`));
        if (page.text(`${at}.type`) === 'cpu_conversion') sums[1]?.push(total);
        else if (page.text(`${at}.credit_type.id`) === unitId) sums[2]?.push(total);
      }
    }
    const cursor = page.at('next_page');
    next_page = typeof cursor === 'string' ? cursor : undefined;
  } while (next_page !== undefined);
  return sums.map((values) => sum(values).toFixed());
}

const LINES = [
  'Tokens: 700 × 0.01 = 7 AI credits',
  'Tokens: 300 × 0.01 = 3 AI credits',
  'Requests: 2 × 2 = 4 USD (cents)',
  'Conversion of AI credits: 10 × 2.5 = 25 USD (cents)',
];

test('one line converts the lines in the unit, stands last, and counts in the total in their stead', async () => {
  await use();
  expect(await lines()).toEqual(LINES);
  const invoice = await readInvoice();
  expect(invoice.digits('data.total')).toBe('29');
  expect(invoice.digits('data.subtotal')).toBe('29');
  const conversion = 'data.line_items[3]';
  expect(invoice.at(conversion)).toMatchObject({
    type: 'cpu_conversion',
    converted_credit_type: { id: unitId, name: 'AI credits' },
    starting_at: '2026-11-01T00:00:00.000Z',
    ending_before: '2026-12-01T00:00:00.000Z',
  });
  for (const name of ['product_id', 'product_type', 'product_tags', 'pricing_group_values', 'tier']) {
    expect(invoice.at(`${conversion}.${name}`)).toBeUndefined();
  }
});

test('hours and days carry their share of the conversion, and add up to the total', async () => {
  await use();
  expect(await breakdownSums('HOUR')).toEqual(['29', '25', '10']);
  expect(await breakdownSums('DAY')).toEqual(['29', '25', '10']);
});

test('lines, conversion and breakdown of a finalized invoice stay as the draft was', async () => {
  await use();
  const [draft, days] = [await lines(), await breakdownSums('DAY')];
  await service.moveClock('2026-12-02T00:00:00Z');
  await service.restart();
  const invoice = await readInvoice();
  expect(invoice.at('data.status')).toBe('FINALIZED');
  expect(invoice.digits('data.total')).toBe('29');
  expect(await lines()).toEqual(draft);
  expect(await breakdownSums('DAY')).toEqual(days);
  expect(await breakdownSums('HOUR')).toEqual(days);
});

test('a unit in which nothing was used has no conversion', async () => {
  expect(await lines()).toEqual(['Requests: 0 × 2 = 0 USD (cents)']);
});

test('usage that is late for its invoice is priced in its unit', async () => {
  await service.moveClock('2026-12-02T00:00:00Z');
  await use();
  const invoice = await readInvoice();
  expect(invoice.digits('data.total')).toBe('0');
  const late = invoice.list('data.unbilled_late_usage').map((_, index) => {
    const at = `data.unbilled_late_usage[${index}]`;
    const [quantity, total] = ['quantity', 'total'].map((name) => invoice.digits(`${at}.${name}`));
    return `${invoice.text(`${at}.product_name`)}: ${quantity} = ${total} ${invoice.text(`${at}.credit_type.name`)}`;
  });
  expect(late).toEqual([
    'Tokens: 700 = 7 AI credits',
    'Tokens: 300 = 3 AI credits',
    'Requests: 2 = 4 USD (cents)',
  ]);
});

test('an override can bring another unit onto the invoice', async () => {
  await use();
  const other = await createdId(service.api, '/v1/credit-types/create', { name: 'Compute units' });
  await service.api.post('/v1/contract-pricing/rate-cards/update', {
    rate_card_id: rateCardId,
    add_credit_type_conversions: [{ custom_credit_type_id: other, fiat_per_custom_credit: 0.5 }],
  });
  const contracts = await service.api.post('/v2/contracts/list', { customer_id: customerId });
  await service.api.post('/v2/contracts/edit', {
    customer_id: customerId,
    contract_id: contracts.text('data[0].id'),
    add_overrides: [
      {
        starting_at: '2026-11-04T00:00:00Z',
        type: 'OVERWRITE',
        override_specifiers: [
          { product_id: scenario.tokensProductId, pricing_group_values: { model: 'large' } },
        ],
        overwrite_rate: { rate_type: 'FLAT', price: 0.1, credit_type_id: other },
      },
    ],
  });
  expect(await lines()).toEqual([
    'Tokens: 700 × 0.01 = 7 AI credits',
    'Tokens: 300 × 0.1 = 30 Compute units',
    'Requests: 2 × 2 = 4 USD (cents)',
    'Conversion of AI credits: 7 × 2.5 = 17.5 USD (cents)',
    'Conversion of Compute units: 30 × 0.5 = 15 USD (cents)',
  ]);
  expect((await readInvoice()).digits('data.total')).toBe('36.5');
});

test('skip_zero_qty_line_items leaves a conversion of nothing out', async () => {
  await use();
  await service.api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      {
        product_id: scenario.tokensProductId,
        starting_at: '2026-01-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        price: 0,
        credit_type_id: unitId,
      },
    ],
  });
  expect((await lines()).at(-1)).toBe('Conversion of AI credits: 0 × 2.5 = 0 USD (cents)');
  const invoices = await service.api.get(`/v1/customers/${customerId}/invoices`, {
    query: { skip_zero_qty_line_items: true },
  });
  const types = invoices
    .list('data[0].line_items')
    .map((_, index) => invoices.text(`data[0].line_items[${index}].type`));
  expect(types).toEqual(['usage', 'usage', 'usage']);
});

test('a balance has the deduction of what it pays of a conversion on a draft', async () => {
  const { api } = service;
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Prepaid',
    type: 'FIXED',
  });
  const november = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
  await createdId(api, '/v1/contracts/customerCredits/create', {
    ...{ customer_id: customerId, product_id, name: 'Trial', priority: 1 },
    access_schedule: { schedule_items: [{ amount: 100, ...november }] },
  });
  await use();
  const invoice = await readInvoice();
  const applied = invoice
    .list('data.line_items')
    .flatMap((_, index) =>
      invoice.text(`data.line_items[${index}].type`) === 'applied_commit_or_credit'
        ? [new Decimal(invoice.digits(`data.line_items[${index}].total`))]
        : [],
    );
  expect(applied.map(String)).toEqual(['-4', '-25']);
  const balances = await api.post('/v1/contracts/customerBalances/list', {
    customer_id: customerId,
    include_balance: true,
  });
  expect(balances.digits('data[0].balance')).toBe(`${new Decimal('100').plus(sum(applied))}`);
});
