/** Custom fields of contracts over time: edits, amendments, history, earlier states, packages. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ADD_RATE, CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { allFieldsIn, packageWith } from '../support/custom-field-objects.ts';
import { ADD_KEY, addKey, LIST_KEYS, removeKey, setValues } from '../support/custom-fields.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { PACKAGES } from '../support/package-terms.ts';
import { START, termFixtures } from '../support/term-fixtures.ts';

const { pool, api } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  await pool.db.execute('truncate custom_field_values, custom_field_keys');
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const AMENDED_AT = '2027-01-01T00:00:00Z';
const schedule = { schedule_items: [{ timestamp: AMENDED_AT, amount: 1 }] };

function terms() {
  return termFixtures(catalogue);
}

async function createContract(body: object = {}): Promise<string> {
  return createdId(api, CONTRACTS, {
    customer_id: customer,
    rate_card_id: catalogue.card,
    starting_at: START,
    ...body,
  });
}

/** Every answer that shows the contract or its changes. */
async function answersAbout(contract_id: string) {
  const reference = { customer_id: customer, contract_id };
  return Promise.all([
    api.post('/v1/contracts/get', reference),
    api.post('/v2/contracts/get', reference),
    api.post('/v2/contracts/getEditHistory', reference),
  ]);
}

async function shown(contract: string, id: string): Promise<unknown[]> {
  return (await answersAbout(contract)).flatMap((answer) => allFieldsIn(answer, id));
}

describe('terms that an edit adds', () => {
  test('terms that an edit adds keep their fields, and the answer, the contract and its history show them as they are now', async () => {
    const lists = {
      add_commits: ['commit', terms().commit()],
      add_credits: ['contract_credit', terms().commit({ type: undefined })],
      add_scheduled_charges: ['scheduled_charge', terms().charge(schedule)],
      add_subscriptions: ['subscription', terms().subscription()],
    } as const;
    const contract_id = await createContract();
    const edit: Record<string, unknown> = { customer_id: customer, contract_id };
    for (const [list, [entity, plain]] of Object.entries(lists)) {
      await addKey(api, entity, 'team');
      edit[list] = [plain, { ...plain, custom_fields: { team: entity } }];
    }
    const edited = await api.post('/v2/contracts/edit', edit);
    for (const [list, [entity]] of Object.entries(lists)) {
      const id = edited.text(`data.edit.${list}[1].id`);
      expect(edited.at(`data.edit.${list}[0].custom_fields`)).toEqual({});
      expect(edited.at(`data.edit.${list}[1].custom_fields`)).toEqual({ team: entity });
      expect(await shown(contract_id, id)).not.toContainEqual({});
      await setValues(api, entity, id, { team: 'new' });
      for (const fields of await shown(contract_id, id)) expect(fields).toEqual({ team: 'new' });
      await removeKey(api, entity, 'team');
      for (const fields of await shown(contract_id, id)) expect(fields).toEqual({});
    }
  });

  test.each([
    ['an undeclared key', { tier: 'x' }, 400, 'is not a declared custom field of entity commit'],
    ['a taken value', { order: '7' }, 409, 'another commit has the value "7" already'],
  ])(
    'terms that an edit adds with %s are refused by their place, and nothing changes',
    async (_, fields, status, problem) => {
      await addKey(api, 'commit', 'order', { unique: true });
      const contract_id = await createContract({
        commits: [terms().commit({ custom_fields: { order: '7' } })],
      });
      const before = (await answersAbout(contract_id)).map(({ body }) => body);
      const answer = await api.send('POST', '/v2/contracts/edit', {
        customer_id: customer,
        contract_id,
        update_contract_name: 'Never',
        add_commits: [terms().commit(), terms().commit({ custom_fields: fields })],
      });
      expect(answer.status).toBe(status);
      const [key] = Object.keys(fields);
      expect(answer.text('message')).toBe(`add_commits[1].custom_fields.${key}: ${problem}`);
      expect((await answersAbout(contract_id)).map(({ body }) => body)).toEqual(before);
    },
  );
});

