/**
 * Usage on a cluster equals usage on one node: two shards with Distributed tables, created by the cluster's
 * DDL, read and written with the cluster's settings. Replicas are not simulated.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Decimal } from '../../src/core/decimal.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../src/metering/client/clickhouse-remote.ts';
import { createFrozenLinesWriter, readFrozenLines } from '../../src/metering/frozen-lines/frozen-lines.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { readSchemaFiles } from '../../src/metering/schema/schema-files.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import type { NaiveEvent } from '../support/naive/usage.ts';
import { createTestDirectory } from '../support/stores.ts';
import { storeEvents } from '../support/usage-events.ts';

const CLUSTER = 'prod';
const START = Date.UTC(2026, 10, 1);
const EVENTS = 400;

let front: FrontProcess;
let clickhouse: ClickHouse;

/** Event `index`; its copy arrives later, so the first one counts. */
function event(index: number, copy: number): NaiveEvent {
  return {
    transactionId: `t-${index}`,
    customerRef: 'acme',
    eventType: 'completion',
    timestamp: START + index * 60_000,
    properties: { n: String(index % 7), copy: String(copy) },
    ingestedAt: START * 1_000 + copy * 1_000_000 + index,
  };
}

beforeAll(async () => {
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0, cluster: CLUSTER });
  const server = { url: frontUrl(front.port, 'billing'), cluster: CLUSTER };
  await createRemoteDatabase(server);
  clickhouse = createRemoteClickHouse(server);
  await applySchema(clickhouse, CLUSTER);
  const indexes = Array.from({ length: EVENTS }, (_, index) => index);
  await storeEvents(clickhouse, [
    ...indexes.map((index) => event(index, 0)),
    ...indexes.map((index) => event(index, 1)),
  ]);
});

afterAll(async () => {
  await clickhouse.close();
  await front.stop();
});

const count = z.object({ count: z.coerce.number() });

async function one<Row>(sql: string, schema: z.ZodType<Row>): Promise<Row | undefined> {
  return (await clickhouse.query({ sql, schema }))[0];
}

test('each migration is recorded once, however often the service is started', async () => {
  await applySchema(clickhouse, CLUSTER);
  const rows = await clickhouse.query({
    sql: 'SELECT name FROM schema_migrations ORDER BY name',
    schema: z.object({ name: z.string() }),
  });
  expect(rows.map(({ name }) => name)).toEqual((await readSchemaFiles()).map(({ name }) => name));
});

test('a node that has no tables gets them at the next start, whatever is recorded', async () => {
  for (const table of ['event_repeats', 'event_repeats_local'])
    await clickhouse.command(`DROP TABLE ${table} SYNC`);
  await applySchema(clickhouse, CLUSTER);
  expect(await one('SELECT count() AS count FROM event_repeats', count)).toEqual({ count: 0 });
});

test('events are spread over the shards, and the copies of one lie on the same', async () => {
  const shards = await clickhouse.query({
    sql: 'SELECT shardNum() AS shard, count() AS count FROM usage_events GROUP BY shard ORDER BY shard',
    schema: z.object({ shard: z.number(), count: z.coerce.number() }),
  });
  expect(shards.map(({ shard }) => shard)).toEqual([1, 2]);
  expect(shards.map((each) => each.count).reduce((a, b) => a + b)).toBe(2 * EVENTS);
  for (const each of shards) expect(each.count).toBeGreaterThan(EVENTS / 2);
  const apart = `SELECT count() AS count FROM
    (SELECT transaction_id, uniqExact(shardNum()) AS shards FROM usage_events GROUP BY transaction_id HAVING shards > 1)`;
  expect(await one(apart, count)).toEqual({ count: 0 });
});

test('FINAL leaves one of the copies, the first', async () => {
  const sql = "SELECT count() AS count, groupUniqArray(properties['copy']) AS copies FROM usage_events FINAL";
  expect(await one(sql, count.extend({ copies: z.array(z.string()) }))).toEqual({
    count: EVENTS,
    copies: ['0'],
  });
});

test('a value that was seen on both shards is first seen once', async () => {
  const sql = `SELECT count() AS count, sum(first_hour) AS hours FROM (
    SELECT properties['n'] AS n, min(toHour(timestamp)) AS first_hour FROM usage_events FINAL GROUP BY n)`;
  expect(await one(sql, count.extend({ hours: z.coerce.number() }))).toEqual({ count: 7, hours: 0 });
});

test('the last value is the last of all shards, in every group', async () => {
  const rows = await clickhouse.query({
    sql: `SELECT properties['n'] AS n, argMax(transaction_id, (timestamp, ingested_at, transaction_id)) AS last
      FROM usage_events FINAL GROUP BY n ORDER BY n`,
    schema: z.object({ n: z.string(), last: z.string() }),
  });
  const lastOf = (n: number) => `t-${EVENTS - 1 - ((EVENTS - 1 - n) % 7)}`;
  expect(rows).toEqual(Array.from({ length: 7 }, (_, n) => ({ n: String(n), last: lastOf(n) })));
});

test('a subquery sees the events of all shards, from whichever it is asked', async () => {
  const sql = `SELECT count() AS count FROM usage_events FINAL
    WHERE timestamp IN (SELECT max(timestamp) FROM usage_events FINAL GROUP BY properties['n'])`;
  expect(await one(sql, count)).toEqual({ count: 7 });
});

test('frozen lines come back whole', async () => {
  const breakdownIds = ['1', '2', '3', '4'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const hours = Array.from({ length: 48 }, (_, hour) => ({
    window: { start: START + hour * HOUR_MS, end: START + (hour + 1) * HOUR_MS },
    quantity: new Decimal(`0.${hour + 1}`),
    total: new Decimal('0.5'),
  }));
  const writer = createFrozenLinesWriter(clickhouse);
  for (const breakdownId of breakdownIds) {
    await writer.add(breakdownId, [
      { position: 0, hours },
      { position: 1, hours: [] },
      { position: 2, hours: hours.slice(1, 2) },
    ]);
  }
  await writer.finish();
  const lines = await readFrozenLines(clickhouse, breakdownIds, { start: START, end: START + 48 * HOUR_MS });
  expect([...lines.keys()].sort()).toEqual(breakdownIds);
  const expected = [...hours.map((hour) => ({ position: 0, ...hour })), { position: 2, ...hours[1] }];
  for (const each of lines.values()) expect(each).toEqual(expected);
  const [some = ''] = breakdownIds;
  const cut = await readFrozenLines(clickhouse, [some], { start: START + HOUR_MS, end: START + 3 * HOUR_MS });
  expect(cut.get(some)).toEqual([expected[1], expected[2], expected[48]]);
});
