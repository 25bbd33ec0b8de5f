/** `npm run backfill` of a folder and of a store: every row once, wherever the process is killed, and only new files later. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { openClickHouse } from '../../src/app/commands/backfill/open-clickhouse.ts';
import { createEmbeddedClickHouse } from '../../src/app/stores/stores.ts';
import { createBackfills } from '../support/backfill-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { parquetOf } from '../support/event-files.ts';
import { S3_KEYS, type S3Store, startS3Store } from '../support/s3-store.ts';
import { createTestDirectory } from '../support/stores.ts';

const backfills = createBackfills();
let store: S3Store | undefined;
afterEach(async () => {
  await store?.close();
  store = undefined;
});

const MAP = [
  '--map',
  'transaction_id=id,customer_id=org,timestamp=at',
  '--event-type',
  'call',
  '--timestamps',
  'ms',
];
const AT = Date.UTC(2025, 0, 1);

interface SourceRow {
  readonly id: string;
  readonly org: string;
  readonly at: number;
  readonly n: number;
}

const rows = (from: number, count: number): SourceRow[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `e-${from + i}`,
    org: 'acme',
    at: AT + i * 1000,
    n: from + i,
  }));
const jsonl = (list: readonly object[]) => list.map((row) => `${JSON.stringify(row)}\n`).join('');
const csv = (list: readonly SourceRow[]) =>
  ['id,org,at,n', ...list.map(({ id, org, at, n }) => [id, org, at, n].join(','))].join('\n');
const parquet = (from: number, count: number) =>
  parquetFrom(
    `SELECT concat('e-', toString(number)) AS id, 'acme' AS org, ${AT} + (number - ${from}) * 1000 AS at, number AS n FROM numbers(${from}, ${count})`,
  );

/** By a separate engine: a process has one at a time. */
async function parquetFrom(sql: string): Promise<Buffer> {
  const clickhouse = await createEmbeddedClickHouse({ directory: await createTestDirectory() });
  try {
    return await parquetOf(clickhouse, sql);
  } finally {
    await clickhouse.close();
  }
}

/** Ids that are stored, each as often as it counts, and the sum of the property. */
async function stored(env: { readonly DATA_DIR: string }) {
  const opened = await openClickHouse({
    dataDir: env.DATA_DIR,
    clickhouseUrl: undefined,
    clickhouseCluster: undefined,
    workerThreads: 4,
  });
  try {
    const [row] = await opened.clickhouse.query({
      sql: `SELECT toUInt32(count()) AS events, toUInt32(uniqExact(transaction_id)) AS ids, toUInt64(sum(toUInt64(properties['n']))) AS sum FROM usage_events FINAL`,
      schema: z.object({ events: z.number(), ids: z.number(), sum: z.coerce.number() }),
    });
    return row;
  } finally {
    await opened.close();
  }
}

const sumUpTo = (count: number) => (count * (count - 1)) / 2;

it('a folder of all formats is stored once, wherever the process is killed, and later only what is new', async () => {
  const folder = join(await createTestDirectory(), 'exports');
  const report = join(await createTestDirectory(), 'invalid.jsonl');
  const env = { DATA_DIR: await createDataDirectory() };
  await mkdir(join(folder, 'c'), { recursive: true });
  await writeFile(join(folder, 'a.csv'), `${csv(rows(0, 300))}\nbad,acme\n`);
  await writeFile(join(folder, 'b.jsonl.gz'), gzipSync(`${jsonl(rows(200, 200))}{"id":"no customer"}\n`));
  await writeFile(join(folder, 'c', 'd.parquet'), await parquet(400, 100));
  const args = [folder, ...MAP, '--skip-invalid', report];
  // Stored and not recorded; recorded and not tidied up; in the second file and the third.
  for (const [moment, count] of [
    ['save', 2],
    ['remove', 1],
    ['save', 1],
    ['remove', 2],
  ] as const) {
    expect(await backfills.endedAt(env, 'SIGKILL', moment, count, ...args)).toMatchObject({
      code: 'SIGKILL',
    });
  }
  const rest = await backfills.run(env, ...args);
  expect(rest).toMatchObject({ code: 4, err: '' });
  expect(await stored(env)).toEqual({ events: 500, ids: 500, sum: sumUpTo(500) });
  const invalid = (await readFile(report, 'utf8')).trimEnd().split('\n');
  const line = z.object({ file: z.string(), line: z.number(), reason: z.string() });
  expect(invalid.map((each) => line.parse(JSON.parse(each)))).toMatchObject([
    { file: join(folder, 'a.csv'), line: 301, reason: 'has 2 cells where there are 4 columns' },
    { file: join(folder, 'b.jsonl.gz'), line: 201, reason: 'customer_id: is required (column "org")' },
  ]);

  await writeFile(join(folder, 'c', 'e.csv'), csv(rows(490, 20)));
  const next = await backfills.run(env, folder, ...MAP);
  expect(next).toMatchObject({ code: 0, err: '' });
  expect(next.out).toContain('10 events stored, 10 were there already');
  expect(next.out).toContain('1 files, 3 were loaded before (--restart reads them again)');
  const otherwise = await backfills.run(
    env,
    folder,
    ...MAP,
    '--properties',
    'n',
    '--skip-invalid',
    `${report}.2`,
  );
  expect(otherwise.out).toContain('0 events stored, 620 were there already, 2 invalid lines skipped');
  expect(await stored(env)).toEqual({ events: 510, ids: 510, sum: sumUpTo(510) });
  expect((await readdir(join(env.DATA_DIR, 'backfill'))).filter((name) => name.endsWith('.json'))).toEqual(
    [],
  );
});

it('a store that fails in the middle is gone on with, and columns that are not there are named before anything is stored', async () => {
  store = await startS3Store('exports', { pageKeys: 1 });
  const env = { DATA_DIR: await createDataDirectory(), ...S3_KEYS, AWS_ENDPOINT_URL: store.url };
  store.put('day/1.parquet', await parquet(0, 1_000));
  store.put('day/2.csv', csv(rows(1_000, 1_000)));
  const wrong = await backfills.run(env, 's3://exports/day', '--map', 'transaction_id=ID');
  expect(wrong).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      's3://exports/day/1.parquet: it has no column "ID" for transaction_id; "id" was probably meant\nIts columns: "id", "org", "at", "n"',
    ),
  });
  store.onRequest((key) => (key === 'day/2.csv' ? 'cut' : null));
  const failed = await backfills.run(env, 's3://exports/day', ...MAP);
  expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('s3://exports/day/2.csv') });
  expect(await stored(env)).toEqual({ events: 1_000, ids: 1_000, sum: sumUpTo(1_000) });
  store.onRequest(() => null);
  const rest = await backfills.run(env, 's3://exports/day', ...MAP);
  expect(rest).toMatchObject({ code: 0, err: '' });
  expect(rest.out).toContain('1 files, 1 were loaded before');
  expect(await stored(env)).toEqual({ events: 2_000, ids: 2_000, sum: sumUpTo(2_000) });
  expect(`${failed.out}${failed.err}${rest.out}`).not.toContain(S3_KEYS.AWS_SECRET_ACCESS_KEY);
});