describe('an amendment', () => {
  test('sets its own fields on the contract, and those of its terms on them', async () => {
    for (const key of ['team', 'tier']) await addKey(api, 'contract', key);
    await addKey(api, 'commit', 'team');
    const contract_id = await createContract({ custom_fields: { team: 'red', tier: 'gold' } });
    const access_schedule = {
      schedule_items: [{ amount: 1, starting_at: AMENDED_AT, ending_before: '2027-02-01T00:00:00Z' }],
    };
    await api.post('/v1/contracts/amend', {
      customer_id: customer,
      contract_id,
      starting_at: AMENDED_AT,
      commits: [terms().commit({ access_schedule, custom_fields: { team: 'blue' } })],
      custom_fields: { tier: 'silver' },
    });
    const [v1, v2] = await answersAbout(contract_id);
    for (const answer of [v1, v2]) {
      expect(answer?.at('data.custom_fields')).toEqual({ team: 'red', tier: 'silver' });
    }
    expect(v1?.at('data.amendments[0].commits[0].custom_fields')).toEqual({ team: 'blue' });
    expect(v2?.at('data.commits[0].custom_fields')).toEqual({ team: 'blue' });
  });

  test.each([
    ['custom_fields.tier', () => ({ custom_fields: { tier: 'x' } })],
    [
      'scheduled_charges[0].custom_fields.tier',
      () => ({ scheduled_charges: [terms().charge(schedule, { custom_fields: { tier: 'x' } })] }),
    ],
  ])('an amendment with the undeclared field %s answers 400', async (field, body) => {
    const contract_id = await createContract();
    const answer = await api.send('POST', '/v1/contracts/amend', {
      customer_id: customer,
      contract_id,
      starting_at: AMENDED_AT,
      ...body(),
    });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(`${field}: is not a declared custom field of entity`);
  });
});

test('an earlier state of a contract shows the fields as they are now', async () => {
  await addKey(api, 'contract', 'team');
  await addKey(api, 'subscription', 'team');
  const subscriptions = [terms().subscription({ custom_fields: { team: 'red' } })];
  const contract_id = await createContract({ custom_fields: { team: 'red' }, subscriptions });
  const reference = { customer_id: customer, contract_id };
  await api.post('/v2/contracts/edit', { ...reference, update_contract_name: 'Renamed' });
  await setValues(api, 'contract', contract_id, { team: 'blue' });
  const read = await api.post('/v1/contracts/get', reference);
  expect(read.at('data.custom_fields')).toEqual({ team: 'blue' });
  const id = read.text('data.subscriptions[0].id');
  await setValues(api, 'subscription', id, { team: 'blue' });
  const now = createCatalogueApi(pool.db, { now: Date.UTC(2026, 11, 1) });
  await now.post('/v2/contracts/edit', { ...reference, update_contract_name: 'Again' });
  const as_of_date = '2026-11-25T00:00:00Z';
  const earlier = await now.post('/v2/contracts/get', { ...reference, as_of_date });
  expect(earlier.text('data.name')).toBe('Renamed');
  expect(earlier.at('data.custom_fields')).toEqual({ team: 'blue' });
  expect(earlier.at('data.subscriptions[0].custom_fields')).toEqual({ team: 'blue' });
});

