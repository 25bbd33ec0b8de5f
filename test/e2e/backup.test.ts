/**
 * `tallyhouse backup` of a running service and `tallyhouse restore`, as an operator calls them: what was acknowledged
 * before is there, every answer is the same, and a backup that is damaged or was killed never passes for a whole one.
 */
import { randomBytes } from 'node:crypto';
import { appendFile, cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { backUp, everyAnswer, tallyhouse } from '../support/backups.ts';
import {
  type BillingProcess,
  created,
  createPayingCustomers,
  moveClock,
  startBillingProcess,
} from '../support/billing-process.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { createTestDirectory } from '../support/stores.ts';

const START = '2026-03-01T00:00:00Z';
const NOW = '2026-04-03T00:00:00Z';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';

let service: BillingProcess;
let dataDir: string;
let backups: string;
/** The backups of the restored service, which backs itself up each minute. */
let scheduled: string;
const opened: BillingProcess[] = [];

async function start(directory: string, env: Record<string, string>): Promise<BillingProcess> {
  const process = await startBillingProcess(null, directory, START, env);
  opened.push(process);
  return process;
}

beforeAll(async () => {
  dataDir = await createDataDirectory();
  backups = join(await createTestDirectory(), 'backups');
  service = await start(dataDir, { BACKUP_DIR: backups });
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
  await vi.waitUntil(
    async () =>
      (await service.call(`/v1/auditLogs?resource_type=customer&resource_id=${last}`)).body.includes(last),
    { timeout: 60_000, interval: 100 },
  );
});
afterAll(async () => {
  await Promise.all(opened.map((process) => process.kill()));
});

let sent = 0;

/** Each event has three kilobytes that cannot be compressed, so that a slow backup can be killed in it. */
async function sendLoad(batches: number): Promise<void> {
  for (let batch = 0; batch < batches; batch += 1) {
    const body = Array.from({ length: 100 }, () => {
      sent += 1;
      const properties = { text: randomBytes(3_000).toString('base64') };
      return { ...LOAD, transaction_id: `load-${sent}`, properties };
    });
    expect((await service.call('/v1/ingest', body)).status).toBe(200);
  }
}

const LOAD = { customer_id: 'load', event_type: 'load', timestamp: NOW };
const countLoad = { sql: "SELECT count() AS many FROM events WHERE event_type = 'load'" };

async function loadIn(process: BillingProcess): Promise<number> {
  const { status, body } = await process.call('/v1/sql', countLoad);
  expect(status).toBe(200);
  return Number(JSON.parse(body).data[0].many);
}

async function restoredInto(directory: string, ...more: readonly string[]) {
  return await tallyhouse(['restore', backups, ...more], { DATA_DIR: directory, SANDBOX_NOW: START });
}

async function newDirectory(): Promise<string> {
  return join(await createTestDirectory(), 'data');
}

test('a backup under load has what was acknowledged before, and the restored service gives the same answers', async () => {
  const before = await everyAnswer(service);
  expect(before.size).toBeGreaterThan(60);
  await sendLoad(1);
  const acknowledged = sent;
  let isRunning = true;
  const load = async () => {
    while (isRunning) {
      await sendLoad(1);
      await service.call('/v1/invoices');
    }
  };
  const loading = load();
  const made = await backUp(dataDir, backups).finally(() => {
    isRunning = false;
  });
  await loading;
  expect(made).toMatchObject({ invoice_count: 2, ledger_entry_count: 1 });
  const directory = await newDirectory();
  const restored = await restoredInto(directory);
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).toMatch(/2 invoices, 1 ledger entry: as many as in the backup\n.*: no differences/);
  scheduled = join(await createTestDirectory(), 'backups');
  const again = await start(directory, {
    BACKUP_DIR: scheduled,
    BACKUP_SCHEDULE: '* * * * *',
    BACKUP_KEEP: '1',
  });
  expect(await everyAnswer(again)).toEqual(before);
  const found = await loadIn(again);
  expect(found).toBeGreaterThanOrEqual(acknowledged);
  // A repeat of what is there counts once, and what came after the backup can be sent again.
  await again.call('/v1/ingest', [{ ...LOAD, transaction_id: 'load-1', properties: {} }]);
  expect(await loadIn(again)).toBe(found);
});

