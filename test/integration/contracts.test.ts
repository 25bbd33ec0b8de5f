import { like, sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Contract, loadContracts } from '../../src/store/contracts/contracts.ts';
import { customerRefs } from '../../src/store/customers/customers.ts';

import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import type { ApiClient } from '../support/api-client.ts';
import {
  ACTOR_NAME,
  CONTRACTS,
  createCatalogueApi,
  createdId,
  RATE_CARDS,
} from '../support/catalogue-api.ts';
import { databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
let api: ApiClient;
let customer: string;
let card: string;

beforeAll(async () => {
  api = createCatalogueApi(pool.db);
  card = await createdId(api, RATE_CARDS, { name: 'Card', aliases: [{ name: 'list' }] });
});

beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const GET = '/v1/contracts/get';
const LIST = '/v1/contracts/list';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

function terms(): Record<string, unknown> {
  return { customer_id: customer, rate_card_id: card, starting_at: '2026-10-01T00:00:00Z' };
}

async function storedContracts(): Promise<Contract[]> {
  return loadContracts(pool.db, { customerIds: [customer], includeArchived: true });
}

describe('creating a contract', () => {
  test('a contract is returned as it was sent', async () => {
    const id = await createdId(api, CONTRACTS, {
      ...terms(),
      name: 'Yearly',
      ending_before: '2027-10-01T00:00:00Z',
      net_payment_terms_days: 30,
      uniqueness_key: `key of ${customer}`,
      usage_statement_schedule: {
        frequency: 'quarterly',
        day: 'custom_date',
        billing_anchor_date: '2026-09-15T06:00:00Z',
      },
      commits: [],
      overrides: [],
      discounts: [],
    });
    const contract = await api.post(GET, { customer_id: customer, contract_id: id });
    const state = {
      name: 'Yearly',
      rate_card_id: card,
      starting_at: '2026-10-01T00:00:00.000Z',
      ending_before: '2027-10-01T00:00:00.000Z',
      net_payment_terms_days: 30,
      usage_statement_schedule: {
        frequency: 'QUARTERLY',
        billing_anchor_date: '2026-09-15T06:00:00.000Z',
      },
      commits: [],
      credits: [],
      overrides: [],
      scheduled_charges: [],
      transitions: [],
      created_at: '2026-11-20T12:34:56.789Z',
      created_by: ACTOR_NAME,
    };
    expect(contract.at('data')).toEqual({
      id,
      customer_id: customer,
      uniqueness_key: `key of ${customer}`,
      initial: state,
      current: state,
      amendments: [],
      custom_fields: {},
    });
    expect(await storedContracts()).toMatchObject([
      {
        id,
        statementSchedule: { frequency: 'QUARTERLY', day: 'CUSTOM_DATE', anchor: Date.UTC(2026, 8, 15, 6) },
      },
    ]);
  });

  test('statements are monthly on the first unless said otherwise', async () => {
    await api.post(CONTRACTS, terms());
    expect((await storedContracts())[0]?.statementSchedule).toEqual({
      frequency: 'MONTHLY',
      day: 'FIRST_OF_MONTH',
      anchor: null,
    });
  });

  test('a contract may do without a rate card', async () => {
    const id = await createdId(api, CONTRACTS, { ...terms(), rate_card_id: undefined });
    const contract = await api.post(GET, { customer_id: customer, contract_id: id });
    expect(contract.at('data.current.rate_card_id')).toBeUndefined();
  });

  test('creating a contract and queuing its first invoice are one: where the queue refuses, nothing is stored', async () => {
    await pool.db.execute(sql`alter table jobs add constraint jobs_refused check (false) not valid`);
    expect((await api.send('POST', CONTRACTS, terms())).status).toBe(500);
    expect(await storedContracts()).toEqual([]);
    await pool.db.execute(sql`alter table jobs drop constraint jobs_refused`);
    const id = await createdId(api, CONTRACTS, terms());
    expect(
      await pool.db
        .select({ key: jobs.key })
        .from(jobs)
        .where(like(jobs.key, `${id}:%`)),
    ).toEqual([{ key: `${id}:2026-10-01T00:00:00.000Z` }]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no start', { starting_at: undefined }, /^starting_at: /],
    ['a start off the hour', { starting_at: '2026-10-01T00:00:00.001Z' }, /^starting_at: /],
    ['an end at its start', { ending_before: '2026-10-01T00:00:00Z' }, /^ending_before: /],
    ['both a card and an alias', { rate_card_alias: 'list' }, /^rate_card_alias: /],
    ['an empty uniqueness key', { uniqueness_key: '' }, /^uniqueness_key: /],
    ['a uniqueness key of 129 characters', { uniqueness_key: 'k'.repeat(129) }, /^uniqueness_key: /],
    ['negative payment terms', { net_payment_terms_days: -1 }, /^net_payment_terms_days: /],
    [
      'an unknown frequency',
      { usage_statement_schedule: { frequency: 'DAILY' } },
      /^usage_statement_schedule\.frequency: /,
    ],
    [
      'a custom date without a date',
      { usage_statement_schedule: { frequency: 'MONTHLY', day: 'CUSTOM_DATE' } },
      /^usage_statement_schedule\.billing_anchor_date: /,
    ],
    [
      'a date without a custom date',
      { usage_statement_schedule: { frequency: 'MONTHLY', billing_anchor_date: '2026-01-01T00:00:00Z' } },
      /^usage_statement_schedule\.billing_anchor_date: /,
    ],
    ['a package', { package_alias: 'pro' }, /^rate_card_id: cannot be combined with package_alias/],
    ['an undeclared custom field', { custom_fields: { deal: '7' } }, /^custom_fields\.deal: /],
  ])('%s answers 400, names the field and stores nothing', async (_, change, message) => {
    const answer = await api.send('POST', CONTRACTS, { ...terms(), ...change });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await storedContracts()).toEqual([]);
  });

  test.each<[string, Record<string, unknown>]>([
    ['customer', { customer_id: UNKNOWN }],
    ['rate card', { rate_card_id: UNKNOWN }],
    ['alias', { rate_card_id: undefined, rate_card_alias: 'nobody has it' }],
  ])('an unknown %s answers 404', async (_, change) => {
    const answer = await api.send('POST', CONTRACTS, { ...terms(), ...change });
    expect(answer.status).toBe(404);
    expect(await storedContracts()).toEqual([]);
  });
});

describe('the rate card of an alias', () => {
  test('the rate card of an alias is the one at the start of the contract, for the contract’s whole life', async () => {
    const alias = `alias of ${customer}`;
    const first = await createdId(api, RATE_CARDS, { name: 'First', aliases: [{ name: alias }] });
    const cardOf = async (starting_at: string) => {
      const body = { ...terms(), rate_card_id: undefined, rate_card_alias: alias, starting_at };
      const [contract] = await loadContracts(pool.db, { ids: [await createdId(api, CONTRACTS, body)] });
      return contract?.rateCardId;
    };
    expect(await cardOf('2027-06-01T00:00:00Z')).toBe(first);
    const second = await createdId(api, RATE_CARDS, {
      name: 'Second',
      aliases: [{ name: alias, starting_at: '2027-01-01T00:00:00Z', ending_before: '2028-01-01T00:00:00Z' }],
    });
    expect(await cardOf('2026-12-31T23:00:00Z')).toBe(first);
    expect(await cardOf('2027-01-01T00:00:00Z')).toBe(second);
    const late = await api.send('POST', CONTRACTS, {
      ...terms(),
      rate_card_id: undefined,
      rate_card_alias: alias,
      starting_at: '2028-01-01T00:00:00Z',
    });
    expect(late.status).toBe(404);
    expect((await storedContracts()).map((contract) => contract.rateCardId)).toEqual([first, second, first]);
  });
});

describe('a uniqueness key', () => {
  test('a uniqueness key works once: 409, not to be retried, and nothing is created', async () => {
    const body = { ...terms(), uniqueness_key: `once ${customer}` };
    await api.post(CONTRACTS, body);
    const answer = await api.send('POST', CONTRACTS, body);
    expect(answer.status).toBe(409);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.text('message')).toBe('This uniqueness key has already been used.');
    expect(await storedContracts()).toHaveLength(1);
  });

  test('a uniqueness key: of parallel requests with one key exactly one creates a contract', async () => {
    const body = { ...terms(), uniqueness_key: `race ${customer}` };
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.send('POST', CONTRACTS, body)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect(await storedContracts()).toHaveLength(1);
  });

  test('contracts without one do not stand in each other’s way', async () => {
    await Promise.all([api.post(CONTRACTS, terms()), api.post(CONTRACTS, terms())]);
    expect(await storedContracts()).toHaveLength(2);
  });
});

