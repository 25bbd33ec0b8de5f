/**
 * `tallyhouse move` from embedded stores to servers, as an operator calls it: nothing that was acknowledged is lost however
 * it ends early, every answer is the same afterwards, and the old place accepts no more requests.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { everyAnswer, tallyhouse } from '../support/backups.ts';
import {
  type BillingProcess,
  created,
  createPayingCustomers,
  moveClock,
  type StoreUrls,
  startBillingProcess,
} from '../support/billing-process.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { FRONT_USERS } from '../support/clickhouse-front.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { createTestDirectory } from '../support/stores.ts';

const START = '2026-03-01T00:00:00Z';
const NOW = '2026-04-03T00:00:00Z';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const ENV = { SANDBOX_NOW: START };
const WAIT = { timeout: 60_000, interval: 20 };

let gateway: PostgresGateway;
let front: FrontProcess;
let service: BillingProcess;
let dataDir: string;
let servers: StoreUrls;
const opened: BillingProcess[] = [];

async function start(stores: StoreUrls | null, directory: string): Promise<BillingProcess> {
  const process = await startBillingProcess(stores, directory, START);
  opened.push(process);
  return process;
}

async function emptyServers(database: string): Promise<StoreUrls> {
  return { postgres: await gateway.createDatabase(), clickhouse: frontUrl(front.port, database) };
}

beforeAll(async () => {
  gateway = await startPostgresGateway();
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
  servers = await emptyServers('moved');
  dataDir = await createDataDirectory();
  service = await start(null, dataDir);
  await moveClock(service, '2026-03-02T00:00:00Z');
  await createPayingCustomers(service, 2, START);
  const [customer] = JSON.parse((await service.call('/v1/customers')).body).data;
  const product = await created(service, '/v1/contract-pricing/products/create', {
    name: 'Prepaid',
    type: 'FIXED',
  });
  await created(service, '/v1/contracts/customerCredits/create', {
    customer_id: customer.id,
    product_id: product,
    priority: 1,
    access_schedule: {
      credit_type_id: USD,
      schedule_items: [{ amount: 1, starting_at: START, ending_before: '2027-03-01T00:00:00Z' }],
    },
  });
  await moveClock(service, NOW);
  const last = await created(service, '/v1/customers', { name: 'load', ingest_aliases: ['load'] });
  // The audit log shows a row when no earlier transaction is under way any more.
  const audit = `/v1/auditLogs?resource_type=customer&resource_id=${last}`;
  await vi.waitUntil(async () => (await service.call(audit)).body.includes(last), WAIT);
});
afterAll(async () => {
  await Promise.all(opened.map((process) => process.kill()));
  await front?.kill();
  await gateway?.close();
});

const BATCH = 20;
let sent = 0;
let acknowledged = 0;

/** Returns the words of a refusal, or null. */
async function sendBatch(process: BillingProcess = service): Promise<string | null> {
  const body = Array.from({ length: BATCH }, () => {
    sent += 1;
    return { ...LOAD, transaction_id: `load-${sent}`, properties: { number: sent } };
  });
  const { status, body: words, retryAfter } = await process.call('/v1/ingest', body);
  if (status === 200) {
    acknowledged += BATCH;
    return null;
  }
  expect([status, (retryAfter ?? 0) >= 1]).toEqual([503, true]);
  return JSON.parse(words).message;
}

const LOAD = { customer_id: 'load', event_type: 'load', timestamp: NOW };

async function loadIn(process: BillingProcess): Promise<number> {
  const sql = "SELECT count() AS many FROM events WHERE event_type = 'load'";
  const { status, body } = await process.call('/v1/sql', { sql });
  expect(status).toBe(200);
  return Number(JSON.parse(body).data[0].many);
}

const argumentsFor = ({ postgres, clickhouse }: StoreUrls, ...more: readonly string[]) => [
  ...['move', '--to-postgres', postgres, '--to-clickhouse', clickhouse],
  ...more,
];

