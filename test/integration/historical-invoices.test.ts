/** Historical invoices: usage invoices of quantities that the client gives, at the prices of their time. */
import Metronome from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { ADD_RATES, createCatalogueApi, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-05-10T00:00:00Z' });
const { api } = service;
const client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 1 });
const CREATE = '/v1/contracts/createHistoricalInvoices';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

let card: Scenario;
let customer_id = '';
let contract_id = '';
let people = 0;
beforeAll(async () => {
  card = await createScenario(api, { alias: 'catalogue', startingAt: '2026-05-01T00:00:00Z' });
  await client.v1.customFields.addKey({ entity: 'invoice', key: 'old_number', enforce_uniqueness: true });
});
beforeEach(async () => {
  people += 1;
  customer_id = await createdId(api, '/v1/customers', { name: `C${people}`, ingest_aliases: [`c${people}`] });
  contract_id = await createdId(api, '/v1/contracts/create', {
    customer_id,
    rate_card_id: card.rateCardId,
    starting_at: '2026-01-01T00:00:00Z',
    net_payment_terms_days: 30,
    usage_statement_schedule: {
      frequency: 'MONTHLY',
      invoice_generation_starting_at: '2026-05-01T00:00:00Z',
    },
  });
});

const JANUARY = { inclusive_start_date: '2026-01-01T00:00:00Z', exclusive_end_date: '2026-02-01T00:00:00Z' };
const FEBRUARY = { inclusive_start_date: '2026-02-01T00:00:00Z', exclusive_end_date: '2026-03-01T00:00:00Z' };
const day = (date: string, quantity: number) => ({
  inclusive_start_date: `2026-01-${date}T00:00:00Z`,
  exclusive_end_date: `2026-01-${String(Number(date) + 1).padStart(2, '0')}T00:00:00Z`,
  quantity,
});
const requests = (change: object = {}) => ({
  ...JANUARY,
  product_id: card.requestsProductId,
  quantity: 30,
  ...change,
});
const tokens = (change: object = {}) => ({
  ...JANUARY,
  product_id: card.tokensProductId,
  pricing_group_values: { model: 'large' },
  presentation_group_values: { region: 'eu' },
  quantity: 1500,
  ...change,
});
const invoice = (change: object = {}) => ({
  ...JANUARY,
  customer_id,
  contract_id,
  credit_type_id: USD,
  issue_date: '2026-02-02T00:00:00Z',
  usage_line_items: [requests()],
  ...change,
});
const create = (invoices: readonly object[], preview = false, via = api) =>
  via.send('POST', CREATE, { invoices, preview });
const invoices = async () =>
  (await client.v1.customers.invoices.list({ customer_id, limit: 100 })).data.filter(
    ({ start_timestamp }) => (start_timestamp ?? '') < '2026-05',
  );

const MARCH = { inclusive_start_date: '2026-03-01T00:00:00Z', exclusive_end_date: '2026-04-01T00:00:00Z' };

test('issued invoices have all of their lines in their order, also where a list has thousands', async () => {
  const withLines = (dates: object, count: number) =>
    invoice({
      ...dates,
      issue_date: '2026-05-02T00:00:00Z',
      usage_line_items: Array.from({ length: count }, (_, line) =>
        tokens({ ...dates, quantity: line + 1, presentation_group_values: { region: `region-${line}` } }),
      ),
    });
  const sent = [withLines(JANUARY, 999), withLines(FEBRUARY, 1_000), withLines(MARCH, 700)];
  const created = await api.post(CREATE, { invoices: sent, preview: false });
  const listed = await api.get(`/v1/customers/${customer_id}/invoices`, {
    query: { limit: 100, status: 'FINALIZED' },
  });
  const idsOf = (answer: typeof created, index: number) =>
    answer
      .list(`data[${index}].line_items`)
      .map((_, line) => answer.text(`data[${index}].line_items[${line}].id`));
  const wanted = new Map(created.list('data').map((_, at) => [created.text(`data[${at}].id`), at]));
  expect(wanted.size).toBe(sent.length);
  for (const [at] of listed.list('data').entries()) {
    expect(idsOf(listed, at)).toEqual(idsOf(created, wanted.get(listed.text(`data[${at}].id`)) ?? -1));
  }
});

