/** Charges that are added to the draft of a usage invoice, as clients of plans do it. */
import Metronome from '@metronome/sdk';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });

let fee = '';
let scenario: Scenario;
let people = 0;
beforeAll(async () => {
  fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Set-up', type: 'FIXED' });
});
beforeEach(async () => {
  people += 1;
  scenario = await createScenario(api, { alias: `u${people}`, startingAt: '2026-01-01T00:00:00Z' });
});

const charge = (change: object = {}) => ({
  customer_plan_id: scenario.contractId,
  charge_id: fee,
  price: 12.5,
  quantity: 2,
  description: 'as agreed',
  invoice_start_timestamp: '2026-01-01T00:00:00Z',
  ...change,
});
const add = (change: object = {}, via = api) =>
  via.send('POST', `/v1/customers/${scenario.customerId}/addCharge`, charge(change));
const invoices = async () =>
  (await client.v1.customers.invoices.list({ customer_id: scenario.customerId, limit: 100 })).data;

test('a charge is on the draft before the usage, in its last window, and on the final invoice, once', async () => {
  await api.post('/v1/ingest', [
    completion(`u${people}`, { id: `u${people}`, at: '2026-01-09T10:00:00Z', tokens: 100 }),
  ]);
  await client.v1.customers.invoices.addCharge({ customer_id: scenario.customerId, ...charge() });
  const [draft] = await invoices();
  expect(draft).toMatchObject({ type: 'USAGE', status: 'DRAFT' });
  const [line] = draft?.line_items ?? [];
  expect(line).toMatchObject({
    type: 'scheduled',
    name: 'Set-up',
    quantity: 2,
    unit_price: 12.5,
    total: 25,
    metadata: 'as agreed',
    scheduled_charge_id: expect.any(String),
  });
  const { data: contract } = await client.v2.contracts.retrieve({
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
  });
  expect(contract.scheduled_charges).toMatchObject([
    {
      id: line?.scheduled_charge_id,
      schedule: { schedule_items: [{ timestamp: '2026-02-01T00:00:00.000Z' }] },
    },
  ]);
  const { data: history } = await client.v2.contracts.getEditHistory({
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
  });
  expect(history[0]?.add_scheduled_charges).toMatchObject([{ id: line?.scheduled_charge_id }]);
  const { data: days } = await client.v1.customers.invoices.listBreakdowns({
    customer_id: scenario.customerId,
    starting_on: '2026-01-01T00:00:00Z',
    ending_before: '2026-02-01T00:00:00Z',
    window_size: 'DAY',
  });
  const charged = days.filter(({ line_items }) => line_items.some(({ name }) => name === 'Set-up'));
  expect(charged.map((day) => day.breakdown_start_timestamp)).toEqual(['2026-01-31T00:00:00.000Z']);
  await service.moveClock('2026-02-03T00:00:00Z');
  const all = await invoices();
  expect(all.find(({ id }) => id === draft?.id)).toMatchObject({
    status: 'FINALIZED',
    total: draft?.total,
    line_items: [{ name: 'Set-up', total: 25 }, ...(draft?.line_items.slice(1).map(() => ({})) ?? [])],
  });
  expect(all.filter(({ type }) => type === 'SCHEDULED')).toEqual([]);
});

test('a negative price corrects, and the charge can be archived while it is a draft', async () => {
  await service.moveClock('2026-02-10T00:00:00Z');
  const start = { invoice_start_timestamp: '2026-02-01T00:00:00Z' };
  await add({ ...start, price: -3, quantity: 1 });
  const open = async () => (await invoices()).find(({ status }) => status === 'DRAFT');
  expect((await open())?.total).toBe(-3);
  const id = (await open())?.line_items[0]?.scheduled_charge_id ?? '';
  await client.v2.contracts.edit({
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
    archive_scheduled_charges: [{ id }],
  });
  expect((await open())?.total).toBe(0);
});

test('a charge stays on the invoice of its period if the contract is ended within it', async () => {
  await service.moveClock('2026-02-10T00:00:00Z');
  await add({ invoice_start_timestamp: '2026-02-01T00:00:00Z' });
  await api.post('/v1/contracts/updateEndDate', {
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
    ending_before: '2026-02-20T06:00:00Z',
  });
  const open = (await invoices()).filter(({ status }) => status === 'DRAFT');
  expect(open.map(({ type, end_timestamp, total }) => [type, end_timestamp, total])).toEqual([
    ['USAGE', '2026-02-20T06:00:00.000Z', 25],
  ]);
});

test.each([
  [
    'a start without a draft',
    () => ({ invoice_start_timestamp: '2026-01-02T00:00:00Z' }),
    400,
    'invoice_start_timestamp: contract',
  ],
  [
    'an issued period',
    () => ({ invoice_start_timestamp: '2026-01-01T00:00:00Z' }),
    400,
    'invoice_start_timestamp: contract',
  ],
  [
    'a product that is not FIXED',
    () => ({ charge_id: scenario.requestsProductId }),
    400,
    'charge_id: must be a FIXED product',
  ],
  ['an unknown product', () => ({ charge_id: scenario.contractId }), 400, 'charge_id: product'],
  ['a negative quantity', () => ({ quantity: -1 }), 400, 'quantity: must be at least 0'],
  ['an unknown contract', () => ({ customer_plan_id: newId() }), 404, 'contract'],
])('%s is refused, and nothing is stored', async (_, change, status, message) => {
  await service.moveClock('2026-02-10T00:00:00Z');
  const refused = await add({ invoice_start_timestamp: '2026-02-01T00:00:00Z', ...change() });
  expect(refused.status).toBe(status);
  expect(refused.text('message')).toContain(message);
  const { data } = await client.v2.contracts.retrieve({
    customer_id: scenario.customerId,
    contract_id: scenario.contractId,
  });
  expect(data.scheduled_charges).toEqual([]);
});

test('an unknown customer answers 404', async () => {
  const answer = await api.send('POST', `/v1/customers/${newId()}/addCharge`, charge());
  expect(answer.status).toBe(404);
});

test('charges of two services, while the invoice is finalized, are on it or refused, and none is lost', async () => {
  await service.moveClock('2026-03-01T23:00:00Z');
  const start = { invoice_start_timestamp: '2026-02-01T00:00:00Z', price: 1, quantity: 1 };
  const other = createCatalogueApi(service.db, { now: Date.UTC(2026, 2, 1, 23) });
  const inARow = async (via: typeof api) => {
    const statuses: number[] = [];
    for (let index = 0; index < 8; index += 1) statuses.push((await add(start, via)).status);
    return statuses;
  };
  const [, ...statuses] = await Promise.all([
    service.moveClock('2026-03-02T12:00:00Z'),
    inARow(api),
    inARow(other),
  ]);
  const answers = statuses.flat();
  const added = answers.filter((status) => status === 200).length;
  for (const status of answers) expect([200, 400]).toContain(status);
  const all = await invoices();
  const lines = all.flatMap(({ line_items }) => line_items.filter(({ name }) => name === 'Set-up'));
  expect(lines).toHaveLength(added);
  expect(all.filter(({ type }) => type === 'SCHEDULED')).toEqual([]);
});
