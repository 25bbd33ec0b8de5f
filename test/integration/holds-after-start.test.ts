/** Holds in a process that has started after them, and in one that everybody asks at once. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, reserve } from '../support/holds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

test('after a start the event of a hold settles it by the way of all events, before anybody asks for the customer', async () => {
  const holder = await createHolder(api, 100);
  const transaction_id = `${holder.customerId} started`;
  await reserve(api, holder.hold(transaction_id, 80));
  await service.restart();
  const event = { customer_id: holder.customerId, event_type: 'use', timestamp: '2026-11-10T12:20:00Z' };
  await api.post('/v1/ingest', [{ transaction_id, ...event, properties: { tokens: 30 } }]);
  const list = async () =>
    (await api.get('/v1/holds', { query: { customer_id: holder.customerId } })).list('data');
  await expect.poll(list).toMatchObject([{ transaction_id, status: 'settled' }]);
  expect(await reserve(api, holder.hold(`${transaction_id} 2`, 70))).toMatchObject([
    { granted: true, remaining: 0 },
  ]);
});

test('a hold that is settled after it has expired is billed, and the answer says what it costs', async () => {
  const holder = await createHolder(api, 100);
  const transaction_id = `${holder.customerId} late`;
  await reserve(api, holder.hold(transaction_id, 80, { ttl_seconds: 60 }));
  await service.moveClock('2026-11-10T12:32:00Z');
  const settlements = [{ transaction_id, properties: { tokens: 90 } }];
  for (const accepted of [true, false]) {
    const settled = await api.post('/v1/holds/settle', { settlements });
    expect(settled.list('data')).toMatchObject([{ accepted, amount: 90, exceeded: 10 }]);
  }
  expect(await reserve(api, holder.hold(`${transaction_id} 2`, 11))).toMatchObject([
    { granted: false, remaining: 10 },
  ]);
});

test('many customers who are asked for at once after a start are all answered', async () => {
  const holders = await Promise.all(Array.from({ length: 12 }, () => createHolder(api, 100)));
  const reserveAll = (name: string) =>
    Promise.all(holders.map((holder) => reserve(api, holder.hold(`${holder.customerId} ${name}`, 60))));
  expect((await reserveAll('before')).flat().every(({ granted }) => granted)).toBe(true);
  await service.restart();
  const answers = (await reserveAll('after')).flat();
  expect(answers).toHaveLength(12);
  for (const one of answers) expect(one).toMatchObject({ granted: false, reason: 'balance', remaining: 40 });
});

test('the same request at the same time is answered when its hold is on disk, not before', async () => {
  const holder = await createHolder(api, 100);
  const hold = holder.hold(`${holder.customerId} twice`, 60);
  await reserve(api, holder.hold(`${holder.customerId} first`, 1));
  const isWaiting = async () =>
    (
      await service.db.execute(sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ilike '%with seen as materialized%'`)
    ).length > 0;
  const asked = await service.db.transaction(async (tx) => {
    await tx.execute(sql`lock table holds in share mode`);
    const first = reserve(api, hold);
    await expect.poll(isWaiting).toBe(true);
    let isAnswered = false;
    const second = reserve(api, hold).finally(() => {
      isAnswered = true;
    });
    // Long enough for an answer from memory.
    for (let request = 0; request < 20; request += 1) await api.get('/v1/customers', { query: { limit: 1 } });
    expect(isAnswered).toBe(false);
    return [first, second] as const;
  });
  const [first, second] = await Promise.all(asked);
  expect(first).toMatchObject([{ granted: true }]);
  expect(second).toEqual(first);
});
