/** Custom fields on objects of every kind: stored with the object, shown wherever it is shown. */
import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CUSTOM_FIELD_ENTITIES } from '../../src/core/custom-fields.ts';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { type ObjectKind, objectKinds } from '../support/custom-field-objects.ts';
import { addKey, DELETE_VALUES, removeKey, setValues, trySetValues } from '../support/custom-fields.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { UNKNOWN } from '../support/term-fixtures.ts';

const { pool, api } = await catalogueForFile();
const catalogue = {} as TermsCatalogue;
let customer: string;

beforeAll(async () => {
  Object.assign(catalogue, await createTermsCatalogue(api));
});
beforeEach(async () => {
  await pool.db.execute('truncate custom_field_values, custom_field_keys');
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const kinds = objectKinds(
  () => api,
  catalogue,
  () => customer,
).map((kind) => [kind.entity, kind] as const);
const changeable = kinds.filter(([entity]) => !entity.startsWith('package_'));
const templates = kinds.filter(([entity]) => entity.startsWith('package_'));

async function create(kind: ObjectKind, fields: Readonly<Record<string, string>>): Promise<string> {
  const created = await kind.create(fields);
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  return kind.idOf(created);
}

async function expectShown(kind: ObjectKind, id: string, fields: object): Promise<void> {
  const shown = await kind.shown(id);
  expect(shown.length).toBeGreaterThan(0);
  expect(shown).toEqual(shown.map(() => fields));
}

/** Rows in all tables: a request that is refused must not add any. */
async function rowCounts(): Promise<unknown> {
  const tables = ['customers', 'billable_metrics', 'products', 'rate_cards', 'contracts', 'commits'];
  const counts = [...tables, 'scheduled_charges', 'subscriptions', 'packages', 'custom_field_values'].map(
    (table) => `(select count(*)::int from ${table}) as ${table}`,
  );
  return [...(await pool.db.execute(sql.raw(`select ${counts.join(', ')}`)))];
}

describe.each(kinds)('a new %s', (entity, kind) => {
  test('a new object keeps its fields, and shows them wherever it is shown', async () => {
    for (const key of ['team', 'cost center', 'ünï.cödé[0]']) await addKey(api, entity, key);
    const fields = { 'ünï.cödé[0]': '✓ "quoted"', team: '', 'cost center': 'x'.repeat(200) };
    const id = await create(kind, fields);
    await expectShown(kind, id, fields);
    await removeKey(api, entity, 'team');
    const { team: _, ...others } = fields;
    await expectShown(kind, id, others);
  });

  test('a new object with a key that is not declared for its kind answers 400, names the field and stores nothing', async () => {
    await addKey(api, entity, 'team');
    for (const other of CUSTOM_FIELD_ENTITIES) if (other !== entity) await addKey(api, other, 'tier');
    const before = await rowCounts();
    const answer = await kind.create({ team: 'red', tier: 'gold' });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toBe(
      `${kind.path}custom_fields.tier: is not a declared custom field of entity ${entity}`,
    );
    expect(await rowCounts()).toEqual(before);
  });

  test('a new object with a unique value that is taken answers 409, names the field and stores nothing', async () => {
    await addKey(api, entity, 'account', { unique: true });
    const holder = await create(kind, { account: 'a' });
    const before = await rowCounts();
    const answer = await kind.create({ account: 'a' });
    expect(answer.status).toBe(409);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.text('message')).toBe(
      `${kind.path}custom_fields.account: another ${entity} has the value "a" already`,
    );
    expect(await rowCounts()).toEqual(before);
    await expectShown(kind, holder, { account: 'a' });
    await create(kind, { account: 'A' });
  });

  test.each([
    ['a value that is too long', { team: 'x'.repeat(201) }, /custom_fields\.team: must be at most 200 char/],
    ['a value that is no string', { team: 1 }, /custom_fields\.team: must be a string/],
    ['a value that is null', { team: null }, /custom_fields\.team: must be a string/],
    ['an empty key', { '': 'x' }, /custom_fields\.?: /],
  ])('a new object with %s answers 400 and stores nothing', async (_, fields, message) => {
    await addKey(api, entity, 'team');
    const before = await rowCounts();
    const answer = await kind.create(fields as Record<string, string>);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await rowCounts()).toEqual(before);
  });
});

