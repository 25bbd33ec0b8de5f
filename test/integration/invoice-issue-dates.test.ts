/** The issue date of a scheduled draft is moved: the invoice stays the same, and is issued once. */
import Metronome from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createScenario } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-01-10T00:00:00Z' });
const { api } = service;
const client = new Metronome({ baseURL: service.url, bearerToken: service.token, maxRetries: 0 });
const MOVE = '/v1/contracts/updateInvoiceIssueDate';

let fee = '';
let customer_id = '';
let people = 0;
beforeAll(async () => {
  fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
});
beforeEach(async () => {
  people += 1;
  customer_id = await createdId(api, '/v1/customers', { name: `Customer ${people}` });
});

const now = () => api.get('/v1/sandbox/clock').then((answer) => answer.text('data.now'));
const settle = async () => service.moveClock(await now());
const charge = (items: readonly (readonly [string, number])[]) => ({
  product_id: fee,
  schedule: { schedule_items: items.map(([timestamp, amount]) => ({ timestamp, amount })) },
});
const contractWith = (items: readonly (readonly [string, number])[], change: object = {}) =>
  createdId(api, '/v1/contracts/create', {
    customer_id,
    starting_at: '2026-01-01T00:00:00Z',
    net_payment_terms_days: 10,
    scheduled_charges: [charge(items)],
    ...change,
  });
/** There is no method for it in the official client, which can still send it. */
const move = (invoice_id: string, issue_date: string) =>
  client.post(MOVE, { body: { invoice_id, issue_date } });
const refused = async (invoice_id: string, issue_date: string) => {
  const answer = await api.send('POST', MOVE, { invoice_id, issue_date });
  return `${answer.status} ${answer.text('message')}`;
};
const invoices = async () => (await client.v1.customers.invoices.list({ customer_id, limit: 100 })).data;
const texts = async () =>
  (await invoices()).map(({ issued_at, status, total }) => `${issued_at?.slice(0, 10)} ${status} ${total}`);

describe('a draft that is given a later date', () => {
  test('a draft that is given a later date keeps its id and lines, moves in the list with its due date, and is issued then', async () => {
    await contractWith([
      ['2026-02-01T00:00:00Z', 10],
      ['2026-03-01T00:00:00Z', 20],
    ]);
    const [first] = await invoices();
    expect(await move(first?.id ?? '', '2026-03-15T06:00:00Z')).toEqual({ data: { id: first?.id } });
    expect(await texts()).toEqual(['2026-03-01 DRAFT 20', '2026-03-15 DRAFT 10']);
    expect((await invoices())[1]).toMatchObject({
      id: first?.id,
      line_items: first?.line_items,
      due_at: '2026-03-25T06:00:00.000Z',
    });
    await service.moveClock('2026-03-10T00:00:00Z');
    expect(await texts()).toEqual(['2026-03-01 FINALIZED 20', '2026-03-15 DRAFT 10']);
    await service.moveClock('2026-03-15T06:00:00Z');
    expect((await invoices())[1]).toMatchObject({
      id: first?.id,
      status: 'FINALIZED',
      issued_at: '2026-03-15T06:00:00.000Z',
      due_at: '2026-03-25T06:00:00.000Z',
    });
  });

  test('a draft that is given a later date takes charges that are added to its date', async () => {
    const contract_id = await contractWith([['2027-02-01T00:00:00Z', 10]]);
    const [draft] = await invoices();
    await move(draft?.id ?? '', '2027-02-05T00:00:00Z');
    await api.post('/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_scheduled_charges: [charge([['2027-02-01T00:00:00Z', 5]])],
    });
    expect(await texts()).toEqual(['2027-02-05 DRAFT 15']);
  });

  test('a draft that is given a later date stays apart from a purchase of the same date that waits for its payment', async () => {
    const contract_id = await contractWith([['2028-02-01T00:00:00Z', 10]]);
    const [draft] = await invoices();
    await move(draft?.id ?? '', '2028-03-01T00:00:00Z');
    await api.post('/v2/contracts/edit', {
      customer_id,
      contract_id,
      add_commits: [
        {
          type: 'PREPAID',
          product_id: fee,
          access_schedule: {
            schedule_items: [
              { amount: 9, starting_at: '2028-01-01T00:00:00Z', ending_before: '2029-01-01T00:00:00Z' },
            ],
          },
          invoice_schedule: { schedule_items: [{ timestamp: '2028-02-01T00:00:00Z', amount: 9 }] },
          payment_gate_config: { payment_gate_type: 'EXTERNAL' },
        },
      ],
    });
    await service.moveClock('2028-02-01T00:00:00Z');
    expect(await texts()).toEqual(['2028-02-01 FINALIZED 9', '2028-03-01 DRAFT 10']);
    await service.moveClock('2028-03-01T00:00:00Z');
    expect((await invoices()).map(({ id, status }) => [id, status])[1]).toEqual([draft?.id, 'FINALIZED']);
  });
});

