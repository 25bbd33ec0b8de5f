/**
 * Balances that are published for clients of the stores: the numbers of the API (docs/reference/sql.md, "How balances
 * get there").
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Decimal, decimal, sum } from '../../src/core/decimal.ts';
import { BALANCE_SCENARIOS } from '../scenarios/balances.ts';
import { type BalanceScenario, day, runBalances } from '../scenarios/run-balances.ts';
import { CONTRACTS, createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { applyPostgresScript, publishAll, publishedRows } from '../support/published-balances.ts';
import {
  createSeatCatalogue,
  createSeatCompany,
  editSubscription,
  type SeatCompany,
  sendCalls,
} from '../support/seat-company.ts';

const service = await serviceForFile({ sandboxNow: day('01-01') });
const { api, db } = service;
await applyPostgresScript(service.connection);

const clock = async () => Date.parse((await api.get('/v1/sandbox/clock')).text('data.now'));

/** The published balances, and those of the API in the same order. */
async function bothSides() {
  await publishAll(db, await clock());
  const sql = 'SELECT commit_id, customer_id, contract_id, type, credit_type_id, balance FROM balances';
  const answer = await api.post('/v1/sql', { sql });
  const asked = answer
    .list('data')
    .map((_, index) =>
      [
        ...['commit_id', 'customer_id'].map((name) => answer.text(`data[${index}].${name}`)),
        answer.at(`data[${index}].contract_id`),
        ...['type', 'credit_type_id'].map((name) => answer.text(`data[${index}].${name}`)),
        answer.digits(`data[${index}].balance`),
      ].join(' '),
    )
    .sort();
  return { published: await publishedRows(db), asked };
}

type BothSides = Awaited<ReturnType<typeof bothSides>>;

/** By customer, in US cents. */
function sums(rows: readonly string[]): Map<string, Decimal> {
  const found = new Map<string, Decimal>();
  for (const row of rows) {
    const [, customerId = '', , , unit, balance = ''] = row.split(' ');
    if (unit !== '2714e483-4ff1-48e4-9e25-ac732e8f24f2') continue;
    found.set(customerId, sum([found.get(customerId) ?? decimal('0'), decimal(balance)]));
  }
  return found;
}

async function netBalance(customer_id: string): Promise<string> {
  const answer = await api.post('/v1/contracts/customerBalances/getNetBalance', {
    ...{ customer_id, invoice_inclusion_mode: 'FINALIZED' },
  });
  return answer.digits('data.balance');
}

describe('through a quarter of commits and credits', () => {
  /** With drafts, after each invoice, and when all access has ended. */
  const MOMENTS = ['01-21', '02-03', '02-21', '03-03', '03-21', '04-01'];
  const seen = new Map<string, BothSides>();
  const net = new Map<string, [published: string, asked: string]>();

  async function compare(moment: string): Promise<void> {
    const both = await bothSides();
    seen.set(moment, both);
    if (moment !== '02-03') return;
    for (const [customerId, balance] of sums(both.published)) {
      net.set(customerId, [balance.toFixed(), await netBalance(customerId)]);
    }
  }

  const observer: BalanceScenario = {
    name: 'Observer',
    uses: [],
    changes: Object.fromEntries(MOMENTS.map((moment) => [moment, () => compare(moment)])),
    ...{ invoices: [], ledgers: [] },
  };

  beforeAll(async () => {
    await runBalances(service, [...BALANCE_SCENARIOS, observer]);
  }, 900_000);

  test.each(MOMENTS)('published balances equal those of POST /v1/sql on %s', (moment) => {
    const { published, asked } = seen.get(moment) ?? { published: [], asked: [] };
    expect(published.length).toBeGreaterThan(30);
    expect(published).toEqual(asked);
  });

  test('published balances are more than zeros while access lasts', () => {
    const isLeft = (row: string) => !row.endsWith(' 0');
    const { published = [] } = seen.get('02-03') ?? {};
    expect(published.filter(isLeft).length).toBeGreaterThan(10);
    expect(new Set(published.map((row) => row.split(' ')[3]))).toEqual(
      new Set(['PREPAID', 'POSTPAID', 'CREDIT']),
    );
  });

  test('those of a customer sum to its net balance', () => {
    expect(net.size).toBeGreaterThan(20);
    for (const [published, asked] of net.values()) expect(published).toBe(asked);
  });
});

