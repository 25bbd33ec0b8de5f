/**
 * Backups of servers, as an operator calls them: PostgreSQL and ClickHouse of one moment, incremental, restored into empty
 * databases. In place of a ClickHouse server stands its HTTP interface over chDB, whose BACKUP and RESTORE are the engine's.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { backUp, everyAnswer, type Made, tallyhouse } from '../support/backups.ts';
import {
  type BillingProcess,
  created,
  createPayingCustomers,
  moveClock,
  type StoreUrls,
  startBillingProcess,
} from '../support/billing-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { createTestDirectory } from '../support/stores.ts';

const START = '2026-03-01T00:00:00Z';
const WAIT = { timeout: 60_000, interval: 20 };
const BACKUP_CLICKHOUSE = "File('of-tallyhouse')";

let gateway: PostgresGateway;
let front: FrontProcess;
let ofFront: string;
let service: BillingProcess;
let servers: StoreUrls;
let place: string;
let dataDir: string;
const opened: BillingProcess[] = [];

async function start(stores: StoreUrls, directory: string): Promise<BillingProcess> {
  const process = await startBillingProcess(stores, directory, START);
  opened.push(process);
  return process;
}

async function emptyServers(database: string): Promise<StoreUrls> {
  return { postgres: await gateway.createDatabase(), clickhouse: frontUrl(front.port, database) };
}

const envOf = ({ postgres, clickhouse }: StoreUrls): Record<string, string> => ({
  ...{ DATABASE_URL: postgres, CLICKHOUSE_URL: clickhouse, BACKUP_CLICKHOUSE, SANDBOX_NOW: START },
});

beforeAll(async () => {
  gateway = await startPostgresGateway();
  ofFront = await createTestDirectory();
  front = await startFrontProcess({ directory: ofFront, port: 0 });
  servers = await emptyServers('original');
  dataDir = await createDataDirectory();
  place = join(await createTestDirectory(), 'backups');
  service = await start(servers, dataDir);
  await moveClock(service, '2026-03-02T00:00:00Z');
  await createPayingCustomers(service, 1, START);
});
afterAll(async () => {
  await Promise.all(opened.map((process) => process.kill()));
  await front?.kill();
  await gateway?.close();
});

interface Kept {
  readonly made: Made;
  readonly answers: Map<string, unknown>;
}

async function keep(): Promise<Kept> {
  // The audit log shows a row when no earlier transaction is under way any more.
  const last = await created(service, '/v1/customers', { name: 'last' });
  const ofLast = `/v1/auditLogs?resource_type=customer&resource_id=${last}`;
  await vi.waitUntil(async () => (await service.call(ofLast)).body.includes(last), WAIT);
  const answers = await everyAnswer(service);
  return { made: await backUp(dataDir, place, [], envOf(servers)), answers };
}

let sent = 0;
async function sendEvents(): Promise<void> {
  const [customer] = JSON.parse((await service.call('/v1/customers')).body).data;
  const body = Array.from({ length: 20 }, () => {
    sent += 1;
    return {
      ...{ customer_id: customer.id, event_type: 'more', transaction_id: `more-${sent}` },
      ...{ timestamp: '2026-03-02T00:00:00Z', properties: {} },
    };
  });
  expect((await service.call('/v1/ingest', body)).status).toBe(200);
}

async function restored(name: string, into: StoreUrls) {
  return await tallyhouse(['restore', place, '--name', name], { ...envOf(into), DATA_DIR: dataDir });
}

let first: Kept;
let second: Kept;

test('a backup of servers and an incremental one can each be restored, and give the answers of their moment', async () => {
  first = await keep();
  await sendEvents();
  await moveClock(service, '2026-04-03T00:00:00Z');
  second = await keep();
  expect(second.made.event_count).toBe(first.made.event_count + 20);
  expect([first.made.invoice_count, second.made.invoice_count]).toEqual([0, 1]);
  const into = await emptyServers('restored');
  const ended = await restored(second.made.name, into);
  expect(ended).toMatchObject({ code: 0, err: '', out: expect.stringContaining('no differences') });
  const again = await start(into, await createDataDirectory());
  expect(await everyAnswer(again)).toEqual(second.answers);
  await again.kill();
  const other = await restored(first.made.name, await emptyServers('earlier'));
  expect(other).toMatchObject({ code: 0, err: '', out: expect.stringContaining('0 invoices') });
});

test('a backup of servers that is under load has what was acknowledged before', async () => {
  await sendEvents();
  let isRunning = true;
  const load = async () => {
    while (isRunning) await sendEvents();
  };
  const loading = load();
  const made = await backUp(dataDir, place, [], envOf(servers)).finally(() => {
    isRunning = false;
  });
  await loading;
  const ended = await restored(made.name, await emptyServers('under_load'));
  expect(ended).toMatchObject({ code: 0, err: '' });
  expect(made.event_count).toBeGreaterThanOrEqual(second.made.event_count + 20);
});

test('servers that have something are left as they are, and a backup of servers is not restored into DATA_DIR', async () => {
  const full = await restored(first.made.name, servers);
  expect(full).toMatchObject({ code: 1, err: expect.stringContaining('DATABASE_URL is not empty') });
  const half = await restored(first.made.name, { ...servers, postgres: await gateway.createDatabase() });
  expect(half).toMatchObject({ code: 1, err: expect.stringContaining('CLICKHOUSE_URL is not empty') });
  const directory = join(await createTestDirectory(), 'data');
  const embedded = await tallyhouse(['restore', place], { DATA_DIR: directory });
  expect(embedded).toMatchObject({ code: 1, err: expect.stringContaining('this backup is of servers') });
});

test('a backup of servers says what it needs, and that an earlier one has gone', async () => {
  const env = envOf(servers);
  const unset = await tallyhouse(['backup', place], { ...env, BACKUP_CLICKHOUSE: '', DATA_DIR: dataDir });
  expect(unset.code).not.toBe(0);
  expect(unset.err).toContain('BACKUP_CLICKHOUSE');
  const kept = await tallyhouse(['backup', place, '--keep', '1'], { ...env, DATA_DIR: dataDir });
  expect(kept).toMatchObject({ code: 2, err: expect.stringContaining('--keep is for an embedded') });
  await rm(join(ofFront, 'backups'), { recursive: true });
  const gone = await tallyhouse(['backup', place], { ...env, DATA_DIR: dataDir });
  expect(gone).toMatchObject({ code: 1, err: expect.stringContaining('`backup --full` begins again') });
  const made = await backUp(dataDir, place, ['--full'], env);
  expect(await restored(made.name, await emptyServers('full'))).toMatchObject({ code: 0 });
});
