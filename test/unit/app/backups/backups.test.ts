import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createBackups } from '../../../../src/app/backups/backups.ts';
import { directoryPlace } from '../../../../src/app/backups/directory-place.ts';
import { BackupWriter, backupName } from '../../../../src/app/backups/repository.ts';
import { checkBackups } from '../../../../src/app/commands/doctor/backups.ts';
import { nextDue } from '../../../../src/core/backup-schedule.ts';

let directory: string;
const log = pino({ level: 'silent' });
const env = { PATH: process.env.PATH ?? '' };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'th-schedule-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** A backup without anything in it. */
async function backupOf(place: string, moment: number): Promise<void> {
  const writer = await BackupWriter.open(directoryPlace(place), 'stores', async () => {});
  await writer.end({
    ...{ format: 1, name: backupName(moment), version: '0', moment, files: [] },
    postgres: { migrations: [], tables: [], sequences: [] },
    clickhouse: { definitions: await writer.pieceOf(Buffer.from('definitions')), tables: [] },
  });
}

test('due times are those of cron in UTC', () => {
  const from = Date.UTC(2026, 10, 27, 2, 30);
  expect(nextDue('30 2 * * *', from)).toBe(Date.UTC(2026, 10, 28, 2, 30));
  expect(nextDue('*/15 * * * *', from)).toBe(Date.UTC(2026, 10, 27, 2, 45));
  expect(nextDue('0 0 * * 1', from)).toBe(Date.UTC(2026, 10, 30));
});

test('the last backup is known from the directory, and one that was due meanwhile is tried at the start', async () => {
  const place = join(directory, 'due');
  const moment = Date.now() - 48 * 3_600_000;
  await backupOf(place, moment);
  const config = { backupDir: place, backupSchedule: '0 2 * * *', backupKeep: 1 };
  const backups = await createBackups({ config, log, env: { ...env, DATA_DIR: join(directory, 'none') } });
  expect(backups.figures()).toEqual({ lastSuccessAt: moment, bytes: 'definitions'.length, failures: 0 });
  backups.start();
  // There is no service on that DATA_DIR.
  await vi.waitUntil(() => backups.figures().failures === 1, { timeout: 60_000 });
  await backups.close();
  expect(backups.figures()).toMatchObject({ lastSuccessAt: moment, failures: 1 });
});

test('the doctor says that there is no backup, and that the schedule has passed', async () => {
  const now = Date.UTC(2026, 10, 27, 12);
  const found = async (place: string | undefined, schedule?: string) => {
    const [finding] = await checkBackups({ backupDir: place, backupSchedule: schedule }, now);
    return `${finding?.isFine} ${finding?.message}`;
  };
  expect(await found(undefined)).toContain('true none is known: BACKUP_DIR is not');
  const place = join(directory, 'doctor');
  expect(await found(place)).toContain('false there is none in BACKUP_DIR');
  await backupOf(place, Date.UTC(2026, 10, 25, 3));
  expect(await found(place)).toContain('true the last one in');
  expect(await found(place, '0 2 * * *')).toContain('false the last one in');
  expect(await found(place, '0 2 * * 5')).toContain('true the last one in');
  await writeFile(join(place, 'backups', `${backupName(now)}.json`), 'damaged');
  expect(await found(place)).toContain('2026-11-25');
});