function begin(to: StoreUrls): Program {
  return runProgram('src/app/cli/main.ts', argumentsFor(to), { DATA_DIR: dataDir, ...ENV });
}

async function kill(program: Program): Promise<void> {
  program.child.kill('SIGKILL');
  expect(await program.ended).toBe('SIGKILL');
}

const REFUSED = 'are being moved';
const HELD = 'takes no changes and no events';

test('a move that is killed leaves the service as it was, and the servers closed to others', async () => {
  expect(await sendBatch()).toBeNull();
  const copying = begin(servers);
  await copying.said('Moving to');
  await kill(copying);
  const holding = begin(servers);
  await holding.said(HELD);
  await kill(holding);
  await vi.waitUntil(async () => (await sendBatch()) === null, WAIT);
  await created(service, '/v1/customers', { name: 'between' });
  const early = runProgram('src/main.ts', [], {
    ...{ PORT: '0', DATA_DIR: await createTestDirectory() },
    ...{ DATABASE_URL: servers.postgres, CLICKHOUSE_URL: servers.clickhouse },
  });
  expect(await early.ended).toBe(1);
  expect(early.stderr()).toContain('has not ended');
  const doctor = await tallyhouse(['doctor'], { DATA_DIR: dataDir, PORT: '0' });
  expect(doctor.out).toMatch(/✗ move .* has not ended/);
});

test('a service that is killed while it is held ends the move, and takes events again', async () => {
  const holding = begin(servers);
  await holding.said(HELD);
  await service.kill();
  expect(await holding.ended).toBe(1);
  expect(holding.stderr()).toMatch(/^tallyhouse move: [^\n]*\n$/);
  service = await start(null, dataDir);
  expect(await sendBatch()).toBeNull();
});

test('servers with other data are refused, and a move that is forgotten is not continued', async () => {
  const env = { DATA_DIR: dataDir, ...ENV };
  const other = await emptyServers('other');
  const another = await tallyhouse(argumentsFor(other), env);
  expect(another).toMatchObject({ code: 1, err: expect.stringContaining('--abort') });
  expect(await tallyhouse(['move', '--abort'], env)).toMatchObject({ code: 0, err: '' });
  const left = await tallyhouse(argumentsFor(servers), env);
  expect(left).toMatchObject({ code: 1, err: expect.stringContaining('another move') });
  // Events of another installation.
  const mixed = { ...other, clickhouse: servers.clickhouse };
  const refused = await tallyhouse(argumentsFor(mixed), env);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') });
  await expect(stat(join(dataDir, 'move.json'))).rejects.toThrow('ENOENT');
  servers = other;
});

test('nothing that was acknowledged is lost while a running service is moved, and every answer is the same', async () => {
  const before = await everyAnswer(service);
  expect(before.size).toBeGreaterThan(60);
  const words = new Set<string>();
  let isMoving = true;
  let readsBetween = 0;
  const load = async () => {
    while (isMoving) {
      const refusal = await sendBatch();
      if (refusal !== null) words.add(refusal);
      // The key of a request that only reads needs no row meanwhile.
      const key = { 'idempotency-key': `read-${sent}` };
      const { status } = await service.call('/v1/contract-pricing/rate-cards/list', {}, key);
      if (refusal?.includes(REFUSED) === true && status === 200) readsBetween += 1;
    }
  };
  const loading = load();
  const env = { DATA_DIR: dataDir, ...ENV };
  const urls = { NEW_DB: servers.postgres, NEW_CH: servers.clickhouse };
  const named = { postgres: 'env:NEW_DB', clickhouse: 'env:NEW_CH' };
  const moved = await tallyhouse(argumentsFor(named, '--json'), { ...env, ...urls }).finally(() => {
    isMoving = false;
  });
  await loading;
  expect(moved.code, moved.err).toBe(0);
  expect(JSON.parse(moved.out)).toMatchObject({ invoice_count: 2, ledger_entry_count: 1 });
  expect(moved.err).toContain('no differences');
  expect([...words].join(' ')).toContain(REFUSED);
  expect(readsBetween).toBeGreaterThan(0);
  const place = await start(servers, await createTestDirectory());
  expect(await everyAnswer(place)).toEqual(before);
  expect(await loadIn(place)).toBe(acknowledged);
  // Events that are there already count once.
  for (const id of ['load-1', 'load-2'])
    await place.call('/v1/ingest', [{ ...LOAD, transaction_id: id, properties: {} }]);
  expect(await loadIn(place)).toBe(acknowledged);
  await moveClock(place, '2026-05-03T00:00:00Z');
  expect(JSON.parse((await place.call('/v1/invoices')).body).data.length).toBeGreaterThan(2);
});

