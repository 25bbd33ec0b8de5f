/** Balances of customers: entries by hand, the net balance, the order of drawdown, and all readers of one ledger. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lockBalances } from '../../src/store/invoices/balance-deductions.ts';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId, PRODUCTS } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { databaseForFile } from '../support/file-fixtures.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

type Body = Record<string, unknown>;

const pool = await databaseForFile();
const day = (month: number, dayOfMonth = 1) => new Date(Date.UTC(2026, month - 1, dayOfMonth)).toISOString();
const on = (month: number, dayOfMonth = 1): ApiClient =>
  createCatalogueApi(pool.db, { now: Date.parse(day(month, dayOfMonth)) });
const api = on(2);

const MANUAL = '/v1/contracts/addManualBalanceLedgerEntry';
const NET = '/v1/contracts/customerBalances/getNetBalance';
const LIST = '/v1/contracts/customerBalances/list';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
  for (const entity of ['commit', 'contract_credit']) {
    for (const key of ['deal', 'team']) {
      await api.post('/v1/customFields/addKey', { entity, key, enforce_uniqueness: false });
    }
  }
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const segment = (amount: number, from: number, until: number) => ({
  amount,
  starting_at: day(from),
  ending_before: day(until),
});

function terms(change: Body = {}): Body {
  return { product_id: catalogue.fee, access_schedule: { schedule_items: [segment(100, 1, 6)] }, ...change };
}

async function newCredit(change: Body = {}, of = api): Promise<string> {
  const body = { customer_id: customer, priority: 100, ...terms(change) };
  return createdId(of, '/v1/contracts/customerCredits/create', body);
}

async function newCommit(change: Body = {}): Promise<string> {
  const body = { customer_id: customer, priority: 100, type: 'PREPAID', ...terms(change) };
  return createdId(api, '/v1/contracts/customerCommits/create', body);
}

async function newContract(change: Body = {}): Promise<string> {
  return createdId(api, CONTRACTS, { customer_id: customer, starting_at: day(1), ...change });
}

async function listed(id: string, of = api): Promise<ApiAnswer> {
  return of.post(LIST, {
    customer_id: customer,
    id,
    include_contract_balances: true,
    include_archived: true,
    include_balance: true,
    include_ledgers: true,
  });
}

async function segmentId(id: string): Promise<string> {
  return (await listed(id)).text('data[0].access_schedule.schedule_items[0].id');
}

describe('an entry by hand', () => {
  async function add(id: string, change: Body = {}, of = api): Promise<ApiAnswer> {
    const body = {
      customer_id: customer,
      id,
      segment_id: await segmentId(id),
      reason: 'Goodwill',
      ...change,
    };
    return of.send('POST', MANUAL, body);
  }

  test('an entry by hand is in the ledger and in the balance, with every digit, its reason and its time', async () => {
    const id = await newCredit();
    expect((await add(id, { amount: 2.125, timestamp: '2026-02-10T08:30:00Z' })).body).toBeUndefined();
    await add(id, { amount: -0.025, reason: 'Typing error' });
    const answer = await listed(id);
    const segment_id = await segmentId(id);
    expect(answer.at('data[0].balance')).toBe(102.1);
    expect(answer.at('data[0].ledger')).toEqual([
      { type: 'CREDIT_SEGMENT_START', amount: 100, timestamp: day(1), segment_id },
      { type: 'CREDIT_MANUAL', amount: -0.025, timestamp: day(1), segment_id, reason: 'Typing error' },
      {
        type: 'CREDIT_MANUAL',
        amount: 2.125,
        timestamp: '2026-02-10T08:30:00.000Z',
        segment_id,
        reason: 'Goodwill',
      },
    ]);
  });

  test('an entry by hand below what is left leaves a balance of 0', async () => {
    const id = await newCredit();
    await add(id, { amount: -150 });
    const answer = await listed(id);
    expect(answer.at('data[0].balance')).toBe(0);
    expect(answer.list('data[0].ledger')).toHaveLength(2);
    expect((await api.post(NET, { customer_id: customer })).at('data.balance')).toBe(0);
  });

  test('an entry by hand counts only in its segment: it expires with it', async () => {
    const id = await newCredit();
    await add(id, { amount: 5 });
    const later = await listed(id, on(7));
    expect(later.at('data[0].balance')).toBe(0);
    expect(later.list('data[0].ledger').at(-1)).toMatchObject({ type: 'CREDIT_EXPIRATION', amount: -105 });
  });

  test('an entry by hand is for commits of contracts too, whose reads show it', async () => {
    const contract_id = await newContract({ commits: [{ type: 'PREPAID', ...terms() }] });
    const { at } = await api.post('/v2/contracts/get', { customer_id: customer, contract_id });
    const id = String(at('data.commits[0].id'));
    expect((await add(id, { contract_id, amount: 11 })).status).toBe(200);
    for (const path of ['/v1/contracts/get', '/v2/contracts/get']) {
      const body = { customer_id: customer, contract_id, include_balance: true, include_ledgers: true };
      const answer = await api.post(path, body);
      const commit = path.includes('v1') ? 'data.current.commits[0]' : 'data.commits[0]';
      expect(answer.at(`${commit}.balance`)).toBe(111);
      expect(answer.at(`${commit}.ledger`)).toEqual((await listed(id)).at('data[0].ledger'));
    }
  });

  test('an entry by hand is lost with a segment that an edit removes', async () => {
    const id = await newCredit({ access_schedule: { schedule_items: [segment(1, 1, 3), segment(2, 1, 4)] } });
    await add(id, { amount: 5 });
    const access_schedule = { remove_schedule_items: [{ id: await segmentId(id) }] };
    await api.post('/v2/contracts/credits/edit', { customer_id: customer, credit_id: id, access_schedule });
    expect((await listed(id)).at('data[0].balance')).toBe(2);
  });

  test('an entry by hand is refused where there is nothing to adjust', async () => {
    const id = await newCredit();
    const contract = await newContract();
    const amount = 1;
    const refused = async (change: Body) => {
      const answer = await add(id, { amount, ...change });
      return [answer.status, answer.text('message')];
    };
    expect(await refused({ id: UNKNOWN })).toEqual([404, expect.stringContaining('id: ')]);
    expect(await refused({ segment_id: UNKNOWN })).toEqual([404, expect.stringContaining('segment_id: ')]);
    expect(await refused({ contract_id: contract })).toEqual([404, expect.stringContaining('contract_id: ')]);
    expect(await refused({ customer_id: UNKNOWN })).toEqual([404, expect.stringContaining('customer')]);
    expect(await refused({ amount: undefined })).toEqual([400, expect.stringContaining('amount')]);
    expect(await refused({ reason: undefined })).toEqual([400, expect.stringContaining('reason')]);
    expect(await refused({ per_group_amounts: { ann: 1 } })).toEqual([
      400,
      expect.stringContaining(
        'per_group_amounts: is for commits and credits with INDIVIDUAL allocation only',
      ),
    ]);
    await api.post('/v2/contracts/credits/archive', { customer_id: customer, credit_id: id });
    expect(await refused({})).toEqual([400, `id: commit or credit ${id} is archived`]);
  });
});

describe('the net balance', () => {
  const net = async (body: Body = {}, of = api) => {
    const answer = await of.post(NET, { customer_id: customer, ...body });
    return answer.at('data.balance');
  };

  test('the net balance is what can be used now of all commits and credits, those of contracts too', async () => {
    await newCredit({
      access_schedule: { schedule_items: [segment(1, 1, 3), segment(2, 2, 4), segment(4, 3, 5)] },
    });
    await newCommit({ access_schedule: { schedule_items: [segment(8, 1, 3)] } });
    await newContract({
      commits: [{ type: 'PREPAID', ...terms({ access_schedule: { schedule_items: [segment(16, 1, 9)] } }) }],
    });
    const archived = await newCredit();
    await api.post('/v2/contracts/credits/archive', { customer_id: customer, credit_id: archived });
    expect(await net()).toBe(27);
    expect(await net({}, on(3))).toBe(22);
    expect((await api.post(NET, { customer_id: customer })).at('data.credit_type_id')).toBe(USD);
  });

  test('the net balance is of one pricing unit', async () => {
    const schedule_items = [segment(7, 1, 9)];
    await newCredit({ access_schedule: { credit_type_id: catalogue.unit, schedule_items } });
    await newCredit();
    expect(await net({ credit_type_id: catalogue.unit })).toBe(7);
    expect(await net()).toBe(100);
  });

  test('the net balance counts what any filter lets through, whose conditions must all hold', async () => {
    const of = (amount: number) => ({ access_schedule: { schedule_items: [segment(amount, 1, 9)] } });
    const contract = await newContract();
    const gift = await newCredit({ ...of(1), custom_fields: { deal: 'a', team: 'x' } });
    const paid = await newCommit({ ...of(2), custom_fields: { deal: 'a' } });
    await newCommit({
      ...of(4),
      type: 'POSTPAID',
      invoice_contract_id: contract,
      invoice_schedule: { schedule_items: [{ timestamp: day(9), amount: 4 }] },
    });
    for (const [filters, balance] of [
      [undefined, 7],
      [[], 7],
      [[{}], 7],
      [[{ balance_types: ['CREDIT'] }], 1],
      [[{ balance_types: ['PREPAID_COMMIT', 'POSTPAID_COMMIT'] }], 6],
      [[{ balance_types: ['postpaid_commit'] }], 4],
      [[{ ids: [gift, paid] }], 3],
      [[{ ids: [] }], 0],
      [[{ custom_fields: { deal: 'a' } }], 3],
      [[{ custom_fields: { deal: 'a', team: 'x' } }], 1],
      [[{ custom_fields: { deal: 'b' } }], 0],
      [[{ ids: [gift], balance_types: ['PREPAID_COMMIT'] }], 0],
      [[{ ids: [gift] }, { balance_types: ['POSTPAID_COMMIT'] }], 5],
      [[{ ids: [gift] }, { ids: [gift] }], 1],
    ] as const) {
      expect([filters, await net({ filters })]).toEqual([filters, balance]);
      expect(await net({ filters, invoice_inclusion_mode: 'finalized' })).toBe(balance);
    }
  });

  test('the net balance does not count what a parent shares', async () => {
    const parent = await createdId(api, '/v1/customers', { name: 'Parent' });
    const hierarchy_configuration = { child_access: { type: 'ALL' } };
    const shared = { type: 'PREPAID', ...terms(), hierarchy_configuration };
    const contract = await createdId(api, CONTRACTS, {
      customer_id: parent,
      starting_at: day(1),
      commits: [shared],
    });
    await newContract({
      hierarchy_configuration: { parent: { contract_id: contract, customer_id: parent } },
    });
    expect(await net()).toBe(0);
    expect((await api.post(NET, { customer_id: parent })).at('data.balance')).toBe(100);
  });

  test.each([
    [{ customer_id: UNKNOWN }, 404, 'customer'],
    [{ credit_type_id: UNKNOWN }, 400, 'credit_type_id'],
    [{ filters: [{ balance_types: ['COMMIT'] }] }, 400, 'filters[0].balance_types[0]'],
    [{ invoice_inclusion_mode: 'ALL' }, 400, 'invoice_inclusion_mode'],
  ])('the net balance refuses %o', async (body, status, words) => {
    const answer = await api.send('POST', NET, { customer_id: customer, ...body });
    expect([answer.status, answer.text('message')]).toEqual([status, expect.stringContaining(words)]);
  });
});

describe('the order of drawdown', () => {
  const order = async (query: Record<string, string> = {}, of = api) => {
    const answer = await of.get(`/v1/customers/${customer}/drawdownOrder`, { query });
    return answer.list('data') as {
      readonly id: string;
      readonly decided_by?: string;
      readonly reason: string;
    }[];
  };

  test('the order of drawdown lists what is open now, with the reason for each place', async () => {
    const contract = await newContract();
    const late = await newCredit({ priority: 50 }, on(2, 2));
    const early = await newCredit({ priority: 50 });
    const first = await newCredit({ priority: 7.5 });
    const paid = await newCommit({
      priority: 50,
      invoice_contract_id: contract,
      invoice_schedule: { schedule_items: [{ timestamp: day(9), amount: 4 }] },
    });
    const ofContract = await newContract({
      credits: [terms({ priority: 50, applicable_product_tags: ['llm'] })],
    });
    const postpaid = await newCommit({
      type: 'POSTPAID',
      priority: 1,
      invoice_contract_id: contract,
      invoice_schedule: { schedule_items: [{ timestamp: day(9), amount: 100 }] },
    });
    await newCredit({ priority: 1, access_schedule: { schedule_items: [segment(1, 3, 4)] } });
    const shown = await order({}, on(2, 3));
    expect(shown.map(({ id, decided_by }) => [id, decided_by])).toEqual([
      [first, undefined],
      [expect.any(String), 'PRIORITY'],
      [early, 'PRODUCT_APPLICABILITY'],
      [late, 'CREATED_AT'],
      [paid, 'COST_BASIS'],
      [postpaid, 'CLASS'],
    ]);
    expect(shown[1]).toMatchObject({
      position: 2,
      type: 'CREDIT',
      contract: { id: ofContract },
      segment_id: expect.any(String),
      starting_at: day(1),
      ending_before: day(6),
      credit_type_id: USD,
      balance: 100,
      reason: 'after the one before it: priority 50 comes after priority 7.5',
    });
    expect(shown.map(({ reason }) => reason)).toEqual([
      'nothing comes before it',
      'after the one before it: priority 50 comes after priority 7.5',
      'after the one before it: any product comes after 1 product',
      `after the one before it: creation at ${day(2, 2)} comes after creation at ${day(2)}`,
      'after the one before it: what was paid comes after what was free',
      'after the one before it: a postpaid commit comes after a prepaid commit or credit',
    ]);
  });

  test('the order of drawdown counts the products that carry a tag now', async () => {
    const wide = await newCredit({ applicable_product_tags: ['common'] });
    const narrow = await newCredit(
      { applicable_product_ids: [catalogue.tokens, catalogue.models] },
      on(2, 2),
    );
    for (const name of ['One', 'Two'])
      await createdId(api, PRODUCTS, { name, type: 'FIXED', tags: ['common'] });
    expect((await order()).map(({ id }) => id)).toEqual([wide, narrow]);
    await createdId(api, PRODUCTS, { name: 'Three', type: 'FIXED', tags: ['common'] });
    expect((await order()).map(({ id }) => id)).toEqual([narrow, wide]);
  });

  test('the order of drawdown is that of a contract on request', async () => {
    const one = await newContract({ credits: [terms()] });
    const other = await newContract();
    const everywhere = await newCredit();
    const there = await newCredit({ applicable_contract_ids: [other] });
    const ids = (await order({ contract_id: other })).map(({ id }) => id);
    expect(ids).toEqual([there, everywhere]);
    expect(await order({ contract_id: one })).toHaveLength(2);
    expect(await order()).toHaveLength(3);
  });

  test('the order of drawdown knows its customer and its contracts', async () => {
    const path = `/v1/customers/${UNKNOWN}/drawdownOrder`;
    expect((await api.send('GET', path)).at('code')).toBe('CustomerNotFound');
    const query = { contract_id: UNKNOWN };
    const answer = await api.send('GET', `/v1/customers/${customer}/drawdownOrder`, undefined, { query });
    expect([answer.status, answer.at('code')]).toEqual([404, 'ContractNotFound']);
  });
});

test('a rollover has no more than what entries by hand have left of its source', async () => {
  const from = await newContract({
    commits: [
      {
        type: 'PREPAID',
        ...terms({ rollover_fraction: 0.5, access_schedule: { schedule_items: [segment(100, 1, 12)] } }),
      },
    ],
  });
  const source = (await api.post(LIST, { customer_id: customer, include_contract_balances: true })).text(
    'data[0].id',
  );
  const to = await newContract({
    starting_at: day(4),
    transition: { type: 'RENEWAL', from_contract_id: from },
  });
  const heirOf = async (of: ApiClient) => {
    const body = { customer_id: customer, contract_id: to, include_balance: true, include_ledgers: true };
    return of.post('/v2/contracts/get', body);
  };
  expect((await heirOf(on(5))).at('data.commits[0].balance')).toBe(50);
  const segment_id = await segmentId(source);
  const take = { customer_id: customer, id: source, segment_id, amount: -70, reason: 'Correction' };
  await api.post(MANUAL, take);
  const heir = await heirOf(on(5));
  expect(heir.at('data.commits[0].balance')).toBe(30);
  expect(heir.list('data.commits[0].ledger')).toMatchObject([
    { type: 'PREPAID_COMMIT_SEGMENT_START', amount: 30 },
  ]);
  expect((await listed(source, on(5))).list('data[0].ledger').slice(2)).toMatchObject([
    { type: 'PREPAID_COMMIT_ROLLOVER', amount: -30, new_contract_id: to },
  ]);
});

test('along a chain of renewals each rollover is the fraction of what has really arrived before', async () => {
  const schedule_items = [segment(100, 1, 12)];
  const from = await newContract({
    commits: [{ type: 'PREPAID', ...terms({ rollover_fraction: 0.5, access_schedule: { schedule_items } }) }],
  });
  const source = (await api.post(LIST, { customer_id: customer, include_contract_balances: true })).text(
    'data[0].id',
  );
  const renewed = (month: number, from_contract_id: string) =>
    newContract({ starting_at: day(month), transition: { type: 'RENEWAL', from_contract_id } });
  const second = await renewed(4, from);
  const third = await renewed(6, second);
  const left = async (contract_id: string) => {
    const body = { customer_id: customer, contract_id, include_balance: true, include_ledgers: true };
    const answer = await on(7).post('/v2/contracts/get', body);
    const entries = answer.list('data.commits[0].ledger') as {
      readonly type: string;
      readonly amount: number;
    }[];
    return entries.map(({ type, amount }) => `${type.replace('PREPAID_COMMIT_', '')} ${amount}`);
  };
  expect(await left(third)).toEqual(['SEGMENT_START 25']);
  const segment_id = await segmentId(source);
  await api.post(MANUAL, {
    customer_id: customer,
    id: source,
    segment_id,
    amount: -70,
    reason: 'Correction',
  });
  expect(await left(from)).toEqual(['SEGMENT_START 100', 'MANUAL -70', 'ROLLOVER -30']);
  expect(await left(second)).toEqual(['SEGMENT_START 30', 'ROLLOVER -15', 'EXPIRATION -15']);
  expect(await left(third)).toEqual(['SEGMENT_START 15']);
});

test('an entry by hand waits for an invoice that is being issued from the balance', async () => {
  const id = await newCredit();
  const segment_id = await segmentId(id);
  const body = { customer_id: customer, id, segment_id, amount: -30, reason: 'Correction' };
  const settled: string[] = [];
  const entry = await pool.db.transaction(async (tx) => {
    await lockBalances(tx, [customer]);
    const sent = api.post(MANUAL, body).then(() => settled.push('entry'));
    await waitForLock(pool.db);
    settled.push('invoice');
    return { sent };
  });
  await entry.sent;
  expect(settled).toEqual(['invoice', 'entry']);
});
