import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/clickhouse.ts';
import { ACME, EVENTS } from '../support/sql-metric-events.ts';
import { createTestClickHouse } from '../support/stores.ts';
import { storeEvents } from '../support/usage-events.ts';

let clickhouse: ClickHouse;
beforeAll(async () => {
  clickhouse = await createTestClickHouse();
});
afterAll(() => clickhouse.close());

const SLOW = 'SELECT sum(cityHash64(number)) AS s FROM numbers(1000000000000)';
const IS_RUNNING = `SELECT throwIf(count() < 1) FROM system.processes WHERE query LIKE 'SELECT sum(cityHash64%'`;
const anything = z.unknown();

function slowAnalysis(seconds: number): Promise<unknown> {
  const settings = { max_execution_time: seconds, max_threads: 1 };
  return clickhouse.query({ sql: SLOW, settings, lane: 'analysis', schema: anything });
}

it('slow queries of analysts hold up neither ingestion nor what invoices read', async () => {
  let ended = 0;
  const slow = [slowAnalysis(60), slowAnalysis(60), slowAnalysis(60)];
  for (const query of slow) query.catch(() => {}).finally(() => ended++);
  await expect
    .poll(
      () =>
        clickhouse.command(IS_RUNNING).then(
          () => true,
          () => false,
        ),
      { timeout: 10_000 },
    )
    .toBe(true);
  await storeEvents(clickhouse, EVENTS);
  const count = await clickhouse.query({
    sql: 'SELECT toString(count()) AS events FROM usage_events FINAL WHERE customer_ref IN {refs:Array(String)}',
    params: { refs: ACME },
    schema: z.object({ events: z.string() }),
  });
  await clickhouse.ping();
  expect(count).toEqual([{ events: '10' }]);
  expect(ended).toBe(0);
  // The one that runs is stopped, then the next in line.
  for (const query of slow) {
    const stopped = async () => {
      await clickhouse.command("KILL QUERY WHERE query LIKE 'SELECT sum(cityHash64%' ASYNC");
      return await isSettled(query);
    };
    await expect.poll(stopped, { timeout: 10_000 }).toBe(true);
    await expect(query).rejects.toMatchObject({ type: 'QUERY_WAS_CANCELLED' });
  }
});

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const first = await Promise.race([
    promise.catch(() => null),
    new Promise((resolve) => setImmediate(resolve, pending)),
  ]);
  return first !== pending;
}

it('refuses further analyses as overloaded when many are waiting', async () => {
  const waiting = Array.from({ length: 21 }, () => slowAnalysis(0.1));
  await expect(slowAnalysis(0.1)).rejects.toMatchObject({ kind: 'overloaded' });
  for (const query of waiting) await expect(query).rejects.toMatchObject({ type: 'TIMEOUT_EXCEEDED' });
});