describe.each(changeable)('the fields of a %s that exists', (entity, kind) => {
  test('custom fields of an object are set one by one, and others stay', async () => {
    for (const key of ['a', 'b', 'c']) await addKey(api, entity, key);
    const id = await create(kind, { a: '1', b: '2' });
    await setValues(api, entity, id, { b: '3', c: '4' });
    await expectShown(kind, id, { a: '1', b: '3', c: '4' });
    await setValues(api, entity, id.toUpperCase(), {});
    await api.post(DELETE_VALUES, { entity, entity_id: id, keys: ['a', 'c', 'a'] });
    await expectShown(kind, id, { b: '3' });
    await api.post(DELETE_VALUES, { entity, entity_id: id, keys: ['a'] });
    await expectShown(kind, id, { b: '3' });
  });

  test('custom fields of an object are set all or none', async () => {
    await addKey(api, entity, 'a');
    await addKey(api, entity, 'account', { unique: true });
    await create(kind, { account: 'taken' });
    const id = await create(kind, { a: '1', account: 'own' });
    const taken = await trySetValues(api, entity, id, { a: '2', account: 'taken' });
    expect(taken.status).toBe(409);
    expect(taken.headers.get('x-should-retry')).toBe('false');
    expect(taken.text('message')).toMatch(/^custom_fields\.account: another .* has the value "taken"/);
    const undeclared = await trySetValues(api, entity, id, { a: '2', b: '3' });
    expect(undeclared.status).toBe(400);
    expect(undeclared.text('message')).toMatch(/^custom_fields\.b: is not a declared custom field of entity/);
    await expectShown(kind, id, { a: '1', account: 'own' });
    await setValues(api, entity, id, { a: '2', account: 'own' });
    await expectShown(kind, id, { a: '2', account: 'own' });
  });

  test('free a unique value when it is overwritten or deleted', async () => {
    await addKey(api, entity, 'account', { unique: true });
    const first = await create(kind, { account: 'a' });
    const second = await create(kind, { account: 'b' });
    await setValues(api, entity, first, { account: 'c' });
    await setValues(api, entity, second, { account: 'a' });
    await api.post(DELETE_VALUES, { entity, entity_id: first, keys: ['account'] });
    await setValues(api, entity, second, { account: 'c' });
    await expectShown(kind, second, { account: 'c' });
    await expectShown(kind, first, {});
  });
});

test.each(templates)('the fields of a %s never change once the package is created', async (entity, kind) => {
  await addKey(api, entity, 'team');
  const id = await create(kind, { team: 'red' });
  const attempts = [
    await trySetValues(api, entity, id, { team: 'blue' }),
    await api.send('POST', DELETE_VALUES, { entity, entity_id: id, keys: ['team'] }),
  ];
  for (const answer of attempts) {
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^entity_id: .* is part of a package, and packages never change$/);
  }
  await expectShown(kind, id, { team: 'red' });
});