describe('reading contracts', () => {
  test('reading contracts lists by start, by covering date and by first start, but not by both', async () => {
    const ids: string[] = [];
    for (const [starting_at, ending_before] of [
      ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
      ['2026-02-01T00:00:00Z', undefined],
      ['2026-03-01T00:00:00Z', undefined],
    ]) {
      ids.push(await createdId(api, CONTRACTS, { ...terms(), starting_at, ending_before }));
    }
    const list = async (filter: Record<string, unknown>) => {
      const answer = await api.post(LIST, { customer_id: customer, ...filter });
      return answer.list('data').map((_, index) => answer.text(`data[${index}].id`));
    };
    expect(await list({})).toEqual(ids);
    expect(await list({ covering_date: '2026-01-31T23:59:59.999Z' })).toEqual([ids[0]]);
    expect(await list({ covering_date: '2026-02-01T00:00:00Z' })).toEqual([ids[1]]);
    expect(await list({ starting_at: '2026-02-01T00:00:00Z' })).toEqual([ids[1], ids[2]]);
    const both = { covering_date: '2026-02-01T00:00:00Z', starting_at: '2026-02-01T00:00:00Z' };
    const refused = await api.send('POST', LIST, { customer_id: customer, ...both });
    expect(refused.status).toBe(400);
  });

  test('an unknown contract, and another customer’s, answers 404 with ContractNotFound', async () => {
    const id = await createdId(api, CONTRACTS, terms());
    const other = await createdId(api, '/v1/customers', { name: 'Other' });
    for (const body of [
      { customer_id: customer, contract_id: UNKNOWN },
      { customer_id: other, contract_id: id },
    ]) {
      const answer = await api.send('POST', GET, body);
      expect(answer.status).toBe(404);
      expect(answer.text('code')).toBe('ContractNotFound');
    }
    const list = await api.send('POST', LIST, { customer_id: UNKNOWN });
    expect(list.status).toBe(404);
    expect(list.text('code')).toBe('CustomerNotFound');
  });

  test('the bulk loads take empty and unknown ids', async () => {
    const id = await createdId(api, CONTRACTS, terms());
    expect(await loadContracts(pool.db, { ids: [] })).toEqual([]);
    expect(await loadContracts(pool.db, { ids: [UNKNOWN] })).toEqual([]);
    expect(await loadContracts(pool.db, { ids: [UNKNOWN, id] })).toMatchObject([{ id }]);
    expect(await customerRefs(pool.db, [UNKNOWN])).toEqual(new Map());
  });
});
