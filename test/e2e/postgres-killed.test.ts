/**
 * The embedded PostgreSQL of a running service is killed: the service starts it again and continues. Every change that
 * was acknowledged is there, and every invoice is issued once.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isPostgresRunning, readPostmaster } from '../../src/embedded/postmaster-file.ts';
import {
  type BillingProcess,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

const NOW = '2026-11-10T00:00:00Z';
const WITHIN = { interval: 10 };

let dataDir: string;
let service: BillingProcess;

beforeEach(async () => {
  dataDir = await createDataDirectory();
  service = await startBillingProcess(null, dataDir, NOW);
});

afterEach(async () => {
  await service.kill();
});

async function serverPid(): Promise<number> {
  return (await readPostmaster(join(dataDir, 'postgres', 'data')))?.pid ?? 0;
}

/** Kills PostgreSQL. Where it was killed before, waits for the next one, which may be recovering still. */
async function killPostgres(before = 0): Promise<number> {
  const isNext = async () => {
    const pid = await serverPid();
    return pid !== before && (await isPostgresRunning(pid));
  };
  await expect.poll(isNext, WITHIN).toBe(true);
  const pid = await serverPid();
  process.kill(pid, 'SIGKILL');
  return pid;
}

async function names(): Promise<string[]> {
  const { body } = await service.call('/v1/customers?limit=100');
  return (JSON.parse(body) as { data: { name: string }[] }).data.map(({ name }) => name).sort();
}

/**
 * Creates customers until that many have been acknowledged. Returns their names, and the statuses of all answers.
 */
async function createCustomers(count: number, prefix: string) {
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  for (let index = 0; acknowledged.length < count; index += 1) {
    const name = `${prefix}-${index}`;
    const { status } = await service.call('/v1/customers', { name });
    statuses.add(status);
    if (status === 200) acknowledged.push(name);
  }
  return { acknowledged, statuses };
}

const endsLogged = () => service.program.stderr().match(/PostgreSQL has ended/g)?.length ?? 0;

test('during writes, twice in a row: they are answered 503 meanwhile, and what was acknowledged is there', async () => {
  const before = await createCustomers(10, 'before');
  const during = Promise.all(['a', 'b', 'c', 'd'].map((prefix) => createCustomers(15, prefix)));
  await killPostgres(await killPostgres());
  const writers = await during;
  const statuses = new Set(writers.flatMap((writer) => [...writer.statuses]));
  expect([...statuses].sort()).toEqual([200, 503]);
  const acknowledged = [before, ...writers].flatMap((writer) => writer.acknowledged);
  expect(await names()).toEqual(expect.arrayContaining(acknowledged));
  // The second may have come before the next server was ready, which is a failed attempt.
  expect([1, 2]).toContain(endsLogged());
});

test('PostgreSQL is killed: while it is not there, the service is not ready and says why, and ingest continues', async () => {
  await service.call('/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  let sent = 0;
  const ingest = async () => {
    const event = { transaction_id: `e-${sent}`, customer_id: 'acme', event_type: 'call', timestamp: NOW };
    sent += 1;
    return (await service.call('/v1/ingest', [{ ...event, properties: {} }])).status;
  };
  // After the second end, there is a pause before the next attempt.
  await killPostgres(await killPostgres());
  const answers = new Set<number>();
  const readiness = async () => {
    answers.add(await ingest());
    return await service.call('/readyz');
  };
  await expect
    .poll(readiness, WITHIN)
    .toMatchObject({ status: 503, body: expect.stringContaining('PostgreSQL does not answer') });
  expect(await service.call('/v1/customers')).toMatchObject({
    status: 503,
    retryAfter: expect.any(Number),
  });
  await expect.poll(readiness, WITHIN).toMatchObject({ status: 200 });
  expect([...answers]).toEqual([200]);
  // As many as one search takes; the outage lasts as long as it does.
  for (let from = 0; from < sent; from += 100) {
    const ids = Array.from({ length: Math.min(100, sent - from) }, (_, index) => `e-${from + index}`);
    const { body } = await service.call('/v1/events/search', { transactionIds: ids });
    expect(JSON.parse(body)).toHaveLength(ids.length);
  }
});

const MONTHS_PER_RUN = 6;
/** Months of 3 customers each, which fit on a page. */
const MONTHS_MAX = 30;

/** As the beginning of a date: that many months after November 2026. */
function monthAfter(months: number): string {
  return new Date(Date.UTC(2026, 10 + months)).toISOString().slice(0, 7);
}

/** Month and total of every issued invoice. */
async function issuedInvoices(): Promise<string[]> {
  const { status, body } = await service.call('/v1/invoices?status=FINALIZED&limit=100');
  if (status !== 200) return [];
  const { data } = JSON.parse(body) as { data: { total: number; start_timestamp: string }[] };
  return data.map(({ total, start_timestamp }) => `${start_timestamp.slice(0, 7)}: ${total}`).sort();
}

test('during finalizations: the run continues by itself, and every invoice is issued once', async () => {
  await createPayingCustomers(service, 3, '2026-11-01T00:00:00Z');
  const issued = async () => (await issuedInvoices()).length;
  let months = 0;
  // A run may be over before this process has seen its first invoice; then the next one is killed.
  for (let kills = 0; kills < 2; months += MONTHS_PER_RUN) {
    expect(months).toBeLessThan(MONTHS_MAX);
    let isComplete = false;
    const run = moveClock(service, `${monthAfter(months + MONTHS_PER_RUN)}-02T00:00:00Z`).then(() => {
      isComplete = true;
    });
    await expect.poll(issued, WITHIN).toBeGreaterThan(3 * months);
    if (!isComplete) {
      await killPostgres();
      kills += 1;
    }
    await run;
  }
  const expected = Array.from(
    { length: months },
    (_, index) => `${monthAfter(index)}: ${index === 0 ? 2 : 0}`,
  );
  expect(await issuedInvoices()).toEqual(expected.flatMap((invoice) => [invoice, invoice, invoice]));
});

test('PostgreSQL is killed and the service is asked to stop meanwhile: it stops', async () => {
  const { acknowledged } = await createCustomers(5, 'kept');
  await killPostgres(await killPostgres());
  service.program.child.kill('SIGTERM');
  expect(await service.program.ended).toBe(0);
  expect(await isPostgresRunning(await serverPid())).toBe(false);
  service = await startBillingProcess(null, dataDir, NOW);
  expect(await names()).toEqual(acknowledged);
});

test('PostgreSQL is killed while the service stops: it stops', async () => {
  const { acknowledged } = await createCustomers(5, 'kept');
  service.program.child.kill('SIGTERM');
  await killPostgres();
  expect(await service.program.ended).toBe(0);
  service = await startBillingProcess(null, dataDir, NOW);
  expect(await names()).toEqual(acknowledged);
});