test.each(CUSTOM_FIELD_ENTITIES)('an id that no %s has answers 404', async (entity) => {
  await addKey(api, entity, 'team');
  for (const id of [UNKNOWN, entity === 'customer' ? catalogue.card : customer]) {
    const answers = [
      await trySetValues(api, entity, id, { team: 'red' }),
      await api.send('POST', DELETE_VALUES, { entity, entity_id: id, keys: ['team'] }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text('message')).toBe(`${entity} ${id} not found`);
  }
});

test('a commit is no credit, and a credit no commit', async () => {
  for (const entity of ['commit', 'contract_credit'] as const) await addKey(api, entity, 'team');
  const [commit, credit] = ['commit', 'contract_credit'].map(
    (entity) => kinds.find(([name]) => name === entity)?.[1],
  );
  if (commit === undefined || credit === undefined) throw new Error('both kinds are there');
  const asCredit = await trySetValues(api, 'contract_credit', await create(commit, {}), { team: 'red' });
  const asCommit = await trySetValues(api, 'commit', await create(credit, {}), { team: 'red' });
  expect([asCredit.status, asCommit.status]).toEqual([404, 404]);
});

describe('requests about values', () => {
  const sound = () => ({ entity: 'customer', entity_id: customer });
  test.each([
    [
      'an unknown entity',
      () => ({ ...sound(), entity: 'client', custom_fields: {} }),
      /^entity: must be one/,
    ],
    ['an id that is none', () => ({ ...sound(), entity_id: 'x', custom_fields: {} }), /^entity_id: must be/],
    ['no fields', () => sound(), /^custom_fields: is required/],
    ['fields that are none', () => ({ ...sound(), custom_fields: [] }), /^custom_fields: must be an object/],
    [
      'a value too long',
      () => ({ ...sound(), custom_fields: { a: 'x'.repeat(201) } }),
      /^custom_fields\.a: /,
    ],
    [
      'an undeclared key',
      () => ({ ...sound(), custom_fields: { b: 'x' } }),
      /^custom_fields\.b: is not a de/,
    ],
  ])('requests about values to set them with %s answer 400', async (_, body, message) => {
    await addKey(api, 'customer', 'a');
    const answer = await api.send('POST', '/v1/customFields/setValues', body());
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });

  test.each([
    ['an unknown entity', () => ({ ...sound(), entity: 'client', keys: [] }), /^entity: must be one/],
    ['no keys', () => sound(), /^keys: is required/],
    ['keys that are none', () => ({ ...sound(), keys: 'a' }), /^keys: must be an array/],
    [
      'an undeclared key',
      () => ({ ...sound(), keys: ['a', 'b'] }),
      /^keys\[1\]: is not a declared custom fie/,
    ],
    [
      'too many keys',
      () => ({ ...sound(), keys: Array(201).fill('a') }),
      /^keys: must have at most 200 items/,
    ],
  ])(
    'requests about values to delete them with %s answer 400 and delete nothing',
    async (_, body, message) => {
      await addKey(api, 'customer', 'a');
      await setValues(api, 'customer', customer, { a: '1' });
      const answer = await api.send('POST', DELETE_VALUES, body());
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(message);
      expect((await api.get(`/v1/customers/${customer}`)).at('data.custom_fields')).toEqual({ a: '1' });
    },
  );
});

test('a unique value is held by archived objects too, and can be taken from them', async () => {
  await addKey(api, 'contract_product', 'sku', { unique: true });
  const product = kinds.find(([entity]) => entity === 'contract_product')?.[1];
  if (product === undefined) throw new Error('the kind is there');
  const old = await create(product, { sku: '1' });
  await api.post('/v1/contract-pricing/products/archive', { product_id: old });
  expect((await product.create({ sku: '1' })).status).toBe(409);
  await setValues(api, 'contract_product', old, { sku: 'retired' });
  await create(product, { sku: '1' });
});

test('two objects of one request cannot have one unique value', async () => {
  await addKey(api, 'commit', 'order', { unique: true });
  const commit = {
    type: 'PREPAID',
    product_id: catalogue.fee,
    access_schedule: {
      schedule_items: [
        { amount: 1, starting_at: '2026-10-01T00:00:00Z', ending_before: '2026-11-01T00:00:00Z' },
      ],
    },
    custom_fields: { order: '7' },
  };
  const before = await rowCounts();
  const answer = await api.send('POST', '/v1/contracts/create', {
    customer_id: customer,
    starting_at: '2026-10-01T00:00:00Z',
    commits: [commit, { ...commit, custom_fields: { order: '8' } }, commit],
  });
  expect(answer.status).toBe(409);
  expect(answer.text('message')).toMatch(/^commits\[2\]\.custom_fields\.order: another commit has/);
  expect(await rowCounts()).toEqual(before);
});
