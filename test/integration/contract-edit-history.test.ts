/** Edits are atomic and follow one another; every change of a contract is in its history. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api-client.ts';
import { ACTOR_NAME, CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile, clickhouseForFile } from '../support/file-fixtures.ts';

const { api } = await catalogueForFile({ clickhouse: await clickhouseForFile() });
let catalogue: TermsCatalogue;
let customer: string;
let contract: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  contract = await createdId(api, CONTRACTS, everyTerm(catalogue, customer));
});

const EDIT = '/v2/contracts/edit';
const AMEND = '/v1/contracts/amend';
const DATE = '2027-01-01T00:00:00.000Z';
const YEAR_END = '2027-10-01T00:00:00.000Z';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
const timestamp = '2026-11-20T12:34:56.789Z';

function reference(of = contract) {
  return { customer_id: customer, contract_id: of };
}

async function state(): Promise<unknown> {
  const answers = await Promise.all([
    api.post('/v1/contracts/get', { ...reference(), include_balance: true, include_ledgers: true }),
    api.post('/v2/contracts/get', reference()),
    api.post('/v2/contracts/getEditHistory', reference()),
  ]);
  return answers.map((answer) => answer.body);
}

async function history(of = contract): Promise<unknown[]> {
  return (await api.post('/v2/contracts/getEditHistory', reference(of))).list('data');
}

function charge(name: string) {
  const schedule = { schedule_items: [{ timestamp: DATE, amount: 1 }] };
  return { product_id: catalogue.fee, name, schedule };
}

/** An edit that touches everything and is sound but for `bad`. */
async function bigEdit(bad: object): Promise<object> {
  const before = await api.post('/v2/contracts/get', reference());
  const commit_id = before.text('data.commits[0].id');
  return {
    ...reference(),
    uniqueness_key: `big edit of ${contract}`,
    update_contract_name: 'Never',
    update_contract_end_date: DATE,
    update_net_payment_terms_days: 1,
    archive_credits: [{ id: before.text('data.credits[0].id') }],
    remove_overrides: [{ id: before.text('data.overrides[0].id') }],
    update_commits: [{ commit_id, name: 'Never' }],
    update_subscriptions: [
      {
        subscription_id: before.text('data.subscriptions[1].id'),
        quantity_updates: [{ starting_at: '2026-12-01T00:00:00Z', quantity: 9 }],
      },
    ],
    update_spend_threshold_configuration: { is_enabled: false },
    add_scheduled_charges: [charge('Never')],
    ...bad,
  };
}

describe('an edit with one bad term', () => {
  test.each<[string, () => object]>([
    [
      'add_scheduled_charges[1].product_id',
      () => ({ add_scheduled_charges: [charge('Good'), { ...charge('Bad'), product_id: UNKNOWN }] }),
    ],
    ['remove_overrides[0].id', () => ({ remove_overrides: [{ id: UNKNOWN }] })],
    ['archive_scheduled_charges[0].id', () => ({ archive_scheduled_charges: [{ id: UNKNOWN }] })],
    [
      'update_recurring_credits[0].recurring_credit_id',
      () => ({ update_recurring_credits: [{ recurring_credit_id: UNKNOWN }] }),
    ],
    ['archive_spend_trackers[0]', () => ({ archive_spend_trackers: ['unknown'] })],
    [
      'add_overrides[0].product_id',
      () => ({
        add_overrides: [
          {
            starting_at: DATE,
            type: 'MULTIPLIER',
            priority: 1,
            multiplier: 1,
            product_id: catalogue.unpriced,
          },
        ],
      }),
    ],
    [
      'add_commits[0].access_schedule.schedule_items[0].ending_before',
      () => ({
        add_commits: [
          {
            type: 'PREPAID',
            product_id: catalogue.fee,
            access_schedule: { schedule_items: [{ amount: 1, starting_at: DATE, ending_before: DATE }] },
          },
        ],
      }),
    ],
    ['add_spend_trackers[0].alias', () => ({ add_spend_trackers: [everySpendTracker()] })],
  ])('changes nothing and names %s', async (field, bad) => {
    const before = await state();
    const answer = await api.send('POST', EDIT, await bigEdit(bad()));
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(new RegExp(`^${field.replaceAll(/[[\]]/g, '\\$&')}: `));
    expect(await state()).toEqual(before);
    // The key was not used up either.
    expect((await api.send('POST', EDIT, await bigEdit({}))).status).toBe(200);
  });
});