describe('a historical invoice', () => {
  test('a historical invoice is issued with the prices of the contract, its date and its custom fields', async () => {
    const { data } = await client.v1.contracts.createHistoricalInvoices({
      preview: false,
      invoices: [
        invoice({
          usage_line_items: [
            tokens(),
            requests(),
            tokens({ quantity: 700, pricing_group_values: { model: 'small' } }),
          ],
          custom_fields: { old_number: `OLD-${people}` },
        }) as Metronome.V1.ContractCreateHistoricalInvoicesParams['invoices'][number],
      ],
    });
    expect(data).toMatchObject([
      {
        type: 'USAGE',
        status: 'FINALIZED',
        customer_id,
        contract_id,
        start_timestamp: '2026-01-01T00:00:00.000Z',
        end_timestamp: '2026-02-01T00:00:00.000Z',
        issued_at: '2026-02-02T00:00:00.000Z',
        custom_fields: { old_number: `OLD-${people}` },
        // 1000 × 0.03 + 500 × 0.02 + 700 × 0.005 + 30 × 2
        total: 103.5,
      },
    ]);
    const [one] = data;
    expect(
      one?.line_items.map(({ name, quantity, unit_price, total, tier }) => [
        name,
        quantity,
        unit_price,
        total,
        tier?.level,
      ]),
    ).toEqual([
      ['Requests', 30, 2, 60, undefined],
      ['Tokens', 1000, 0.03, 30, 1],
      ['Tokens', 500, 0.02, 10, 2],
      ['Tokens', 700, 0.005, 3.5, undefined],
    ]);
    const { data: read } = await client.v1.customers.invoices.retrieve({
      customer_id,
      invoice_id: one?.id ?? '',
    });
    expect(read).toMatchObject({ ...one, due_at: '2026-03-04T00:00:00.000Z' });
    expect(read).not.toHaveProperty('unbilled_late_usage');
  });

  test('a historical invoice has a breakdown by its subtotals, which add up to it', async () => {
    const subtotals = [day('03', 10), day('04', 0), day('20', 20)];
    await create([
      invoice({
        breakdown_granularity: 'DAY',
        usage_line_items: [requests({ subtotals_with_quantity: subtotals })],
      }),
    ]);
    const { data } = await client.v1.customers.invoices.listBreakdowns({
      customer_id,
      starting_on: '2026-01-01T00:00:00Z',
      ending_before: '2026-02-01T00:00:00Z',
      window_size: 'DAY',
    });
    const used = data.filter(({ total }) => total !== 0);
    expect(used.map((one) => [one.breakdown_start_timestamp?.slice(0, 10), one.total])).toEqual([
      ['2026-01-03', 20],
      ['2026-01-20', 40],
    ]);
    expect((await invoices())[0]).toMatchObject({ total: 60, line_items: [{ quantity: 30 }] });
  });

  test('a historical invoice has a line for each price of its subtotals, and tiers continue over all lines of a key', async () => {
    const contract = { customer_id, contract_id };
    await api.post('/v2/contracts/edit', {
      ...contract,
      add_overrides: [
        {
          starting_at: '2026-01-10T00:00:00Z',
          type: 'MULTIPLIER',
          multiplier: 0.5,
          product_id: card.requestsProductId,
        },
      ],
    });
    const answer = await create([
      invoice({
        breakdown_granularity: 'DAY',
        usage_line_items: [
          requests({ quantity: undefined, subtotals_with_quantity: [day('09', 10), day('10', 10)] }),
          tokens({ quantity: 900 }),
          tokens({ quantity: 200 }),
        ],
      }),
    ]);
    expect(
      answer.list('data[0].line_items').map((_, index) => {
        const line = `data[0].line_items[${index}]`;
        return [
          answer.text(`${line}.starting_at`).slice(0, 10),
          answer.digits(`${line}.quantity`),
          answer.digits(`${line}.unit_price`),
        ];
      }),
    ).toEqual([
      ['2026-01-01', '10', '2'],
      ['2026-01-10', '10', '1'],
      ['2026-01-01', '900', '0.03'],
      ['2026-01-01', '100', '0.03'],
      ['2026-01-01', '100', '0.02'],
    ]);
  });

  test('converts lines in a custom unit, also in its breakdown', async () => {
    const unit = await createdId(api, '/v1/credit-types/create', { name: `Coins ${people}` });
    const rate_card_id = await createdId(api, RATE_CARDS, {
      name: 'In coins',
      credit_type_conversions: [{ custom_credit_type_id: unit, fiat_per_custom_credit: 2.5 }],
    });
    const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT', price: 3 };
    await api.post(ADD_RATES, {
      rate_card_id,
      rates: [{ ...rate, product_id: card.requestsProductId, credit_type_id: unit }],
    });
    contract_id = await createdId(api, '/v1/contracts/create', {
      customer_id,
      rate_card_id,
      starting_at: '2026-01-01T00:00:00Z',
      usage_statement_schedule: {
        frequency: 'MONTHLY',
        invoice_generation_starting_at: '2026-05-01T00:00:00Z',
      },
    });
    const answer = await create([invoice({ usage_line_items: [requests({ quantity: 4 })] })]);
    expect(answer.digits('data[0].total')).toBe('30');
    expect(answer.at('data[0].line_items')).toMatchObject([
      { type: 'usage', credit_type: { id: unit } },
      { type: 'cpu_conversion', converted_credit_type: { id: unit }, credit_type: { id: USD } },
    ]);
    const { data } = await client.v1.customers.invoices.listBreakdowns({
      customer_id,
      starting_on: '2026-01-01T00:00:00Z',
      ending_before: '2026-02-01T00:00:00Z',
      window_size: 'DAY',
    });
    expect(data.filter(({ total }) => total !== 0).map((one) => one.total)).toEqual([30]);
  });

  test('a historical invoice does not move the start of billing from events', async () => {
    await api.post('/v1/ingest', [
      completion(`c${people}`, { id: `a${people}`, at: '2026-05-02T10:00:00Z', tokens: 1 }),
      completion(`c${people}`, { id: `b${people}`, at: '2026-04-20T10:00:00Z', tokens: 1 }),
    ]);
    await create([invoice()]);
    const { data } = await client.v1.customers.invoices.list({ customer_id });
    expect(data.map((one) => [one.status, one.start_timestamp, one.total])).toEqual([
      ['FINALIZED', '2026-01-01T00:00:00.000Z', 60],
      ['DRAFT', '2026-05-01T00:00:00.000Z', expect.any(Number)],
    ]);
    expect(data[1]?.line_items.find(({ name }) => name === 'Requests')?.quantity).toBe(1);
  });

  test('a historical invoice never changes when prices do; it can be voided and created again, but not regenerated', async () => {
    await create([invoice()]);
    // It has its number.
    await service.moveClock('2026-05-10T00:00:00Z');
    const [first] = await invoices();
    await api.post('/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_overrides: [
        {
          starting_at: '2026-01-01T00:00:00Z',
          type: 'MULTIPLIER',
          multiplier: 0.5,
          product_id: card.requestsProductId,
        },
      ],
    });
    expect(await invoices()).toEqual([first]);
    await client.v1.invoices.void({ id: first?.id ?? '' });
    const regenerated = await api.send('POST', '/v1/invoices/regenerate', { id: first?.id });
    expect([regenerated.status, regenerated.text('message')]).toEqual([
      400,
      `invoice ${first?.id} was not computed from events: create the historical invoice again`,
    ]);
    expect((await create([invoice({ usage_line_items: [requests({ quantity: 1 })] })])).status).toBe(200);
    expect((await invoices()).map(({ status, total }) => [status, total]).toSorted()).toEqual([
      ['FINALIZED', 1],
      ['VOID', 60],
    ]);
  });
});

