/** Balances and ledgers of a contract's commits and credits, as time passes and as the contract ends. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
let catalogue: TermsCatalogue;
let customer: string;

const day = (month: number, dayOfMonth = 1) => new Date(Date.UTC(2026, month - 1, dayOfMonth)).toISOString();
/** The API of a service whose clock stands at this date of 2026. */
const on = (month: number, dayOfMonth = 1): ApiClient =>
  createCatalogueApi(pool.db, { now: Date.parse(day(month, dayOfMonth)) });

const EDIT = '/v2/contracts/edit';
const RELEASE = '/v1/contracts/commits/threshold-billing/release';

beforeAll(async () => {
  catalogue = await createTermsCatalogue(on(1));
});
beforeEach(async () => {
  customer = await createdId(on(1), '/v1/customers', { name: 'Customer' });
});

function access(...segments: [number, number, number][]) {
  return {
    schedule_items: segments.map(([amount, from, until]) => ({
      amount,
      starting_at: day(from),
      ending_before: day(until),
    })),
  };
}

function prepaid(...segments: [number, number, number][]) {
  return { type: 'PREPAID', product_id: catalogue.fee, access_schedule: access(...segments) };
}

async function create(terms: Record<string, unknown>): Promise<string> {
  return createdId(on(1), CONTRACTS, { customer_id: customer, starting_at: day(1), ...terms });
}

async function read(api: ApiClient, contract_id: string, version = 'v2'): Promise<ApiAnswer> {
  const body = { customer_id: customer, contract_id, include_balance: true, include_ledgers: true };
  return api.post(`/${version}/contracts/get`, body);
}

interface Entry {
  readonly type: string;
  readonly amount: number;
  readonly timestamp: string;
  readonly segment_id: string;
}

function ledgerOf(contract: ApiAnswer, commit = 'data.commits[0]') {
  return (contract.list(`${commit}.ledger`) as Entry[]).map(
    ({ type, amount, timestamp }) => `${type} ${amount} ${timestamp.slice(5, 10)}`,
  );
}

describe('a commit of two segments', () => {
  test('a commit of two segments is granted and expires segment by segment, and the balance follows', async () => {
    const contract = await create({ commits: [prepaid([100, 2, 5], [50.25, 4, 6])] });
    const starts = ['PREPAID_COMMIT_SEGMENT_START 100 02-01', 'PREPAID_COMMIT_SEGMENT_START 50.25 04-01'];
    const firstEnd = 'PREPAID_COMMIT_EXPIRATION -100 05-01';
    const secondEnd = 'PREPAID_COMMIT_EXPIRATION -50.25 06-01';
    for (const [month, balance, ends] of [
      [1, 0, []],
      [2, 100, []],
      [4, 150.25, []],
      [5, 50.25, [firstEnd]],
      [6, 0, [firstEnd, secondEnd]],
    ] as const) {
      const answer = await read(on(month), contract);
      expect(answer.at('data.commits[0].balance')).toBe(balance);
      expect(ledgerOf(answer)).toEqual([...starts, ...ends]);
    }
  });

  test('a commit of two segments names the segments of its schedule, and v1 tells the same in both states', async () => {
    const contract = await create({ commits: [prepaid([100, 2, 5], [50, 4, 6])] });
    const answer = await read(on(6), contract);
    const [first, second] = answer
      .list('data.commits[0].access_schedule.schedule_items')
      .map((item) => (item as { id: string }).id);
    const entries = answer.list('data.commits[0].ledger') as Entry[];
    expect(entries.map((entry) => entry.segment_id)).toEqual([first, second, first, second]);
    const v1 = await read(on(6), contract, 'v1');
    for (const state of ['initial', 'current']) {
      expect(v1.at(`data.${state}.commits[0].ledger`)).toEqual(entries);
    }
  });

  test('a commit of two segments shows neither where it is not asked to', async () => {
    const contract_id = await create({ commits: [prepaid([100, 2, 5])] });
    const answer = await on(3).post('/v2/contracts/get', { customer_id: customer, contract_id });
    expect(answer.at('data.commits[0].ledger')).toBeUndefined();
    expect(answer.at('data.commits[0].balance')).toBeUndefined();
  });
});

test('credits and postpaid commits have separate entries', async () => {
  const contract = await create({
    commits: [
      {
        ...prepaid([70, 2, 5]),
        type: 'POSTPAID',
        invoice_schedule: { schedule_items: [{ timestamp: day(5), amount: 70 }] },
      },
    ],
    credits: [{ product_id: catalogue.fee, access_schedule: access([9, 2, 5]) }],
  });
  const open = await read(on(3), contract);
  expect(ledgerOf(open)).toEqual(['POSTPAID_COMMIT_INITIAL_BALANCE 70 02-01']);
  expect(open.at('data.commits[0].balance')).toBe(70);
  const over = await read(on(6), contract);
  expect(over.at('data.commits[0].balance')).toBe(0);
  expect(ledgerOf(over, 'data.credits[0]')).toEqual([
    'CREDIT_SEGMENT_START 9 02-01',
    'CREDIT_EXPIRATION -9 05-01',
  ]);
});

