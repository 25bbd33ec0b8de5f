/**
 * Backups one after the other into an S3-compatible store that answers badly now and then: each holds what was acknowledged
 * before it and can be restored by itself, whatever the others have.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { backUp, everyAnswer, type Made, tallyhouse } from '../support/backups.ts';
import {
  type BillingProcess,
  created,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { S3_KEYS, type S3Store, startS3Store } from '../support/s3-store.ts';
import { createTestDirectory } from '../support/stores.ts';

const START = '2026-03-01T00:00:00Z';
const PLACE = 's3://safe/backups/of tallyhouse';

let store: S3Store;
let env: Record<string, string>;
let service: BillingProcess;
let dataDir: string;
const opened: BillingProcess[] = [];

async function start(directory: string, more: Record<string, string> = {}): Promise<BillingProcess> {
  const process = await startBillingProcess(null, directory, START, more);
  opened.push(process);
  return process;
}

beforeAll(async () => {
  store = await startS3Store('safe');
  env = { ...S3_KEYS, AWS_ENDPOINT_URL: store.url };
  dataDir = await createDataDirectory();
  service = await start(dataDir, { ...env, BACKUP_DIR: PLACE });
});
afterAll(async () => {
  await Promise.all(opened.map((process) => process.kill()));
  await store.close();
});

interface Kept {
  readonly made: Made;
  readonly answers: Map<string, unknown>;
  readonly events: number;
}

async function keep(...more: readonly string[]): Promise<Kept> {
  // The audit log shows a row when no earlier transaction is under way any more.
  const last = await created(service, '/v1/customers', { name: 'last' });
  const ofLast = `/v1/auditLogs?resource_type=customer&resource_id=${last}`;
  await vi.waitUntil(async () => (await service.call(ofLast)).body.includes(last), WAIT);
  const answers = await everyAnswer(service);
  const { body } = await service.call('/v1/sql', { sql: 'SELECT count() AS many FROM events' });
  const events = Number(JSON.parse(body).data[0].many);
  return { made: await backUp(dataDir, PLACE, ['--rate', '1000', ...more], env), answers, events };
}

const WAIT = { timeout: 120_000, interval: 50 };

let sent = 0;
async function sendEvents(): Promise<void> {
  const [customer] = JSON.parse((await service.call('/v1/customers')).body).data;
  const body = Array.from({ length: 50 }, () => {
    sent += 1;
    return {
      ...{ customer_id: customer.id, event_type: 'more', transaction_id: `more-${sent}` },
      ...{ timestamp: '2026-03-02T00:00:00Z', properties: {} },
    };
  });
  expect((await service.call('/v1/ingest', body)).status).toBe(200);
}

async function restored({ name }: Made, events: number): Promise<string> {
  const directory = join(await createTestDirectory(), 'data');
  const ended = await tallyhouse(['restore', PLACE, '--name', name], {
    ...{ ...env, DATA_DIR: directory, SANDBOX_NOW: START },
  });
  expect(ended).toMatchObject({ code: 0, err: '', out: expect.stringContaining('no differences') });
  expect(ended.out).toContain(`  ${events} event`);
  return directory;
}

test('a full backup and two incremental ones in a store can each be restored, and give the answers of their moment', async () => {
  let count = 0;
  store.onRequest(() => {
    count += 1;
    if (count % 7 === 0) return 'lost';
    return count % 11 === 0 ? 'cut' : null;
  });
  await moveClock(service, '2026-03-02T00:00:00Z');
  await createPayingCustomers(service, 1, START);
  const first = await keep();
  await sendEvents();
  const second = await keep();
  await moveClock(service, '2026-04-03T00:00:00Z');
  await sendEvents();
  const third = await keep();
  expect(first.made.written_bytes).toBe(first.made.bytes);
  expect(second.made.written_bytes).toBeLessThan(second.made.bytes / 2);
  expect([first, second, third].map(({ made }) => made.invoice_count)).toEqual([0, 0, 1]);
  expect(third.events).toBe(first.events + 100);
  for (const { made, events } of [first, third]) await restored(made, events);
  // Nothing that has come since is there, and everything that was there before.
  const again = await start(await restored(second.made, second.events));
  expect(await everyAnswer(again)).toEqual(second.answers);
  await again.kill();
  const { body } = await service.call('/metrics');
  expect(body).toContain(`\ntallyhouse_backup_bytes ${third.made.bytes}\n`);
});

test('what only removed backups need goes from the store, and the doctor finds the last backup there', async () => {
  store.onRequest(() => null);
  const before = store.objects.size;
  const { made } = await keep('--keep', '1');
  expect(made.removed).toHaveLength(3);
  expect(store.objects.size).toBeLessThan(before);
  expect(await tallyhouse(['restore', PLACE, '--check'], env)).toMatchObject({ code: 0 });
  const doctor = await tallyhouse(['doctor'], { ...env, DATA_DIR: dataDir, BACKUP_DIR: PLACE, PORT: '0' });
  expect(doctor.out).toMatch(/✓ backup .*s3:\/\/safe\/backups\/of tallyhouse is of 20/);
  // Nothing of a key in what is printed.
  expect(doctor.out + doctor.err).not.toContain(S3_KEYS.AWS_SECRET_ACCESS_KEY);
});

test('a service whose place of backups cannot be used does not start, and says why', async () => {
  const directory = join(await createTestDirectory(), 'data');
  const started = await tallyhouse(['start'], { DATA_DIR: directory, PORT: '0', BACKUP_DIR: PLACE });
  expect(started).toMatchObject({ code: 1, err: expect.stringContaining('AWS_ACCESS_KEY_ID is not set') });
});