test('a draft that is given an earlier date, or one that has passed, is issued then', async () => {
  await contractWith([
    ['2030-02-01T00:00:00Z', 10],
    ['2030-03-01T00:00:00Z', 20],
  ]);
  const [first, second] = await invoices();
  await move(first?.id ?? '', '2026-01-02T00:00:00Z');
  await move(second?.id ?? '', '2029-01-01T00:00:00Z');
  await settle();
  expect(await texts()).toEqual(['2026-01-02 FINALIZED 10', '2029-01-01 DRAFT 20']);
  await service.moveClock('2029-01-01T00:00:00Z');
  expect(await texts()).toEqual(['2026-01-02 FINALIZED 10', '2029-01-01 FINALIZED 20']);
});

test('a date is not after the end of the contract, also if that is set later', async () => {
  const contract_id = await contractWith([['2031-02-01T00:00:00Z', 10]], {
    ending_before: '2031-06-01T00:00:00Z',
  });
  const [draft] = await invoices();
  const id = draft?.id ?? '';
  expect(await refused(id, '2031-06-01T00:00:01Z')).toBe(
    '400 issue_date: must not be after the contract ends, 2031-06-01T00:00:00.000Z',
  );
  expect(await texts()).toEqual(['2031-02-01 DRAFT 10']);
  await move(id, '2031-06-01T00:00:00Z');
  await api.post('/v1/contracts/updateEndDate', {
    customer_id,
    contract_id,
    ending_before: '2031-04-01T00:00:00Z',
  });
  expect(await texts()).toEqual(['2031-04-01 DRAFT 10']);
});

describe('a date is refused', () => {
  test('a date is refused for an issued invoice, a usage invoice, and an unknown one', async () => {
    await contractWith([['2026-01-05T00:00:00Z', 10]]);
    await settle();
    const [issued] = await invoices();
    const at = '2032-01-01T00:00:00Z';
    expect(await refused(issued?.id ?? '', at)).toBe(
      `400 invoice_id: invoice ${issued?.id} is FINALIZED: only a DRAFT can be moved`,
    );
    const id = newId();
    expect(await refused(id, at)).toBe(`404 invoice ${id} not found`);
    const scenario = await createScenario(api, { alias: `u${people}`, startingAt: await now() });
    customer_id = scenario.customerId;
    const [usage] = await invoices();
    expect(await refused(usage?.id ?? '', at)).toContain('is a usage invoice');
  });

  test.each([
    ['no date', { invoice_id: '00000000-0000-4000-8000-000000000000' }, 'issue_date'],
    [
      'a date that is none',
      { invoice_id: '00000000-0000-4000-8000-000000000000', issue_date: 'soon' },
      'issue_date',
    ],
    ['an id that is none', { invoice_id: 'x', issue_date: '2032-01-01T00:00:00Z' }, 'invoice_id'],
  ])('a date is refused with %s', async (_, body, field) => {
    const answer = await api.send('POST', MOVE, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toContain(field);
  });
});

test('an invoice whose date is moved by many requests at once, while it is issued, is issued once', async () => {
  await contractWith([['2026-01-05T00:00:00Z', 10]]);
  const [draft] = await invoices();
  const other = createCatalogueApi(service.db);
  const dates = ['2026-01-06T00:00:00Z', '2026-01-07T00:00:00Z', '2026-01-08T00:00:00Z'];
  const answers = await Promise.all([
    ...dates.flatMap((issue_date) =>
      [api, other].map((via) => via.send('POST', MOVE, { invoice_id: draft?.id, issue_date })),
    ),
    settle().then(() => null),
  ]);
  for (const answer of answers) expect([200, 400]).toContain(answer?.status ?? 200);
  await settle();
  const all = await invoices();
  expect(all.map(({ id, status, total }) => [id, status, total])).toEqual([[draft?.id, 'FINALIZED', 10]]);
});
