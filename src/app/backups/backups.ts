/**
 * The backups known to the service: when the last one succeeded, how many failed, and those that it starts itself by
 * BACKUP_SCHEDULE (docs/how-to/backups.md). The work is done by `tallyhouse backup` in another process.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Config, ConfigError, type Environment } from '../../config.ts';
import { nextDue } from '../../core/backup-schedule.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { type Instant, MINUTE_MS } from '../../core/time.ts';
import type { Logger } from '../../log.ts';
import { CommandFailure } from '../failures/command-failure.ts';
import { openPlace } from './open-place.ts';
import type { BackupPlace } from './place.ts';
import { lastBackup } from './repository.ts';

interface BackupFigures {
  /** Null: none is known. */
  readonly lastSuccessAt: Instant | null;
  /** The size of that backup, including pieces shared with others. */
  readonly bytes: number;
  readonly failures: number;
}

export interface Backups {
  figures(): BackupFigures;
  /** Also called for backups started by an operator. */
  noteDone(backup: { readonly moment: Instant; readonly bytes: number }): void;
  noteFailed(): void;
  start(): void;
  /** Stops a running backup. */
  close(): Promise<void>;
}

interface BackupsOptions {
  readonly config: Pick<Config, 'backupSchedule' | 'backupDir' | 'backupKeep'>;
  readonly log: Logger;
  /** The environment of the service: the other process has the same settings. */
  readonly env: Environment;
}

/** A timer of Node is limited to 24 days; a shorter interval also follows changes of the system clock. */
const LOOK_MS_MAX = 10 * MINUTE_MS;
/** The start of the service waits no longer for a store that does not respond. */
const LOOKED_MS_MAX = 3_000;
/** Maximum bytes of the output of a failed process. */
const ERROR_BYTES_MAX = 4_096;

/** Reads the last backup in BACKUP_DIR. Throws a `ConfigError` if it cannot be used. */
export async function createBackups({ config, log, env }: BackupsOptions): Promise<Backups> {
  const { backupSchedule: schedule, backupDir: directory, backupKeep: keep } = config;
  const place = directory === undefined ? null : openedPlace(directory, env);
  let [lastSuccessAt, bytes, failures]: [Instant | null, number, number] = [null, 0, 0];
  let timer: NodeJS.Timeout | undefined;
  let running: { readonly child: ChildProcess; readonly ended: Promise<void> } | null = null;
  let isClosed = false;
  let from = Date.now();
  const looked = place === null ? Promise.resolve(null) : lastBackup(place).catch(() => null);
  const isKnown = looked.then((known) => {
    if (known === null || lastSuccessAt !== null) return;
    [lastSuccessAt, bytes] = [known.moment, known.bytes];
    // A backup that became due while no service ran is done at the start.
    from = known.moment;
  });
  await Promise.race([isKnown, pause(LOOKED_MS_MAX, undefined, { ref: false })]);

  const run = async (target: string) => {
    from = Date.now();
    const child = startBackup(target, keep, env);
    const ended = endOf(child).then(({ code, error }) => {
      if (code === 0 || isClosed) return;
      failures += 1;
      log.error({ directory: target, reason: error }, 'a scheduled backup has failed');
    });
    running = { child, ended };
    await ended;
    running = null;
  };
  const look = async () => {
    await isKnown;
    if (schedule === undefined || directory === undefined || isClosed) return;
    const due = nextDue(schedule, from);
    if (due === null) return;
    if (due <= Date.now()) await run(directory);
    const next = nextDue(schedule, from) ?? Number.POSITIVE_INFINITY;
    plan(Math.min(LOOK_MS_MAX, Math.max(0, next - Date.now())));
  };
  const plan = (ms: number) => {
    if (isClosed) return;
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  };
  return {
    figures: () => ({ lastSuccessAt, bytes, failures }),
    noteDone(backup) {
      lastSuccessAt = backup.moment;
      bytes = backup.bytes;
      log.info({ moment: backup.moment, bytes }, 'a backup was created');
    },
    noteFailed() {
      // That of a process which was started here is counted by its end.
      if (running === null) failures += 1;
    },
    start: () => plan(0),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      running?.child.kill('SIGTERM');
      await running?.ended;
    },
  };
}

function openedPlace(directory: string, env: Environment): BackupPlace {
  try {
    return openPlace(directory, env);
  } catch (error) {
    if (error instanceof CommandFailure) throw new ConfigError(`BACKUP_DIR: ${error.message}`);
    throw error;
  }
}

function startBackup(directory: string, keep: number, env: Environment): ChildProcess {
  const args = ['backup', directory, '--keep', String(keep), '--json'];
  return spawn(process.execPath, [...program(), ...args], {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** The command, in a build or from source. */
function program(): string[] {
  if (extname(import.meta.url) !== '.ts') return [join(PACKAGE_ROOT, 'dist/app/cli/main.js')];
  const loader = createRequire(import.meta.url).resolve('tsx');
  return ['--import', pathToFileURL(loader).href, join(PACKAGE_ROOT, 'src/app/cli/main.ts')];
}

async function endOf(child: ChildProcess): Promise<{ code: number | null; error: string }> {
  let error = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    error = `${error}${chunk}`.slice(-ERROR_BYTES_MAX);
  });
  return await new Promise((resolve) => {
    child.once('error', (reason) => resolve({ code: null, error: reason.message }));
    child.once('close', (code) => resolve({ code, error: error.trim() }));
  });
}
