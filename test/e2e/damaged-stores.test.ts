/**
 * Files of the embedded stores are damaged one by one while the service is stopped, or after it and PostgreSQL were
 * killed. The start is ready with everything that was stored, or it says in one line what is damaged and what to do. It
 * never hangs, never silently counts less, and never shows a stack.
 */
import { execFileSync } from 'node:child_process';
import { readdir, readFile, realpath, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { isPostgresRunning, readPostmaster } from '../../src/embedded/postmaster-file.ts';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { mainCases } from '../support/shares-of-tests.ts';

const TOKEN = 'given-to-the-process';
const EVENTS = 60;

let started: Program[] = [];

interface Service {
  readonly program: Program;
  readonly url: string;
  readonly isReady: boolean;
}

/** Null: it ended by itself. */
async function start(dataDir: string): Promise<Service | null> {
  const program = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: dataDir, API_TOKEN: TOKEN });
  started.push(program);
  const said = await program.said('/docs').then(
    () => true,
    () => false,
  );
  if (!said) return null;
  const [, url = ''] = /API reference\s+(\S+)\/docs/.exec(program.stdout()) ?? [];
  return { program, url, isReady: program.stdout().includes('is ready at') };
}

async function startReady(dataDir: string): Promise<Service> {
  const service = await start(dataDir);
  if (service?.isReady !== true) throw new Error('the service is not ready');
  return service;
}

async function stop({ program }: Service): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
}

async function call(url: string, path: string, body?: unknown): Promise<Response> {
  return await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

async function created(url: string, path: string, body: object): Promise<string> {
  const answer = await call(url, path, body);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { id: string } }).data.id;
}

interface Stored {
  readonly dataDir: string;
  readonly customerId: string;
  readonly metricId: string;
  /** The file of the table of customers. */
  readonly tableFile: string;
}

const DAY = 86_400_000;

async function readUsage(url: string, { customerId, metricId }: Stored): Promise<Response> {
  const today = Math.floor(Date.now() / DAY) * DAY;
  return await call(url, '/v1/usage/groups', {
    customer_id: customerId,
    billable_metric_id: metricId,
    window_size: 'NONE',
    starting_on: new Date(today - DAY).toISOString(),
    ending_before: new Date(today + 2 * DAY).toISOString(),
  });
}

/** The stored data by the service: usage, and the customer. */
async function stored(url: string, of: Stored): Promise<unknown> {
  const usage = await readUsage(url, of);
  const { data } = (await usage.json()) as { data?: { value: number }[] };
  const customer = await call(url, `/v1/customers/${of.customerId}`);
  return { events: data?.[0]?.value, customer: customer.status };
}

const EVERYTHING = { events: EVENTS, customer: 200 };

async function fill(dataDir: string): Promise<Stored & { readonly service: Service }> {
  const service = await startReady(dataDir);
  const { url } = service;
  const customerId = await created(url, '/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  const metricId = await created(url, '/v1/billable-metrics/create', {
    name: 'all',
    aggregation_type: 'COUNT',
    event_type_filter: { in_values: ['call'] },
  });
  const events = Array.from({ length: EVENTS }, (_, index) => ({
    transaction_id: `event-${index}`,
    customer_id: 'acme',
    event_type: 'call',
    timestamp: new Date().toISOString(),
  }));
  expect((await call(url, '/v1/ingest', events)).status).toBe(200);
  const filled = { dataDir, customerId, metricId, tableFile: '' };
  expect(await stored(url, filled)).toEqual(EVERYTHING);
  return { ...filled, tableFile: await fileOf(dataDir, 'customers'), service };
}

const postgres = (dataDir: string) => join(dataDir, 'postgres', 'data');

async function fileOf(dataDir: string, table: string): Promise<string> {
  const postmaster = await readPostmaster(postgres(dataDir));
  const socketDir = postmaster?.socketDir ?? '';
  const client = connectPostgres({ socketDir, user: 'tallyhouse', database: 'postgres' }, { max: 1 });
  try {
    const [row] = await client`select pg_relation_filepath(${table}::regclass) as path`;
    return String(row?.path);
  } finally {
    await client.end();
  }
}

const WAIT = { timeout: 60_000 };

let stopped: Stored;
let crashed: Stored;

