/**
 * The amount of a postpaid commit that usage has not reached is billed at its end, once and after its last usage
 * invoice.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { finalizationJobKind, scheduledInvoicesJobKind } from '../../src/jobs/invoice-jobs.ts';
import { createJobRunner } from '../../src/jobs/job-runner.ts';
import { invoices } from '../../src/store/invoices/invoices.tables.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { billingContext, jobsContext } from '../support/billing-context.ts';
import { ADD_RATES, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;
let customerId: string;
let rateCardId: string;
let product_id: string;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  const { api } = service;
  scenario = await createScenario(api, { alias: 'other' });
  customerId = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Minimum fee',
    type: 'FIXED',
  });
  rateCardId = await createdId(api, RATE_CARDS, { name: 'Card' });
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      {
        starting_at: '2026-01-01T00:00:00Z',
        entitled: true,
        rate_type: 'FLAT',
        product_id: scenario.tokensProductId,
        price: 1,
      },
    ],
  });
});
afterEach(() => service.close());

const NOVEMBER = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
const YEAR = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };

function contract(terms: Record<string, unknown>): Promise<string> {
  return createdId(service.api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
}

function minimum(amount: number, access = NOVEMBER, other: Record<string, unknown> = {}) {
  return {
    type: 'POSTPAID',
    product_id,
    name: 'Minimum',
    access_schedule: { schedule_items: [{ amount, ...access }] },
    invoice_schedule: { schedule_items: [{ amount, timestamp: access.ending_before }] },
    ...other,
  };
}

async function use(tokens: number, at = '2026-11-03T10:30:00Z'): Promise<void> {
  await service.api.post('/v1/ingest', [completion('ada', { id: `${at}-${tokens}`, at, tokens })]);
}

function scheduled(): Promise<ApiAnswer> {
  return service.api.get(`/v1/customers/${customerId}/invoices`, { query: { type: 'SCHEDULED' } });
}

/** Status, date and total of each SCHEDULED invoice. */
async function trueUps(): Promise<string[]> {
  const answer = await scheduled();
  return answer.list('data').map((_, index) => {
    const { status, issued_at: at } = answer.at(`data[${index}]`) as { status: string; issued_at: string };
    return `${status} ${at.slice(0, 10)} ${answer.digits(`data[${index}].total`)}`;
  });
}

async function ledger(): Promise<string[]> {
  const answer = await service.api.post('/v1/contracts/customerBalances/list', {
    customer_id: customerId,
    include_ledgers: true,
    include_contract_balances: true,
  });
  return answer.list('data[0].ledger').map((_, index) => {
    const at = `data[0].ledger[${index}]`;
    const type = answer.text(`${at}.type`).replace('POSTPAID_COMMIT_', '');
    return `${type} ${answer.digits(`${at}.amount`)} ${answer.text(`${at}.timestamp`).slice(0, 10)}`;
  });
}

test('partial use: a draft follows usage, and is issued when the last usage invoice is final', async () => {
  const contract_id = await contract({ commits: [minimum(100)] });
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 100']);
  await use(30);
  const draft = await scheduled();
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 70']);
  const line = 'data[0].line_items[0]';
  expect(draft.list('data[0].line_items')).toHaveLength(1);
  expect(draft.at(line)).toMatchObject({
    type: 'commit_purchase',
    name: 'Minimum',
    product_id,
    quantity: 1,
    unit_price: 70,
    total: 70,
    postpaid_commit: { id: expect.any(String) },
  });
  expect(draft.at(`${line}.commit_id`)).toBeUndefined();
  expect(draft.at('data[0].contract_id')).toBe(contract_id);

  await service.moveClock('2026-12-01T12:00:00Z');
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 70']);
  await use(5, '2026-11-29T10:30:00Z');
  await service.moveClock('2026-12-02T00:00:01Z');
  expect(await trueUps()).toEqual(['FINALIZED 2026-12-01 65']);
  expect((await scheduled()).text('data[0].id')).toBe(draft.text('data[0].id'));
  await service.moveClock('2027-02-02T00:00:00Z');
  expect(await trueUps()).toEqual(['FINALIZED 2026-12-01 65']);
  expect(await ledger()).toEqual([
    'INITIAL_BALANCE 100 2026-11-01',
    'AUTOMATED_INVOICE_DEDUCTION -35 2026-12-01',
    'TRUEUP -65 2026-12-01',
  ]);
});

