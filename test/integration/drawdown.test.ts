/** Commits and credits pay for usage: lines, totals, breakdowns, ledgers and balances agree. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Decimal, sum } from '../../src/core/decimal.ts';
import type { ApiAnswer as Answer } from '../support/api-client.ts';
import { ADD_RATES, createdId, RATE_CARDS } from '../support/catalogue-api.ts';
import { completion, createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;
let customerId: string;
let rateCardId: string;
let fixedProductId: string;

beforeEach(async () => {
  service = await startTestService({ usage: 'naive', sandboxNow: '2026-11-10T00:00:00Z' });
  const { api } = service;
  scenario = await createScenario(api, { alias: 'other' });
  customerId = await createdId(api, '/v1/customers', { name: 'Ada', ingest_aliases: ['ada'] });
  fixedProductId = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Prepaid',
    type: 'FIXED',
  });
  rateCardId = await createdId(api, RATE_CARDS, { name: 'Card' });
  const rate = { starting_at: '2026-01-01T00:00:00Z', entitled: true, rate_type: 'FLAT' };
  await api.post(ADD_RATES, {
    rate_card_id: rateCardId,
    rates: [
      { ...rate, product_id: scenario.tokensProductId, price: 0.5 },
      { ...rate, product_id: scenario.requestsProductId, price: 3 },
    ],
  });
});
afterEach(() => service.close());

const NOVEMBER = { starting_at: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

async function contract(terms: Record<string, unknown>): Promise<string> {
  return createdId(service.api, '/v1/contracts/create', {
    customer_id: customerId,
    rate_card_id: rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
    ...terms,
  });
}

function credit(amount: number, other: Record<string, unknown> = {}) {
  return {
    product_id: fixedProductId,
    name: 'Trial',
    applicable_product_ids: [scenario.tokensProductId],
    access_schedule: { schedule_items: [{ amount, ...NOVEMBER }] },
    ...other,
  };
}

async function use(tokens: number, at: string, id = at): Promise<void> {
  await service.api.post('/v1/ingest', [completion('ada', { id, at, tokens })]);
}

async function invoices(): Promise<Answer> {
  return service.api.get(`/v1/customers/${customerId}/invoices`, { query: { type: 'USAGE' } });
}

function lines(answer: Answer, at = 'data[0]'): string[] {
  return answer.list(`${at}.line_items`).map((_, index) => {
    const line = `${at}.line_items[${index}]`;
    const [name, type, total] = [
      answer.text(`${line}.name`),
      answer.text(`${line}.type`),
      answer.digits(`${line}.total`),
    ];
    if (type === 'applied_commit_or_credit') {
      expect(answer.at(`${line}.quantity`)).toBeUndefined();
      return `${name} = ${total}`;
    }
    const commit = answer.at(`${line}.commit_type`);
    const payer = commit === undefined ? '' : ` (${String(commit)})`;
    return `${name}: ${answer.digits(`${line}.quantity`)} × ${answer.digits(`${line}.unit_price`)} = ${total}${payer}`;
  });
}

async function ledger(): Promise<string[]> {
  const answer = await service.api.post('/v1/contracts/customerBalances/list', {
    customer_id: customerId,
    include_ledgers: true,
    include_balance: true,
    include_contract_balances: true,
  });
  return answer.list('data').flatMap((_, index) => [
    `${answer.text(`data[${index}].name`)} ${answer.digits(`data[${index}].balance`)}`,
    ...answer.list(`data[${index}].ledger`).map((__, entry) =>
      ['type', 'amount', 'timestamp']
        .map((name) => {
          const value = answer.at(`data[${index}].ledger[${entry}].${name}`);
          return typeof value === 'string' ? value : answer.digits(`data[${index}].ledger[${entry}].${name}`);
        })
        .join(' '),
    ),
  ]);
}

test('a credit pays for the earliest usage, the rest is due, and the ledger has the deduction of the draft', async () => {
  await contract({ credits: [credit(100)] });
  await use(150, '2026-11-03T10:30:00Z');
  await use(90, '2026-11-05T10:30:00Z');
  const draft = await invoices();
  expect(lines(draft)).toEqual([
    'Tokens: 200 × 0.5 = 100 (PrepaidCommit)',
    'Trial applied = -100',
    'Tokens: 40 × 0.5 = 20',
    'Requests: 2 × 3 = 6',
  ]);
  expect(draft.digits('data[0].total')).toBe('26');
  expect(await ledger()).toEqual([
    'Trial 0',
    'CREDIT_SEGMENT_START 100 2026-11-01T00:00:00.000Z',
    'CREDIT_AUTOMATED_INVOICE_DEDUCTION -100 2026-12-01T00:00:00.000Z',
  ]);
});

test('the days show what was paid on each of them, and sum to the invoice', async () => {
  await contract({ credits: [credit(100)] });
  await use(150, '2026-11-03T10:30:00Z');
  await use(90, '2026-11-05T10:30:00Z');
  const days = await service.api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
    query: {
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-11-10T00:00:00Z',
      skip_zero_qty_line_items: true,
    },
  });
  const byDay = days
    .list('data')
    .map((_, index) => lines(days, `data[${index}]`))
    .filter((own) => own.length > 0);
  expect(byDay).toEqual([
    ['Tokens: 150 × 0.5 = 75 (PrepaidCommit)', 'Trial applied = -75', 'Requests: 1 × 3 = 3'],
    [
      'Tokens: 50 × 0.5 = 25 (PrepaidCommit)',
      'Trial applied = -25',
      'Tokens: 40 × 0.5 = 20',
      'Requests: 1 × 3 = 3',
    ],
  ]);
  const totals = days.list('data').map((_, index) => new Decimal(days.digits(`data[${index}].total`)));
  expect(sum(totals).toFixed()).toBe('26');
});

test('a finalized invoice keeps its lines and its deduction, and the rest expires with the segment', async () => {
  await contract({ credits: [credit(100)] });
  await use(150, '2026-11-03T10:30:00Z');
  const draft = lines(await invoices());
  await service.moveClock('2026-12-03T00:00:00Z');
  const issued = await invoices();
  expect(issued.text('data[0].status')).toBe('FINALIZED');
  expect(lines(issued)).toEqual(draft);
  expect(issued.digits('data[0].total')).toBe('3');
  expect(await ledger()).toEqual([
    'Trial 0',
    'CREDIT_SEGMENT_START 100 2026-11-01T00:00:00.000Z',
    'CREDIT_AUTOMATED_INVOICE_DEDUCTION -75 2026-12-01T00:00:00.000Z',
    'CREDIT_EXPIRATION -25 2026-12-01T00:00:00.000Z',
  ]);
  const invoiceId = issued.text('data[0].id');
  const days = await service.api.get(`/v1/customers/${customerId}/invoices/breakdowns`, {
    query: {
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-11-10T00:00:00Z',
      skip_zero_qty_line_items: true,
    },
  });
  expect(lines(days, 'data[0]')).toEqual([
    'Tokens: 150 × 0.5 = 75 (PrepaidCommit)',
    'Trial applied = -75',
    'Requests: 1 × 3 = 3',
  ]);
  await service.api.post('/v1/invoices/void', { id: invoiceId });
  expect(await ledger()).toContain('CREDIT_CREDITED 75 2026-12-03T00:00:00.000Z');
  await service.api.post('/v1/invoices/regenerate', { id: invoiceId });
  expect((await ledger()).filter((entry) => entry.includes('DEDUCTION'))).toHaveLength(2);
});

test('two contracts draw on one credit of the customer in the order of their drafts', async () => {
  const { api } = service;
  const first = await contract({});
  const second = await contract({ starting_at: '2026-11-02T00:00:00Z' });
  await createdId(api, '/v1/contracts/customerCredits/create', {
    customer_id: customerId,
    priority: 1,
    ...credit(100),
  });
  await use(150, '2026-11-03T10:30:00Z');
  const linesOf = async (contract_id: string) => {
    const own = await api.get(`/v1/customers/${customerId}/invoices`, {
      query: { type: 'USAGE', contract_id },
    });
    return lines(own);
  };
  const all = [await linesOf(first), await linesOf(second)];
  expect(all.map(([line]) => line)).toEqual([
    'Tokens: 150 × 0.5 = 75 (PrepaidCommit)',
    'Tokens: 50 × 0.5 = 25 (PrepaidCommit)',
  ]);
  expect((await ledger()).filter((entry) => entry.includes('DEDUCTION'))).toHaveLength(2);
  await service.moveClock('2026-12-03T00:00:00Z');
  expect([await linesOf(first), await linesOf(second)]).toEqual(all);
  expect((await ledger()).filter((entry) => entry.includes('DEDUCTION'))).toHaveLength(2);
});

test('usage that a postpaid commit covers is due, and shown as applied', async () => {
  await contract({
    commits: [
      {
        ...credit(100, { name: 'Minimum', applicable_product_ids: [] }),
        type: 'POSTPAID',
        invoice_schedule: { schedule_items: [{ amount: 100, timestamp: '2026-12-01T00:00:00Z' }] },
      },
    ],
  });
  await use(150, '2026-11-03T10:30:00Z');
  const draft = await invoices();
  expect(lines(draft)).toEqual([
    'Tokens: 150 × 0.5 = 75 (PostpaidCommit)',
    'Minimum applied = -75',
    'Requests: 1 × 3 = 3 (PostpaidCommit)',
    'Minimum applied = -3',
  ]);
  expect(draft.digits('data[0].total')).toBe('78');
});
