/** Discounts of contracts: scheduled amounts that reduce, on the same path as scheduled charges. */
import Metronome from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ usage: 'naive', sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const client = new Metronome({ baseURL: service.url, bearerToken: service.token });

let fee = '';
let customer = '';
let people = 0;
beforeAll(async () => {
  fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  for (const [entity, key] of [
    ['discount', 'reason'],
    ['scheduled_charge', 'order'],
    ['commit', 'deal'],
    ['contract_product', 'sku'],
  ] as const) {
    await client.v1.customFields.addKey({ entity, key, enforce_uniqueness: false });
  }
  await client.v1.customFields.setValues({
    entity: 'contract_product',
    entity_id: fee,
    custom_fields: { sku: 'F1' },
  });
});
beforeEach(async () => {
  people += 1;
  customer = await createdId(api, '/v1/customers', { name: `Customer ${people}` });
});

const at = (timestamp: string, amount: number) => ({ timestamp, amount });
const term = (items: readonly ReturnType<typeof at>[], change: object = {}) => ({
  product_id: fee,
  schedule: { schedule_items: [...items] },
  ...change,
});
const contractWith = (terms: object) =>
  createdId(api, '/v1/contracts/create', {
    customer_id: customer,
    starting_at: '2026-01-01T00:00:00Z',
    ...terms,
  });
const settle = async () =>
  service.moveClock(await api.get('/v1/sandbox/clock').then((answer) => answer.text('data.now')));

async function invoices() {
  const { data } = await client.v1.customers.invoices.list({ customer_id: customer, limit: 100 });
  return data;
}

/** `2026-02-01 DRAFT 70: Fee 1 × 100 = 100, Thanks 1 × -30 = -30` */
async function texts(): Promise<string[]> {
  return (await invoices()).map(({ issued_at, status, total, line_items }) => {
    const lines = line_items.map(
      (line) => `${line.name} ${line.quantity} × ${line.unit_price} = ${line.total}`,
    );
    return `${issued_at?.slice(0, 10)} ${status} ${total}: ${lines.join(', ')}`;
  });
}