test.each([
  ['no use', 0, ['FINALIZED 2026-12-01 100']],
  ['full use', 100, []],
  ['over-use', 250, []],
])('%s: the commitment is billed once in all', async (_, tokens, expected) => {
  await contract({ commits: [minimum(100)] });
  if (tokens > 0) await use(tokens);
  await service.moveClock('2026-12-05T00:00:00Z');
  expect(await trueUps()).toEqual(expected);
});

test('entries by hand change the shortfall of the draft and of the invoice', async () => {
  const contract_id = await contract({ commits: [minimum(100)] });
  const read = await service.api.post('/v2/contracts/get', { customer_id: customerId, contract_id });
  await service.api.post('/v1/contracts/addManualBalanceLedgerEntry', {
    id: read.text('data.commits[0].id'),
    customer_id: customerId,
    contract_id,
    segment_id: read.text('data.commits[0].access_schedule.schedule_items[0].id'),
    amount: 25,
    reason: 'agreed',
  });
  await use(30);
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 95']);
  await service.moveClock('2026-12-05T00:00:00Z');
  expect(await trueUps()).toEqual(['FINALIZED 2026-12-01 95']);
});

test('a contract that ends early bills the shortfall at its new end', async () => {
  const contract_id = await contract({ commits: [minimum(100, YEAR)] });
  await use(30);
  await service.api.post('/v1/contracts/updateEndDate', {
    customer_id: customerId,
    contract_id,
    ending_before: '2026-12-15T00:00:00Z',
  });
  expect(await trueUps()).toEqual(['DRAFT 2026-12-15 70']);
  await service.moveClock('2026-12-20T00:00:00Z');
  expect(await trueUps()).toEqual(['FINALIZED 2026-12-15 70']);
});

test('an archived contract, and a waived true-up, bill nothing', async () => {
  const archived = await contract({ commits: [minimum(100)] });
  const kept = await contract({ commits: [minimum(50)] });
  await service.api.post('/v1/contracts/archive', {
    customer_id: customerId,
    contract_id: archived,
    void_invoices: true,
  });
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 50']);
  const read = await service.api.post('/v2/contracts/get', { customer_id: customerId, contract_id: kept });
  await service.api.post('/v1/contracts/commits/disableTrueup', {
    customer_id: customerId,
    contract_id: kept,
    commit_id: read.text('data.commits[0].id'),
  });
  expect(await trueUps()).toEqual([]);
  await service.moveClock('2026-12-05T00:00:00Z');
  expect(await trueUps()).toEqual([]);
});

test('a commit of the customer waits for the usage invoices of all its contracts', async () => {
  const first = await contract({});
  await contract({ usage_statement_schedule: { frequency: 'QUARTERLY' } });
  await createdId(service.api, '/v1/contracts/customerCommits/create', {
    customer_id: customerId,
    invoice_contract_id: first,
    priority: 100,
    ...minimum(100),
  });
  await use(20);
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 60']);
  await service.moveClock('2026-12-20T00:00:00Z');
  expect(await trueUps()).toEqual(['DRAFT 2026-12-01 60']);
  await service.moveClock('2027-01-03T00:00:00Z');
  expect(await trueUps()).toEqual(['FINALIZED 2026-12-01 60']);
});

test('a date before the end of access is held until usage can draw on the commit no more', async () => {
  const early = { schedule_items: [{ amount: 100, timestamp: '2026-11-12T00:00:00Z' }] };
  await contract({ commits: [minimum(100, NOVEMBER, { invoice_schedule: early })] });
  await use(10);
  await service.moveClock('2026-11-20T00:00:00Z');
  await use(20, '2026-11-19T00:00:00Z');
  expect(await trueUps()).toEqual(['DRAFT 2026-11-12 70']);
  expect(await ledger()).not.toContainEqual(expect.stringContaining('TRUEUP'));
  await service.moveClock('2026-12-03T00:00:00Z');
  expect(await trueUps()).toEqual(['FINALIZED 2026-11-12 70']);
  expect(await ledger()).toContain('TRUEUP -70 2026-12-01');
});

