import { expect, it } from 'vitest';
import { z } from 'zod';
import { previewUsage } from '../../src/billing/usage/usage-groups.ts';
import { forAnalysis } from '../../src/metering/query/query-limits.ts';
import { billingContext } from '../support/billing-context.ts';
import { createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { ACME, EVENTS } from '../support/sql-metric-events.ts';
import { createTestDatabase } from '../support/stores.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();

const SLOW = 'SELECT sum(cityHash64(number)) AS s FROM numbers(1000000000000)';
const IS_RUNNING = `SELECT throwIf(count() < 1) FROM system.processes WHERE query LIKE 'SELECT sum(cityHash64%'`;
const anything = z.unknown();

function slowAnalysis(seconds: number, lane: 'analysis' | 'reports' = 'analysis'): Promise<unknown> {
  const settings = { max_execution_time: seconds, max_threads: 1 };
  return clickhouse.query({ sql: SLOW, settings, lane, schema: anything });
}

it.each(['analysis', 'reports'] as const)(
  'slow queries of the lane %s hold up neither ingestion nor what invoices read',
  async (lane) => {
    let ended = 0;
    const slow = [slowAnalysis(60, lane), slowAnalysis(60, lane), slowAnalysis(60, lane)];
    for (const query of slow) query.catch(() => {}).finally(() => ended++);
    await expect
      .poll(() =>
        clickhouse.command(IS_RUNNING).then(
          () => true,
          () => false,
        ),
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
    await stopAll(slow);
  },
);

/** The one that runs is stopped, then the next in line. */
async function stopAll(queries: ReadonlyArray<Promise<unknown>>): Promise<void> {
  for (const query of queries) {
    const stopped = async () => {
      await clickhouse.command("KILL QUERY WHERE query LIKE 'SELECT sum(cityHash64%' ASYNC");
      return await isSettled(query);
    };
    await expect.poll(stopped, { interval: 5 }).toBe(true);
    await expect(query).rejects.toMatchObject({ type: 'QUERY_WAS_CANCELLED' });
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const first = await Promise.race([
    promise.catch(() => null),
    new Promise((resolve) => setImmediate(resolve, pending)),
  ]);
  return first !== pending;
}

it('the lane of analyses refuses further analyses as overloaded when many are waiting', async () => {
  const waiting = Array.from({ length: 21 }, () => slowAnalysis(0.1));
  await expect(slowAnalysis(0.1)).rejects.toMatchObject({ kind: 'overloaded' });
  for (const query of waiting) await expect(query).rejects.toMatchObject({ type: 'TIMEOUT_EXCEEDED' });
});

it('a streaming metric that is tried out is an analysis, and waits for nothing but them', async () => {
  const pool = await createTestDatabase();
  const customerId = await createdId(createCatalogueApi(pool.db), '/v1/customers', { name: 'Acme' });
  const preview = () =>
    previewUsage(
      billingContext({ db: pool.db, clickhouse, clock: { now: () => 0 } }),
      {
        kind: 'streaming',
        eventTypeFilter: null,
        propertyFilters: [],
        aggregation: 'COUNT',
        aggregationKey: null,
        groupKeys: [],
      },
      {
        customerId,
        windowSize: 'DAY',
        startingOn: Date.UTC(2026, 10, 1),
        endingBefore: Date.UTC(2026, 10, 2),
        currentPeriod: false,
        groupKey: null,
        groupFilters: null,
        groupBy: null,
        limit: 100,
        after: null,
      },
    );
  const waiting = Array.from({ length: 21 }, () => slowAnalysis(60));
  for (const query of waiting) query.catch(() => {});
  await expect(preview()).rejects.toMatchObject({ kind: 'overloaded' });
  await stopAll(waiting);
  expect((await preview()).rows).toHaveLength(1);
  await pool.close();
});

it('a metric that is tried out has the limits of an analysis, and exceeding one is not a failure of the service', async () => {
  const analysis = forAnalysis(clickhouse);
  const names = ['max_execution_time', 'max_memory_usage', 'max_rows_to_read', 'max_threads'];
  const settings = await analysis.query({
    sql: `SELECT ${names.map((name) => `toString(getSetting('${name}')) AS ${name}`).join(', ')}`,
    settings: { max_execution_time: 30, max_rows_to_read: 5 },
    schema: z.record(z.string(), z.string()),
  });
  expect(settings).toEqual([
    {
      max_execution_time: '10',
      max_memory_usage: String(1024 ** 3),
      max_rows_to_read: '100000000',
      max_threads: '1',
    },
  ]);
  await expect(
    analysis.query({ sql: 'SELECT number FROM numbers(100001)', schema: anything }),
  ).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('100000 values') });
  await expect(
    analysis.query({ sql: 'SELECT sum(number) FROM numbers(100000001)', schema: anything }),
  ).rejects.toMatchObject({ kind: 'invalid', message: expect.stringContaining('100000000 events') });
});
