/**
 * Backups across versions, and where there is too little room: what cannot be done is said before anything is written.
 */
import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Manifest, readManifest, writeManifest } from '../../src/app/backups/manifest.ts';
import { backUp, tallyhouse } from '../support/backups.ts';
import {
  type BillingProcess,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { commandOf, type Program, runCommand } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { unpackLastRelease } from '../support/frozen-program.ts';
import { hasSmallDisks, runOnSmallDisk } from '../support/small-disk.ts';
import { createTestDirectory } from '../support/stores.ts';

const START = '2026-03-01T00:00:00Z';
const ENV = { SANDBOX_NOW: START };

/** The command of the last release. */
let earlier: string;
let service: BillingProcess;
let dataDir: string;
const opened: BillingProcess[] = [];

async function start(directory: string): Promise<BillingProcess> {
  const process = await startBillingProcess(null, directory, START);
  opened.push(process);
  return process;
}

async function earlierCommand(): Promise<string> {
  const folder = dirname(await unpackLastRelease());
  const name = (await readdir(folder)).find((file) => /^main-\w+\.js$/.test(file));
  return join(folder, name ?? expect.fail('the last release has no command'));
}

async function byEarlier(args: readonly string[], env: Record<string, string>) {
  const program = runCommand(process.execPath, [earlier, ...args], { ...ENV, ...env });
  return { code: await program.ended, out: program.stdout(), err: program.stderr() };
}

beforeAll(async () => {
  earlier = await earlierCommand();
  dataDir = await createDataDirectory();
  service = await start(dataDir);
  await moveClock(service, '2026-03-02T00:00:00Z');
  await createPayingCustomers(service, 1, START);
  await moveClock(service, '2026-04-03T00:00:00Z');
});
afterAll(async () => {
  await Promise.all(opened.map((process) => process.kill()));
});

async function newPlace(): Promise<string> {
  return join(await createTestDirectory(), 'backups');
}

async function newDirectory(): Promise<string> {
  return join(await createTestDirectory(), 'data');
}

/** A running service of the last release, with what every service has. */
async function startEarlier(directory: string): Promise<Program> {
  const program = runCommand(process.execPath, [earlier, 'start'], {
    ...{ ...ENV, PORT: '0', API_TOKEN: 'token-of-this-test', LOG_LEVEL: 'error', DATA_DIR: directory },
  });
  await program.said('/docs');
  return program;
}

test('a backup of the last release is restored by this version, and brought up to date', async () => {
  const [directory, place] = [await newDirectory(), await newPlace()];
  const program = await startEarlier(directory);
  try {
    const url = /ready at (http:\/\/[^/\s]+)/.exec(program.stdout())?.[1];
    const response = await fetch(`${url}/v1/customers`, {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-this-test', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'of the last release' }),
    });
    expect(response.status).toBe(200);
    const made = await byEarlier(['backup', place], { DATA_DIR: directory });
    expect(made).toMatchObject({ code: 0, err: '' });
  } finally {
    program.child.kill('SIGKILL');
    await program.ended;
  }
  const target = await newDirectory();
  const restored = await tallyhouse(['restore', place], { ...ENV, DATA_DIR: target });
  expect(restored).toMatchObject({ code: 0, err: '', out: expect.stringContaining('1 customer,') });
  const again = await start(target);
  expect((await again.call('/v1/customers')).body).toContain('of the last release');
  // It continues in the same place.
  expect((await backUp(target, place)).removed).toEqual([]);
  await again.kill();
});

async function manifestIn(place: string): Promise<{ file: string; manifest: Manifest }> {
  const [name = ''] = await readdir(join(place, 'backups'));
  const file = join(place, 'backups', name);
  return { file, manifest: readManifest(await readFile(file, 'utf8')) };
}

const byPresent = (args: readonly string[], env: Record<string, string>) =>
  tallyhouse(args, { ...ENV, ...env });

test.each([
  ['this version', byPresent],
  ['the last release', byEarlier],
])('a backup of a later version is refused by %s with the reason, and nothing is written', async (_, run) => {
  const place = await newPlace();
  await backUp(dataDir, place);
  const { file, manifest } = await manifestIn(place);
  const refused = async () => {
    const target = await newDirectory();
    const ended = await run(['restore', place], { DATA_DIR: target });
    await expect(stat(target)).rejects.toThrow('ENOENT');
    expect(ended.code).toBe(1);
    return ended.err;
  };
  // Also one that only adds something: a start passes over it, but a restore could not create its columns.
  for (const name of ['9999_later', '9999_expand_later']) {
    const migrations = [...manifest.postgres.migrations, { name, checksum: 'x' }];
    await writeFile(file, writeManifest({ ...manifest, postgres: { ...manifest.postgres, migrations } }));
    const words = await refused();
    // The last release may not know one that this version has added.
    expect(words).toMatch(
      /the migration \d{4}_\w+, which this version of tallyhouse does not know: restore it/,
    );
    expect(words).not.toContain('\n    at ');
  }
  await writeFile(file, writeManifest({ ...manifest, format: 3 as 2 }));
  expect(await refused()).toContain('damaged, or of a later version');
});

test.runIf(hasSmallDisks())('a backup that does not fit is refused before anything is copied', async () => {
  const where = await mkdtemp(join(tmpdir(), 'th-small-'));
  const content = await createTestDirectory();
  const run = async (args: readonly string[], env: Record<string, string>) => {
    const command = [...commandOf('src/app/cli/main.ts'), ...args];
    const { program } = runOnSmallDisk({ where, megabytes: 8, content }, command, { ...ENV, ...env });
    return { code: await program.ended, err: program.stderr() };
  };
  const made = await run(['backup', join(where, 'backups')], { DATA_DIR: dataDir });
  expect(made.err).toMatch(/MB are free in \S+backups, and about [\d.]+ MB are needed: remove old backups/);
  expect(made.code).toBe(1);
  const place = await newPlace();
  await backUp(dataDir, place);
  const restored = await run(['restore', place], { DATA_DIR: join(where, 'data') });
  expect(restored.err).toMatch(/MB are free for DATA_DIR \S+data, and about [\d.]+ MB are needed/);
  expect(restored.code).toBe(1);
});
