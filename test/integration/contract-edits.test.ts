/** Edits of contracts: the contract and its history show exactly the requested changes. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { api } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const EDIT = '/v2/contracts/edit';
const START = '2026-10-01T00:00:00.000Z';
const YEAR_END = '2027-10-01T00:00:00.000Z';
const year = { starting_at: START, ending_before: YEAR_END };
const id = expect.stringMatching(/^[0-9a-f-]{36}$/);

/** Commits and credits that recurring terms have created name them. */
const CHILD_OF = new Set(['recurring_commit_id', 'recurring_credit_id']);
const TERM_LISTS = [
  'commits',
  'credits',
  'recurring_commits',
  'recurring_credits',
  'overrides',
  'scheduled_charges',
  'subscriptions',
  'spend_trackers',
] as const;
const SETTINGS = ['spend_threshold_configuration', 'prepaid_balance_threshold_configuration'] as const;

/** The terms of `everyTerm` as additions, and the contract without them. */
function split(): { readonly bare: Record<string, unknown>; readonly additions: Record<string, unknown> } {
  const bare = everyTerm(catalogue, customer);
  const additions: Record<string, unknown> = {};
  for (const name of [...TERM_LISTS, ...SETTINGS]) {
    additions[`add_${name}`] = bare[name];
    delete bare[name];
  }
  return { bare, additions };
}

async function contractWithEverything(): Promise<string> {
  return createdId(api, CONTRACTS, everyTerm(catalogue, customer));
}

async function edit(contract: string, changes: object): Promise<ApiAnswer> {
  return api.post(EDIT, { customer_id: customer, contract_id: contract, ...changes });
}

async function refused(contract: string, changes: object, status = 400): Promise<string> {
  const answer = await api.send('POST', EDIT, { customer_id: customer, contract_id: contract, ...changes });
  expect(answer.status).toBe(status);
  return answer.text('message');
}

async function get(contract: string): Promise<ApiAnswer> {
  return api.post('/v2/contracts/get', { customer_id: customer, contract_id: contract });
}

async function history(contract: string): Promise<unknown[]> {
  const answer = await api.post('/v2/contracts/getEditHistory', {
    customer_id: customer,
    contract_id: contract,
  });
  return answer.list('data');
}

/** Without what differs between two contracts of the same terms: ids. */
function anonymous(value: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(value).replaceAll(
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (found) => {
      const name = ids.get(found) ?? `id ${ids.size}`;
      ids.set(found, name);
      return name;
    },
  );
  return JSON.parse(text);
}

describe('terms added by an edit', () => {
  test('terms added by an edit are the terms of a contract that was created with them', async () => {
    const { bare, additions } = split();
    const edited = await createdId(api, CONTRACTS, bare);
    await edit(edited, additions);
    const created = await contractWithEverything();
    expect(anonymous((await get(edited)).at('data'))).toEqual(anonymous((await get(created)).at('data')));
  });

  test('terms added by an edit stand in the answer and in the history with the ids that they were given', async () => {
    const { bare, additions } = split();
    const contract = await createdId(api, CONTRACTS, bare);
    const answer = await edit(contract, { ...additions, uniqueness_key: `all of ${contract}` });
    const [entry, ...others] = await history(contract);
    expect(others).toEqual([]);
    expect(entry).toEqual(answer.at('data.edit'));
    expect(entry).toMatchObject({
      id: answer.at('data.edit.id'),
      timestamp: '2026-11-20T12:34:56.789Z',
      uniqueness_key: `all of ${contract}`,
    });
    const state = await get(contract);
    const computed = new Set(['cost_basis', 'accumulated_spend']);
    const withoutComputed = (list: unknown) =>
      JSON.parse(JSON.stringify(list), (key, value) => (computed.has(key) ? undefined : value));
    const isGranted = (one: unknown) => Object.keys(one as object).some((name) => CHILD_OF.has(name));
    const added = (list: readonly unknown[]) => list.filter((one) => !isGranted(one));
    for (const name of TERM_LISTS) {
      const given = added(state.list(`data.${name}`));
      expect(answer.at(`data.edit.add_${name}`)).toEqual(withoutComputed(given));
    }
    for (const name of SETTINGS) {
      expect(answer.at(`data.edit.add_${name}`)).toEqual(state.at(`data.${name}`));
    }
    expect(Object.keys(entry as object).sort()).toEqual(
      ['id', 'timestamp', 'uniqueness_key', ...Object.keys(additions)].sort(),
    );
  });

  test('terms added by an edit may refer to terms that were there before', async () => {
    const contract = await contractWithEverything();
    const state = await get(contract);
    const [commit, seats] = [state.text('data.commits[0].id'), state.text('data.subscriptions[0].id')];
    const answer = await edit(contract, {
      add_overrides: [
        {
          starting_at: START,
          type: 'MULTIPLIER',
          multiplier: 0.1,
          priority: 9,
          is_commit_specific: true,
          override_specifiers: [{ product_id: catalogue.tokens, commit_ids: [commit] }],
        },
      ],
      add_recurring_credits: [
        {
          product_id: catalogue.fee,
          access_amount: { unit_price: 5, credit_type_id: USD_CENTS.id },
          priority: 1,
          starting_at: START,
          commit_duration: { value: 1 },
          subscription_config: {
            subscription_id: seats,
            apply_seat_increase_config: { is_prorated: false },
          },
        },
      ],
    });
    expect(answer.at('data.edit.add_overrides[0].override_specifiers[0].commit_ids')).toEqual([commit]);
    expect(answer.at('data.edit.add_recurring_credits[0].subscription_config.subscription_id')).toBe(seats);
  });

  test('a schedule of an edit may be weekly, a commit of one may have a payment gate', async () => {
    const contract = await createdId(api, CONTRACTS, split().bare);
    const answer = await edit(contract, {
      add_scheduled_charges: [
        {
          product_id: catalogue.fee,
          schedule: {
            recurring_schedule: {
              starting_at: '2026-12-01T00:00:00Z',
              ending_before: '2026-12-15T00:00:00Z',
              frequency: 'WEEKLY',
              amount: 7,
              amount_distribution: 'EACH',
            },
          },
        },
      ],
      add_commits: [
        {
          type: 'PREPAID',
          product_id: catalogue.fee,
          access_schedule: { schedule_items: [{ amount: 1, ...year }] },
          invoice_schedule: { schedule_items: [{ timestamp: START, amount: 1 }] },
          payment_gate_config: { payment_gate_type: 'EXTERNAL' },
        },
      ],
    });
    expect(answer.list('data.edit.add_scheduled_charges[0].schedule.schedule_items')).toMatchObject([
      { timestamp: '2026-12-01T00:00:00.000Z', amount: 7 },
      { timestamp: '2026-12-08T00:00:00.000Z', amount: 7 },
    ]);
    expect(answer.at('data.edit.add_commits[0].payment_gate_config')).toEqual({
      payment_gate_type: 'EXTERNAL',
    });
    expect((await get(contract)).list('data.commits')).toHaveLength(1);
  });
});