function everySpendTracker(): object {
  return (everyTerm(catalogue, customer).spend_trackers as object[])[0] ?? {};
}

describe('edits at the same time', () => {
  test('edits at the same time of one contract follow one another, none is lost', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `Charge ${index}`);
    await Promise.all(
      names.map((name) => api.post(EDIT, { ...reference(), add_scheduled_charges: [charge(name)] })),
    );
    const after = await api.post('/v2/contracts/get', reference());
    const charges = after.list('data.scheduled_charges') as { name: string }[];
    expect(
      charges
        .slice(1)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names);
    const edits = (await history()) as { add_scheduled_charges: { name: string }[] }[];
    expect(edits.map((edit) => edit.add_scheduled_charges[0]?.name)).toEqual(
      charges.slice(1).map(({ name }) => name),
    );
  });

  test('edits at the same time that exclude one another: one is applied, the others are refused', async () => {
    const before = await api.post('/v2/contracts/get', reference());
    const remove_overrides = [{ id: before.text('data.overrides[0].id') }];
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.send('POST', EDIT, { ...reference(), remove_overrides })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await history()).toHaveLength(1);
  });

  test('edits at the same time with one uniqueness key: one is applied, also where the contracts differ', async () => {
    const other = await createdId(api, CONTRACTS, everyTerm(catalogue, customer));
    const uniqueness_key = `key of ${contract}`;
    const body = (of: string) => ({ ...reference(of), uniqueness_key, update_contract_name: 'Once' });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => api.send('POST', EDIT, body(index % 2 ? contract : other))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect([...(await history()), ...(await history(other))]).toHaveLength(1);
  });

  test('the keys of contracts and of edits are apart', async () => {
    const uniqueness_key = `shared by ${contract}`;
    await api.post(CONTRACTS, { ...everyTerm(catalogue, customer), uniqueness_key });
    await api.post(EDIT, { ...reference(), uniqueness_key, update_contract_name: 'Fine' });
    expect(await history()).toMatchObject([{ uniqueness_key, update_contract_name: 'Fine' }]);
  });
});

describe('the history', () => {
  test('the history of a contract of a contract that was never changed is empty', async () => {
    expect(await history()).toEqual([]);
  });

  test('the history of a contract tells of changes by other operations: end date, usage filter, archiving', async () => {
    await api.post('/v1/contracts/updateEndDate', { ...reference(), ending_before: DATE });
    await api.post('/v1/contracts/updateEndDate', reference());
    const filter = { group_key: 'model', group_values: ['c'], starting_at: '2026-12-01T00:00:00.000Z' };
    await api.post('/v1/contracts/setUsageFilter', { ...reference(), ...filter });
    const terms = await api.post('/v2/contracts/get', reference());
    await api.post('/v1/contracts/archive', { ...reference(), void_invoices: false });
    const ids = (list: string) =>
      (terms.list(`data.${list}`) as { id: string }[]).map((one) => ({ id: one.id }));
    expect(await history()).toEqual([
      { id, timestamp, update_contract_end_date: DATE },
      { id, timestamp, update_contract_end_date: null },
      { id, timestamp, add_usage_filters: [filter] },
      {
        id,
        timestamp,
        archived_at: timestamp,
        archive_commits: ids('commits'),
        archive_credits: ids('credits'),
        archive_scheduled_charges: ids('scheduled_charges'),
      },
    ]);
  });

  test('the history of a contract tells of the end that a renewal brought', async () => {
    await api.post(CONTRACTS, {
      customer_id: customer,
      starting_at: DATE,
      transition: { type: 'RENEWAL', from_contract_id: contract },
    });
    expect(await history()).toEqual([{ id, timestamp, update_contract_end_date: DATE }]);
  });
});

