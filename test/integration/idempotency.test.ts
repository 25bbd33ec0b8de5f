import Metronome from '@metronome/sdk';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { createIdempotency } from '../../src/access/idempotency.ts';
import { Refusal } from '../../src/core/errors.ts';
import { idempotencyKeys } from '../../src/store/access/idempotency-keys.tables.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile();
const { api, db } = service;

let made = 0;
const newKey = () => `key-${made++}`;
const post = (path: string, body: unknown, key: string) =>
  api.send('POST', path, body, { headers: { 'idempotency-key': key } });
const create = (name: string, key: string, extra: object = {}) =>
  post('/v1/customers', { name, ...extra }, key);
const customers = async (name: string) =>
  (await api.get('/v1/customers')).list('data').filter((one) => JSON.stringify(one).includes(`"${name}"`));
const keys = () => createIdempotency({ db, clock: { now: () => Date.UTC(2026, 10, 10) } });

describe('a repeated request with an idempotency key', () => {
  it('a repeated request with an idempotency key is carried out once and answered as the first time', async () => {
    const key = newKey();
    const first = await create('once', key);
    const again = await create('once', key);
    expect(again.status).toBe(200);
    expect(again.body).toEqual(first.body);
    expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await customers('once')).toHaveLength(1);
  });

  it('a repeated request with an idempotency key gets its answer after a restart too', async () => {
    const key = newKey();
    const first = await create('restarted', key);
    await service.restart();
    expect((await create('restarted', key)).body).toEqual(first.body);
    expect(await customers('restarted')).toHaveLength(1);
  });

  it('a repeated request with an idempotency key gets the same refusal, although it would be carried out now', async () => {
    const [alias, key] = ['taken-for-a-while', newKey()];
    const holder = await create('holder', newKey(), { ingest_aliases: [alias] });
    expect((await create('late', key, { ingest_aliases: [alias] })).status).toBe(409);
    await api.post(`/v1/customers/${holder.text('data.id')}/setIngestAliases`, { ingest_aliases: [] });
    const again = await create('late', key, { ingest_aliases: [alias] });
    expect([again.status, again.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect((await create('late', newKey(), { ingest_aliases: [alias] })).status).toBe(200);
  });

  it('a repeated request with an idempotency key is refused with another body', async () => {
    const key = newKey();
    await create('one', key);
    const other = await create('other', key);
    expect([other.status, other.headers.get('x-should-retry')]).toEqual([409, 'false']);
    expect(other.text('message')).toMatch(/used for another request/);
    expect(await customers('other')).toEqual([]);
  });

  it('a repeated request with an idempotency key is refused for another resource of the same operation, and free for another operation', async () => {
    const key = newKey();
    const [a, b] = [await create('a', newKey()), await create('b', newKey())];
    const rename = (id: string) => post(`/v1/customers/${id}/setName`, { name: 'renamed' }, key);
    expect((await rename(a.text('data.id'))).status).toBe(200);
    expect((await rename(b.text('data.id'))).status).toBe(409);
    expect((await create('renamed', key)).status).toBe(200);
  });

  it('a repeated request with an idempotency key works for answers without a body, and for operations that only read', async () => {
    const key = newKey();
    const { id } = { id: (await create('aliases', newKey())).text('data.id') };
    for (let time = 0; time < 2; time += 1) {
      const set = await post(`/v1/customers/${id}/setIngestAliases`, { ingest_aliases: [] }, key);
      expect([set.status, set.body]).toEqual([200, undefined]);
      expect((await post('/v1/contract-pricing/products/list', {}, key)).status).toBe(200);
    }
  });

  it('a repeated request with an idempotency key is carried out again a day later, by the clock of the service', async () => {
    const key = newKey();
    await create('daily', key);
    await service.moveClock('2026-11-10T23:59:59.999Z');
    await create('daily', key);
    expect(await customers('daily')).toHaveLength(1);
    await service.moveClock('2026-11-11T00:00:00Z');
    await create('daily', key);
    expect(await customers('daily')).toHaveLength(2);
  });

  it.each(['', ' ', 'ä', 'x'.repeat(256), 'two words'])(
    'a repeated request with an idempotency key refuses the key %j',
    async (key) => {
      const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') };
      const refused = await api.send('POST', '/v1/customers', { name: 'x' }, { headers });
      expect([refused.status, refused.at('message')]).toEqual([
        400,
        expect.stringMatching(/Idempotency-Key/),
      ]);
    },
  );

  it('a repeated request with an idempotency key never replays a secret, and says that it was carried out', async () => {
    const key = newKey();
    const body = { name: 'ci', scope: 'read' };
    const token = (await post('/v1/tokens/create', body, key)).text('data.token');
    const again = await post('/v1/tokens/create', body, key);
    expect([again.status, again.text('message')]).toEqual([409, expect.stringMatching(/was carried out/)]);
    expect(JSON.stringify(await db.select().from(idempotencyKeys))).not.toContain(token);
  });

  it('a repeated request with an idempotency key is repeated by the official client with the header', async () => {
    const client = new Metronome({ baseURL: service.url, bearerToken: service.token });
    const options = { headers: { 'Idempotency-Key': newKey() } };
    const first = await client.v1.customers.create({ name: 'by the client' }, options);
    expect(await client.v1.customers.create({ name: 'by the client' }, options)).toEqual(first);
  });
});

describe('requests at the same time with one key', () => {
  it('requests at the same time with one key give one winner in every round: the others are asked to wait, or get its answer', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round += 1) {
      const [name, key] = [`round ${round}`, newKey()];
      const answers = await Promise.all(Array.from({ length: 50 }, () => create(name, key)));
      const ids = new Set(answers.flatMap(({ status, at }) => (status === 200 ? [at('data.id')] : [])));
      expect(ids.size).toBe(1);
      for (const { status } of answers) statuses.add(status);
      for (const { status, headers } of answers) {
        if (status === 409)
          expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['1', null]);
      }
      expect(await customers(name)).toHaveLength(1);
    }
    // On a busy machine the first request of a round may have ended before the others begin.
    expect(statuses).toEqual(new Set([200, 409]));
  });

  it('requests at the same time with one key are refused by other processes while one is running, and answered by them afterwards', async () => {
    const of = { operation: 'createCustomer', key: newKey() };
    const claim = await keys().claim(of, ['body']);
    await expect(keys().claim(of, ['body'])).rejects.toThrow(/is being carried out/);
    await expect(keys().claim(of, ['other'])).rejects.toThrow(/another request/);
    if ('status' in claim) throw new Error('the key is new');
    await claim.store(db, { status: 200, headers: {}, body: 'done' });
    expect(await keys().claim(of, ['body'])).toEqual({ status: 200, headers: {}, body: 'done' });
  });
});

describe('the claim of a key', () => {
  const expire = () =>
    db.update(idempotencyKeys).set({ claimedUntil: sql`clock_timestamp() - interval '1 second'` });

  it('the claim of a key whose process has died is taken over, and cannot be used by the first one any more', async () => {
    const of = { operation: 'createCustomer', key: newKey() };
    const first = await keys().claim(of, ['body']);
    await expire();
    const second = await keys().claim(of, ['body']);
    if ('status' in first || 'status' in second) throw new Error('nothing is stored');
    await expect(first.store(db, { status: 200, headers: {}, body: null })).rejects.toBeInstanceOf(Refusal);
    await second.store(db, { status: 200, headers: {}, body: 'second' });
    expect(await keys().claim(of, ['body'])).toMatchObject({ body: 'second' });
  });

  it('the claim of a key is free again after a failure of the service', async () => {
    const of = { operation: 'createCustomer', key: newKey() };
    const claim = await keys().claim(of, ['body']);
    if ('status' in claim) throw new Error('nothing is stored');
    await claim.release();
    expect(await keys().claim(of, ['other body'])).toHaveProperty('store');
  });
});
