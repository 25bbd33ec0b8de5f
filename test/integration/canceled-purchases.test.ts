/** A commit whose purchase invoice is voided: what is left of it is canceled, until the invoice is regenerated. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADD_RATES, CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { reconcile } from '../support/reconciled.ts';
import { completion, createScenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

const OCTOBER = '2026-10-01T00:00:00Z';
const DRAWN = ['SEGMENT_START 100 10-01', 'AUTOMATED_INVOICE_DEDUCTION -40 11-01'];

let service: TestService;
let customer_id: string;
/** 100 cents, in these instalments. */
let sell: (...instalments: { amount: number; timestamp: string }[]) => Promise<void>;
const AT_ONCE = { amount: 80, timestamp: '2026-11-02T00:00:00Z' };

/** 40 tokens of October are issued, 10 of November are on a draft. */
beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  const { api } = service;
  const { tokensProductId } = await createScenario(api, { alias: 'other' });
  customer_id = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  const product_id = await createdId(api, PRODUCTS, { name: 'Prepaid', type: 'FIXED' });
  const rate_card_id = await createdId(api, RATE_CARDS, { name: 'Card' });
  await api.post(ADD_RATES, {
    rate_card_id,
    rates: [
      {
        ...{ product_id: tokensProductId, starting_at: OCTOBER, entitled: true },
        ...{ rate_type: 'FLAT', price: 1 },
      },
    ],
  });
  await use(40, '2026-10-20T10:30:00Z');
  await use(10, '2026-11-05T10:30:00Z');
  sell = async (...instalments) => {
    await createdId(api, CONTRACTS, {
      ...{ customer_id, rate_card_id, starting_at: OCTOBER },
      commits: [
        {
          ...{ type: 'PREPAID', product_id, name: 'Bought' },
          access_schedule: {
            schedule_items: [{ amount: 100, starting_at: OCTOBER, ending_before: '2027-01-01T00:00:00Z' }],
          },
          invoice_schedule: { schedule_items: instalments },
        },
      ],
    });
    await service.moveClock('2026-11-12T00:00:00Z');
  };
});
afterEach(() => service.close());

const use = (tokens: number, at: string) =>
  service.api.post('/v1/ingest', [completion('ada', { id: `${at} ${tokens}`, at, tokens })]);

async function ledger() {
  const answer = await service.api.post('/v1/contracts/customerBalances/list', {
    ...{ customer_id, include_contract_balances: true, include_ledgers: true, include_balance: true },
  });
  const entries = answer.list('data[0].ledger') as {
    type: string;
    amount: number;
    timestamp: string;
    invoice_id?: string;
  }[];
  return {
    balance: answer.at('data[0].balance'),
    entries: entries.map(
      ({ type, amount, timestamp }) =>
        `${type.replace('PREPAID_COMMIT_', '')} ${amount} ${timestamp.slice(5, 10)}`,
    ),
    canceledBy: entries.flatMap(({ type, invoice_id }) => (type.endsWith('CANCELED') ? [invoice_id] : [])),
  };
}

async function purchase(status: string): Promise<string> {
  const query = { type: 'SCHEDULED', status };
  return (await service.api.get(`/v1/customers/${customer_id}/invoices`, { query })).text('data[0].id');
}

async function draftTotal(): Promise<string> {
  const query = { type: 'USAGE', status: 'DRAFT' };
  return (await service.api.get(`/v1/customers/${customer_id}/invoices`, { query })).digits('data[0].total');
}

test('the rest of a canceled purchase is canceled; deductions stay, and later usage is not covered', async () => {
  await sell(AT_ONCE);
  const id = await purchase('FINALIZED');
  await service.api.post('/v1/invoices/void', { id });
  const expected = {
    balance: 0,
    // Access ends with the cancellation.
    entries: [...DRAWN, 'AUTOMATED_INVOICE_DEDUCTION -10 11-12', 'CANCELED -50 11-12'],
    canceledBy: [id],
  };
  expect(await ledger()).toEqual(expected);
  await service.moveClock('2026-11-20T00:00:00Z');
  await use(7, '2026-11-15T10:30:00Z');
  expect(await ledger()).toEqual(expected);
  expect(await draftTotal()).toBe('7');
  const order = await service.api.get(`/v1/customers/${customer_id}/drawdownOrder`);
  expect(order.list('data')).toEqual([]);
  await service.moveClock('2026-12-03T00:00:00Z');
  const range = { starting_on: OCTOBER, ending_before: '2026-12-01T00:00:00Z', customer_id };
  expect(await reconcile(service.api, range)).toMatchObject({ differences: [], unchecked: [] });
});

test('a regenerated purchase can be used again, and covers the drafts since', async () => {
  await sell(AT_ONCE);
  await service.api.post('/v1/invoices/void', { id: await purchase('FINALIZED') });
  await service.moveClock('2026-11-20T00:00:00Z');
  await use(7, '2026-11-15T10:30:00Z');
  await service.api.post('/v1/invoices/regenerate', { id: await purchase('VOID') });
  expect(await ledger()).toEqual({
    balance: 43,
    entries: [...DRAWN, 'AUTOMATED_INVOICE_DEDUCTION -17 12-01'],
    canceledBy: [],
  });
  expect(await draftTotal()).toBe('0');
  const again = await purchase('FINALIZED');
  await service.api.post('/v1/invoices/void', { id: again });
  expect(await ledger()).toMatchObject({ balance: 0, canceledBy: [again] });
});

test('a usage invoice that is voided then gives back what stays canceled', async () => {
  await sell(AT_ONCE);
  await service.api.post('/v1/invoices/void', { id: await purchase('FINALIZED') });
  const query = { type: 'USAGE', status: 'FINALIZED' };
  const october = await service.api.get(`/v1/customers/${customer_id}/invoices`, { query });
  await service.moveClock('2026-11-13T00:00:00Z');
  await service.api.post('/v1/invoices/void', { id: october.text('data[0].id') });
  expect(await ledger()).toMatchObject({
    balance: 0,
    entries: [...DRAWN, 'AUTOMATED_INVOICE_DEDUCTION -10 11-12', 'CANCELED -90 11-12', 'CREDITED 40 11-13'],
  });
});

test('in instalments it is canceled by the void of the last one, not while another is billed or due', async () => {
  const months = ['2026-11-02', '2026-11-05', '2026-11-20'];
  await sell(...months.map((on) => ({ amount: 30, timestamp: `${on}T00:00:00Z` })));
  const usable = { balance: 50, entries: [...DRAWN, 'AUTOMATED_INVOICE_DEDUCTION -10 12-01'] };
  const voidOne = async () => {
    const id = await purchase('FINALIZED');
    await service.api.post('/v1/invoices/void', { id });
    return id;
  };
  await voidOne();
  expect(await ledger()).toMatchObject(usable);
  await voidOne();
  expect(await ledger()).toMatchObject(usable);
  await service.moveClock('2026-11-21T00:00:00Z');
  const last = await voidOne();
  expect(await ledger()).toMatchObject({ balance: 0, canceledBy: [last] });
  const query = { type: 'SCHEDULED', status: 'VOID' };
  const voided = await service.api.get(`/v1/customers/${customer_id}/invoices`, { query });
  await service.api.post('/v1/invoices/regenerate', { id: voided.text('data[0].id') });
  expect(await ledger()).toMatchObject(usable);
});
