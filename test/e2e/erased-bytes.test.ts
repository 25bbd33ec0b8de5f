/**
 * Where the bytes of an erased customer are in the data directory, and for how long (docs/how-to/erasure.md): nowhere
 * in the log of events or in ClickHouse a moment after the erasure; in files of PostgreSQL until they are rewritten.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

const TOKEN = 'given-to-the-process';
const NAME = 'Zenobia-Quillfeather';
/** No part of it is in another text: ClickHouse would refer to that instead of writing it again. */
const PROPERTY = 'Xq7#vK2!pZ9@mW4~tB6^';

let program: Program | undefined;
afterEach(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
});

async function start(dataDir: string): Promise<(path: string, body?: object) => Promise<Response>> {
  program = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: dataDir, API_TOKEN: TOKEN });
  await program.said('is ready at');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1] ?? '';
  return async (path, body) =>
    await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
}

async function stop(): Promise<void> {
  program?.child.kill('SIGTERM');
  expect(await program?.ended).toBe(0);
}

/** Each look reads all files. */
const SELDOM = { interval: 500 };

/** The files with these bytes, by the directories that hold them. */
async function placesOf(dataDir: string, text: string): Promise<string[]> {
  const places = new Set<string>();
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (bytes.includes(text))
      places.add(relative(dataDir, entry.parentPath).split('/').slice(0, 3).join('/'));
  }
  return [...places].sort();
}

const inPostgres = (place: string) => place.startsWith('postgres/data/');

test('bytes of an erased customer are in files of PostgreSQL alone, until those are rewritten', async () => {
  const dataDir = await createDataDirectory();
  const call = await start(dataDir);
  const created = (await (
    await call('/v1/customers', { name: NAME, ingest_aliases: ['zenobia'] })
  ).json()) as { data: { id: string } };
  const customerId = created.data.id;
  const event = (n: number) => ({
    ...{ transaction_id: `event-${n}`, customer_id: 'zenobia', event_type: 'call' },
    ...{ timestamp: new Date().toISOString(), properties: { words: PROPERTY } },
  });
  for (let n = 0; n < 10; n += 1) expect((await call('/v1/ingest', [event(n)])).status).toBe(200);
  await expect.poll(() => placesOf(dataDir, PROPERTY), SELDOM).toContain('clickhouse/data/store');

  expect((await call(`/v1/customers/${customerId}/erase`, {})).status).toBe(200);
  const found = async () =>
    await (await call('/v1/events/search', { transactionIds: ['event-1', 'event-9'] })).text();
  await expect.poll(found).not.toContain(PROPERTY);
  // While the service runs: within some minutes.
  await expect.poll(() => placesOf(dataDir, PROPERTY), SELDOM).toEqual([]);
  await stop();
  expect(await placesOf(dataDir, PROPERTY)).toEqual([]);
  const left = await placesOf(dataDir, NAME);
  expect(left).not.toEqual([]);
  expect(left.every(inPostgres), left.join()).toBe(true);

  await start(dataDir);
  const socketDir = join(dataDir, 'postgres', 'socket');
  const database = connectPostgres({ socketDir, user: 'tallyhouse', database: 'postgres' }, { max: 1 });
  for (const line of await documentedCommands()) await database.unsafe(line);
  await database.end();
  await stop();
  expect(await placesOf(dataDir, NAME)).toEqual([]);
});

/** The commands of docs/how-to/erasure.md for the operator. */
async function documentedCommands(): Promise<string[]> {
  const page = await readFile(join(import.meta.dirname, '../../docs/how-to/erasure.md'), 'utf8');
  const [, block = ''] = /```sql\n(.*?)```/s.exec(page) ?? [];
  return block.split('\n').flatMap((line) => line.split(';')[0]?.trim() || []);
}