describe('after a change', () => {
  let feeId = '';
  let customers = 0;

  beforeAll(async () => {
    feeId = await createdId(api, PRODUCTS, { name: 'Fee of changes', type: 'FIXED' });
  });

  /** An access schedule of 100, from now on for some days. */
  const access = async (days = 30) => {
    const now = await clock();
    const at = (offset: number) => new Date(now + offset * 86_400_000).toISOString();
    return {
      schedule_items: [{ amount: 100, starting_at: at(0), ending_before: at(days) }],
    };
  };

  /** A customer with a credit of 100. */
  async function withCredit(days?: number) {
    customers += 1;
    const customerId = await createdId(api, '/v1/customers', { name: `Changing ${customers}` });
    const creditId = await createdId(api, '/v1/contracts/customerCredits/create', {
      ...{ customer_id: customerId, priority: 1, product_id: feeId, name: 'Credit' },
      access_schedule: { ...(await access(days)), credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2' },
    });
    return { customerId, creditId };
  }

  const published = async (commitId: string) => {
    const both = await bothSides();
    expect(both.published).toEqual(both.asked);
    const found = both.published.find((row) => row.startsWith(commitId));
    return found === undefined ? null : (found.split(' ').at(-1) ?? null);
  };

  test('the next pass has an entry by hand', async () => {
    const { customerId, creditId } = await withCredit();
    expect(await published(creditId)).toBe('100');
    const list = await api.post('/v1/contracts/customerBalances/list', { customer_id: customerId });
    await api.post('/v1/contracts/addManualBalanceLedgerEntry', {
      ...{ customer_id: customerId, id: creditId, amount: -0.000_000_1, reason: 'by hand' },
      segment_id: list.text('data[0].access_schedule.schedule_items[0].id'),
    });
    expect(await published(creditId)).toBe('99.9999999');
  });

  test('a credit that is archived is gone', async () => {
    const { customerId, creditId } = await withCredit();
    expect(await published(creditId)).toBe('100');
    await api.post('/v2/contracts/credits/archive', { customer_id: customerId, credit_id: creditId });
    expect(await published(creditId)).toBeNull();
  });

  test('the commits of a contract that is archived are gone', async () => {
    const { customerId } = await withCredit();
    const contract_id = await createdId(api, CONTRACTS, {
      ...{ customer_id: customerId, starting_at: new Date(await clock()).toISOString() },
      credits: [{ product_id: feeId, name: 'Trial', access_schedule: await access() }],
    });
    const contract = await api.post('/v2/contracts/get', { customer_id: customerId, contract_id });
    const trial = contract.text('data.credits[0].id');
    expect(await published(trial)).toBe('100');
    await api.post('/v1/contracts/archive', { customer_id: customerId, contract_id, void_invoices: true });
    expect(await published(trial)).toBeNull();
  });

  test.each(['archive', 'erase'])('a customer keeps its own credits: %s', async (how) => {
    const { customerId, creditId } = await withCredit();
    expect(await published(creditId)).toBe('100');
    if (how === 'archive') await api.post('/v1/customers/archive', { id: customerId });
    else await api.post(`/v1/customers/${customerId}/erase`);
    expect(await published(creditId)).toBe('100');
  });

  test('a commit is withheld until it is paid, and gone from the balance when its purchase is voided', async () => {
    const { customerId } = await withCredit();
    const now = new Date(await clock()).toISOString();
    const contract_id = await createdId(api, CONTRACTS, { customer_id: customerId, starting_at: now });
    await api.post('/v2/contracts/edit', {
      ...{ customer_id: customerId, contract_id },
      add_commits: [
        {
          ...{ product_id: feeId, type: 'PREPAID', name: 'Gated', access_schedule: await access() },
          invoice_schedule: { schedule_items: [{ timestamp: now, amount: 90 }] },
          payment_gate_config: { payment_gate_type: 'EXTERNAL' },
        },
      ],
    });
    await service.moveClock(now);
    const contract = await api.post('/v2/contracts/get', { customer_id: customerId, contract_id });
    const gated = contract.text('data.commits[0].id');
    expect(await published(gated)).toBe('0');
    await api.post('/v1/contracts/commits/threshold-billing/release', {
      ...{ workflow_id: gated, outcome: 'paid' },
    });
    expect(await published(gated)).toBe('100');
    const query = { type: 'SCHEDULED', status: 'FINALIZED' };
    const invoices = await api.get(`/v1/customers/${customerId}/invoices`, { query });
    await api.post('/v1/invoices/void', { id: invoices.text('data[0].id') });
    expect(await published(gated)).toBe('0');
  });

  test('access that has ended is over when the clock has moved', async () => {
    const { creditId } = await withCredit(2);
    expect(await published(creditId)).toBe('100');
    await service.moveClock((await clock()) + 2 * 86_400_000);
    expect(await published(creditId)).toBe('0');
  });

  test('the shares of seats count by segment, with what invoices took of them', async () => {
    const now = new Date(await clock());
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
    await service.moveClock(start);
    const company: SeatCompany = await createSeatCompany(api, await createSeatCatalogue(api), {
      ...{ alias: 'seats', start, seats: ['ada', 'bob'], months: 3, allowance: 100 },
    });
    const later = (days: number) => new Date(Date.parse(start) + days * 86_400_000).toISOString();
    await service.moveClock(later(5));
    await sendCalls(api, company, { user: 'ada', at: later(1), count: 12 });
    await sendCalls(api, company, { user: 'bob', at: later(2), count: 3 });
    const seats = { add_seat_ids: [{ seat_ids: ['cleo'], starting_at: later(5) }] };
    expect((await editSubscription(api, company, { seat_updates: seats })).status).toBe(200);
    expect(await published(company.credit)).toBe('300');
    await service.moveClock(later(45));
    // 100 of ada's calls and 30 of bob's.
    expect(await published(company.credit)).toBe('170');
  });
});
