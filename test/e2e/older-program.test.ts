/** The program of a version that does not check which migrations were applied, on data of today. */
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Program, runCommand, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { unpackFrozenProgram } from '../support/frozen-program.ts';
import { createTestDirectory } from '../support/stores.ts';

const TOKEN = 'token-of-this-test';

let olderProgram: string;
beforeAll(async () => {
  olderProgram = await unpackFrozenProgram();
});

let running: Program | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});

const settings = (dataDir: string) => ({
  PORT: '0',
  DATA_DIR: dataDir,
  API_TOKEN: TOKEN,
  LOG_LEVEL: 'fatal',
});
const older = (dataDir: string) => {
  running = runCommand(process.execPath, [olderProgram], settings(dataDir));
  return running;
};
const present = (dataDir: string) => {
  running = runProgram('src/main.ts', [], settings(dataDir));
  return running;
};

/** Waits until the program is ready, uses it, and stops it. */
async function use<Result>(program: Program, work: (url: string) => Promise<Result>): Promise<Result> {
  await program.said('/docs');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1];
  if (url === undefined) throw new Error(`not ready: ${program.stdout()}`);
  const result = await work(url);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
  return result;
}

async function call(url: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return await answer.json();
}

const addCustomer = (url: string) => call(url, '/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
const customers = (url: string) => call(url, '/v1/customers');

describe('the program of an earlier version', () => {
  it('the program of an earlier version starts on its data, which the present version then brings up to date', async () => {
    const dataDir = await createDataDirectory();
    await use(older(dataDir), addCustomer);
    const upgraded = await use(present(dataDir), customers);
    expect(upgraded).toMatchObject({ data: [{ name: 'Acme' }] });
    await refusesAndHarmsNothing(dataDir, upgraded);
  });

  it('the program of an earlier version refuses data that the present version has begun', async () => {
    const dataDir = join(await createTestDirectory(), 'data');
    const before = await use(present(dataDir), async (url) => {
      await addCustomer(url);
      return await customers(url);
    });
    await refusesAndHarmsNothing(dataDir, before);
  });
});

/** However often it is tried; afterwards the present version answers as before. */
async function refusesAndHarmsNothing(dataDir: string, before: unknown): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const refused = older(dataDir);
    expect([await refused.ended, refused.stdout()]).toEqual([1, '']);
    // Its first migration, which it takes for pending, meets the tables that are there.
    expect(refused.stderr()).toMatch(/^tallyhouse: Error: Failed query: CREATE /);
  }
  expect(await use(present(dataDir), customers)).toEqual(before);
}