describe('a discount', () => {
  test('a discount reduces the invoice of its date, after the charges, and is issued with it', async () => {
    const { data } = await client.v1.contracts.create({
      customer_id: customer,
      starting_at: '2026-01-01T00:00:00Z',
      discounts: [
        term([at('2026-01-05T00:00:00Z', 30), at('2027-02-01T00:00:00Z', 0.125)], {
          name: 'Thanks',
          custom_fields: { reason: 'early' },
        }),
      ],
      scheduled_charges: [term([at('2026-01-05T00:00:00Z', 100)], { custom_fields: { order: 'A7' } })],
    });
    await settle();
    expect(await texts()).toEqual([
      '2026-01-05 FINALIZED 70: Fee 1 × 100 = 100, Thanks 1 × -30 = -30',
      '2027-02-01 DRAFT -0.125: Thanks 1 × -0.125 = -0.125',
    ]);
    const read = await client.v2.contracts.retrieve({ customer_id: customer, contract_id: data.id });
    const [discount] = read.data.discounts ?? [];
    expect(read.data.scheduled_charges).toHaveLength(1);
    expect(discount).toMatchObject({
      product: { id: fee, name: 'Fee' },
      name: 'Thanks',
      custom_fields: { reason: 'early' },
      schedule: { schedule_items: [{ amount: 30, quantity: 1, unit_price: 30 }, { amount: 0.125 }] },
    });
    const old = await client.v1.contracts.retrieve({ customer_id: customer, contract_id: data.id });
    expect(old.data.current.discounts).toEqual([discount]);
    expect(old.data.initial.discounts).toEqual([discount]);
    const [issued] = await invoices();
    expect(issued?.line_items).toMatchObject([
      {
        type: 'scheduled',
        scheduled_charge_id: read.data.scheduled_charges?.[0]?.id,
        scheduled_charge_custom_fields: { order: 'A7' },
        product_custom_fields: { sku: 'F1' },
      },
      {
        type: 'scheduled',
        product_type: 'FixedProductListItem',
        discount_id: discount?.id,
        discount_custom_fields: { reason: 'early' },
        product_custom_fields: { sku: 'F1' },
      },
    ]);
    expect(issued?.line_items[1]).not.toHaveProperty('scheduled_charge_id');
  });

  test('a discount is added by an edit and by an amendment, and both show it', async () => {
    const contract = await contractWith({});
    const { data } = await client.v2.contracts.edit({
      customer_id: customer,
      contract_id: contract,
      add_discounts: [
        {
          product_id: fee,
          schedule: {
            recurring_schedule: {
              starting_at: '2027-01-01T00:00:00Z',
              ending_before: '2027-01-15T00:00:00Z',
              frequency: 'WEEKLY',
              amount_distribution: 'DIVIDED_ROUNDED',
              amount: 5,
            },
          },
        },
      ],
    });
    expect(data.edit?.add_discounts).toHaveLength(1);
    expect(data.edit?.add_scheduled_charges).toBeUndefined();
    await client.v1.contracts.amend({
      customer_id: customer,
      contract_id: contract,
      starting_at: '2027-01-01T00:00:00Z',
      discounts: [term([at('2027-03-01T00:00:00Z', 1)])],
    });
    expect(await texts()).toEqual([
      '2027-01-01 DRAFT -2: Fee 1 × -2 = -2',
      '2027-01-08 DRAFT -3: Fee 1 × -3 = -3',
      '2027-03-01 DRAFT -1: Fee 1 × -1 = -1',
    ]);
    const read = await client.v1.contracts.retrieve({ customer_id: customer, contract_id: contract });
    expect(read.data.amendments[0]?.discounts).toHaveLength(1);
    expect(read.data.initial.discounts).toBeUndefined();
    const history = await client.v2.contracts.getEditHistory({
      customer_id: customer,
      contract_id: contract,
    });
    expect(history.data.map(({ add_discounts }) => add_discounts?.length)).toEqual([1, 1]);
  });

  test('a discount joins a usage invoice as charges do', async () => {
    const scenario = await createScenario(api, { alias: `u${people}`, startingAt: '2027-01-01T00:00:00Z' });
    customer = scenario.customerId;
    await contractWith({
      rate_card_id: scenario.rateCardId,
      starting_at: '2027-06-01T00:00:00Z',
      scheduled_charges_on_usage_invoices: 'ALL',
      discounts: [term([at('2027-06-01T00:00:00Z', 1), at('2027-07-01T09:00:00Z', 2)])],
    });
    await service.moveClock('2027-06-20T00:00:00Z');
    const drafts = (await invoices()).filter(({ line_items }) =>
      line_items.some(({ discount_id }) => discount_id !== undefined),
    );
    expect(drafts.map(({ type, status, total }) => [type, status, total])).toEqual([
      ['SCHEDULED', 'FINALIZED', -1],
      ['USAGE', 'DRAFT', -2],
    ]);
    await service.moveClock('2027-07-03T00:00:00Z');
    const { data } = await client.v1.customers.invoices.retrieve({
      customer_id: customer,
      invoice_id: drafts[1]?.id ?? '',
    });
    expect([data.status, data.total]).toEqual(['FINALIZED', -2]);
  });

  test('a discount is cut off by an earlier end, and goes with its contract', async () => {
    const contract = await contractWith({
      discounts: [term([at('2028-06-01T00:00:00Z', 10), at('2028-09-01T00:00:00Z', 20)])],
    });
    await client.v1.contracts.updateEndDate({
      customer_id: customer,
      contract_id: contract,
      ending_before: '2028-08-01T00:00:00Z',
    });
    expect(await texts()).toEqual(['2028-06-01 DRAFT -10: Fee 1 × -10 = -10']);
    await client.v1.contracts.archive({
      customer_id: customer,
      contract_id: contract,
      void_invoices: false,
    });
    expect(await texts()).toEqual([]);
    const history = await client.v2.contracts.getEditHistory({
      customer_id: customer,
      contract_id: contract,
    });
    expect(history.data.at(-1)).not.toHaveProperty('archive_scheduled_charges');
  });

  test.each([
    [
      'amount',
      { schedule: { schedule_items: [at('2027-01-01T00:00:00Z', -1)] } },
      'schedule_items[0].amount',
    ],
    [
      'price',
      {
        schedule: {
          schedule_items: [{ timestamp: '2027-01-01T00:00:00Z', unit_price: -1, quantity: 2 }],
        },
      },
      'schedule_items[0].unit_price',
    ],
    [
      'recurring amount',
      {
        schedule: {
          recurring_schedule: {
            starting_at: '2027-01-01T00:00:00Z',
            ending_before: '2027-02-01T00:00:00Z',
            frequency: 'MONTHLY',
            amount_distribution: 'EACH',
            unit_price: 1,
            quantity: -1,
          },
        },
      },
      'recurring_schedule.quantity',
    ],
  ])('a discount with a negative %s would charge, and is refused', async (_, change, field) => {
    const refused = await api.send('POST', '/v1/contracts/create', {
      customer_id: customer,
      starting_at: '2026-01-01T00:00:00Z',
      discounts: [{ ...term([]), ...change }],
    });
    expect([refused.status, refused.text('message')]).toEqual([
      400,
      `discounts[0].schedule.${field}: must not be negative: a discount reduces the invoice by it`,
    ]);
    expect((await client.v2.contracts.list({ customer_id: customer })).data).toEqual([]);
  });

  test('a discount is no scheduled charge: it cannot be updated or archived as one', async () => {
    const contract = await contractWith({ discounts: [term([at('2029-06-01T00:00:00Z', 10)])] });
    const read = await client.v2.contracts.retrieve({ customer_id: customer, contract_id: contract });
    const id = read.data.discounts?.[0]?.id ?? '';
    const edit = (change: object) =>
      api.send('POST', '/v2/contracts/edit', { customer_id: customer, contract_id: contract, ...change });
    const archived = await edit({ archive_scheduled_charges: [{ id }] });
    expect(archived.text('message')).toBe(
      `archive_scheduled_charges[0].id: the contract has no scheduled charge ${id}`,
    );
    const updated = await edit({ update_scheduled_charges: [{ scheduled_charge_id: id, name: 'x' }] });
    expect(updated.text('message')).toBe(
      `update_scheduled_charges[0].scheduled_charge_id: the contract has no scheduled charge ${id}`,
    );
  });
});

test('a line of a purchase shows the custom fields of its commit, and an issued one keeps them', async () => {
  await contractWith({
    commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        custom_fields: { deal: 'D1' },
        access_schedule: {
          schedule_items: [
            { amount: 900, starting_at: '2026-02-01T00:00:00Z', ending_before: '2028-02-01T00:00:00Z' },
          ],
        },
        invoice_schedule: {
          schedule_items: [at('2026-01-05T00:00:00Z', 800), at('2029-12-01T00:00:00Z', 1)],
        },
      },
    ],
  });
  await settle();
  const deals = async () => (await invoices()).map(({ line_items }) => line_items[0]?.commit_custom_fields);
  expect(await deals()).toEqual([{ deal: 'D1' }, { deal: 'D1' }]);
  const [first] = await invoices();
  await client.v1.customFields.setValues({
    entity: 'commit',
    entity_id: first?.line_items[0]?.commit_id ?? '',
    custom_fields: { deal: 'D2' },
  });
  expect(await deals()).toEqual([{ deal: 'D1' }, { deal: 'D2' }]);
});