describe('a contract created from a package', () => {
  const lists = {
    commits: ['package_commit', 'commit'],
    credits: ['package_credit', 'contract_credit'],
    scheduled_charges: ['package_scheduled_charge', 'scheduled_charge'],
    subscriptions: ['package_subscription', 'subscription'],
  } as const;

  async function createPackage(fields: object): Promise<string> {
    const templates = Object.keys(lists).map((list) => [list, [{}, { custom_fields: fields }]]);
    return createdId(api, PACKAGES, packageWith(catalogue, Object.fromEntries(templates)));
  }

  async function provision(package_id: string, body: object = {}) {
    const request = { customer_id: customer, starting_at: START, package_id, ...body };
    return api.post('/v2/contracts/get', {
      customer_id: customer,
      contract_id: await createdId(api, CONTRACTS, request),
    });
  }

  test('a contract created from a package has the fields of the templates on its terms, and may change them', async () => {
    for (const entities of Object.values(lists)) {
      for (const entity of entities) await addKey(api, entity, 'team');
    }
    await addKey(api, 'contract', 'deal');
    const package_id = await createPackage({ team: 'red' });
    const contract = await provision(package_id, { custom_fields: { deal: '7' } });
    expect(contract.at('data.custom_fields')).toEqual({ deal: '7' });
    for (const [list, [, entity]] of Object.entries(lists)) {
      expect(contract.at(`data.${list}[0].custom_fields`)).toEqual({});
      expect(contract.at(`data.${list}[1].custom_fields`)).toEqual({ team: 'red' });
      await setValues(api, entity, contract.text(`data.${list}[1].id`), { team: 'blue' });
    }
    const second = await provision(package_id);
    for (const list of Object.keys(lists)) {
      expect(second.at(`data.${list}[1].custom_fields`)).toEqual({ team: 'red' });
    }
  });

  test('a contract created from a package takes keys along that its own terms do not have, without uniqueness', async () => {
    for (const [template] of Object.values(lists)) await addKey(api, template, 'team', { unique: true });
    const templates = Object.keys(lists).map((list) => [list, [{ custom_fields: { team: list } }]]);
    const package_id = await createdId(api, PACKAGES, packageWith(catalogue, Object.fromEntries(templates)));
    for (let n = 0; n < 2; n++) {
      const contract = await provision(package_id);
      for (const list of Object.keys(lists)) {
        expect(contract.at(`data.${list}[0].custom_fields`)).toEqual({ team: list });
      }
    }
    const entities = Object.values(lists).map(([, entity]) => entity);
    expect((await api.post(LIST_KEYS, { entities })).list('data')).toEqual(
      entities.map((entity) => ({ entity, key: 'team', enforce_uniqueness: false })),
    );
    const again = await api.send('POST', ADD_KEY, {
      entity: 'commit',
      key: 'team',
      enforce_uniqueness: true,
    });
    expect(again.status).toBe(409);
  });

  test('a contract created from a package does not have fields whose key the templates have lost', async () => {
    await addKey(api, 'package_commit', 'team');
    const custom_fields = { team: 'red' };
    const package_id = await createdId(
      api,
      PACKAGES,
      packageWith(catalogue, { commits: [{ custom_fields }] }),
    );
    await removeKey(api, 'package_commit', 'team');
    expect((await provision(package_id)).at('data.commits[0].custom_fields')).toEqual({});
  });

  test('a contract created from a package is refused where a copied value has to be unique and is taken', async () => {
    await addKey(api, 'package_commit', 'order');
    await addKey(api, 'commit', 'order', { unique: true });
    const custom_fields = { order: '7' };
    const package_id = await createdId(
      api,
      PACKAGES,
      packageWith(catalogue, { commits: [{ custom_fields }] }),
    );
    await provision(package_id);
    const request = { customer_id: customer, starting_at: START, package_id };
    const answer = await api.send('POST', CONTRACTS, request);
    expect(answer.status).toBe(409);
    expect(answer.text('message')).toBe(
      'package_id: the package\'s commits[0].custom_fields.order: another commit has the value "7" already',
    );
  });
});

test('rates show the fields of their products as they are now', async () => {
  await addKey(api, 'contract_product', 'sku');
  const metric = { name: 'Requests', aggregation_type: 'COUNT' };
  const product_id = await createdId(api, '/v1/contract-pricing/products/create', {
    name: 'Requests',
    type: 'USAGE',
    billable_metric_id: await createdId(api, '/v1/billable-metrics/create', metric),
    custom_fields: { sku: '1' },
  });
  const card = await createdId(api, '/v1/contract-pricing/rate-cards/create', { name: 'List' });
  const rate = { starting_at: START, entitled: true, rate_type: 'FLAT', price: 1 };
  await api.post(ADD_RATE, { rate_card_id: card, product_id, ...rate });
  const contract_id = await createContract({ rate_card_id: card });
  const read = async () => {
    const answers = await Promise.all([
      api.post('/v1/contract-pricing/rate-cards/getRates', { rate_card_id: card, at: START }),
      api.post('/v1/contract-pricing/rate-cards/getRateSchedule', { rate_card_id: card, starting_at: START }),
      api.post('/v1/contracts/getContractRateSchedule', { customer_id: customer, contract_id }),
    ]);
    return answers.map((answer) => answer.at('data[0].product_custom_fields'));
  };
  expect(await read()).toEqual([{ sku: '1' }, { sku: '1' }, { sku: '1' }]);
  await setValues(api, 'contract_product', product_id, { sku: '2' });
  expect(await read()).toEqual([{ sku: '2' }, { sku: '2' }, { sku: '2' }]);
});
