/** Operations that change a contract: end date, usage filter, archiving; and what it was before. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
const clickhouse = await clickhouseForFile();
/** Each has a clock that stands still at another time: 12:00, 13:00, 14:00 and 15:00 of one day. */
let api: ApiClient;
let later: ApiClient;
let stillLater: ApiClient;
let last: ApiClient;
let catalogue: TermsCatalogue;
let customer: string;

const at = (hour: number) => Date.UTC(2026, 10, 20, hour);
const text = (hour: number) => new Date(at(hour)).toISOString();

beforeAll(async () => {
  api = createCatalogueApi(pool.db, { now: at(12), clickhouse });
  later = createCatalogueApi(pool.db, { now: at(13), clickhouse });
  stillLater = createCatalogueApi(pool.db, { now: at(14), clickhouse });
  last = createCatalogueApi(pool.db, { now: at(15), clickhouse });
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const START = '2026-10-01T00:00:00Z';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const UPDATE_END = '/v1/contracts/updateEndDate';
const SET_FILTER = '/v1/contracts/setUsageFilter';
const ARCHIVE = '/v1/contracts/archive';

interface Reference {
  readonly customer_id: string;
  readonly contract_id: string;
}

async function create(body: Record<string, unknown>): Promise<Reference> {
  const terms = { customer_id: customer, rate_card_id: catalogue.card, starting_at: START, ...body };
  return { customer_id: customer, contract_id: await createdId(api, CONTRACTS, terms) };
}

async function createEverything(change: Record<string, unknown> = {}): Promise<Reference> {
  return create({ ...everyTerm(catalogue, customer), ...change });
}

async function read(reference: Reference, options: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return last.post('/v2/contracts/get', { ...reference, ...options });
}

describe('an earlier end', () => {
  const END = '2026-12-15T00:00:00.000Z';

  async function shortened(): Promise<ApiAnswer> {
    const reference = await createEverything();
    const answer = await later.post(UPDATE_END, { ...reference, ending_before: END });
    expect(answer.at('data')).toEqual({ id: reference.contract_id });
    return read(reference);
  }

  test('an earlier end ends access and terms with the contract', async () => {
    const contract = await shortened();
    expect(contract.at('data.ending_before')).toBe(END);
    expect(contract.at('data.commits[0].access_schedule.schedule_items[0].ending_before')).toBe(END);
    expect(contract.at('data.recurring_commits[0].ending_before')).toBe(END);
    expect(contract.at('data.overrides[0].ending_before')).toBe(END);
    expect(contract.at('data.subscriptions[1].ending_before')).toBe(END);
    expect(contract.at('data.usage_filter[0].ending_before')).toBe(END);
  });

  test('an earlier end leaves terms that end with the contract to do so', async () => {
    const contract = await shortened();
    expect(contract.at('data.recurring_credits[0].ending_before')).toBeUndefined();
    expect(contract.at('data.subscriptions[0].ending_before')).toBeUndefined();
    expect(contract.at('data.overrides[1].ending_before')).toBeUndefined();
  });

  test('an earlier end removes charges after it, and bills the true-up at it', async () => {
    const contract = await shortened();
    const charges = contract.list('data.scheduled_charges[0].schedule.schedule_items');
    expect(charges).toMatchObject([
      { timestamp: '2026-10-15T12:00:00.000Z' },
      { timestamp: '2026-11-15T12:00:00.000Z' },
    ]);
    expect(contract.at('data.commits[0].invoice_schedule.schedule_items[0].timestamp')).toBe(
      '2026-10-01T08:15:30.000Z',
    );
    expect(contract.at('data.commits[1].invoice_schedule.schedule_items[0].timestamp')).toBe(END);
  });

  test('an earlier end in the past keeps what has been charged since', async () => {
    const reference = await createEverything();
    await later.post(UPDATE_END, { ...reference, ending_before: '2026-10-10T00:00:00Z' });
    const contract = await read(reference, { include_balance: true });
    const charges = contract.list('data.scheduled_charges[0].schedule.schedule_items');
    expect(charges).toHaveLength(2);
    expect(contract.at('data.commits[0].balance')).toBe(0);
    // The subscription that would have begun later never does.
    expect(contract.at('data.subscriptions[1].ending_before')).toBe('2026-11-01T00:00:00.000Z');
    expect(contract.at('data.subscriptions[1].quantity_schedule')).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, number, RegExp]>([
    ['at the start', { ending_before: START }, 400, /^ending_before: must be after the contract starts$/],
    [
      'off the hour',
      { ending_before: '2026-12-15T00:00:01Z' },
      400,
      /^ending_before: must be on a full hour/,
    ],
    ['of an unknown contract', { contract_id: UNKNOWN }, 404, /^contract .* not found$/],
  ])('%s is refused and changes nothing', async (_, change, status, message) => {
    const reference = await createEverything();
    const before = await read(reference);
    const answer = await later.send('POST', UPDATE_END, { ...reference, ending_before: END, ...change });
    expect(answer.status).toBe(status);
    expect(answer.text('message')).toMatch(message);
    expect((await read(reference)).body).toEqual(before.body);
  });
});

describe('a later end, and none', () => {
  test.each([{ ending_before: '2029-01-01T00:00:00.000Z' }, {}])(
    '%j lengthens the contract alone',
    async (end) => {
      const reference = await createEverything();
      const before = await read(reference);
      await later.post(UPDATE_END, { ...reference, ...end });
      const after = await read(reference);
      expect(after.at('data.ending_before')).toBe(end.ending_before);
      for (const list of ['commits', 'credits', 'recurring_commits', 'overrides', 'scheduled_charges']) {
        expect(after.at(`data.${list}`)).toEqual(before.at(`data.${list}`));
      }
      // Terms that ended with the contract keep that end, billing in arrears aside.
      expect(after.at('data.recurring_credits[0].ending_before')).toBe('2027-10-01T00:00:00.000Z');
      expect(after.at('data.subscriptions[0].ending_before')).toBe('2027-10-01T00:00:00.000Z');
    },
  );

  test('a later end, and none lets a subscription in arrears continue', async () => {
    const reference = await create({
      ending_before: '2027-10-01T00:00:00Z',
      subscriptions: [
        {
          subscription_rate: { product_id: catalogue.seats, billing_frequency: 'MONTHLY' },
          collection_schedule: 'ARREARS',
          proration: {},
          initial_quantity: 1,
        },
      ],
    });
    await later.post(UPDATE_END, reference);
    expect((await read(reference)).at('data.subscriptions[0].ending_before')).toBeUndefined();
  });
});

describe('a usage filter', () => {
  test('a usage filter holds from its start until the next one, the one set last where two start together', async () => {
    const reference = await create({ ending_before: '2027-10-01T00:00:00Z' });
    const set = (group_values: string[], starting_at: string) =>
      later.post(SET_FILTER, { ...reference, group_key: 'model', group_values, starting_at });
    expect((await set(['b'], '2026-12-01T00:00:00Z')).body).toBeUndefined();
    await set(['a'], '2026-11-01T00:00:00Z');
    await set(['c'], '2026-12-01T00:00:00Z');
    expect((await read(reference)).at('data.usage_filter')).toEqual([
      {
        group_key: 'model',
        group_values: ['a'],
        starting_at: '2026-11-01T00:00:00.000Z',
        ending_before: '2026-12-01T00:00:00.000Z',
      },
      {
        group_key: 'model',
        group_values: ['c'],
        starting_at: '2026-12-01T00:00:00.000Z',
        ending_before: '2027-10-01T00:00:00.000Z',
      },
    ]);
    const v1 = await last.post('/v1/contracts/get', reference);
    expect(v1.at('data.current.usage_filter.current.group_values')).toEqual(['a']);
    expect(v1.at('data.initial.usage_filter')).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['by an unknown property', { group_key: 'country' }, /^group_key: /],
    ['without values', { group_values: [] }, /^group_values: /],
    ['before the contract', { starting_at: '2026-09-01T00:00:00Z' }, /^starting_at: must lie within/],
    ['without a start', { starting_at: undefined }, /^starting_at: is required/],
  ])('%s is refused', async (_, change, message) => {
    const reference = await create({});
    const filter = { group_key: 'model', group_values: ['a'], starting_at: '2026-11-01T00:00:00Z' };
    const answer = await later.send('POST', SET_FILTER, { ...reference, ...filter, ...change });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect((await read(reference)).at('data.usage_filter')).toEqual([]);
  });
});

describe('an archived contract', () => {
  test('an archived contract takes its commits, credits and charges along and is listed on request only', async () => {
    const reference = await createEverything();
    const answer = await later.post(ARCHIVE, { ...reference, void_invoices: false });
    expect(answer.at('data')).toEqual({ id: reference.contract_id });
    const contract = await read(reference, { include_balance: true, include_ledgers: true });
    for (const path of ['', '.commits[0]', '.commits[1]', '.credits[0]', '.scheduled_charges[0]']) {
      expect(contract.at(`data${path}.archived_at`)).toBe(text(13));
    }
    expect(contract.at('data.commits[0].balance')).toBe(0);
    const list = { customer_id: customer };
    for (const path of ['/v1/contracts/list', '/v2/contracts/list']) {
      expect((await last.post(path, list)).list('data')).toEqual([]);
      expect((await last.post(path, { ...list, include_archived: true })).list('data')).toHaveLength(1);
    }
  });

  test('an archived contract cannot be changed any more', async () => {
    const reference = await createEverything();
    await later.post(ARCHIVE, { ...reference, void_invoices: false });
    const filter = { group_key: 'model', group_values: ['a'], starting_at: START };
    for (const [path, body, said] of [
      [ARCHIVE, { void_invoices: true }, / is already archived$/],
      [UPDATE_END, {}, / is archived$/],
      [SET_FILTER, filter, / is archived$/],
    ] as const) {
      const answer = await stillLater.send('POST', path, { ...reference, ...body });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(said);
    }
  });
});

describe('earlier states', () => {
  test('earlier states are what was known at the date, whole', async () => {
    const reference = await createEverything();
    const first = await read(reference);
    await later.post(UPDATE_END, { ...reference, ending_before: '2026-12-15T00:00:00Z' });
    const second = await read(reference);
    await stillLater.post(ARCHIVE, { ...reference, void_invoices: false });
    const third = await read(reference);
    const states = [first, second, third].map((answer) => answer.body);
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(3);
    const asOf = async (date: string) => (await read(reference, { as_of_date: date })).body;
    expect(await asOf(text(12))).toEqual(states[0]);
    expect(await asOf('2026-11-20T12:59:59.999Z')).toEqual(states[0]);
    expect(await asOf(text(13))).toEqual(states[1]);
    expect(await asOf(text(14))).toEqual(states[2]);
    expect(await asOf('2030-01-01T00:00:00Z')).toEqual(states[2]);
  });

  test('earlier versions are not available with ledgers, nor from before the contract was created', async () => {
    const reference = await createEverything();
    const both = { as_of_date: text(12), include_ledgers: true };
    for (const [options, message] of [
      [both, /^as_of_date: cannot be combined with include_ledgers$/],
      [{ as_of_date: text(11) }, /^as_of_date: the contract did not exist then$/],
    ] as const) {
      const answer = await last.send('POST', '/v2/contracts/get', { ...reference, ...options });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(message);
    }
  });

  test('earlier states in v1: the initial state stays what was created', async () => {
    const reference = await createEverything();
    const before = await last.post('/v1/contracts/get', reference);
    await later.post(UPDATE_END, { ...reference, ending_before: '2026-12-15T00:00:00Z' });
    await later.post(UPDATE_END, { ...reference, ending_before: '2026-12-01T00:00:00Z' });
    const after = await last.post('/v1/contracts/get', reference);
    // The cost of a commit is that of its present schedules.
    const withoutCostBasis = (answer: ApiAnswer) =>
      JSON.stringify(answer.at('data.initial'), (key, value) => (key === 'cost_basis' ? undefined : value));
    expect(withoutCostBasis(after)).toBe(withoutCostBasis(before));
    expect(after.at('data.current.ending_before')).toBe('2026-12-01T00:00:00.000Z');
  });
});
