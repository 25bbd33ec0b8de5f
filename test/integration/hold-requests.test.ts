/** The rules of requests about holds, of which nothing is carried out where a part of one is wrong. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { WAITING_MAX } from '../../src/billing/holds/evaluations.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, reserve } from '../support/holds.ts';

const NOW = '2026-11-10T12:30:00.000Z';
const service = await serviceForFile({ sandboxNow: NOW });
const { api, db } = service;

type Rows = readonly Readonly<Record<string, unknown>>[];

async function listed(customer_id: string): Promise<Rows> {
  return (await api.get('/v1/holds', { query: { customer_id, limit: 100 } })).list('data') as Rows;
}

/** The status, and the message of a refusal. */
async function sent(path: string, body: object): Promise<[number, string]> {
  const answer = await api.send('POST', path, body);
  return [answer.status, (answer.body as { message?: string }).message ?? ''];
}

test('a hold lasts from one second to a day, and ten minutes unless asked otherwise', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  const endOf = (seconds: number) => new Date(Date.parse(NOW) + 1000 * seconds).toISOString();
  const ends = [
    [{}, 600],
    [{ ttl_seconds: 1 }, 1],
    [{ ttl_seconds: 86_400 }, 86_400],
  ] as const;
  for (const [more, seconds] of ends) {
    const [held] = await reserve(api, holder.hold(`${customerId} ${seconds}`, 1, more));
    expect(held).toMatchObject({ granted: true, expires_at: endOf(seconds) });
  }
  const [held] = await reserve(api, holder.hold(`${customerId} longer`, 1));
  for (const ttl_seconds of [0, 86_401, -1, 1.5]) {
    const hold = holder.hold(`${customerId} refused`, 1, { ttl_seconds });
    const extension = { hold_id: held?.hold_id, ttl_seconds };
    for (const [path, one] of [
      ['/v1/holds/reserve', hold],
      ['/v1/holds/extend', extension],
    ] as const) {
      const [status, message] = await sent(path, { holds: [one] });
      expect([status, message]).toEqual([400, expect.stringMatching(/^holds\[0\]\.ttl_seconds: /)]);
    }
  }
  expect(await listed(customerId)).toHaveLength(4);
});

test('a request has one to a hundred holds, answered in their order, and the same one twice is one hold', async () => {
  const holder = await createHolder(api, 150);
  const { customerId } = holder;
  const many = Array.from({ length: 100 }, (_, index) => holder.hold(`${customerId} ${index}`, 1));
  for (const holds of [[], [...many, holder.hold(`${customerId} 100`, 1)]]) {
    expect(await sent('/v1/holds/reserve', { holds })).toEqual([400, expect.stringMatching(/^holds: /)]);
  }
  expect(await listed(customerId)).toEqual([]);
  const answers = await reserve(api, ...many);
  expect(answers.map((one) => 'transaction_id' in one && one.transaction_id)).toEqual(
    many.map(({ transaction_id }) => transaction_id),
  );
  const twice = holder.hold(`${customerId} twice`, 20);
  const [first, second] = await reserve(api, twice, twice);
  expect(first).toMatchObject({ granted: true, remaining: 30 });
  expect(second).toEqual(first);
  expect(await listed(customerId)).toHaveLength(100);
});

test('times are those of events: not too old, not too far ahead, and now unless given', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  const at = (timestamp: string) => ({ event_type: 'use', properties: { tokens: 1 }, timestamp });
  for (const timestamp of ['2026-10-01T00:00:00Z', '2026-11-12T00:00:00Z', 'now']) {
    const holds = [
      holder.hold(`${customerId} good`, 1),
      holder.hold(`${customerId} bad`, 1, { event: at(timestamp) }),
    ];
    expect(await sent('/v1/holds/reserve', { holds })).toEqual([
      ...[400, expect.stringMatching(/^holds\[1\]\.event.*timestamp/)],
    ]);
  }
  expect(await listed(customerId)).toEqual([]);
});

test('of settlements one of which is wrong nothing is stored, and what is unknown is said in its place', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  const ids = ['a', 'b'].map((name) => `${customerId} ${name}`);
  const [one, two] = ids;
  await reserve(api, ...ids.map((id) => holder.hold(id, 10)));
  const good = { transaction_id: one, properties: { tokens: 3 } };
  for (const [wrong, field] of [
    [{ transaction_id: two, timestamp: '2026-10-01T00:00:00Z' }, 'settlements[1]'],
    [{ transaction_id: two, timestamp: '2026-11-12T00:00:00Z' }, 'settlements[1]'],
  ] as const) {
    const [status, message] = await sent('/v1/holds/settle', { settlements: [good, wrong] });
    expect([status, message.startsWith(field)]).toEqual([400, true]);
  }
  expect((await listed(customerId)).map(({ status }) => status)).toEqual(['active', 'active']);
  expect(await holder.left()).toBe(100);
  const settlements = [
    { transaction_id: 'unknown' },
    good,
    { transaction_id: two, properties: { tokens: 14 } },
  ];
  expect((await api.post('/v1/holds/settle', { settlements })).list('data')).toMatchObject([
    { error: expect.stringContaining('unknown') },
    { transaction_id: one, accepted: true, amount: 3, exceeded: 0 },
    { transaction_id: two, accepted: true, amount: 14, exceeded: 4 },
  ]);
  expect(await holder.left()).toBe(83);
});