test('a backup while invoices are issued restores to one whose numbers agree', async () => {
  const [made] = await Promise.all([backUp(dataDir, backups), moveClock(service, '2026-05-03T00:00:00Z')]);
  const restored = await restoredInto(await newDirectory(), '--name', made.name);
  expect(restored).toMatchObject({ code: 0, err: '' });
  expect(restored.out).toContain('no differences');
});

test('the next backup in a directory copies what is new, and the last ones stay', async () => {
  const directory = join(await createTestDirectory(), 'backups');
  await sendLoad(10);
  const first = await backUp(dataDir, directory);
  expect(first.written_bytes).toBe(first.bytes);
  await sendLoad(1);
  const second = await backUp(dataDir, directory, ['--keep', '1']);
  // Unless a merge joined parts meanwhile, only the hundred events are new.
  expect(second.event_count).toBe(first.event_count + 100);
  expect(second.removed).toEqual([first.name]);
  expect(await tallyhouse(['restore', directory, '--check'], {})).toMatchObject({ code: 0 });
});

/** It has begun to copy the parts of ClickHouse, and needs seconds for them. */
async function slowBackup(): Promise<Program> {
  await sendLoad(10);
  const slow = runProgram('src/app/cli/main.ts', ['backup', backups, '--rate', '1'], { DATA_DIR: dataDir });
  await vi.waitUntil(async () => {
    const names = await readdir(unfinished()).catch(() => []);
    const sizes = await Promise.all(names.map((name) => stat(join(unfinished(), name)).catch(() => null)));
    return sizes.some((found) => (found?.size ?? 0) > 500_000);
  }, WAIT);
  return slow;
}

const unfinished = () => join(backups, 'unfinished');

test('a backup that is killed leaves those before it whole, and nothing frozen', async () => {
  const before = await readdir(join(backups, 'backups'));
  const slow = await slowBackup();
  const env = { DATA_DIR: dataDir };
  const second = await tallyhouse(['backup', backups], env);
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('another backup') });
  slow.child.kill('SIGKILL');
  await slow.ended;
  expect(await readdir(join(backups, 'backups'))).toEqual(before);
  expect(await tallyhouse(['restore', backups, '--check'], {})).toMatchObject({ code: 0 });
  const frozen = join(dataDir, 'clickhouse/data/shadow');
  await vi.waitUntil(async () => (await readdir(frozen)).every((name) => name === 'increment.txt'), WAIT);
  expect(await figure(service, 'failed_total')).toBe(1);
  const made = await backUp(dataDir, backups);
  expect(await readdir(unfinished())).toEqual([]);
  expect(await figure(service, 'bytes')).toBe(made.bytes);
});

async function figure(process: BillingProcess, name: string): Promise<number> {
  const { body } = await process.call('/metrics');
  return Number(new RegExp(`^tallyhouse_backup_${name} (\\S+)$`, 'm').exec(body)?.[1]);
}

const WAIT = { timeout: 120_000, interval: 10 };

