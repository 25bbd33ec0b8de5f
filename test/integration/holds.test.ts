/** Holds over the whole service: what is granted, refused, billed and given back. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { tidyHolds } from '../../src/store/holds/holds.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, reserve } from '../support/holds.ts';
import { createThresholdCustomer, until } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;

test('a hundred requests at once are granted what there is, and nothing beyond it', async () => {
  const holder = await createHolder(api, 1000);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => reserve(api, holder.hold(`${holder.customerId} ${index}`, 30))),
  );
  const granted = answers.flat().filter((one) => one.granted);
  expect(granted).toHaveLength(33);
  expect(granted.every(({ amount }) => amount === 30)).toBe(true);
  const refused = answers.flat().find((one) => !one.granted);
  expect(refused).toMatchObject({ reason: 'balance', required: 30, remaining: 10 });
});

test('a settled hold is its event once, and what it did not use is there again', async () => {
  const holder = await createHolder(api, 1000);
  const id = `${holder.customerId} settle`;
  const [held] = await reserve(api, holder.hold(id, 900));
  expect(held).toMatchObject({ granted: true, amount: 900, remaining: 100 });
  const settlements = [{ transaction_id: id, properties: { tokens: 250 } }];
  const first = await api.post('/v1/holds/settle', { settlements });
  expect(first.list('data')).toMatchObject([{ accepted: true, amount: 250, exceeded: 0 }]);
  const again = await api.post('/v1/holds/settle', { settlements });
  expect(again.list('data')).toMatchObject([{ accepted: false, amount: 250 }]);
  expect(await holder.left()).toBe(750);
  const [next] = await reserve(api, holder.hold(`${id} 2`, 750));
  expect(next).toMatchObject({ granted: true, remaining: 0 });
  expect(await reserve(api, holder.hold(`${id} 3`, 1))).toMatchObject([{ granted: false, remaining: 0 }]);
});

test('usage that arrives without a hold counts for the next request after its answer', async () => {
  const holder = await createHolder(api, 100);
  expect(await reserve(api, holder.hold(`${holder.customerId} 1`, 10))).toMatchObject([{ granted: true }]);
  for (let used = 0; used < 9; used += 1) await holder.use(10, '2026-11-10T12:10:00Z');
  expect(await reserve(api, holder.hold(`${holder.customerId} 2`, 1))).toMatchObject([
    { granted: false, reason: 'balance', required: 1, remaining: 0 },
  ]);
});

test('the event of a hold settles it when it is ingested like any other event', async () => {
  const holder = await createHolder(api, 100);
  const transaction_id = `${holder.customerId} ingested`;
  await reserve(api, holder.hold(transaction_id, 80));
  const event = { customer_id: holder.customerId, event_type: 'use', timestamp: '2026-11-10T12:20:00Z' };
  await api.post('/v1/ingest', [{ transaction_id, ...event, properties: { tokens: 90 } }]);
  const list = await api.get('/v1/holds', { query: { customer_id: holder.customerId } });
  expect(list.list('data')).toMatchObject([{ status: 'settled', amount: 80, settled_amount: 90 }]);
  expect(await reserve(api, holder.hold(`${transaction_id} 2`, 10))).toMatchObject([
    { granted: true, remaining: 0 },
  ]);
});

test('the same hold that is asked for many times at once has one answer, and so after it is settled', async () => {
  const holder = await createHolder(api, 100);
  const one = holder.hold(`${holder.customerId} at once`, 60);
  const answers = (await Promise.all(Array.from({ length: 80 }, () => reserve(api, one)))).flat();
  expect(answers[0]).toMatchObject({ granted: true, amount: 60, remaining: 40 });
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  const settlements = [{ transaction_id: one.transaction_id, properties: { tokens: 60 } }];
  await api.post('/v1/holds/settle', { settlements });
  expect(await reserve(api, one)).toMatchObject([
    { granted: true, hold_id: answers[0]?.hold_id, amount: 60 },
  ]);
  expect(await holder.left()).toBe(40);
});

test('the same request has the same answer, and other content is refused', async () => {
  const holder = await createHolder(api, 100);
  const one = holder.hold(`${holder.customerId} same`, 60);
  const [first] = await reserve(api, one);
  expect(await reserve(api, one, one)).toEqual([first, first]);
  const other = holder.hold(`${holder.customerId} same`, 61);
  expect((await api.send('POST', '/v1/holds/reserve', { holds: [other] })).status).toBe(409);
  const twice = { holds: [holder.hold('twice', 1), holder.hold('twice', 2)] };
  expect((await api.send('POST', '/v1/holds/reserve', twice)).status).toBe(409);
});

test('released and expired holds are free again, and a late settle still bills', async () => {
  const holder = await createHolder(api, 100);
  const id = `${holder.customerId} ended`;
  const [held] = await reserve(api, holder.hold(id, 100, { ttl_seconds: 60 }));
  expect(await reserve(api, holder.hold(`${id} 2`, 1))).toMatchObject([{ granted: false }]);
  await service.moveClock('2026-11-10T12:32:00Z');
  const [second] = await reserve(api, holder.hold(`${id} 2`, 100));
  expect(second).toMatchObject({ granted: true });
  const released = await api.post('/v1/holds/release', {
    holds: [{ hold_id: second?.hold_id }, { hold_id: held?.hold_id }],
  });
  expect(released.list('data')).toMatchObject([
    { hold_id: second?.hold_id },
    { error: expect.stringContaining('no active hold') },
  ]);
  const settled = await api.post('/v1/holds/settle', {
    settlements: [{ hold_id: held?.hold_id, properties: { tokens: 40 } }],
  });
  expect(settled.list('data')).toMatchObject([{ accepted: true }]);
  expect(await holder.left()).toBe(60);
});

test('a top-up counts for the next request after its answer', async () => {
  const holder = await createHolder(api, 10);
  expect(await reserve(api, holder.hold(`${holder.customerId} a`, 50))).toMatchObject([{ granted: false }]);
  const access_schedule = {
    schedule_items: [
      { amount: 40, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' },
    ],
  };
  await holder.edit({ add_credits: [{ product_id: holder.catalogue.fee, access_schedule }] });
  expect(await reserve(api, holder.hold(`${holder.customerId} a`, 50))).toMatchObject([
    { granted: true, remaining: 0 },
  ]);
});

test('a new price counts for the next request after its answer', async () => {
  const holder = await createHolder(api, 100);
  expect(await reserve(api, holder.hold(`${holder.customerId} a`, 10))).toMatchObject([{ amount: 10 }]);
  const rate = { starting_at: '2026-11-10T12:00:00Z', entitled: true, rate_type: 'FLAT', price: 3 };
  const { card: rate_card_id, tokens: product_id } = holder.catalogue;
  await api.post('/v1/contract-pricing/rate-cards/addRates', {
    rate_card_id,
    rates: [{ ...rate, product_id }],
  });
  // Usage that is held already costs more, too.
  expect(await reserve(api, holder.hold(`${holder.customerId} b`, 10))).toMatchObject([
    { amount: 30, remaining: 40 },
  ]);
});

test('what cannot be priced or charged is said', async () => {
  const holder = await createHolder(api, 100);
  const base = { transaction_id: `${holder.customerId} x` };
  expect(await reserve(api, { ...base, customer_id: 'nobody', event: { event_type: 'use' } })).toMatchObject([
    { granted: false, reason: 'customer_not_found' },
  ]);
  expect(
    await reserve(api, { ...base, customer_id: holder.customerId, event: { event_type: 'other' } }),
  ).toMatchObject([{ granted: false, reason: 'unpriced' }]);
});

test('nobody is refused because usage that was stored during an evaluation counts twice', async () => {
  const holder = await createHolder(api, 100);
  const settle = async (transaction_id: string) => {
    await reserve(api, holder.hold(transaction_id, 10));
    await api.post('/v1/holds/settle', { settlements: [{ transaction_id }] });
  };
  const refused = [];
  for (let round = 1; round <= 5; round += 1) {
    await settle(`${holder.customerId} ${round}`);
    const [answer] = await reserve(api, holder.hold(`${holder.customerId} more ${round}`, 101));
    refused.push(answer?.remaining);
  }
  expect(refused).toEqual([90, 80, 70, 60, 50]);
  expect(await reserve(api, holder.hold(`${holder.customerId} rest`, 50))).toMatchObject([
    { granted: true, remaining: 0 },
  ]);
});

test('the marks of changed prices do not grow without a limit', async () => {
  const { db } = service;
  for (let mark = 0; mark < 3; mark += 1) {
    await db.execute(sql`insert into price_changes select from generate_series(1, 5000)`);
  }
  await tidyHolds(db, 0, 10);
  const [row] = await db.execute(sql`select count(*)::int as count from price_changes`);
  expect(row?.count).toBe(10_000);
});

test('customers who share the balance of a parent hold together no more than it has', async () => {
  const parent = await createHolder(api, 100, { hierarchy_configuration: { child_access: { type: 'ALL' } } });
  const { customerId: customer_id, contractId: contract_id } = parent;
  const terms = { hierarchy_configuration: { parent: { customer_id, contract_id } } };
  const children = [
    await createThresholdCustomer(api, parent.catalogue, terms),
    await createThresholdCustomer(api, parent.catalogue, terms),
  ];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const child = children[index % 2]?.customerId ?? '';
      return reserve(api, { ...parent.hold(`${customer_id} ${index}`, 30), customer_id: child });
    }),
  );
  expect(answers.flat().filter(({ granted }) => granted)).toHaveLength(3);
  expect(await reserve(api, parent.hold(`${customer_id} own`, 11))).toMatchObject([
    { granted: false, reason: 'balance', remaining: 10 },
  ]);
});

test('a hold that is extended lasts longer than it was to, and an archived customer has none', async () => {
  const holder = await createHolder(api, 100);
  const [held] = await reserve(api, holder.hold(`${holder.customerId} long`, 100, { ttl_seconds: 60 }));
  const holds = [{ hold_id: held?.hold_id, ttl_seconds: 86_400 }];
  await api.post('/v1/holds/extend', { holds });
  await service.moveClock('2026-11-10T13:30:00Z');
  expect(await reserve(api, holder.hold(`${holder.customerId} other`, 1))).toMatchObject([
    { granted: false, remaining: 0 },
  ]);
  await api.post('/v1/customers/archive', { id: holder.customerId });
  expect(await reserve(api, holder.hold(`${holder.customerId} late`, 1))).toMatchObject([
    { granted: false, reason: 'customer_not_found' },
  ]);
});

test('a hold survives a restart, and its event settles it afterwards', async () => {
  const holder = await createHolder(api, 100);
  const transaction_id = `${holder.customerId} kept`;
  await reserve(api, holder.hold(transaction_id, 70));
  await service.restart();
  expect(await reserve(api, holder.hold(`${transaction_id} 2`, 31))).toMatchObject([
    { granted: false, remaining: 30 },
  ]);
  const settled = await api.post('/v1/holds/settle', {
    settlements: [{ transaction_id, properties: { tokens: 90 } }],
  });
  expect(settled.list('data')).toMatchObject([{ accepted: true, amount: 90, exceeded: 20 }]);
  expect(await holder.left()).toBe(10);
});

/** The active holds of a customer. */
async function activeOf(customer_id: string): Promise<readonly { readonly amount: number }[]> {
  const list = await api.get('/v1/holds', { query: { customer_id, status: 'active' } });
  return list.list('data') as { amount: number }[];
}