test.each([
  ['AS_IS', ['DRAFT 2026-12-15 70']],
  ['REMOVE', []],
])('a renewal with true-ups %s', async (trueup, expected) => {
  const from_contract_id = await contract({ commits: [minimum(100, YEAR)] });
  await use(30);
  await contract({
    starting_at: '2026-12-15T00:00:00Z',
    transition: { type: 'RENEWAL', from_contract_id, future_invoice_behavior: { trueup } },
  });
  expect(await trueUps()).toEqual(expected);
});

test('an amount that a renewal rolls over has no true-up', async () => {
  const from_contract_id = await contract({ commits: [minimum(100, YEAR, { rollover_fraction: 0.5 })] });
  await use(30);
  await contract({
    starting_at: '2026-12-15T00:00:00Z',
    transition: { type: 'RENEWAL', from_contract_id },
  });
  expect(await trueUps()).toEqual(['DRAFT 2026-12-15 20']);
});

test('a voided usage invoice counts as not drawn when the true-up is regenerated', async () => {
  await contract({ commits: [minimum(100)] });
  await use(30);
  await service.moveClock('2026-12-05T00:00:00Z');
  const usage = await service.api.get(`/v1/customers/${customerId}/invoices`, { query: { type: 'USAGE' } });
  await service.api.post('/v1/invoices/void', { id: usage.text('data[0].id') });
  const id = (await scheduled()).text('data[0].id');
  await service.api.post('/v1/invoices/void', { id });
  expect(await trueUps()).toEqual(['VOID 2026-12-01 70']);
  await service.api.post('/v1/invoices/regenerate', { id });
  expect((await trueUps()).at(-1)).toBe('FINALIZED 2026-12-05 100');
});

test('two processes that issue at the same time issue one true-up', async () => {
  await contract({ commits: [minimum(100)] });
  await use(30);
  const { db } = service;
  const clock = { now: () => Date.UTC(2026, 11, 5) };
  const runner = () =>
    createJobRunner(jobsContext({ db, clock, ping: () => service.clickhouse.ping() }), [
      scheduledInvoicesJobKind(billingContext({ db, clock })),
      finalizationJobKind(jobsContext({ db, clock, clickhouse: service.clickhouse })),
    ]);
  const now = clock.now();
  await Promise.all([runner().runDue(now), runner().runDue(now)]);
  await Promise.all([runner().runDue(now), runner().runDue(now)]);
  expect(await trueUps()).toEqual(['FINALIZED 2026-12-01 70']);
});

test('a commit has no true-up where an earlier version issued its usage without drawing it down', async () => {
  await contract({ commits: [minimum(100, YEAR)] });
  await use(30);
  await service.moveClock('2026-12-03T00:00:00Z');
  expect(await trueUps()).toEqual(['DRAFT 2027-11-01 70']);
  await service.db.update(invoices).set({ drawsOnBalances: false });
  expect(await trueUps()).toEqual([]);
  const usage = await service.api.get(`/v1/customers/${customerId}/invoices`, {
    query: { type: 'USAGE', status: 'FINALIZED' },
  });
  await service.api.post('/v1/invoices/void', { id: usage.text('data[0].id') });
  await service.api.post('/v1/invoices/regenerate', { id: usage.text('data[0].id') });
  expect(await trueUps()).toEqual(['DRAFT 2027-11-01 70']);
});

test('pages continue after a true-up without a shortfall', async () => {
  await contract({
    commits: [minimum(10)],
    scheduled_charges: [
      { product_id, schedule: { schedule_items: [{ amount: 7, timestamp: '2026-12-20T00:00:00Z' }] } },
    ],
  });
  await use(20);
  const totals = async (path: string, query: Record<string, string | number>) => {
    const found: string[] = [];
    let next: unknown;
    do {
      const cursor = typeof next === 'string' ? { next_page: next } : {};
      const page = await service.api.get(`/v1/customers/${customerId}/${path}`, {
        query: { ...query, ...cursor },
      });
      found.push(...page.list('data').map((_, index) => page.digits(`data[${index}].total`)));
      next = page.at('next_page');
    } while (typeof next === 'string');
    return found.filter((total) => total !== '0');
  };
  expect(await totals('invoices', { limit: 1 })).toEqual(['20', '7']);
  const range = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' };
  expect(await totals('invoices/breakdowns', { ...range, limit: 30 })).toEqual(['20', '7']);
});