describe('an amendment', () => {
  const year = { starting_at: DATE, ending_before: YEAR_END };

  function amendment(changes: object = {}) {
    return {
      ...reference(),
      starting_at: DATE,
      commits: [
        {
          type: 'PREPAID',
          product_id: catalogue.fee,
          name: 'More',
          temporary_id: 'more',
          access_schedule: { schedule_items: [{ amount: 5, ...year }] },
          invoice_schedule: { schedule_items: [{ timestamp: '2026-12-01T00:00:00Z', amount: 4 }] },
        },
      ],
      credits: [{ product_id: catalogue.fee, access_schedule: { schedule_items: [{ amount: 1, ...year }] } }],
      overrides: [
        {
          starting_at: DATE,
          type: 'MULTIPLIER',
          multiplier: 0.5,
          priority: 1,
          is_commit_specific: true,
          override_specifiers: [{ product_id: catalogue.tokens, commit_ids: ['more'] }],
        },
      ],
      scheduled_charges: [charge('Extra')],
      ...changes,
    };
  }

  async function refused(changes: object): Promise<string> {
    const answer: ApiAnswer = await api.send('POST', AMEND, amendment(changes));
    expect(answer.status).toBe(400);
    expect(await history()).toEqual([]);
    return answer.text('message');
  }

  test('an amendment adds its terms, and stands in v1 and in the history', async () => {
    const before = await api.post('/v1/contracts/get', reference());
    const amended = (await api.post(AMEND, amendment())).text('data.id');
    const after = await api.post('/v1/contracts/get', reference());
    expect(after.at('data.initial')).toEqual(before.at('data.initial'));
    expect(after.list('data.amendments')).toHaveLength(1);
    const current = (list: string) => after.list(`data.current.${list}`).slice(-1);
    const [commit] = current('commits') as { cost_basis: unknown }[];
    const { cost_basis: _, ...commitAsAdded } = commit ?? { cost_basis: null };
    const [credit] = current('credits') as { cost_basis: unknown }[];
    expect(after.at('data.amendments[0]')).toEqual({
      id: amended,
      starting_at: DATE,
      commits: [commitAsAdded],
      credits: [credit],
      overrides: current('overrides'),
      scheduled_charges: current('scheduled_charges'),
      created_at: timestamp,
      created_by: ACTOR_NAME,
    });
    expect(await history()).toMatchObject([
      { id: amended, add_commits: [{ name: 'More' }], add_scheduled_charges: [{ name: 'Extra' }] },
    ]);
  });

  test('edits are not amendments', async () => {
    await api.post(EDIT, { ...reference(), update_contract_name: 'X' });
    expect((await api.post('/v1/contracts/get', reference())).at('data.amendments')).toEqual([]);
  });

  test('an amendment begins within the contract, and its terms no earlier than itself', async () => {
    expect(await refused({ starting_at: YEAR_END })).toBe('starting_at: must lie within the contract');
    const late = '2027-01-01T01:00:00Z';
    const text = 'must not be before the amendment starts, 2027-01-01T01:00:00.000Z';
    expect(await refused({ starting_at: late })).toBe(`overrides[0].starting_at: ${text}`);
    expect(await refused({ starting_at: late, overrides: [] })).toBe(
      `commits[0].access_schedule.schedule_items[0].starting_at: ${text}`,
    );
    const rest = { starting_at: late, overrides: [], commits: [], credits: [] };
    expect(await refused(rest)).toBe(`scheduled_charges[0].schedule.schedule_items[0].timestamp: ${text}`);
  });

  test('an amendment names the bad field as the client wrote it', async () => {
    expect(await refused({ scheduled_charges: [{ ...charge('Bad'), product_id: catalogue.tokens }] })).toBe(
      'scheduled_charges[0].product_id: must be a FIXED product, not USAGE',
    );
  });

  test('an amendment of an unknown contract is not found', async () => {
    const answer = await api.send('POST', AMEND, { ...amendment(), contract_id: UNKNOWN });
    expect(answer.status).toBe(404);
    expect(answer.at('code')).toBe('ContractNotFound');
  });
});