describe('the end of the contract', () => {
  test('the end of the contract is where access ends that was to continue, and where the rest expires', async () => {
    const contract = await create({ ending_before: day(4), commits: [prepaid([100, 2, 6])] });
    expect((await read(on(3), contract)).at('data.commits[0].balance')).toBe(100);
    const ended = await read(on(4), contract);
    expect(ended.at('data.commits[0].balance')).toBe(0);
    expect(ledgerOf(ended)).toEqual([
      'PREPAID_COMMIT_SEGMENT_START 100 02-01',
      'PREPAID_COMMIT_EXPIRATION -100 04-01',
    ]);
  });

  test('moved forward, moves the expiration', async () => {
    const contract_id = await create({ ending_before: day(9), commits: [prepaid([100, 2, 6], [5, 7, 8])] });
    const body = { customer_id: customer, contract_id, ending_before: day(4) };
    await on(3).post('/v1/contracts/updateEndDate', body);
    expect(ledgerOf(await read(on(9), contract_id))).toEqual([
      'PREPAID_COMMIT_SEGMENT_START 100 02-01',
      'PREPAID_COMMIT_EXPIRATION -100 04-01',
    ]);
  });
});

describe('archiving', () => {
  test('a contract lets active segments expire and keeps what was granted', async () => {
    const contract_id = await create({ commits: [prepaid([100, 2, 5], [50, 3, 9])] });
    const archive = { customer_id: customer, contract_id, void_invoices: false };
    await on(6, 15).post('/v1/contracts/archive', archive);
    for (const api of [on(6, 15), on(12)]) {
      const answer = await read(api, contract_id);
      expect(answer.at('data.commits[0].balance')).toBe(0);
      expect(ledgerOf(answer)).toEqual([
        'PREPAID_COMMIT_SEGMENT_START 100 02-01',
        'PREPAID_COMMIT_SEGMENT_START 50 03-01',
        'PREPAID_COMMIT_EXPIRATION -100 05-01',
        'PREPAID_COMMIT_EXPIRATION -50 06-15',
      ]);
    }
  });

  test('a commit cancels what is left of it alone', async () => {
    const contract_id = await create({ commits: [prepaid([100, 2, 9]), prepaid([7, 2, 9])] });
    const id = (await read(on(1), contract_id)).text('data.commits[0].id');
    await on(4).post(EDIT, { customer_id: customer, contract_id, archive_commits: [{ id }] });
    const answer = await read(on(5), contract_id);
    expect(ledgerOf(answer)).toEqual([
      'PREPAID_COMMIT_SEGMENT_START 100 02-01',
      'PREPAID_COMMIT_CANCELED -100 04-01',
    ]);
    expect(answer.at('data.commits[0].balance')).toBe(0);
    expect(answer.at('data.commits[1].balance')).toBe(7);
  });
});

describe('a commit that waits for a payment', () => {
  async function gated(gate = 'EXTERNAL'): Promise<{ contract: string; commit: string }> {
    const contract = await create({});
    await on(2).post(EDIT, {
      customer_id: customer,
      contract_id: contract,
      add_commits: [{ ...prepaid([100, 2, 9]), payment_gate_config: { payment_gate_type: gate } }],
    });
    return { contract, commit: (await read(on(2), contract)).text('data.commits[0].id') };
  }

  const answerWith = (workflow_id: string, outcome: string) =>
    on(4).send('POST', RELEASE, { workflow_id, outcome });

  test('a commit that waits for a payment has no balance and no ledger until it is released, and then from the start of its access', async () => {
    const { contract, commit } = await gated();
    const waiting = await read(on(3), contract);
    expect(waiting.at('data.commits[0].balance')).toBe(0);
    expect(ledgerOf(waiting)).toEqual([]);
    for (let repeat = 0; repeat < 2; repeat++) expect((await answerWith(commit, 'paid')).status).toBe(200);
    const released = await read(on(4), contract);
    expect(released.at('data.commits[0].balance')).toBe(100);
    expect(ledgerOf(released)).toEqual(['PREPAID_COMMIT_SEGMENT_START 100 02-01']);
    const contradiction = await answerWith(commit, 'FAILED');
    expect(contradiction.status).toBe(400);
    expect(contradiction.text('message')).toMatch(/^outcome: workflow .* has ended with the other outcome/);
  });

  test('a commit that waits for a payment never has them when the payment fails', async () => {
    const { contract, commit } = await gated();
    expect((await answerWith(commit, 'FAILED')).status).toBe(200);
    expect((await answerWith(commit, 'PAID')).status).toBe(400);
    const answer = await read(on(5), contract);
    expect(answer.at('data.commits[0].balance')).toBe(0);
    expect(ledgerOf(answer)).toEqual([]);
  });

  test('a commit that waits for a payment has one outcome, regardless of who reports first', async () => {
    const { commit } = await gated();
    const outcomes = ['PAID', 'FAILED', 'PAID', 'FAILED'];
    const answers = await Promise.all(outcomes.map((outcome) => answerWith(commit, outcome)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400]);
  });

  test('a commit that waits for a payment does not wait without a gate, and a workflow has to be one', async () => {
    const { contract, commit } = await gated('NONE');
    expect((await read(on(3), contract)).at('data.commits[0].balance')).toBe(100);
    expect((await answerWith(commit, 'PAID')).status).toBe(404);
    expect((await answerWith(customer, 'PAID')).status).toBe(404);
  });
});
