/** The settings of backups that the service takes itself (docs/how-to/backups.md). */
import { isAbsolute, relative, resolve } from 'node:path';
import { z } from 'zod';
import { isSchedule } from './backup-schedule.ts';
import { wholeNumber } from './settings.ts';

export interface BackupConfig {
  /** A directory, absolute, or `s3://bucket/prefix`. */
  readonly backupDir: string | undefined;
  /** A cron expression with five fields, in UTC. */
  readonly backupSchedule: string | undefined;
  readonly backupKeep: number;
  /** The place to which a ClickHouse server writes its backups. */
  readonly backupClickhouse: string | undefined;
}

export const backupSettings = {
  BACKUP_SCHEDULE: z
    .string()
    .refine(isSchedule, 'must be five fields as cron has them, such as 30 2 * * *')
    .optional()
    .describe(
      'When the service backs itself up into BACKUP_DIR: minute, hour, day, month and weekday, in UTC. When unset, never.',
    ),
  BACKUP_DIR: z
    .string()
    .optional()
    .describe(
      'Place of the backups of BACKUP_SCHEDULE: a directory outside of DATA_DIR, or s3://bucket/prefix.',
    ),
  BACKUP_CLICKHOUSE: z
    .string()
    .refine(
      (text) => readClickHousePlace(text) !== null,
      "must be Disk('name', 'path'), File('path') or S3('url', 'key', 'secret')",
    )
    .optional()
    .describe(
      "Where a ClickHouse server writes its part of a backup: Disk('name', 'path'), File('path') or S3('url', 'key', 'secret').",
    ),
  BACKUP_KEEP: wholeNumber(1, 10_000)
    .default(14)
    .describe('How many backups stay in BACKUP_DIR after BACKUP_SCHEDULE has added another one.'),
};

interface BackupEnvironment {
  readonly BACKUP_CLICKHOUSE?: string | undefined;
  readonly BACKUP_SCHEDULE?: string | undefined;
  readonly BACKUP_DIR?: string | undefined;
  readonly DATA_DIR: string;
  readonly CLICKHOUSE_URL?: string | undefined;
}

/** Checks that the settings can be used together. */
export function checkBackupSettings(env: BackupEnvironment, context: z.RefinementCtx): void {
  const refuse = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  const { BACKUP_SCHEDULE: schedule, BACKUP_DIR: directory } = env;
  if (schedule !== undefined && directory === undefined) refuse('BACKUP_SCHEDULE', 'needs BACKUP_DIR');
  if (schedule !== undefined && env.CLICKHOUSE_URL !== undefined)
    refuse('BACKUP_SCHEDULE', 'is for an embedded ClickHouse; a server is backed up by its own means');
  if (directory !== undefined && !isStore(directory) && isWithin(env.DATA_DIR, directory))
    refuse('BACKUP_DIR', 'must not be DATA_DIR, nor in it');
}

/** The place of backups in normalized form: an address of a store, or an absolute path. */
export function backupPlaceOf(text: string): string {
  return isStore(text) ? text : resolve(text);
}

function isStore(text: string): boolean {
  return text.startsWith('s3://');
}

function isWithin(directory: string, path: string): boolean {
  const way = relative(resolve(directory), resolve(path));
  return !way.startsWith('..') && !isAbsolute(way);
}

export function backupConfig(env: BackupEnvironment & { readonly BACKUP_KEEP: number }): BackupConfig {
  const { BACKUP_DIR: directory, BACKUP_SCHEDULE: backupSchedule, BACKUP_KEEP: backupKeep } = env;
  return {
    backupDir: directory === undefined ? undefined : backupPlaceOf(directory),
    backupSchedule,
    backupKeep,
    backupClickhouse: env.BACKUP_CLICKHOUSE,
  };
}

/** A place that a ClickHouse server names by a function; the name of a backup is added to its path. */
export interface ClickHousePlace {
  readonly kind: string;
  /** Arguments before and after the path. */
  readonly before: readonly string[];
  readonly path: string;
  readonly after: readonly string[];
  /** Secrets among the arguments. */
  readonly secrets: readonly string[];
}

const PLACE = /^(Disk|File|S3)\(\s*('[^'\\]*'(?:\s*,\s*'[^'\\]*')*)\s*\)$/;
/** The allowed numbers of arguments of each function. */
const ARGUMENTS: Readonly<Record<string, readonly number[]>> = { Disk: [2], File: [1], S3: [1, 3] };

/** Null if the text is not such a place. */
export function readClickHousePlace(text: string): ClickHousePlace | null {
  const [, kind = '', list = ''] = PLACE.exec(text.trim()) ?? [];
  const all = [...list.matchAll(/'([^']*)'/g)].map(([, argument = '']) => argument);
  if (ARGUMENTS[kind]?.includes(all.length) !== true) return null;
  const at = kind === 'Disk' ? 1 : 0;
  const after = all.slice(at + 1);
  return {
    kind,
    before: all.slice(0, at),
    path: all[at] ?? '',
    after,
    secrets: after.filter((one) => one !== ''),
  };
}
