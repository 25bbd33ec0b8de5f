import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createEmbeddedClickHouse } from '../../src/app/stores/stores.ts';
import { laneConnections } from '../../src/embedded/chdb.ts';
import type { ClickHouse, QueryLane } from '../../src/metering/client/clickhouse.ts';
import { createTestDirectory } from '../support/stores.ts';

const anything = z.unknown();
const SLOW = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';
/** Fails until all query connections are busy; runs on the connection for DDL. */
const ALL_RUNNING = `SELECT throwIf(count() < 3) FROM system.processes WHERE query LIKE 'SELECT sum(sipHash64%'`;

let directory: string;
let clickhouse: ClickHouse;

beforeAll(async () => {
  const parent = await createTestDirectory();
  directory = join(parent, 'engine');
  // Files in the directory that the process was started in must not reach the engine.
  const startedIn = await mkdtemp(join(parent, 'cwd-'));
  await writeFile(
    join(startedIn, 'config.xml'),
    '<clickhouse><mark_cache_size>12345678</mark_cache_size></clickhouse>',
  );
  const before = process.cwd();
  process.chdir(startedIn);
  clickhouse = await createEmbeddedClickHouse({ directory });
  process.chdir(before);
  await clickhouse.command('CREATE TABLE numbers_seen (n UInt64) ENGINE = MergeTree ORDER BY n');
});

afterAll(() => clickhouse.close());

const insert = (rows: string) =>
  clickhouse.insertRows({ table: 'numbers_seen', columns: ['n'], rows: Buffer.from(rows) });

function slowQuery(lane: QueryLane, customer?: string): Promise<unknown> {
  const settings = { max_execution_time: 60, max_threads: 1 };
  return clickhouse.query({ sql: SLOW, settings, schema: anything, lane, customer });
}

describe('the embedded ClickHouse', () => {
  test('the embedded ClickHouse takes inserts, pings and DDL while every query connection is busy', async () => {
    const slow = [slowQuery('requests'), slowQuery('finalization'), slowQuery('analysis')];
    let ended = 0;
    for (const query of slow) query.catch(() => {}).finally(() => ended++);
    const allRunning = clickhouse.command.bind(null, ALL_RUNNING);
    await expect
      .poll(() =>
        allRunning().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await insert('[1]\n[2]\n');
    await clickhouse.ping();
    expect(ended).toBe(0);
    await clickhouse.command("KILL QUERY WHERE query LIKE '%sipHash64%' ASYNC");
    for (const query of slow) await expect(query).rejects.toMatchObject({ type: 'QUERY_WAS_CANCELLED' });
    const rows = await clickhouse.query({ sql: 'SELECT n FROM numbers_seen ORDER BY n', schema: anything });
    expect(rows).toEqual([{ n: '1' }, { n: '2' }]);
  });

  test('the embedded ClickHouse says which insert failed with the code and type of ClickHouse, and stores none of it', async () => {
    await expect(insert('[10]\n["eleven"]\n')).rejects.toMatchObject({
      code: expect.any(String),
      type: expect.any(String),
    });
    const unknown = clickhouse.insertRows({
      table: 'numbers_seen',
      columns: ['m'],
      rows: Buffer.from('[1]\n'),
    });
    await expect(unknown).rejects.toMatchObject({ code: '16', type: 'NO_SUCH_COLUMN_IN_TABLE' });
    const rows = await clickhouse.query({
      sql: 'SELECT count() AS c FROM numbers_seen WHERE n >= 10',
      schema: anything,
    });
    expect(rows).toEqual([{ c: '0' }]);
  });

  test('the embedded ClickHouse takes an insert without rows as done', async () => {
    await expect(insert('')).resolves.toBeUndefined();
  });

  test('the embedded ClickHouse is configured by its own file only', async () => {
    const rows = await clickhouse.query({
      sql: "SELECT name, value FROM system.server_settings WHERE name IN ('mark_cache_size', 'tmp_path') ORDER BY name",
      schema: anything,
    });
    expect(rows).toEqual([
      { name: 'mark_cache_size', value: '268435456' },
      { name: 'tmp_path', value: `${directory}/tmp/` },
    ]);
    expect((await readdir(directory)).sort()).toEqual(['data', 'engine.xml', 'user-files']);
  });

  test('the embedded ClickHouse opens again with its data after it was closed', async () => {
    await insert('[100]\n');
    await clickhouse.close();
    clickhouse = await createEmbeddedClickHouse({ directory });
    const rows = await clickhouse.query({
      sql: 'SELECT n FROM numbers_seen WHERE n = 100',
      schema: anything,
    });
    expect(rows).toEqual([{ n: '100' }]);
  });
});

describe('an embedded ClickHouse with many worker threads', () => {
  beforeAll(async () => {
    await clickhouse.close();
    clickhouse = await createEmbeddedClickHouse({ directory, workerThreads: 16 });
  });

  const runningAndWaiting = (lane: QueryLane) => clickhouse.laneFigures().get(lane);

  test('an embedded ClickHouse with many worker threads answers one customer while the slow queries of another wait for each other', async () => {
    const most = Math.floor((laneConnections(16).requests * 3) / 4);
    const slow = Array.from({ length: most + 2 }, () => slowQuery('requests', 'slow'));
    for (const query of slow) query.catch(() => {});
    expect(runningAndWaiting('requests')).toEqual({ running: most, waiting: 2 });
    const rows = await clickhouse.query({ sql: 'SELECT 1 AS a', schema: anything, customer: 'quick' });
    expect(rows).toEqual([{ a: 1 }]);
    expect(runningAndWaiting('requests')).toEqual({ running: most, waiting: 2 });
    const refused = slow.map((query) => expect(query).rejects.toMatchObject({ kind: 'unavailable' }));
    await clickhouse.cancelQueries();
    await Promise.all(refused);
  });

  test('an embedded ClickHouse with many worker threads still inserts after its queries were cancelled, takes no more of them, and opens again', async () => {
    await insert('[200]\n');
    const after = clickhouse.query({ sql: 'SELECT 1', schema: anything });
    await expect(after).rejects.toMatchObject({ kind: 'unavailable' });
    await clickhouse.close();
    clickhouse = await createEmbeddedClickHouse({ directory });
    const sql = 'SELECT n FROM numbers_seen WHERE n = 200';
    expect(await clickhouse.query({ sql, schema: anything })).toEqual([{ n: '200' }]);
  });
});

test.each([1, 4, 8, 16])('slow queries leave some of %i worker threads free', (workerThreads) => {
  const { requests, finalization, evaluation, analysis } = laneConnections(workerThreads);
  expect(Math.min(requests, finalization, evaluation, analysis)).toBeGreaterThan(0);
  expect(requests + finalization + evaluation + analysis).toBeLessThan(Math.max(5, workerThreads));
});