/** The ids of lines depend on that of their invoice, which a preview does not have. */
function withoutLineIds(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"id":"[^"]*","name"/g, '"name"');
}

test('a preview answers the same as drafts, and stores nothing', async () => {
  const wanted = [invoice(), invoice({ ...FEBRUARY, usage_line_items: [requests(FEBRUARY)] })];
  const preview = await create(wanted, true);
  expect(await invoices()).toEqual([]);
  const created = await create(wanted);
  for (const index of [0, 1]) {
    expect(preview.text(`data[${index}].status`)).toBe('DRAFT');
    for (const member of ['total', 'line_items', 'issued_at', 'start_timestamp']) {
      const path = `data[${index}].${member}`;
      expect(withoutLineIds(preview.at(path))).toBe(withoutLineIds(created.at(path)));
    }
  }
  expect((await create(wanted, true)).status).toBe(400);
});

describe('it is refused, and nothing is stored,', () => {
  const line = (change: object) => ({ usage_line_items: [requests(change)] });
  test.each([
    [
      'a time that begins before the contract',
      () => ({ inclusive_start_date: '2025-12-31T00:00:00Z' }),
      'inclusive_start_date: must not be before',
    ],
    [
      'a time after the start of invoice generation',
      () => ({ inclusive_start_date: '2026-04-30T00:00:00Z', exclusive_end_date: '2026-05-01T01:00:00Z' }),
      'exclusive_end_date: must not be after',
    ],
    [
      'an empty time',
      () => ({ exclusive_end_date: JANUARY.inclusive_start_date }),
      'exclusive_end_date: must be after inclusive_start_date',
    ],
    [
      'an issue date of the future',
      () => ({ issue_date: '2026-05-11T00:00:00Z' }),
      'issue_date: must not be after the present',
    ],
    ['another currency', () => ({ credit_type_id: newId() }), 'credit_type_id: must be'],
    ['no lines', () => ({ usage_line_items: [] }), 'usage_line_items'],
    [
      'a line outside the invoice',
      () => line(FEBRUARY),
      'usage_line_items[0].exclusive_end_date: must not be after the invoice ends',
    ],
    [
      'an unknown product',
      () => line({ product_id: newId() }),
      'usage_line_items[0].product_id: the rate card of the contract has no usage product',
    ],
    [
      'no quantity',
      () => line({ quantity: undefined }),
      'usage_line_items[0].quantity: is required without subtotals_with_quantity',
    ],
    ['a negative quantity', () => line({ quantity: -1 }), 'usage_line_items[0].quantity: must be at least 0'],
    [
      'group values that the product does not have',
      () => line({ pricing_group_values: { model: 'large' } }),
      'usage_line_items[0].pricing_group_values: must have a value for each',
    ],
    [
      'missing group values',
      () => ({ usage_line_items: [tokens({ presentation_group_values: {} })] }),
      'usage_line_items[0].presentation_group_values: must have',
    ],
    [
      'a price that there is not',
      () => ({ usage_line_items: [tokens({ pricing_group_values: { model: 'huge' } })] }),
      'usage_line_items[0]: has no rate at 2026-01-01',
    ],
    [
      'subtotals without a granularity',
      () => line({ subtotals_with_quantity: [day('03', 30)] }),
      'breakdown_granularity: is required with subtotals',
    ],
    [
      'a subtotal of two days',
      () => ({
        breakdown_granularity: 'DAY',
        ...line({
          subtotals_with_quantity: [{ ...day('03', 30), exclusive_end_date: '2026-01-05T00:00:00Z' }],
        }),
      }),
      'subtotals_with_quantity[0].exclusive_end_date: must lie within the day',
    ],
    [
      'a day as a subtotal of hours',
      () => ({ breakdown_granularity: 'HOUR', ...line({ subtotals_with_quantity: [day('03', 30)] }) }),
      'subtotals_with_quantity[0].exclusive_end_date: must lie within the hour',
    ],
    [
      'subtotals out of order',
      () => ({
        breakdown_granularity: 'DAY',
        ...line({ subtotals_with_quantity: [day('04', 15), day('03', 15)] }),
      }),
      'subtotals_with_quantity[1].inclusive_start_date: must not be before',
    ],
    [
      'a quantity that is not the sum',
      () => ({ breakdown_granularity: 'DAY', ...line({ subtotals_with_quantity: [day('04', 29)] }) }),
      'usage_line_items[0].quantity: must be the sum of subtotals_with_quantity',
    ],
    [
      'an undeclared custom field',
      () => ({ custom_fields: { nobody: 'x' } }),
      'custom_fields.nobody: is not a declared custom field',
    ],
  ])('it is refused, and nothing is stored, with %s', async (_, change, message) => {
    const refused = await create([
      invoice({ ...FEBRUARY, usage_line_items: [requests(FEBRUARY)] }),
      invoice(change()),
    ]);
    expect(refused.text('message')).toContain(message);
    expect(refused.text('message')).toContain('invoices[1]');
    expect(refused.status).toBe(400);
    expect(await invoices()).toEqual([]);
  });

  test('it is refused, and nothing is stored, where the price changes within a quantity', async () => {
    await api.post('/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_overrides: [
        {
          starting_at: '2026-01-10T00:00:00Z',
          type: 'MULTIPLIER',
          multiplier: 0.5,
          product_id: card.requestsProductId,
        },
      ],
    });
    const refused = await create([invoice()]);
    expect([refused.status, refused.text('message')]).toEqual([
      400,
      'invoices[0].usage_line_items[0]: has another price from 2026-01-10T00:00:00.000Z on: split the quantity there',
    ]);
  });

  test('it is refused, and nothing is stored, where the contract invoices all its usage from events, or is archived', async () => {
    const other = { customer_id: card.customerId, contract_id: card.contractId };
    expect((await create([invoice(other)])).text('message')).toContain('has no start of invoice generation');
    await api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false });
    expect((await create([invoice()])).text('message')).toContain('is archived');
  });

  test('it is refused, and nothing is stored, with an unknown contract or customer, which answers 404', async () => {
    expect((await create([invoice({ contract_id: newId() })])).status).toBe(404);
    expect((await create([invoice({ customer_id: newId() })])).status).toBe(404);
  });

  test('it is refused, and nothing is stored, where its time overlaps that of another one', async () => {
    const half = {
      inclusive_start_date: '2026-01-15T00:00:00Z',
      usage_line_items: [requests({ inclusive_start_date: '2026-01-15T00:00:00Z' })],
    };
    expect((await create([invoice(), invoice(half)])).text('message')).toBe(
      'invoices[1].inclusive_start_date: its time overlaps that of invoices[0]',
    );
    await create([invoice()]);
    const [stored] = await invoices();
    expect((await create([invoice(half)])).text('message')).toBe(
      `invoices[0].inclusive_start_date: its time overlaps that of invoice ${stored?.id}`,
    );
    expect(await invoices()).toHaveLength(1);
  });

  test('it is refused, and nothing is stored, with a unique custom field that another invoice has, which answers 409', async () => {
    const custom_fields = { old_number: `TAKEN-${people}` };
    await create([invoice({ custom_fields })]);
    const taken = await create([
      invoice({ ...FEBRUARY, usage_line_items: [requests(FEBRUARY)], custom_fields }),
    ]);
    expect(taken.status).toBe(409);
    expect(await invoices()).toHaveLength(1);
  });
});

test('the same one is created once by many requests to two services at the same time', async () => {
  const other = createCatalogueApi(service.db, {
    now: Date.UTC(2026, 4, 10),
    clickhouse: service.clickhouse,
  });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => create([invoice()], false, index % 2 === 0 ? api : other)),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(11).fill(400)]);
  expect((await invoices()).map(({ total }) => total)).toEqual([60]);
});