beforeAll(async () => {
  const { service, ...first } = await fill(await createDataDirectory());
  await stop(service);
  stopped = first;
  // It has been stopped once, is started again, and is killed together with its PostgreSQL.
  const dataDir = await copyOf(first.dataDir);
  const again = await startReady(dataDir);
  const position = join(postgres(dataDir), 'tallyhouse-log-position');
  const before = await readFile(position, 'utf8');
  await created(again.url, '/v1/customers', { name: 'The last one' });
  await vi.waitUntil(async () => (await readFile(position, 'utf8')) !== before, WAIT);
  const { pid } = (await readPostmaster(postgres(dataDir))) ?? { pid: 0 };
  process.kill(pid, 'SIGKILL');
  again.program.child.kill('SIGKILL');
  await again.program.ended;
  await vi.waitUntil(async () => !(await isPostgresRunning(pid)), WAIT);
  crashed = { ...first, dataDir };
});

afterEach(async () => {
  for (const program of started) program.child.kill('SIGKILL');
  await Promise.all(started.map((program) => program.ended));
  started = [];
});

async function copyOf(dataDir: string): Promise<string> {
  const copy = await createDataDirectory();
  await rm(join(copy, 'postgres'), { recursive: true });
  execFileSync('cp', ['-a', `${dataDir}/.`, copy]);
  return copy;
}

type Damage = (path: string) => Promise<unknown>;

const removed: Damage = (path) => rm(path, { recursive: true });
const emptied: Damage = (path) => truncate(path, 0);
const cut: Damage = async (path) => truncate(path, Math.floor((await stat(path)).size / 2));
const zeros: Damage = async (path) => writeFile(path, Buffer.alloc((await stat(path)).size));
const flipped =
  (share: number): Damage =>
  async (path) => {
    const bytes = await readFile(path);
    const place = Math.floor(bytes.length * share);
    bytes[place] = (bytes[place] ?? 0) ^ 0x10;
    await writeFile(path, bytes);
  };
const KINDS = { removed, emptied, cut, zeros, 'changed in a bit': flipped(0.5) };

type Find = (of: Stored) => string | Promise<string>;

const engine =
  (...path: string[]): Find =>
  ({ dataDir }) =>
    join(dataDir, 'clickhouse', 'data', ...path);
const directoryOf = async (dataDir: string, table: string) =>
  await realpath(join(dataDir, 'clickhouse', 'data', 'data', 'tallyhouse', table));
const inTable =
  (table: string, name: string): Find =>
  async ({ dataDir }) =>
    join(await directoryOf(dataDir, table), name);
const inPart =
  (table: string, name: string): Find =>
  async ({ dataDir }) => {
    const directory = await directoryOf(dataDir, table);
    const parts = (await readdir(directory)).filter((each) => /^\w+_\d+_\d+_\d+$/.test(each));
    return join(directory, parts.sort().at(-1) ?? '', name);
  };
const server =
  (...path: string[]): Find =>
  ({ dataDir }) =>
    join(postgres(dataDir), ...path);
const ofTable: Find = ({ dataDir, tableFile }) => join(postgres(dataDir), tableFile);
const firstWal: Find = async ({ dataDir }) => {
  const directory = join(postgres(dataDir), 'pg_wal');
  const names = (await readdir(directory)).filter((name) => /^[\dA-F]{24}$/.test(name));
  return join(directory, names.sort()[0] ?? '');
};

/** Definitions are put back from their copy. */
const DEFINITIONS: readonly (readonly [string, Find])[] = [
  ['the definition of a table', engine('metadata', 'tallyhouse', 'usage_events.sql')],
  ['the definition of a table of our own', engine('metadata', 'tallyhouse', 'known_id_runs.sql')],
  ['the definition of the database', engine('metadata', 'tallyhouse.sql')],
  ['the version of a table', inTable('usage_events', 'format_version.txt')],
  ['the record of migrations', engine('metadata', 'tallyhouse', 'schema_migrations.sql')],
];

const PART_FILES = ['columns.txt', 'checksums.txt', 'data.bin', 'primary.cidx', 'count.txt'] as const;

const SERVER_FILES: readonly (readonly [string, Find])[] = [
  ['the file of a table', ofTable],
  ['pg_control', server('global', 'pg_control')],
  ['PG_VERSION of the database', server('base', '5', 'PG_VERSION')],
  ['pg_xact', server('pg_xact', '0000')],
  ['PG_VERSION', server('PG_VERSION')],
  ['pg_filenode.map', server('base', '5', 'pg_filenode.map')],
];

function each<Kind extends string>(
  files: readonly (readonly [string, Find])[],
  kinds: Readonly<Record<Kind, Damage>>,
): readonly (readonly [string, string, Find, Damage])[] {
  return Object.entries<Damage>(kinds).flatMap(([kind, damage]) =>
    files.map(([name, find]) => [name, kind, find, damage] as const),
  );
}

