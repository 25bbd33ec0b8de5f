/** Archiving billing configurations, and its effect on the contracts that use them. */
import { inArray } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { matchBillingConfiguration } from '../../src/billing/billing-providers/match-configuration.ts';
import { contractEdits } from '../../src/store/contracts/contract-edits.tables.ts';
import { loadContracts, lockContract, updateContract } from '../../src/store/contracts/contracts.ts';
import { loadBillingConfigurations } from '../../src/store/customers/billing-configurations.ts';
import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { ACTOR_NAME, CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, everyTerm, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { waitForLock } from '../support/wait-for-lock.ts';

const { pool, api } = await catalogueForFile();
let later: ApiClient;
let catalogue: TermsCatalogue;
let customer: string;

const ARCHIVED_AT = '2026-11-21T00:00:00.000Z';

beforeAll(async () => {
  later = createCatalogueApi(pool.db, { now: Date.parse(ARCHIVED_AT) });
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const ARCHIVE = '/v1/archiveCustomerBillingProviderConfigurations';
const EDIT = '/v2/contracts/edit';
const start = { starting_at: '2026-10-01T00:00:00Z' };
const id = expect.stringMatching(/^[0-9a-f-]{36}$/);

let accounts = 0;

/** Each of another account of the customer's, so that none equals an earlier one. */
async function configure(of = customer): Promise<string> {
  accounts += 1;
  const stripe = { billing_provider: 'stripe', delivery_method: 'direct_to_billing_provider' };
  const configuration = { stripe_customer_id: `cus_${accounts}`, stripe_collection_method: 'send_invoice' };
  const answer = await api.post('/v1/setCustomerBillingProviderConfigurations', {
    data: [{ customer_id: of, ...stripe, configuration }],
  });
  return answer.text('data[0].id');
}

const archiving = (...ids: string[]) => ({
  customer_id: customer,
  customer_billing_provider_configuration_ids: ids,
});

function using(configuration: string) {
  return { billing_provider_configuration: { billing_provider_configuration_id: configuration } };
}

function adding(configuration: string) {
  const schedule = { effective_at: 'START_OF_CURRENT_PERIOD' };
  return { add_billing_provider_configuration_update: { ...using(configuration), schedule } };
}

async function create(body: object): Promise<string> {
  return createdId(api, CONTRACTS, { customer_id: customer, ...start, ...body });
}

async function get(contract_id: string, options: object = {}): Promise<ApiAnswer> {
  return api.post('/v2/contracts/get', { customer_id: customer, contract_id, ...options });
}

async function history(contract_id: string): Promise<unknown[]> {
  const reference = { customer_id: customer, contract_id };
  return (await api.post('/v2/contracts/getEditHistory', reference)).list('data');
}

async function configurationOf(contract: string): Promise<unknown> {
  return (await get(contract)).at('data.customer_billing_provider_configuration.id');
}

describe('archiving a billing configuration', () => {
  test('archiving a billing configuration takes it from every contract that uses it and disables its thresholds', async () => {
    const configuration = await configure();
    const terms = everyTerm(catalogue, customer);
    const contract = await create({ ...terms, ...using(configuration) });
    const before = await get(contract);
    await later.post(ARCHIVE, archiving(configuration));
    const { customer_billing_provider_configuration: _, ...rest } = before.at('data') as Record<
      string,
      object
    >;
    expect((await get(contract)).at('data')).toEqual({
      ...rest,
      billing_provider_configuration_schedule: [],
      spend_threshold_configuration: { ...rest.spend_threshold_configuration, is_enabled: false },
      prepaid_balance_threshold_configuration: {
        ...rest.prepaid_balance_threshold_configuration,
        is_enabled: false,
      },
    });
    const archived = {
      ...(before.at('data.customer_billing_provider_configuration') as object),
      archived_at: ARCHIVED_AT,
    };
    expect((await get(contract, { as_of_date: '2026-11-20T23:00:00Z' })).at('data')).toEqual({
      ...rest,
      customer_billing_provider_configuration: archived,
      billing_provider_configuration_schedule: [
        {
          billing_provider_configuration: archived,
          effective_at: before.at('data.billing_provider_configuration_schedule[0].effective_at'),
        },
      ],
    });
  });

  test('archiving a billing configuration stands in the history; a threshold that was disabled before is not reported', async () => {
    const configuration = await configure();
    const terms = everyTerm(catalogue, customer);
    const prepaid = { ...(terms.prepaid_balance_threshold_configuration as object), is_enabled: true };
    const one = await create({ ...terms, ...using(configuration) });
    const other = await create({
      ...terms,
      ...using(configuration),
      prepaid_balance_threshold_configuration: prepaid,
    });
    await later.post(ARCHIVE, archiving(configuration));
    const lost = {
      id,
      timestamp: ARCHIVED_AT,
      remove_billing_provider_configuration: { id: configuration },
      update_spend_threshold_configuration: { is_enabled: false },
    };
    expect(await history(one)).toEqual([lost]);
    expect(await history(other)).toEqual([
      { ...lost, update_prepaid_balance_threshold_configuration: { is_enabled: false } },
    ]);
    await later.post(ARCHIVE, archiving(configuration));
    expect(await history(one)).toHaveLength(1);
  });

  test('archiving a billing configuration leaves alone the contracts with another configuration, with none, and archived ones', async () => {
    const [archived, kept] = [await configure(), await configure()];
    const [others, none, gone] = [await create(using(kept)), await create({}), await create(using(archived))];
    await api.post('/v1/contracts/archive', {
      customer_id: customer,
      contract_id: gone,
      void_invoices: false,
    });
    await later.post(ARCHIVE, archiving(archived));
    expect(await configurationOf(others)).toBe(kept);
    expect(await configurationOf(gone)).toBe(archived);
    expect(await history(others)).toEqual([]);
    expect(await history(none)).toEqual([]);
    expect(await history(gone)).toHaveLength(1);
  });

  test('archiving a billing configuration is undone as a whole where one of the ids is not the customer’s', async () => {
    const configuration = await configure();
    const foreign = await configure(await createdId(api, '/v1/customers', { name: 'Other' }));
    const contract = await create(using(configuration));
    const answer = await api.send('POST', ARCHIVE, archiving(configuration, foreign));
    expect(answer.status).toBe(400);
    expect(await configurationOf(contract)).toBe(configuration);
    expect(await history(contract)).toEqual([]);
  });

  test('archiving a billing configuration lets the contract have another configuration, but not the archived one', async () => {
    const [old, next] = [await configure(), await configure()];
    const contract = await create(using(old));
    const edit = { customer_id: customer, contract_id: contract };
    await api.post(ARCHIVE, archiving(old));
    const again = await api.send('POST', EDIT, { ...edit, ...adding(old) });
    expect(again.status).toBe(400);
    expect(again.text('message')).toMatch(/billing_provider_configuration_id: .* is archived$/);
    await api.post(EDIT, { ...edit, ...adding(next) });
    expect(await configurationOf(contract)).toBe(next);
    expect(await history(contract)).toHaveLength(2);
  });

  test('changes each of many contracts once, in the name of who did it', async () => {
    const configuration = await configure();
    const contracts = await Promise.all(Array.from({ length: 101 }, () => create(using(configuration))));
    await api.post(ARCHIVE, archiving(configuration));
    expect(await loadContracts(pool.db, { customerIds: [customer] })).toMatchObject(
      contracts.map(() => ({ billingConfigurationId: null })),
    );
    const edits = await pool.db
      .select()
      .from(contractEdits)
      .where(inArray(contractEdits.contractId, contracts));
    expect(new Set(edits.map(({ contractId }) => contractId))).toEqual(new Set(contracts));
    expect(edits).toHaveLength(contracts.length);
    expect(edits.every(({ createdBy }) => createdBy === ACTOR_NAME)).toBe(true);
  });
});

describe('archiving a configuration while contracts are given it', () => {
  test('archiving a configuration while contracts are given it waits for the contract that is being given it, and takes it away again', async () => {
    const id = await configure();
    const contractId = await create({});
    let archived: Promise<unknown> | undefined;
    await pool.db.transaction(async (tx) => {
      const contract = await lockContract(tx, contractId);
      if (contract === null) throw new Error('the contract is there');
      const lookup = { id, billingProvider: null, deliveryMethod: null };
      const { id: billingConfigurationId } = await matchBillingConfiguration(tx, customer, lookup, []);
      archived = api.post(ARCHIVE, archiving(id));
      await waitForLock(pool.db);
      await updateContract(tx, { ...contract, billingConfigurationId });
    });
    await archived;
    expect(await configurationOf(contractId)).toBeUndefined();
    expect(await history(contractId)).toMatchObject([{ remove_billing_provider_configuration: { id } }]);
  });

  test('archiving a configuration while contracts are given it neither deadlocks nor leaves a contract with an archived configuration', async () => {
    for (let round = 0; round < 4; round += 1) {
      const [one, two] = [await configure(), await configure()];
      const bare = await Promise.all(Array.from({ length: 3 }, () => create({})));
      const used = await Promise.all([create(using(one)), create(using(two))]);
      const send = (path: string, body: object) => api.send('POST', path, body);
      const edit = (contract_id: string, changes: object) =>
        send(EDIT, { customer_id: customer, contract_id, ...changes });
      const answers = await Promise.all([
        ...bare.map((contract, index) => edit(contract, adding(index % 2 === 0 ? one : two))),
        send(CONTRACTS, { customer_id: customer, ...start, ...using(one) }),
        send(ARCHIVE, archiving(one, two)),
        send(ARCHIVE, archiving(two, one)),
        ...used.map((contract) => edit(contract, { update_contract_name: 'Renamed' })),
        send(CONTRACTS, { customer_id: customer, ...start, ...using(two) }),
      ]);
      for (const { status } of answers) expect([200, 400]).toContain(status);
      const contracts = await loadContracts(pool.db, { customerIds: [customer] });
      const ids = contracts.flatMap(({ billingConfigurationId }) => billingConfigurationId ?? []);
      const configurations = await loadBillingConfigurations(pool.db, ids);
      expect([...configurations.values()].filter(({ archivedAt }) => archivedAt !== null)).toEqual([]);
    }
  });
});