describe('the header', () => {
  test('name, payment terms and end are set, and taken away with null', async () => {
    const contract = await contractWithEverything();
    const set = {
      update_contract_name: 'New',
      update_net_payment_terms_days: 14,
      update_contract_end_date: '2028-10-01T00:00:00.000Z',
    };
    const answer = await edit(contract, set);
    expect(answer.at('data.edit')).toEqual({ id, timestamp: expect.anything(), ...set });
    expect((await get(contract)).at('data')).toMatchObject({
      name: 'New',
      net_payment_terms_days: 14,
      ending_before: '2028-10-01T00:00:00.000Z',
    });
    const none = {
      update_contract_name: null,
      update_net_payment_terms_days: null,
      update_contract_end_date: null,
    };
    await edit(contract, none);
    const state = await get(contract);
    for (const member of ['name', 'net_payment_terms_days', 'ending_before']) {
      expect(state.at(`data.${member}`)).toBeUndefined();
    }
    expect((await history(contract))[1]).toMatchObject(none);
  });

  test('an earlier end cuts terms, and terms added by the same edit must fit into it', async () => {
    const contract = await contractWithEverything();
    const end = '2027-01-01T00:00:00.000Z';
    const late = {
      product_id: catalogue.fee,
      access_amount: { unit_price: 5, quantity: 1, credit_type_id: USD_CENTS.id },
      priority: 1,
      starting_at: end,
      commit_duration: { value: 1 },
    };
    expect(await refused(contract, { update_contract_end_date: end, add_recurring_credits: [late] })).toBe(
      'add_recurring_credits[0].starting_at: must be before the contract ends',
    );
    await edit(contract, { update_contract_end_date: end });
    const state = await get(contract);
    expect(state.at('data.commits[0].access_schedule.schedule_items[0].ending_before')).toBe(end);
  });

  test('an end that is not after the start is refused', async () => {
    const contract = await contractWithEverything();
    expect(await refused(contract, { update_contract_end_date: START })).toBe(
      'update_contract_end_date: must be after the contract starts',
    );
  });

  test('a billing configuration can be added once', async () => {
    const configured = await api.post('/v1/setCustomerBillingProviderConfigurations', {
      data: [
        {
          customer_id: customer,
          billing_provider: 'stripe',
          delivery_method: 'direct_to_billing_provider',
          configuration: {
            stripe_customer_id: 'cus_1',
            stripe_collection_method: 'charge_automatically',
          },
        },
      ],
    });
    const configuration = configured.text('data[0].id');
    const contract = await createdId(api, CONTRACTS, split().bare);
    const update = {
      billing_provider_configuration: {
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
      },
      schedule: { effective_at: 'START_OF_CURRENT_PERIOD' },
    };
    await edit(contract, { add_billing_provider_configuration_update: update });
    expect((await get(contract)).at('data.customer_billing_provider_configuration.id')).toBe(configuration);
    expect((await history(contract))[0]).toMatchObject({
      add_billing_provider_configuration_update: {
        billing_provider_configuration: { billing_provider_configuration_id: configuration },
      },
    });
    const again = await api.send('POST', '/v2/contracts/edit', {
      customer_id: customer,
      contract_id: contract,
      add_billing_provider_configuration_update: update,
    });
    expect([again.status, again.at('message')]).toEqual([
      409,
      expect.stringMatching(
        /^add_billing_provider_configuration_update: .* already, which cannot be replaced$/,
      ),
    ]);
    const linked = await get(contract);
    expect(linked.list('data.billing_provider_configuration_schedule')).toMatchObject([
      { billing_provider_configuration: { id: configuration }, effective_at: expect.any(String) },
    ]);
    expect(linked.at('data.billing_provider_configuration_schedule[0].effective_until')).toBeUndefined();
  });
});