test('the list shows how each hold has ended, the newest first', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  const [active, settled, released, expired] = ['active', 'settled', 'released', 'expired'].map(
    (name) => `${customerId} ${name}`,
  );
  await reserve(api, holder.hold(`${expired}`, 4, { ttl_seconds: 1 }));
  await service.moveClock('2026-11-10T12:31:00Z');
  await reserve(
    api,
    ...[released, settled, active].map((id) => holder.hold(`${id}`, 5, { ttl_seconds: 9000 })),
  );
  await api.post('/v1/holds/settle', {
    settlements: [{ transaction_id: settled, properties: { tokens: 2 } }],
  });
  await api.post('/v1/holds/release', { holds: [{ transaction_id: released }] });
  const rows = (await listed(customerId)).map((row) => [
    row.transaction_id,
    row.status,
    row.amount,
    row.settled_amount,
  ]);
  expect(rows.at(-1)).toEqual([expired, 'expired', 4, null]);
  expect(rows.toSorted()).toEqual([
    [active, 'active', 5, null],
    [expired, 'expired', 4, null],
    [released, 'released', 5, null],
    [settled, 'settled', 5, 2],
  ]);
});

test('an erased customer leaves no holds, and a late settle of one says so in its place', async () => {
  const holder = await createHolder(api, 100);
  const { customerId: customer_id } = holder;
  const other = await createHolder(api, 100);
  const transaction_id = `${customer_id} erased`;
  await reserve(api, holder.hold(transaction_id, 60), other.hold(`${transaction_id} other`, 60));
  await api.post('/v1/customers/archive', { id: customer_id });
  await api.post(`/v1/customers/${customer_id}/erase`, {});
  const rows = await db.execute(
    sql`select count(*)::int as count from holds where customer_id = ${customer_id}`,
  );
  expect(rows[0]?.count).toBe(0);
  const settlements = [{ transaction_id }, { transaction_id: `${transaction_id} other` }];
  expect((await api.post('/v1/holds/settle', { settlements })).list('data')).toMatchObject([
    { error: expect.stringContaining(transaction_id) },
    { accepted: true, amount: 60 },
  ]);
});

test('a reserve beside the erasure of its customer is answered, and leaves no hold', async () => {
  const holders = await Promise.all(Array.from({ length: 8 }, () => createHolder(api, 100)));
  const answers = await Promise.all(
    holders.map(async (holder, index) => {
      const { customerId: customer_id, contractId: contract_id } = holder;
      const ask = async (number: number) => {
        for (let wait = 0; wait < number + index; wait += 1) await api.get(`/v1/customers/${customer_id}`);
        return await sent('/v1/holds/reserve', {
          holds: [holder.hold(`${customer_id} beside ${number}`, 1)],
        });
      };
      // Half of them are evaluated for the first time beside the erasure.
      if (index % 2 === 0) await reserve(api, holder.hold(`${customer_id} before`, 1));
      const asked = [0, 1, 2, 4, 6, 8].map(ask);
      await api.post('/v1/contracts/archive', { customer_id, contract_id, void_invoices: false });
      await api.post(`/v1/customers/${customer_id}/erase`, {});
      return await Promise.all(asked);
    }),
  );
  for (const [status, message] of answers.flat()) expect([200, 503], message).toContain(status);
  for (const { customerId } of holders) expect(await listed(customerId)).toEqual([]);
});

test('beyond the evaluations that may wait a request is refused, says why, and when to try again', async () => {
  const customers = WAITING_MAX + 1_000;
  const rows = await db.execute(sql`
    insert into customers (id, name, created_at, updated_at)
    select gen_random_uuid(), 'Cold', now(), now() from generate_series(1, ${customers}) returning id`);
  const ids = rows.map(({ id }) => String(id));
  const hold = (customer_id: string) => ({
    ...{ customer_id, transaction_id: customer_id, event: { event_type: 'use', properties: { tokens: 1 } } },
  });
  const ask = (some: readonly string[]) => api.send('POST', '/v1/holds/reserve', { holds: some.map(hold) });
  const batches = Array.from({ length: customers / 100 }, (_, index) =>
    ids.slice(100 * index, 100 * (index + 1)),
  );
  let asked: Promise<Awaited<ReturnType<typeof ask>>[]> = Promise.resolve([]);
  // No evaluation ends meanwhile.
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table hold_accounts in access exclusive mode`);
    const answers = batches.map(ask);
    asked = Promise.all(answers);
    const refused = await Promise.race(answers);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(refused.body).toMatchObject({ message: expect.stringContaining('asked for the first time') });
  });
  const statuses = new Set((await asked).map(({ status }) => status));
  expect([...statuses].toSorted()).toEqual([200, 429]);
  const again = await ask(ids.slice(-100));
  expect(again.body).toMatchObject({ data: Array.from({ length: 100 }, () => ({ reason: 'unpriced' })) });
});