test('the old place accepts no more requests, and names the place of its stores, without passwords', async () => {
  const where = new URL(servers.clickhouse).host;
  const refusals = [await service.call('/v1/invoices'), await service.call('/v1/ingest', [LOAD])];
  for (const { status, body } of refusals)
    expect([status, body]).toEqual([503, expect.stringContaining(where)]);
  expect(await service.call('/healthz')).toMatchObject({ status: 200 });
  await service.kill();
  const again = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: dataDir });
  expect(await again.ended).toBe(1);
  const env = { DATA_DIR: dataDir, PORT: '0' };
  const doctor = await tallyhouse(['doctor'], env);
  const backfill = await tallyhouse(['backfill', join(dataDir, 'move.json')], env);
  const abort = await tallyhouse(['move', '--abort'], env);
  for (const text of [refusals[0]?.body, again.stderr(), doctor.out, backfill.err, abort.err]) {
    expect(text).toContain(where);
    expect(text).not.toContain(FRONT_USERS.tallyhouse);
  }
});

test('a move that was killed before its last step releases the servers when it is called again', async () => {
  const client = connectPostgres({ url: servers.postgres }, { max: 1 });
  await client`update tallyhouse_move.move set ended_at = null`;
  const settings = { PORT: '0', DATABASE_URL: servers.postgres, CLICKHOUSE_URL: servers.clickhouse };
  const closed = await tallyhouse(['doctor'], { ...settings, DATA_DIR: await createTestDirectory() });
  expect(closed.out).toMatch(/✗ move .* has not ended/);
  const again = await tallyhouse(argumentsFor(servers), { DATA_DIR: dataDir, ...ENV });
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('Done already') });
  expect(await client`select 1 from tallyhouse_move.move where ended_at is not null`).toHaveLength(1);
  await client.end();
});

test('a service that is stopped is moved too, to a cluster, with the events that ClickHouse did not have yet', async () => {
  const directory = await createDataDirectory();
  const stopped = await start(null, directory);
  await moveClock(stopped, NOW);
  await created(stopped, '/v1/customers', { name: 'load', ingest_aliases: ['load'] });
  const [known, before] = [acknowledged, sent];
  expect(await sendBatch(stopped)).toBeNull();
  await stopped.kill();
  const cluster = await startFrontProcess({
    directory: await createTestDirectory(),
    port: 0,
    cluster: 'two',
  });
  try {
    const to = { postgres: await gateway.createDatabase(), clickhouse: frontUrl(cluster.port, 'moved') };
    const env = { DATA_DIR: directory, ...ENV };
    const moved = await tallyhouse(argumentsFor(to, '--cluster', 'two', '--no-reconcile'), env);
    expect(moved).toMatchObject({ code: 0, err: '' });
    expect(moved.out).toContain(`${BATCH} events`);
    const url = { CLICKHOUSE_CLUSTER: 'two' };
    const place = await startBillingProcess(to, await createTestDirectory(), START, url);
    opened.push(place);
    expect(await loadIn(place)).toBe(acknowledged - known);
    await place.call('/v1/ingest', [{ ...LOAD, transaction_id: `load-${before + 1}`, properties: {} }]);
    expect(await loadIn(place)).toBe(BATCH);
    await place.kill();
  } finally {
    await cluster.kill();
  }
});
