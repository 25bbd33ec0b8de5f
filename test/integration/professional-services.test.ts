/** Professional services of contracts, and the invoices that are requested of them. */
import Metronome from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
const SCHEDULE = '/v1/contracts/scheduleProServicesInvoice';

let consulting = '';
let fee = '';
let customer_id = '';
let contract_id = '';
let service_id = '';
let people = 0;
beforeAll(async () => {
  const products = '/v1/contract-pricing/products/create';
  consulting = await createdId(api, products, { name: 'Consulting', type: 'PRO_SERVICE' });
  fee = await createdId(api, products, { name: 'Fee', type: 'FIXED' });
  const entity: string = 'professional_service';
  await api.post('/v1/customFields/addKey', { entity, key: 'team', enforce_uniqueness: false });
});
beforeEach(async () => {
  people += 1;
  customer_id = await createdId(api, '/v1/customers', { name: `Customer ${people}` });
  const { data } = await client.v1.contracts.create({
    customer_id,
    starting_at: '2026-01-01T00:00:00Z',
    net_payment_terms_days: 30,
    professional_services: [
      {
        product_id: consulting,
        description: 'Onboarding',
        unit_price: 100,
        quantity: 5,
        max_amount: 1000,
        custom_fields: { team: 'red' },
      },
    ],
  });
  contract_id = data.id;
  service_id = (await services())[0]?.id ?? '';
});

async function services() {
  const { data } = await client.v2.contracts.retrieve({ customer_id, contract_id });
  return data.professional_services ?? [];
}
const settle = async () =>
  service.moveClock(await api.get('/v1/sandbox/clock').then((answer) => answer.text('data.now')));
const request = (issued_at: string, lines: readonly object[], via = api) =>
  via.send('POST', SCHEDULE, {
    customer_id,
    contract_id,
    issued_at,
    line_items: lines.map((line) => ({ professional_service_id: service_id, ...line })),
  });
const invoices = async () => (await client.v1.customers.invoices.list({ customer_id, limit: 100 })).data;
const totals = async () =>
  (await invoices()).map(({ issued_at, status, total }) => `${issued_at?.slice(0, 10)} ${status} ${total}`);

describe('a professional service', () => {
  test('a professional service is shown by v1 and v2, and is invoiced only on request', async () => {
    const shown = {
      product_id: consulting,
      description: 'Onboarding',
      unit_price: 100,
      quantity: 5,
      max_amount: 1000,
      custom_fields: { team: 'red' },
    };
    expect(await services()).toMatchObject([shown]);
    const { data } = await client.v1.contracts.retrieve({ customer_id, contract_id });
    expect(data.current.professional_services).toMatchObject([shown]);
    await settle();
    expect(await invoices()).toEqual([]);
  });

  test('a professional service is added by an edit and by an amendment, and the history shows it', async () => {
    const term = { product_id: consulting, unit_price: 1, quantity: 2, max_amount: 3 };
    const { data } = await client.v2.contracts.edit({
      customer_id,
      contract_id,
      add_professional_services: [term],
    });
    expect(data.edit?.add_pro_services).toMatchObject([term]);
    await client.v1.contracts.amend({
      customer_id,
      contract_id,
      starting_at: '2026-02-01T00:00:00Z',
      professional_services: [term],
    });
    expect((await services()).map(({ max_amount }) => max_amount)).toEqual([1000, 3, 3]);
    const { data: old } = await client.v1.contracts.retrieve({ customer_id, contract_id });
    expect(old.amendments[0]?.professional_services).toMatchObject([term]);
    expect(old.initial.professional_services).toHaveLength(1);
  });

  test.each([
    [
      'a product of another type',
      () => ({ product_id: fee }),
      'product_id: must be a PROFESSIONAL_SERVICE product, not FIXED',
    ],
    ['an unknown product', () => ({ product_id: customer_id }), 'product_id: product'],
    ['a negative maximum', () => ({ max_amount: -1 }), 'max_amount: must be at least 0'],
    ['a negative price', () => ({ unit_price: -1 }), 'unit_price: must be at least 0'],
  ])('a professional service is refused with %s, and nothing is stored', async (_, change, message) => {
    const refused = await api.send('POST', '/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_professional_services: [
        { product_id: consulting, unit_price: 1, quantity: 2, max_amount: 3, ...change() },
      ],
    });
    expect(refused.status).toBe(400);
    expect(refused.text('message')).toContain(`add_professional_services[0].${message}`);
    expect(await services()).toHaveLength(1);
  });
});