describe('removals', () => {
  test('archived commits, credits and charges are marked, removed overrides and trackers are gone', async () => {
    const contract = await contractWithEverything();
    const before = await get(contract);
    const removals = {
      archive_commits: [{ id: before.text('data.commits[0].id') }],
      archive_credits: [{ id: before.text('data.credits[0].id') }],
      archive_scheduled_charges: [{ id: before.text('data.scheduled_charges[0].id') }],
      archive_spend_trackers: ['recharges'],
      remove_overrides: [{ id: before.text('data.overrides[1].id') }],
    };
    await edit(contract, {
      ...removals,
      update_prepaid_balance_threshold_configuration: { discount_configuration: { cap: null } },
    });
    const after = await get(contract);
    for (const list of ['commits', 'credits', 'scheduled_charges']) {
      expect(after.at(`data.${list}[0].archived_at`)).toBe('2026-11-20T12:34:56.789Z');
    }
    expect(after.at('data.commits[1].archived_at')).toBeUndefined();
    expect(after.list('data.overrides')).toHaveLength(3);
    expect(after.at('data.spend_trackers')).toBeUndefined();
    expect((await history(contract))[0]).toMatchObject(removals);
    expect(await refused(contract, { archive_commits: removals.archive_commits })).toBe(
      `archive_commits[0].id: commit ${removals.archive_commits[0]?.id} is already archived`,
    );
    expect(
      await refused(contract, {
        update_commits: [{ commit_id: removals.archive_commits[0]?.id, name: 'X' }],
      }),
    ).toMatch(/^update_commits\[0\]\.commit_id: .* is archived$/);
  });

  test('a spend tracker that a discount counts by is kept', async () => {
    const contract = await contractWithEverything();
    expect(await refused(contract, { archive_spend_trackers: ['recharges'] })).toBe(
      'archive_spend_trackers[0]: is what the cap of a discount is counted by',
    );
  });

  test('the alias of an archived tracker can be given again in the same edit', async () => {
    const contract = await contractWithEverything();
    const tracker = {
      alias: 'recharges',
      credit_type_id: USD_CENTS.id,
      reset_frequency: 'BILLING_PERIOD',
      applicable_spend_specifiers: [
        { spend_type: 'COMMIT_PURCHASE', sources: ['MANUAL'], discounted: 'ANY' },
      ],
    };
    await edit(contract, { archive_spend_trackers: ['recharges'], add_spend_trackers: [tracker] });
    expect((await get(contract)).list('data.spend_trackers')).toEqual([
      { ...tracker, accumulated_spend: expect.objectContaining({ amount: 0 }) },
    ]);
  });
});

describe('who may edit what', () => {
  test('an unknown contract and one of another customer are not found', async () => {
    const contract = await contractWithEverything();
    const other = await createdId(api, '/v1/customers', { name: 'Other' });
    for (const path of [EDIT, '/v2/contracts/getEditHistory']) {
      const answer = await api.send('POST', path, { customer_id: other, contract_id: contract });
      expect(answer.status).toBe(404);
      expect(answer.at('code')).toBe('ContractNotFound');
    }
  });

  test('an archived contract cannot be edited', async () => {
    const contract = await contractWithEverything();
    const reference = { customer_id: customer, contract_id: contract };
    await api.post('/v1/contracts/archive', { ...reference, void_invoices: false });
    expect(await refused(contract, { update_contract_name: 'X' })).toBe(`contract ${contract} is archived`);
  });

  test('fields of an edit without effect here are named in the answer; an empty list asks for nothing', async () => {
    const contract = await contractWithEverything();
    const answer = await api.post(EDIT, {
      customer_id: customer,
      contract_id: contract,
      add_reseller_royalties: [{}],
    });
    expect(answer.at('warnings')).toEqual([
      { field: 'add_reseller_royalties', message: 'is accepted and ignored' },
    ]);
    await edit(contract, { add_discounts: [], add_reseller_royalties: [], add_professional_services: null });
  });
});