/** The message to the operator about a start that failed. */
function lastWords(): string {
  const lines = started.at(-1)?.stderr().split('\n') ?? [];
  return lines.filter((line) => line.startsWith('tallyhouse: ')).join('\n');
}

async function damagedCopy(of: Stored, find: Find, damage: Damage): Promise<Stored> {
  const copy = { ...of, dataDir: await copyOf(of.dataDir) };
  await damage(await find(copy));
  return copy;
}

/** Ready with everything, or one line with what to do. */
async function expectWholeOrSaid(of: Stored): Promise<void> {
  const service = await start(of.dataDir);
  if (service === null) {
    const said = lastWords();
    expect(said).toMatch(/^tallyhouse: .*(?:PostgreSQL|ClickHouse).*from a backup/);
    expect(started.at(-1)?.stderr()).not.toMatch(/^\s+at /m);
    return;
  }
  const loss = /accept the loss: npm run accept-loss/;
  if (!service.isReady) expect(service.program.stdout()).toMatch(loss);
  else if ((await readUsage(service.url, of)).status === 200)
    expect(await stored(service.url, of)).toEqual(EVERYTHING);
  // Bytes of ClickHouse are compared when they are read.
  else await expect.poll(async () => (await call(service.url, '/readyz')).text()).toMatch(loss);
  await stop(service);
}

describe('while the service was stopped', () => {
  test.each(mainCases(each(DEFINITIONS, KINDS), 2))(
    'a ClickHouse file (%s) is %s: it is put back, and nothing is lost',
    async (_name, _kind, find, damage) => {
      const copy = await damagedCopy(stopped, find, damage);
      const service = await startReady(copy.dataDir);
      expect(await stored(service.url, copy)).toEqual(EVERYTHING);
      expect(service.program.stderr()).toContain(basename(await find(copy)));
      await stop(service);
      await stop(await startReady(copy.dataDir));
    },
  );

  test.each(
    mainCases(
      each(
        PART_FILES.map((name) => [name, inPart('usage_events', name)]),
        KINDS,
      ),
      1,
    ),
  )(
    'a file of a ClickHouse part (%s) is %s: the start is whole or says so',
    async (_name, _kind, find, damage) => {
      await expectWholeOrSaid(await damagedCopy(stopped, find, damage));
    },
  );

  test.each(mainCases(each(SERVER_FILES, KINDS), 3))(
    'a PostgreSQL file (%s) is %s: the start names it',
    async (_name, _kind, find, damage) => {
      const copy = await damagedCopy(stopped, find, damage);
      expect(await start(copy.dataDir)).toBeNull();
      expect(lastWords()).toContain(basename(await find(copy)));
      expect(lastWords()).toMatch(/from a backup/);
    },
  );

  test.each(mainCases(each([['the log of PostgreSQL', firstWal]], KINDS), 0))(
    '%s is %s: the start is whole or says so',
    async (_name, _kind, find, damage) => {
      await expectWholeOrSaid(await damagedCopy(stopped, find, damage));
    },
  );

  test('the remaining files of PostgreSQL are started once the record that the line names is removed', async () => {
    const copy = await damagedCopy(stopped, ofTable, emptied);
    expect(await start(copy.dataDir)).toBeNull();
    const [, record = ''] = /remove (\S+)$/m.exec(lastWords()) ?? [];
    await rm(record);
    const service = await start(copy.dataDir);
    expect(service).not.toBeNull();
  });
});

describe('after the service and its PostgreSQL were killed', () => {
  test('nothing happens to their files: everything is there', async () => {
    await expectWholeOrSaid({ ...crashed, dataDir: await copyOf(crashed.dataDir) });
    expect(lastWords()).toBe('');
  });

  test.each(mainCases(each([['the file of a table', ofTable]], KINDS), 2))(
    '%s is %s: the start is whole or says so',
    async (_name, _kind, find, damage) => {
      await expectWholeOrSaid(await damagedCopy(crashed, find, damage));
    },
  );

  test('the log of PostgreSQL ends earlier than what was acknowledged: the start says so', async () => {
    const copy = await damagedCopy(crashed, firstWal, async (path) => {
      const bytes = await readFile(path);
      // The end of what was written: the last record before the zeros.
      const end = bytes.findLastIndex((byte) => byte !== 0);
      bytes.fill(0, end - 20_000, end + 1);
      await writeFile(path, bytes);
    });
    expect(await start(copy.dataDir)).toBeNull();
    expect(lastWords()).toMatch(/its log \(pg_wal\) ends before .* from a backup/);
  });
});