describe('an invoice of professional services', () => {
  test('an invoice of professional services is a separate draft until its date, and is issued then under the same id', async () => {
    await api.post('/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_scheduled_charges: [
        { product_id: fee, schedule: { schedule_items: [{ timestamp: '2026-02-01T00:00:00Z', amount: 7 }] } },
      ],
    });
    const { data } = await client.v1.contracts.scheduleProServicesInvoice({
      customer_id,
      contract_id,
      issued_at: '2026-02-01T00:00:00Z',
      line_items: [
        { professional_service_id: service_id, quantity: 2, metadata: 'two days' },
        { professional_service_id: service_id, quantity: 2.5, unit_price: 80 },
        { professional_service_id: service_id, amount: 50 },
      ],
    });
    expect(data).toMatchObject([
      {
        type: 'SCHEDULED',
        status: 'DRAFT',
        issued_at: '2026-02-01T00:00:00.000Z',
        total: 450,
        line_items: [
          {
            type: 'scheduled',
            name: 'Consulting',
            product_type: 'ProServiceProductListItem',
            professional_service_id: service_id,
            professional_service_custom_fields: { team: 'red' },
            quantity: 2,
            unit_price: 100,
            total: 200,
            metadata: 'two days',
          },
          { quantity: 2.5, unit_price: 80, total: 200 },
          { quantity: 1, unit_price: 50, total: 50 },
        ],
      },
    ]);
    expect((await totals()).toSorted()).toEqual(['2026-02-01 DRAFT 450', '2026-02-01 DRAFT 7']);
    await service.moveClock('2026-02-01T00:00:00Z');
    const issued = (await invoices()).find(({ id }) => id === data[0]?.id);
    expect(issued).toMatchObject({ ...data[0], status: 'FINALIZED', invoice_number: expect.anything() });
  });

  test('an invoice of professional services of the past is issued at once', async () => {
    await request('2026-01-05T00:00:00Z', [{ amount: 10 }]);
    await settle();
    expect(await totals()).toEqual(['2026-01-05 FINALIZED 10']);
  });

  test('an invoice of professional services is in the history, and an earlier end of the contract takes back what is not issued', async () => {
    const answer = await request('2028-02-01T00:00:00Z', [{ amount: 600 }]);
    const id = answer.text('data[0].id');
    const history = await api.post('/v2/contracts/getEditHistory', { customer_id, contract_id });
    expect(history.at('data[0].schedule_pro_services_invoice')).toEqual({ id });
    await api.post('/v1/contracts/updateEndDate', {
      customer_id,
      contract_id,
      ending_before: '2028-01-01T00:00:00Z',
    });
    expect(await totals()).toEqual([]);
    expect((await request('2027-12-01T00:00:00Z', [{ amount: 1000 }])).status).toBe(200);
  });

  test('an invoice of professional services is regenerated after it was voided, and its amounts count towards the maximum all the time', async () => {
    await request('2026-01-05T00:00:00Z', [{ amount: 900, metadata: 'kept' }]);
    await settle();
    const [first] = await invoices();
    await client.v1.invoices.void({ id: first?.id ?? '' });
    expect((await request('2026-01-05T00:00:00Z', [{ amount: 101 }])).status).toBe(400);
    const { data } = await client.v1.invoices.regenerate({ id: first?.id ?? '' });
    const { data: again } = await client.v1.customers.invoices.retrieve({
      customer_id,
      invoice_id: data?.id ?? '',
    });
    expect(again).toMatchObject({
      total: 900,
      line_items: [{ metadata: 'kept', professional_service_id: service_id }],
    });
  });

  test.each([
    [
      'more than the maximum',
      [{ amount: 400 }, { amount: 600.01 }],
      'line_items[1]: brings professional service',
    ],
    ['no amount', [{}], 'line_items[0].amount: is required without unit_price and quantity'],
    ['a price alone', [{ unit_price: 1 }], 'line_items[0].quantity: is required with unit_price'],
    ['an amount and a quantity', [{ amount: 1, quantity: 1 }], 'line_items[0].'],
    ['a negative amount', [{ amount: -1 }], 'line_items[0].amount: must be at least 0'],
    ['no lines', [], 'line_items'],
  ])(
    'an invoice of professional services is refused with %s, and nothing is invoiced',
    async (_, lines, message) => {
      const refused = await request('2027-01-01T00:00:00Z', lines);
      expect(refused.status).toBe(400);
      expect(refused.text('message')).toContain(message);
      expect(await invoices()).toEqual([]);
    },
  );

  test('an invoice of professional services answers 404 for an unknown contract, customer or service', async () => {
    const id = newId();
    const unknownService = await request('2027-01-01T00:00:00Z', [
      { professional_service_id: id, amount: 1 },
    ]);
    expect([unknownService.status, unknownService.text('message')]).toEqual([
      404,
      `line_items[0].professional_service_id: the contract has no professional service ${id}`,
    ]);
    const body = {
      customer_id,
      contract_id,
      issued_at: '2027-01-01T00:00:00Z',
      line_items: [{ professional_service_id: service_id, amount: 1 }],
    };
    expect((await api.send('POST', SCHEDULE, { ...body, contract_id: id })).status).toBe(404);
    expect((await api.send('POST', SCHEDULE, { ...body, customer_id: id })).status).toBe(404);
    expect(await invoices()).toEqual([]);
  });

  test('an invoice of professional services: of requests at the same time, through two services, no more are accepted than the maximum allows', async () => {
    const other = createCatalogueApi(service.db);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        request('2027-01-01T00:00:00Z', [{ amount: 300 }], index % 2 === 0 ? api : other),
      ),
    );
    const made = answers.filter(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, ...Array(7).fill(400)]);
    expect((await invoices()).map(({ id }) => id).toSorted()).toEqual(
      made.map((answer) => answer.text('data[0].id')).toSorted(),
    );
  });
});
