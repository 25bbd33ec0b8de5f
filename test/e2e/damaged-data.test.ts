/** The files of the embedded ClickHouse are damaged while the service is stopped. */
import { readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { mainCases } from '../support/shares-of-tests.ts';

const TOKEN = 'given-to-the-process';
const EVENTS_PER_PART = 100;

let dataDir: string;
let started: Program[] = [];

beforeEach(async () => {
  dataDir = await createDataDirectory();
});

afterEach(async () => {
  for (const program of started) program.child.kill('SIGKILL');
  await Promise.all(started.map((program) => program.ended));
  started = [];
});

const environment = () => ({ DATA_DIR: dataDir, API_TOKEN: TOKEN });

async function start(): Promise<{ program: Program; url: string }> {
  const program = runProgram('src/main.ts', [], { PORT: '0', ...environment() });
  started.push(program);
  await program.said('/docs');
  const [, url = ''] = /API reference\s+(\S+)\/docs/.exec(program.stdout()) ?? [];
  return { program, url };
}

async function stop(program: Program): Promise<void> {
  program.child.kill('SIGTERM');
  await program.ended;
}

async function ingest(url: string, batch: number): Promise<{ status: number; text: string }> {
  const events = Array.from({ length: EVENTS_PER_PART }, (_, index) => ({
    transaction_id: `${batch}-${index}`,
    customer_id: 'acme',
    event_type: 'call',
    timestamp: new Date().toISOString(),
    properties: { size: String(index) },
  }));
  const response = await fetch(`${url}/v1/ingest`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  return { status: response.status, text: await response.text() };
}

async function readiness(url: string): Promise<{ status: number; message: string }> {
  const response = await fetch(`${url}/readyz`);
  const { message = '' } = (await response.json()) as { message?: string };
  return { status: response.status, message };
}

/** The directories of parts of the events, which have the most files. */
async function partsOfEvents(): Promise<string[]> {
  const store = join(dataDir, 'clickhouse', 'data', 'store');
  const names = (await readdir(store, { recursive: true })).filter((name) =>
    /\/\d{6}_\d+_\d+_\d+$/.test(name),
  );
  const parts: string[] = [];
  for (const name of names.sort()) {
    const files = await readdir(join(store, name));
    const columns = await readFile(join(store, name, 'columns.txt'), 'utf8');
    if (files.includes('checksums.txt') && columns.includes('`id_hash_a`')) parts.push(join(store, name));
  }
  return parts;
}

async function acceptLoss(...names: string[]): Promise<{ out: string; code: unknown }> {
  const program = runProgram('src/app/cli/main.ts', ['accept-loss', ...names], environment());
  const code = await program.ended;
  return { out: program.stdout() + program.stderr(), code };
}

const DAMAGES = [
  ['a file of a part is cut short', (part: string) => cut(join(part, 'data.bin')), 'broken-on-start_'],
  [
    'the list of a part’s files is unreadable',
    (part: string) => spoil(join(part, 'checksums.txt')),
    'broken-on-start_',
  ],
  ['a part has gone', (part: string) => rm(part, { recursive: true }), ''],
] as const;

// The other test has a part that has gone.
test.each(mainCases(DAMAGES, 1))(
  'when %s the service is not ready, says which one, and takes no events until the loss is accepted',
  async (_, damage, prefix) => {
    const first = await start();
    expect((await ingest(first.url, 1)).status).toBe(200);
    expect((await ingest(first.url, 2)).status).toBe(200);
    await stop(first.program);
    const part = (await partsOfEvents()).at(-1) ?? '';
    await damage(part);

    const second = await start();
    const name = `usage_events/${prefix}${part.split('/').at(-1)}`;
    expect(second.program.stdout()).toContain('is NOT ready');
    expect(second.program.stdout()).not.toContain('is ready at');
    const answer = await readiness(second.url);
    expect(answer.status).toBe(503);
    expect(answer.message).toContain(`${name} `);
    expect(answer.message).toMatch(/\((100|200) events\)/);
    expect(answer.message).toContain(`npm run accept-loss -- ${name}`);
    expect((await ingest(second.url, 3)).status).toBe(503);
    await stop(second.program);

    const third = await start();
    expect((await readiness(third.url)).message).toContain(`${name} `);
    expect((await acceptLoss('usage_events/other')).code).toBe(1);
    expect((await acceptLoss()).out).toContain(name);
    expect(await acceptLoss(name)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Accepted the loss of'),
    });
    expect((await readiness(third.url)).status).toBe(200);
    expect(await ingest(third.url, 2)).toMatchObject({ status: 200 });
    await stop(third.program);

    const fourth = await start();
    expect(fourth.program.stdout()).toContain('is ready at');
  },
);

test('the service is ready again once the part is restored', async () => {
  const first = await start();
  expect((await ingest(first.url, 1)).status).toBe(200);
  await stop(first.program);
  const [part = ''] = await partsOfEvents();
  const elsewhere = join(dataDir, 'kept');
  await rename(part, elsewhere);
  const second = await start();
  expect((await readiness(second.url)).status).toBe(503);
  await stop(second.program);
  await rename(elsewhere, part);
  const third = await start();
  expect((await readiness(third.url)).status).toBe(200);
  expect((await acceptLoss()).out).toBe('Nothing is lost.\n');
});

async function cut(path: string): Promise<void> {
  const { size } = await stat(path);
  await truncate(path, size - 10);
}

async function spoil(path: string): Promise<void> {
  await writeFile(path, 'garbage');
}
