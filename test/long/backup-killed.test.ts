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

async function send(service: BillingProcess, customer_id: string, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => {
    sent += 1;
    const properties = { secret: `of ${customer_id}` };
    return { customer_id, event_type: 'load', timestamp: NOW, transaction_id: `load-${sent}`, properties };
  });
  expect((await service.call('/v1/ingest', events)).status).toBe(200);
}

async function eraseOne(service: BillingProcess, round: number): Promise<void> {
  const name = `erased-${round}`;
  const id = await created(service, '/v1/customers', { name, ingest_aliases: [name] });
  await send(service, name, 100);
  expect((await service.call(`/v1/customers/${id}/erase`, {})).status).toBe(200);
}

async function countIn(service: BillingProcess, where: string): Promise<number> {
  const sql = `SELECT count() AS many FROM events WHERE event_type = 'load' AND ${where}`;
  const { status, body } = await service.call('/v1/sql', { sql });
  expect(status).toBe(200);
  return Number(JSON.parse(body).data[0].many);
}

/** Of the erased customers, whose properties are removed by a job. */
const SECRETS = "startsWith(properties['secret'], 'of erased')";

async function restoreAndCompare(backups: string, acknowledged: number): Promise<void> {
  const directory = join(await createTestDirectory(), 'data');
  const restored = await tallyhouse(['restore', backups], { DATA_DIR: directory, SANDBOX_NOW: NOW });
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).toContain('no differences');
  const service = await start(directory);
  expect(await countIn(service, 'true')).toBe(acknowledged);
  await vi.waitUntil(async () => (await countIn(service, SECRETS)) === 0, WAIT);
  await service.kill();
}

test(`after ${ROUNDS} kills of backups and services every backup is whole and restores to all that was acknowledged`, async () => {
  const dataDir = await createDataDirectory();
  const backups = join(await createTestDirectory(), 'backups');
  let service = await start(dataDir);
  await send(service, 'load', 100);
  await backUp(dataDir, backups);
  for (let round = 0; round < ROUNDS; round += 1) {
    await send(service, 'load', 100);
    if (round % 3 === 0) await eraseOne(service, round);
    const killed = runProgram('src/app/cli/main.ts', ['backup', backups], { DATA_DIR: dataDir });
    await Promise.race([pause(randomInt(KILLED_WITHIN_MS)), killed.ended]);
    if (round % 2 === 0) killed.child.kill('SIGKILL');
    else {
      await service.kill();
      service = await start(dataDir);
    }
    await killed.ended;
    expect(await tallyhouse(['restore', backups, '--check'], {})).toMatchObject({ code: 0 });
    if (round % 3 === 0) await eraseOne(service, ROUNDS + round);
    const acknowledged = sent;
    await backUp(dataDir, backups);
    if (round % 4 === 0) await restoreAndCompare(backups, acknowledged);
  }
  await restoreAndCompare(backups, sent);
}, 1_800_000);
