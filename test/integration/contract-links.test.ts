/** Contracts that belong together: renewals, hierarchies; billing configurations; keys that work once. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/core/ids.ts';
import { insertCommits } from '../../src/store/balances/commits.ts';
import { withTerms } from '../../src/store/contract-terms/contract-terms.ts';
import { loadContracts } from '../../src/store/contracts/contracts.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const { db, inProcess: api } = await serviceForFile({ usage: 'naive' });
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const START = '2026-10-01T00:00:00Z';
const RENEWED_AT = '2027-01-01T00:00:00.000Z';

async function create(body: Record<string, unknown> = {}): Promise<string> {
  return createdId(api, CONTRACTS, { customer_id: customer, starting_at: START, ...body });
}

async function attempt(body: Record<string, unknown>): Promise<ApiAnswer> {
  return api.send('POST', CONTRACTS, { customer_id: customer, starting_at: START, ...body });
}

async function read(contract_id: string): Promise<ApiAnswer> {
  return api.post('/v2/contracts/get', { customer_id: customer, contract_id });
}

function renewal(from_contract_id: string, change: Record<string, unknown> = {}) {
  return { starting_at: RENEWED_AT, transition: { type: 'RENEWAL', from_contract_id, ...change } };
}

describe('a renewal', () => {
  test.each(['RENEWAL', 'renewal', 'SUPERSEDE'])(
    'a renewal as %s ends the older contract and links both',
    async (type) => {
      const older = await create({ ...everyTerm(catalogue, customer) });
      const newer = await create(renewal(older, { type }));
      const link = { type: 'RENEWAL', from_contract_id: older, to_contract_id: newer };
      expect((await read(newer)).at('data.transitions')).toEqual([link]);
      const ended = await read(older);
      expect(ended.at('data.transitions')).toEqual([link]);
      expect(ended.at('data.ending_before')).toBe(RENEWED_AT);
      expect(ended.at('data.recurring_commits[0].ending_before')).toBe(RENEWED_AT);
    },
  );

  test('a renewal leaves an older contract that ends before to its end', async () => {
    const older = await create({ ending_before: '2026-12-01T00:00:00Z' });
    await create(renewal(older));
    expect((await read(older)).at('data.ending_before')).toBe('2026-12-01T00:00:00.000Z');
  });

  test('a renewal is refused twice, for a contract that starts later, and for an archived one', async () => {
    const older = await create();
    await create(renewal(older));
    const late = await create({ starting_at: '2027-01-01T01:00:00Z' });
    const archived = await create();
    await api.post('/v1/contracts/archive', {
      customer_id: customer,
      contract_id: archived,
      void_invoices: false,
    });
    for (const [from, message] of [
      [older, /^transition\.from_contract_id: contract .* has been renewed already$/],
      [late, /^transition\.from_contract_id: contract .* starts after the contract that renews it$/],
      [archived, /^transition\.from_contract_id: contract .* is archived$/],
    ] as const) {
      const answer = await attempt(renewal(from));
      expect(answer.text('message')).toMatch(message);
      expect(answer.status).toBe(400);
    }
    expect(await loadContracts(db, { customerIds: [customer] })).toHaveLength(3);
  });

  test('a renewal of another customer’s contract answers 404 and creates nothing', async () => {
    const other = await createdId(api, '/v1/customers', { name: 'Other' });
    const theirs = await create({ customer_id: other });
    const answer = await attempt(renewal(theirs));
    expect(answer.status).toBe(404);
    expect(answer.text('code')).toBe('ContractNotFound');
    expect(await loadContracts(db, { customerIds: [customer] })).toEqual([]);
  });

  test('a renewal of one contract by several at once succeeds once', async () => {
    const older = await create();
    const answers = await Promise.all(Array.from({ length: 5 }, () => attempt(renewal(older))));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await loadContracts(db, { customerIds: [customer] })).toHaveLength(2);
  });
});

describe('a hierarchy', () => {
  const parentOf = (contract_id: string, change: Record<string, unknown> = {}) => ({
    hierarchy_configuration: { parent: { contract_id, customer_id: customer }, ...change },
  });

  test('a hierarchy is seen from both sides', async () => {
    const parent = await create({
      hierarchy_configuration: { parent_behavior: { invoice_consolidation_type: 'concatenate' } },
    });
    const settings = { payer: 'PARENT', usage_statement_behavior: 'CONSOLIDATE' };
    const child = await create(parentOf(parent, settings));
    expect((await read(child)).at('data.hierarchy_configuration')).toEqual({
      parent: { contract_id: parent, customer_id: customer },
      ...settings,
    });
    expect((await read(parent)).at('data.hierarchy_configuration')).toEqual({
      children: [{ contract_id: child, customer_id: customer }],
      parent_behavior: { invoice_consolidation_type: 'CONCATENATE' },
    });
  });

  test('a hierarchy is shown by v1 in the initial and in the current state, as in v2', async () => {
    const parent = await create();
    const child = await create(parentOf(parent, { payer: 'SELF' }));
    const alone = await create();
    const listed = await api.post('/v1/contracts/list', { customer_id: customer });
    for (const contract_id of [parent, child, alone]) {
      const expected = (await read(contract_id)).at('data.hierarchy_configuration');
      expect(expected === undefined).toBe(contract_id === alone);
      const { body } = await api.post('/v1/contracts/get', { customer_id: customer, contract_id });
      const index = (listed.list('data') as { id: string }[]).findIndex(({ id }) => id === contract_id);
      for (const contract of [(body as { data: unknown }).data, listed.at(`data[${index}]`)]) {
        const { initial, current } = contract as Record<string, Record<string, unknown>>;
        expect(initial?.hierarchy_configuration).toEqual(expected);
        expect(current?.hierarchy_configuration).toEqual(expected);
      }
    }
  });

  test('a hierarchy has one level, and a consolidated child does not pay for itself', async () => {
    const parent = await create();
    const child = await create(parentOf(parent));
    for (const [body, message] of [
      [parentOf(child), /^hierarchy_configuration\.parent\.contract_id: .* has one level$/],
      [
        parentOf(parent, { usage_statement_behavior: 'CONSOLIDATE', payer: 'SELF' }),
        /^hierarchy_configuration\.usage_statement_behavior: CONSOLIDATE needs payer PARENT$/,
      ],
      [
        parentOf(parent, { parent_behavior: { invoice_consolidation_type: 'NONE' } }),
        /^hierarchy_configuration\.parent_behavior: is for parents/,
      ],
    ] as const) {
      const answer = await attempt(body);
      expect(answer.text('message')).toMatch(message);
      expect(answer.status).toBe(400);
    }
  });

  test('a hierarchy has 10 contracts at most, also when they are created at once', async () => {
    const parent = await create();
    const answers = await Promise.all(Array.from({ length: 12 }, () => attempt(parentOf(parent))));
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(9).fill(200), 400, 400, 400]);
    expect(await loadContracts(db, { parentIds: [parent] })).toHaveLength(9);
  });
});

describe('a billing configuration', () => {
  async function configure(netsuite_customer_id = '1'): Promise<string> {
    const answer = await api.post('/v1/setCustomerBillingProviderConfigurations', {
      data: [
        {
          customer_id: customer,
          billing_provider: 'netsuite',
          delivery_method: 'direct_to_billing_provider',
          configuration: { netsuite_customer_id },
        },
      ],
    });
    return answer.text('data[0].id');
  }

  test('a billing configuration is found by id, or by provider and delivery method, and shown with the contract', async () => {
    const configuration = await configure();
    for (const lookup of [
      { billing_provider_configuration_id: configuration },
      { billing_provider: 'netsuite', delivery_method: 'direct_to_billing_provider' },
    ]) {
      const contract = await create({ billing_provider_configuration: lookup });
      expect((await read(contract)).at('data.customer_billing_provider_configuration')).toMatchObject({
        id: configuration,
        customer_id: customer,
        billing_provider: 'netsuite',
      });
    }
  });

  test('a billing configuration has to be the only one of its provider and delivery method', async () => {
    await configure('1');
    await configure('2');
    const answer = await attempt({
      billing_provider_configuration: {
        billing_provider: 'netsuite',
        delivery_method: 'direct_to_billing_provider',
      },
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^billing_provider_configuration\.billing_provider: .* has 2 /);
  });
});

describe('the uniqueness keys of commits and credits', () => {
  test('the uniqueness keys of commits and credits are one space, and a used one undoes the whole transaction', async () => {
    const [contract] = await loadContracts(db, {
      ids: [await create(everyTerm(catalogue, customer))],
    });
    const [full] = await withTerms(db, contract === undefined ? [] : [contract]);
    const terms = full?.terms.commits ?? [];
    const copy = (index: number, id: string) => ({
      ...terms[index],
      id,
      contractId: null,
      uniquenessKey: `key of ${customer}`,
      accessSchedule: { creditTypeId: catalogue.unit, segments: [] },
      invoiceSchedule: null,
    });
    const insert = (commit: unknown) =>
      db.transaction((tx) => insertCommits(tx, [commit as (typeof terms)[number]]));
    await insert(copy(0, '00000000-0000-4000-8000-000000000001'));
    await expect(insert(copy(2, '00000000-0000-4000-8000-000000000002'))).rejects.toMatchObject({
      kind: 'conflict',
      message: 'This uniqueness key has already been used.',
    });
  });
});

describe('the commits that overrides name by id', () => {
  test('the commits that overrides name by id may be the customer’s own, but no other contract’s', async () => {
    const other = await createdId(api, CONTRACTS, everyTerm(catalogue, customer));
    const [contract] = await withTerms(db, await loadContracts(db, { ids: [other] }));
    const [theirs] = contract?.terms.commits ?? [];
    if (theirs === undefined) throw new Error('the contract has a commit');
    const own = {
      ...theirs,
      id: newId(),
      contractId: null,
      accessSchedule: { creditTypeId: catalogue.unit, segments: [] },
      invoiceSchedule: null,
    };
    await db.transaction((tx) => insertCommits(tx, [own]));
    const naming = (id: string) => ({
      rate_card_id: catalogue.card,
      overrides: [
        {
          starting_at: START,
          type: 'MULTIPLIER',
          multiplier: 0.5,
          is_commit_specific: true,
          override_specifiers: [{ product_id: catalogue.tokens, any_commit_or_credit_ids: [id] }],
        },
      ],
    });
    const path = 'data.overrides[0].override_specifiers[0].any_commit_or_credit_ids';
    expect((await read(await create(naming(own.id)))).at(path)).toEqual([own.id]);
    expect((await attempt(naming(theirs.id))).status).toBe(400);
  });
});