test('a damaged backup is refused with the name of the file, and nothing is written', async () => {
  const directory = await createTestDirectory();
  const copy = join(directory, 'backups');
  const names = (await readdir(join(backups, 'backups'))).sort();
  const manifest = join(copy, 'backups', names.at(-1) ?? '');
  const isTable = (text: string) =>
    JSON.parse(text).manifest.clickhouse.tables.find(hasParts).parts[0].piece.id;
  const id = isTable(await readFile(join(backups, 'backups', names.at(-1) ?? ''), 'utf8'));
  const piece = join(copy, 'pieces', id.slice(0, 2), id);
  const damages: [string, () => Promise<unknown>][] = [
    [piece, () => writeFile(piece, 'x', { flag: 'r+' })],
    [piece, () => truncate(piece, 100)],
    [piece, () => appendFile(piece, 'x')],
    [piece, () => rm(piece)],
    [manifest, () => truncate(manifest, 1_000)],
    [
      manifest,
      async () => writeFile(manifest, (await readFile(manifest, 'utf8')).replace(/"rows":\d/, '"rows":9')),
    ],
  ];
  for (const [file, damage] of damages) {
    await rm(copy, { recursive: true, force: true });
    await cp(backups, copy, { recursive: true });
    await damage();
    const target = join(directory, 'data');
    const refused = await tallyhouse(['restore', copy], { DATA_DIR: target });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(file) });
    await expect(stat(target)).rejects.toThrow('ENOENT');
  }
});

function hasParts({ name, parts }: { name: string; parts: unknown[] }): boolean {
  return name === 'usage_events' && parts.length > 0;
}

test('a restore overwrites nothing, and a part of one does not start', async () => {
  const directory = await newDirectory();
  await mkdir(directory);
  await writeFile(join(directory, 'mine'), 'kept');
  const refused = await restoredInto(directory);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not empty (mine)') });
  expect(await readdir(directory)).toEqual(['mine']);
  await rm(join(directory, 'mine'));
  await writeFile(join(directory, 'unfinished-restore'), '');
  const started = runProgram('src/main.ts', [], { PORT: '0', DATA_DIR: directory });
  expect(await started.ended).toBe(1);
  expect(started.stderr()).toContain('has not ended');
});

test('what is no directory of backups, or one of other stores, is refused', async () => {
  const directory = await createTestDirectory();
  await writeFile(join(directory, 'mine'), 'kept');
  const env = { DATA_DIR: dataDir };
  const files = await tallyhouse(['backup', directory], env);
  expect(files).toMatchObject({ code: 1, err: expect.stringContaining('has other files (mine)') });
  const others = await createTestDirectory();
  await writeFile(join(others, 'tallyhouse-backups.json'), JSON.stringify({ format: 1, stores: 'others' }));
  const refused = await tallyhouse(['backup', others], env);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('of other stores') });
  const stopped = await tallyhouse(['backup', others], { DATA_DIR: await newDirectory() });
  expect(stopped).toMatchObject({ code: 1, err: expect.stringContaining('No tallyhouse is running') });
});

test('a service with a schedule backs itself up, says when, and keeps as many backups as its settings say', async () => {
  const again = opened.at(-1) ?? service;
  const at = async () => await figure(again, 'last_success_timestamp_seconds');
  await vi.waitUntil(async () => (await at()) > 0, WAIT);
  const first = await at();
  expect(Math.abs(first - Date.now() / 1_000)).toBeLessThan(600);
  expect(await figure(again, 'bytes')).toBeGreaterThan(10_000);
  expect(await tallyhouse(['restore', scheduled, '--check'], {})).toMatchObject({ code: 0 });
  const doctor = await tallyhouse(['doctor'], { DATA_DIR: dataDir, BACKUP_DIR: scheduled, PORT: '0' });
  expect(doctor.out).toMatch(/✓ backup .* is of 20/);
});

test('a service that is killed in a backup ends it, and leaves the backups before whole', async () => {
  const before = await readdir(join(backups, 'backups'));
  const slow = await slowBackup();
  await service.kill();
  expect(await slow.ended).toBe(1);
  expect(slow.stderr()).toMatch(/^tallyhouse backup: [^\n]*\n$/);
  expect(await readdir(join(backups, 'backups'))).toEqual(before);
  expect(await tallyhouse(['restore', backups, '--check'], {})).toMatchObject({ code: 0 });
  service = await start(dataDir, { BACKUP_DIR: backups });
  await expect(stat(join(dataDir, 'clickhouse/data/shadow'))).rejects.toThrow('ENOENT');
  await backUp(dataDir, backups);
});
