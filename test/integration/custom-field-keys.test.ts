/** Keys of custom fields: an allow-list for each kind of object. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  CUSTOM_FIELD_ENTITIES,
  CUSTOM_FIELD_KEYS_PER_ENTITY_MAX,
  type CustomFieldEntity,
} from '../../src/core/custom-fields.ts';
import { createdId } from '../support/catalogue-api.ts';
import { ADD_KEY, addKey, LIST_KEYS, REMOVE_KEY, removeKey, setValues } from '../support/custom-fields.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();

beforeEach(async () => {
  await pool.db.execute('truncate custom_field_values, custom_field_keys restart identity');
});

async function keysOf(...entities: CustomFieldEntity[]): Promise<unknown[]> {
  return (await api.post(LIST_KEYS, { entities })).list('data');
}

async function allKeys(): Promise<unknown[]> {
  const rows: unknown[] = [];
  let next_page: string | undefined;
  do {
    const answer = await api.post(LIST_KEYS, {}, { query: { next_page } });
    rows.push(...answer.list('data'));
    next_page = answer.at('next_page') === null ? undefined : answer.text('next_page');
  } while (next_page !== undefined);
  return rows;
}

describe('declaring a key', () => {
  test.each(CUSTOM_FIELD_ENTITIES)(
    'declaring a key is possible for entity %s, and answers without a body',
    async (entity) => {
      const answer = await api.post(ADD_KEY, { entity, key: 'team', enforce_uniqueness: false });
      expect(answer.body).toBeUndefined();
      expect(answer.headers.get('content-length')).toBe('0');
      expect(await keysOf(entity)).toEqual([{ entity, key: 'team', enforce_uniqueness: false }]);
    },
  );

  test('a second time answers 409 that must not be retried, whatever its uniqueness', async () => {
    await addKey(api, 'customer', 'team');
    for (const enforce_uniqueness of [false, true]) {
      const answer = await api.send('POST', ADD_KEY, { entity: 'customer', key: 'team', enforce_uniqueness });
      expect(answer.status).toBe(409);
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
    expect(await allKeys()).toEqual([{ entity: 'customer', key: 'team', enforce_uniqueness: false }]);
  });

  test('declaring a key by several at once succeeds for exactly one', async () => {
    const body = { entity: 'customer', key: 'team', enforce_uniqueness: true };
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.send('POST', ADD_KEY, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
  });

  test('declaring a key tells keys apart by entity and by letter case', async () => {
    await addKey(api, 'customer', 'Team');
    await addKey(api, 'customer', 'team', { unique: true });
    await addKey(api, 'contract', 'team');
    expect(await allKeys()).toEqual([
      { entity: 'customer', key: 'Team', enforce_uniqueness: false },
      { entity: 'customer', key: 'team', enforce_uniqueness: true },
      { entity: 'contract', key: 'team', enforce_uniqueness: false },
    ]);
  });

  const sound = { entity: 'customer', key: 'team', enforce_uniqueness: false };
  test.each([
    ['an entity that does not exist', { ...sound, entity: 'client' }, /^entity: must be one of alert, /],
    ['an entity of older plans', { ...sound, entity: 'credit_grant' }, /^entity: /],
    ['an entity in upper case', { ...sound, entity: 'CUSTOMER' }, /^entity: /],
    ['no entity', { ...sound, entity: undefined }, /^entity: is required/],
    ['an empty key', { ...sound, key: '' }, /^key: must be at least 1 character long/],
    ['a key that is too long', { ...sound, key: 'x'.repeat(101) }, /^key: must be at most 100 characters/],
    ['no key', { ...sound, key: undefined }, /^key: is required/],
    ['no uniqueness', { ...sound, enforce_uniqueness: undefined }, /^enforce_uniqueness: is required/],
    ['uniqueness as text', { ...sound, enforce_uniqueness: 'true' }, /^enforce_uniqueness: must be true/],
  ])('declaring a key with %s answers 400 and declares nothing', async (_, body, message) => {
    const answer = await api.send('POST', ADD_KEY, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await allKeys()).toEqual([]);
  });

  test('declaring a key beyond the limit of an entity answers 400, also for several at once', async () => {
    const room = CUSTOM_FIELD_KEYS_PER_ENTITY_MAX - 2;
    await pool.db.execute(
      `insert into custom_field_keys (entity, key, enforce_uniqueness, created_at)
       select 'customer', 'key ' || n, false, now() from generate_series(1, ${room}) as n`,
    );
    const attempts = ['a', 'b', 'c', 'd'].map((key) =>
      api.send('POST', ADD_KEY, { entity: 'customer', key, enforce_uniqueness: false }),
    );
    const answers = await Promise.all(attempts);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400]);
    expect(await keysOf('customer')).toHaveLength(100);
    expect(await allKeys()).toHaveLength(CUSTOM_FIELD_KEYS_PER_ENTITY_MAX);
    await addKey(api, 'contract', 'a');
    await removeKey(api, 'customer', 'key 1');
    await addKey(api, 'customer', 'again');
  });
});

describe('listing keys', () => {
  test('listing keys goes page after page in the order of declaration, and is not disturbed by new keys', async () => {
    await pool.db.execute(
      `insert into custom_field_keys (entity, key, enforce_uniqueness, created_at)
       select case when n % 2 = 0 then 'customer' else 'contract' end, 'key ' || n, false, now()
       from generate_series(1, 250) as n`,
    );
    const first = await api.post(LIST_KEYS);
    expect(first.list('data')).toHaveLength(100);
    await addKey(api, 'invoice', 'late');
    const keys = (await allKeys()).map((row) => (row as { key: string }).key);
    expect(keys).toEqual([...Array.from({ length: 250 }, (_, n) => `key ${n + 1}`), 'late']);
    const second = await api.post(LIST_KEYS, {}, { query: { next_page: first.text('next_page') } });
    expect(second.text('data[0].key')).toBe('key 101');
  });

  test('listing keys shows those of the entities that are named, null meaning all, an empty list none', async () => {
    for (const entity of ['customer', 'contract', 'invoice'] as const) await addKey(api, entity, 'team');
    expect(await keysOf('customer', 'invoice')).toMatchObject([
      { entity: 'customer' },
      { entity: 'invoice' },
    ]);
    expect((await api.post(LIST_KEYS, { entities: null })).list('data')).toHaveLength(3);
    expect(await keysOf()).toEqual([]);
  });

  test.each([
    ['an unknown entity', { entities: ['client'] }, {}, /^entities\[0\]: must be one of /],
    ['a broken cursor', {}, { next_page: 'broken' }, /^next_page: /],
    ['the cursor of another list', {}, { next_page: 'eyJhdCI6MX0' }, /^next_page: /],
  ])('listing keys with %s answers 400', async (_, body, query, message) => {
    const answer = await api.send('POST', LIST_KEYS, body, { query });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
  });
});

describe('removing a key', () => {
  test('puts its values out of reach, and declaring it again starts empty', async () => {
    await addKey(api, 'customer', 'team', { unique: true });
    await addKey(api, 'customer', 'tier');
    const id = await createdId(api, '/v1/customers', {
      name: 'Acme',
      custom_fields: { team: 'red', tier: 'gold' },
    });
    const fields = async () => (await api.get(`/v1/customers/${id}`)).at('data.custom_fields');
    await removeKey(api, 'customer', 'team');
    expect(await keysOf('customer')).toMatchObject([{ key: 'tier' }]);
    expect(await fields()).toEqual({ tier: 'gold' });
    await addKey(api, 'customer', 'team');
    expect(await fields()).toEqual({ tier: 'gold' });
    await setValues(api, 'customer', id, { team: 'blue' });
    expect(await fields()).toEqual({ tier: 'gold', team: 'blue' });
  });

  test('frees its unique values', async () => {
    await addKey(api, 'customer', 'team', { unique: true });
    await createdId(api, '/v1/customers', { name: 'First', custom_fields: { team: 'red' } });
    await removeKey(api, 'customer', 'team');
    await addKey(api, 'customer', 'team', { unique: true });
    const second = await createdId(api, '/v1/customers', { name: 'Second', custom_fields: { team: 'red' } });
    expect((await api.get(`/v1/customers/${second}`)).at('data.custom_fields')).toEqual({ team: 'red' });
  });

  test.each([
    ['that was never declared', { entity: 'customer', key: 'tier' }, /^key: "tier" is not a declared/],
    ['of another entity', { entity: 'contract', key: 'team' }, /^key: "team" is not a declared/],
    ['in another letter case', { entity: 'customer', key: 'Team' }, /^key: "Team" is not a declared/],
    ['of an unknown entity', { entity: 'client', key: 'team' }, /^entity: /],
  ])('%s answers 400 and removes nothing', async (_, body, message) => {
    await addKey(api, 'customer', 'team');
    const answer = await api.send('POST', REMOVE_KEY, body);
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(message);
    expect(await allKeys()).toHaveLength(1);
  });

  test('twice answers 400 the second time', async () => {
    await addKey(api, 'customer', 'team');
    await removeKey(api, 'customer', 'team');
    const answer = await api.send('POST', REMOVE_KEY, { entity: 'customer', key: 'team' });
    expect(answer.status).toBe(400);
  });
});
