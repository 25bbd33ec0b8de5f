/**
 * The embedded PostgreSQL of a running service is killed: the service starts it again and goes on. Every change that
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
import { createTestDirectory } from '../support/stores.ts';

const NOW = '2026-11-10T00:00:00Z';
const LIMIT_MS = 120_000;
const WITHIN = { interval: 10 };

let dataDir: string;
let service: BillingProcess;

beforeEach(async () => {
  dataDir = join(await createTestDirectory(), 'data');
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

/** Creates customers until that many have been acknowledged. Returns their names, and the statuses of all answers. */
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

test(
  'during writes, twice in a row: they are answered 503 meanwhile, and what was acknowledged is there',
  async () => {
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
  },
  LIMIT_MS,
);

test(
  'while it is not there, the service is not ready and says why, and ingest goes on',
  async () => {
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
    const search = { transactionIds: Array.from({ length: sent }, (_, index) => `e-${index}`) };
    const { body } = await service.call('/v1/events/search', search);
    expect(JSON.parse(body)).toHaveLength(sent);
  },
  LIMIT_MS,
);

/** Month and total of every issued invoice. */
async function issuedInvoices(): Promise<string[]> {
  const { status, body } = await service.call('/v1/invoices?status=FINALIZED&limit=100');
  if (status !== 200) return [];
  const { data } = JSON.parse(body) as { data: { total: number; start_timestamp: string }[] };
  return data.map(({ total, start_timestamp }) => `${start_timestamp.slice(0, 7)}: ${total}`).sort();
}

test(
  'during finalizations: the run goes on by itself, and every invoice is issued once',
  async () => {
    await createPayingCustomers(service, 3, '2026-11-01T00:00:00Z');
    let isComplete = false;
    const run = moveClock(service, '2027-11-02T00:00:00Z').then(() => {
      isComplete = true;
    });
    for (const months of [1, 4]) {
      const issued = async () => (await issuedInvoices()).length;
      await expect.poll(issued, WITHIN).toBeGreaterThanOrEqual(3 * months);
      expect(isComplete).toBe(false);
      await killPostgres();
    }
    await run;
    const later = [
      '2026-12',
      ...Array.from({ length: 10 }, (_, index) => `2027-${`${index + 1}`.padStart(2, '0')}`),
    ];
    const expected = ['2026-11: 2', ...later.map((month) => `${month}: 0`)];
    expect(await issuedInvoices()).toEqual(expected.flatMap((invoice) => [invoice, invoice, invoice]));
  },
  LIMIT_MS,
);

test(
  'and the service is told to stop meanwhile: it stops',
  async () => {
    const { acknowledged } = await createCustomers(5, 'kept');
    await killPostgres(await killPostgres());
    service.program.child.kill('SIGTERM');
    expect(await service.program.ended).toBe(0);
    expect(await isPostgresRunning(await serverPid())).toBe(false);
    service = await startBillingProcess(null, dataDir, NOW);
    expect(await names()).toEqual(acknowledged);
  },
  LIMIT_MS,
);

test(
  'while the service stops: it stops',
  async () => {
    const { acknowledged } = await createCustomers(5, 'kept');
    service.program.child.kill('SIGTERM');
    await killPostgres();
    expect(await service.program.ended).toBe(0);
    service = await startBillingProcess(null, dataDir, NOW);
    expect(await names()).toEqual(acknowledged);
  },
  LIMIT_MS,
);
