/**
 * Round after round a backup or its service is killed at another moment, beside events and erasures. Every backup that is
 * there is whole, restores to all that was acknowledged before it, and an erasure that it caught half-way is carried out.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { backUp, tallyhouse } from '../support/backups.ts';
import { type BillingProcess, created, startBillingProcess } from '../support/billing-process.ts';
import { runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { createTestDirectory } from '../support/stores.ts';

const ROUNDS = 20;
const NOW = '2026-03-02T00:00:00Z';
/** A backup of so little takes about as long. */
const KILLED_WITHIN_MS = 2_500;
const WAIT = { timeout: 60_000, interval: 100 };

const opened: BillingProcess[] = [];
afterAll(() => Promise.all(opened.map((process) => process.kill())));

async function start(directory: string): Promise<BillingProcess> {
  const process = await startBillingProcess(null, directory, NOW);
  opened.push(process);
  return process;
}

let sent = 0;
/** The ids of events of erased customers. */
const erased: string[] = [];

const LOAD = { event_type: 'load', timestamp: NOW };

async function send(service: BillingProcess, events: readonly object[]): Promise<void> {
  expect((await service.call('/v1/ingest', events)).status).toBe(200);
}

async function sendLoad(service: BillingProcess): Promise<void> {
  const first = sent;
  const events = Array.from({ length: 100 }, (_, index) => ({
    ...{ ...LOAD, customer_id: 'load', transaction_id: `load-${first + index}` },
  }));
  await send(service, events);
  sent += events.length;
}

async function eraseOne(service: BillingProcess): Promise<void> {
  const name = `erased-${erased.length}`;
  const id = await created(service, '/v1/customers', { name, ingest_aliases: [name] });
  await send(service, [{ ...LOAD, customer_id: name, transaction_id: name, properties: { secret: 'mine' } }]);
  erased.push(name);
  expect((await service.call(`/v1/customers/${id}/erase`, {})).status).toBe(200);
}

async function loadIn(service: BillingProcess): Promise<number> {
  const sql = "SELECT count() AS many FROM events WHERE event_type = 'load'";
  const { status, body } = await service.call('/v1/sql', { sql });
  expect(status).toBe(200);
  return Number(JSON.parse(body).data[0].many);
}

async function erasedIn(service: BillingProcess): Promise<string> {
  const { status, body } = await service.call('/v1/events/search', { transactionIds: erased });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toHaveLength(erased.length);
  return body;
}

async function restoreAndCompare(backups: string): Promise<void> {
  const directory = join(await createTestDirectory(), 'data');
  const restored = await tallyhouse(['restore', backups], { DATA_DIR: directory, SANDBOX_NOW: NOW });
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).toContain('no differences');
  const service = await start(directory);
  expect(await loadIn(service)).toBe(sent);
  // A job removes them, which the backup may have caught half-way.
  await vi.waitUntil(async () => !(await erasedIn(service)).includes('mine'), WAIT);
  await service.kill();
}

test(`after ${ROUNDS} kills of backups and services every backup is whole and restores to all that was acknowledged`, async () => {
  const dataDir = await createDataDirectory();
  const backups = join(await createTestDirectory(), 'backups');
  let service = await start(dataDir);
  await created(service, '/v1/customers', { name: 'load', ingest_aliases: ['load'] });
  await sendLoad(service);
  await backUp(dataDir, backups);
  for (let round = 0; round < ROUNDS; round += 1) {
    await sendLoad(service);
    if (round % 3 === 0) await eraseOne(service);
    const killed = runProgram('src/app/cli/main.ts', ['backup', backups], { DATA_DIR: dataDir });
    await Promise.race([pause(randomInt(KILLED_WITHIN_MS)), killed.ended]);
    if (round % 2 === 0) killed.child.kill('SIGKILL');
    else {
      await service.kill();
      service = await start(dataDir);
    }
    await killed.ended;
    expect(await tallyhouse(['restore', backups, '--check'], {})).toMatchObject({ code: 0 });
    if (round % 3 === 0) await eraseOne(service);
    await backUp(dataDir, backups);
    if (round % 4 === 0) await restoreAndCompare(backups);
  }
  await restoreAndCompare(backups);
}, 1_800_000);
