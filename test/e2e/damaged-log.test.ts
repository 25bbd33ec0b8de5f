/**
 * A service is killed with acknowledged events in its log, and files of its data directory are damaged. The next start
 * is ready with every event, or says in a line what is missing and what to do; then it continues with the rest. It
 * never hangs, is never ended by its own signal, and never silently counts less.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { mainCases } from '../support/shares-of-tests.ts';

const TOKEN = 'given-to-the-process';
const PAGE = 4_096;
/** In ClickHouse when the service is killed, and in the log alone. */
const STORED = 60;
const LOGGED = 240;
const PER_REQUEST = 40;

let killed: string;
let dataDir: string;
let started: Program[] = [];

interface Service {
  readonly program: Program;
  readonly url: string;
}

async function start(directory: string): Promise<Service> {
  const env = { PORT: '0', DATA_DIR: directory, API_TOKEN: TOKEN };
  const program = runProgram('src/main.ts', [], env);
  started.push(program);
  await program.said('/docs');
  const [, url = ''] = /API reference\s+(\S+)\/docs/.exec(program.stdout()) ?? [];
  return { program, url };
}

async function call(url: string, path: string, body?: unknown): Promise<Response> {
  return await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
}

async function ingest(url: string, first: number, count: number): Promise<number> {
  const timestamp = new Date().toISOString();
  const events = Array.from({ length: count }, (_, index) => ({
    transaction_id: `event-${first + index}`,
    customer_id: 'acme',
    event_type: 'call',
    timestamp,
    properties: { n: String(first + index) },
  }));
  return (await call(url, '/v1/ingest', events)).status;
}

let customerId: string;
let metricIds: readonly string[];

async function created(url: string, path: string, body: object): Promise<string> {
  const answer = (await (await call(url, path, body)).json()) as { data: { id: string } };
  return answer.data.id;
}

/** How many events are counted, each once. */
async function counted(url: string): Promise<number> {
  const day = 86_400_000;
  const today = Math.floor(Date.now() / day) * day;
  const values = await Promise.all(
    metricIds.map(async (billable_metric_id) => {
      const answer = await call(url, '/v1/usage/groups', {
        customer_id: customerId,
        billable_metric_id,
        window_size: 'NONE',
        starting_on: new Date(today - day).toISOString(),
        ending_before: new Date(today + 2 * day).toISOString(),
      });
      expect(answer.status).toBe(200);
      const { data } = (await answer.json()) as { data: { value: number }[] };
      return data[0]?.value ?? 0;
    }),
  );
  expect(new Set(values).size).toBe(1);
  return values[0] ?? 0;
}

beforeAll(async () => {
  killed = await createDataDirectory();
  const { program, url } = await start(killed);
  customerId = await created(url, '/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  const metric = {
    event_type_filter: { in_values: ['call'] },
    property_filters: [{ name: 'n', exists: true }],
  };
  metricIds = await Promise.all(
    [
      { name: 'all', aggregation_type: 'COUNT' },
      { name: 'each', aggregation_type: 'UNIQUE', aggregation_key: 'n' },
    ].map((own) => created(url, '/v1/billable-metrics/create', { ...metric, ...own })),
  );
  expect(await ingest(url, 0, STORED)).toBe(200);
  expect(await counted(url)).toBe(STORED);
  for (let first = STORED; first < STORED + LOGGED; first += PER_REQUEST)
    expect(await ingest(url, first, PER_REQUEST)).toBe(200);
  program.child.kill('SIGKILL');
  await program.ended;
  // PostgreSQL ends by itself when its service has gone.
  const postmaster = join(killed, 'postgres', 'data', 'postmaster.pid');
  await vi.waitUntil(() => !existsSync(postmaster), { timeout: 60_000 });
});

afterEach(async () => {
  for (const program of started) program.child.kill('SIGKILL');
  await Promise.all(started.map((program) => program.ended));
  started = [];
});

/** The data directory of the killed service, as its own. */
async function copyOfKilled(): Promise<string> {
  const copy = await createDataDirectory();
  execFileSync('cp', ['-a', `${killed}/.`, copy]);
  return copy;
}

async function segment(): Promise<string> {
  const directory = join(dataDir, 'event-log');
  for (const name of (await readdir(directory)).sort().reverse()) {
    if ((await stat(join(directory, name))).size > 0) return join(directory, name);
  }
  throw new Error('the log holds nothing');
}