test('nothing of a batch is granted that is refused because of one of its holds', async () => {
  const holder = await createHolder(api, 100);
  const { customerId } = holder;
  await reserve(api, holder.hold(`${customerId} taken`, 10));
  const send = (...holds: readonly object[]) => api.send('POST', '/v1/holds/reserve', { holds });
  const refused = await send(holder.hold(`${customerId} new`, 20), holder.hold(`${customerId} taken`, 11));
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({ message: expect.stringContaining('holds[1].transaction_id') });
  expect(await activeOf(customerId)).toMatchObject([{ amount: 10 }]);
  // The one that exists is no obstacle where it is the same.
  const same = await send(holder.hold(`${customerId} taken`, 10), holder.hold(`${customerId} new`, 90));
  expect(same.body).toMatchObject({ data: [{ granted: true }, { granted: true, remaining: 0 }] });
});

test('of batches at once that name one transaction with other content one is granted, and of the others nothing', async () => {
  const holder = await createHolder(api, 100_000);
  const { customerId } = holder;
  const answers = await Promise.all(
    [1, 2, 3, 4].map((tokens) =>
      api.send('POST', '/v1/holds/reserve', {
        holds: [
          holder.hold(`${customerId} own ${tokens}`, 1000 * tokens),
          holder.hold(`${customerId} shared`, tokens),
        ],
      }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  const winner = 1 + answers.findIndex(({ status }) => status === 200);
  const amounts = (await activeOf(customerId)).map(({ amount }) => amount).toSorted((a, b) => a - b);
  expect(amounts).toEqual([winner, 1000 * winner]);
});

test('/metrics counts what was granted, refused and checked, and what is outstanding', async () => {
  const read = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const value = (sample: string) => Number(text.split(`\n${sample} `)[1]?.split('\n')[0] ?? '0');
    return {
      granted: value('tallyhouse_holds_granted_total'),
      refused: value('tallyhouse_holds_refused_total{reason="balance"}'),
      allowed: value('tallyhouse_hold_checks_total{result="allowed"}'),
      evaluations: value('tallyhouse_hold_evaluation_seconds_count'),
      outstanding: value('tallyhouse_holds_outstanding_amount{credit_type="USD (cents)"}'),
    };
  };
  const holder = await createHolder(api, 123_456_789);
  const before = await read();
  const one = holder.hold(`${holder.customerId} counted`, 123_456_700);
  await reserve(api, one);
  await reserve(api, holder.hold(`${holder.customerId} too much`, 100));
  await reserve(api, one);
  await api.post(`/v1/customers/${holder.customerId}/check`, { event_type: 'use' });
  const after = await read();
  expect(after).toMatchObject({
    ...{ granted: before.granted + 1, refused: before.refused + 1, allowed: before.allowed + 1 },
  });
  expect(after.evaluations).toBeGreaterThan(before.evaluations);
  const last = await until(read, ({ outstanding }) => outstanding >= 123_456_700);
  expect(last.outstanding).toBeGreaterThanOrEqual(123_456_700);
});

test('of a batch of settlements with a wrong event nothing is stored; of two of one hold the first counts', async () => {
  const holder = await createHolder(api, 100);
  const ids = ['a', 'b', 'c'].map((name) => `${holder.customerId} batch ${name}`);
  const [first, second, third] = await reserve(api, ...ids.map((id) => holder.hold(id, 30)));
  const settlements = [
    { transaction_id: ids[0], properties: { tokens: 10 } },
    { hold_id: second?.hold_id, properties: { tokens: 20 } },
    { hold_id: first?.hold_id, properties: { tokens: 25 } },
    { transaction_id: 'of nothing' },
    { hold_id: third?.hold_id },
  ];
  const wrong = { hold_id: third?.hold_id, timestamp: '1999-01-01T00:00:00Z' };
  const refused = await api.send('POST', '/v1/holds/settle', {
    settlements: [...settlements.slice(0, 4), wrong],
  });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('settlements[4]');
  expect(await holder.left()).toBe(100);
  const settled = await api.post('/v1/holds/settle', { settlements });
  expect(settled.list('data')).toMatchObject([
    { accepted: true, amount: 10 },
    { accepted: true, amount: 20 },
    { accepted: false, amount: 10 },
    { error: 'there is no active hold of transaction of nothing' },
    { accepted: true, amount: 30 },
  ]);
  expect(await holder.left()).toBe(40);
});