const position = () => join(dataDir, 'event-log.position');

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] ?? 0) ^ 0x10;
  await writeFile(path, bytes);
}

/** The damage to the files, and how many of the logged events are certainly left; null: any number, said or not. */
const DAMAGES: readonly (readonly [string, number | null, () => Promise<unknown>])[] = [
  [
    'the log is shorter by a page',
    null,
    async () => truncate(await segment(), (await stat(await segment())).size - PAGE),
  ],
  ['the log is removed', 0, () => rm(join(dataDir, 'event-log'), { recursive: true })],
  ['nothing happens', LOGGED, async () => undefined],
  ['the log is emptied', 0, async () => truncate(await segment(), 0)],
  ['the log is cut to one page', null, async () => truncate(await segment(), PAGE)],
  ['a bit of the first record is changed', LOGGED - PER_REQUEST, async () => flip(await segment(), 500)],
  ['a bit of the first header is changed', LOGGED - PER_REQUEST, async () => flip(await segment(), 5)],
  ['a bit of the last record is changed', LOGGED - PER_REQUEST, async () => flip(await segment(), -20)],
  [
    'the log and its position are removed',
    0,
    async () => {
      await rm(position());
      await rm(join(dataDir, 'event-log'), { recursive: true });
    },
  ],
  ['the position is removed', LOGGED, () => rm(position())],
  ['the position is emptied', LOGGED, () => truncate(position(), 0)],
  ['a bit of the position is changed', LOGGED, () => flip(position(), 20)],
  ['a bit of the other place of the position is changed', LOGGED, () => flip(position(), 530)],
  [
    'a directory stands in place of the file',
    0,
    async () => {
      const path = await segment();
      await rm(path);
      await cp(join(dataDir, 'lock'), path, { recursive: true, filter: (source) => source.endsWith('lock') });
    },
  ],
];

test.each(mainCases(DAMAGES, 3))(
  'after kill -9, where %s, the start is ready with every event or says what is missing',
  async (_, left, damage) => {
    dataDir = await copyOfKilled();
    await damage();
    const service = await start(dataDir);
    let { url } = service;
    const isReady = service.program.stdout().includes('is ready at');
    if (isReady) {
      expect(await counted(url)).toBe(STORED + LOGGED);
      // A mapped file that is cut short ends the process.
      const maps = `/proc/${service.program.child.pid}/maps`;
      if (existsSync(maps)) expect(await readFile(maps, 'utf8')).not.toContain(dataDir);
    } else {
      expect(service.program.stdout()).toContain('is NOT ready');
      const [, name = '', size = ''] =
        /^ {2}(event_log\/\S+) was acknowledged and is missing from the log of events \(([^)]*)\)\. .*npm run accept-loss -- \1$/m.exec(
          service.program.stdout(),
        ) ?? [];
      expect(name).not.toBe('');
      expect((await call(url, '/readyz')).status).toBe(503);
      expect(await ingest(url, 0, 1)).toBe(503);
      // Nothing was changed: the files can still be put back.
      service.program.child.kill('SIGTERM');
      expect(await service.program.ended).toBe(0);
      url = (await start(dataDir)).url;
      const accepting = runProgram('src/app/cli/main.ts', ['accept-loss', name], { DATA_DIR: dataDir });
      expect(await accepting.ended).toBe(0);
      // Accepted events are taken up first.
      await expect.poll(async () => (await call(url, '/readyz')).status).toBe(200);
      const rest = (await counted(url)) - STORED;
      if (left !== null) expect(rest).toBe(left);
      if (size !== 'an unknown number of events') expect(size).toBe(`${LOGGED - rest} events`);
      expect(rest % PER_REQUEST).toBe(0);
    }
    // Lost events can be sent again, and the others count once.
    for (let first = 0; first < STORED + LOGGED; first += 100)
      expect(await ingest(url, first, 100)).toBe(200);
    expect(await counted(url)).toBe(STORED + LOGGED);
    const last = started.at(-1);
    last?.child.kill('SIGTERM');
    expect(await last?.ended).toBe(0);
    const again = await start(dataDir);
    expect(again.program.stdout()).toContain('is ready at');
    expect(await counted(again.url)).toBe(STORED + LOGGED);
  },
);
