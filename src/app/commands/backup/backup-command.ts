/**
 * The command that backs up a running service (docs/how-to/backups.md). It runs in a separate process with a lower
 * priority, so that requests do not wait for it.
 *
 * The order makes both stores consistent: a snapshot of PostgreSQL, then ClickHouse with every event acknowledged until
 * then. Everything in ClickHouse that PostgreSQL refers to is included, and the rest is later usage.
 */

import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError, processEnvironment } from '../../../config.ts';
import { messageOf } from '../../../core/failures.ts';
import { tokenFileOf } from '../../../embedded/api-token.ts';
import { DEFINITIONS_FILE } from '../../../embedded/kept-definitions.ts';
import { createDatabase } from '../../../store/base/database.ts';
import {
  DatabaseCopyError,
  type DatabaseSnapshot,
  withDatabaseSnapshot,
} from '../../../store/base/database-copy.ts';
import { LOCKS } from '../../../store/base/lock-numbers.ts';
import { findAppliedMigrations } from '../../../store/migrations/migrate.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import { VERSION } from '../../../version.ts';
import { type AskedService, askService } from '../../backups/backup-channel.ts';
import { bytesOf, type Manifest } from '../../backups/manifest.ts';
import type { FrozenTables } from '../../backups/messages.ts';
import { openPlace } from '../../backups/open-place.ts';
import type { BackupPlace } from '../../backups/place.ts';
import { BackupWriter, backupName, lastManifest } from '../../backups/repository.ts';
import { CommandFailure, EXIT, failingWith } from '../../failures/command-failure.ts';
import { commandConfig } from '../command-config.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import { createTerminal, type Terminal } from '../terminal/terminal.ts';
import { databaseOfService } from '../token-command.ts';
import { backUpServers } from './backup-servers.ts';
import { bytesToCopy, copyParts, findParts } from './copy-parts.ts';
import { copyRows } from './copy-rows.ts';
import type { BackupOptions } from './options.ts';
import { type MadeBackup, reportBackup } from './report.ts';
import { createThrottle } from './throttle.ts';

/** Returns the exit code. Throws a `CommandFailure` if the backup cannot run. */
export function backupCommand(options: BackupOptions): Promise<number> {
  return failingWith([ConfigError, DatabaseCopyError], async () => {
    const config = commandConfig();
    const terminal = createTerminal(options.json ? process.stderr : process.stdout);
    const startedMs = performance.now();
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    const made = await backUp(config, options, terminal);
    reportBackup(made, { seconds: (performance.now() - startedMs) / 1_000, json: options.json, terminal });
    return EXIT.done;
  });
}

async function backUp(config: Config, options: BackupOptions, terminal: Terminal): Promise<MadeBackup> {
  const place = openPlace(options.place, processEnvironment());
  if (config.clickhouseUrl !== undefined)
    return await backUpServers({ config, options, place, terminal }, config.clickhouseUrl);
  const connection = await databaseOfService(config);
  const service = await askedService(config.dataDir);
  try {
    const migrations = await appliedMigrations(connection);
    return await withDatabaseSnapshot(connection, LOCKS.backup, async (snapshot) => {
      const frozen = await frozenNow(service);
      const made = await copied({ config, options, place, terminal, migrations, snapshot, frozen });
      const bytes = bytesOf(made.manifest);
      // The backup exists even if the service has ended.
      await service.ask({ ask: 'note', moment: made.manifest.moment, bytes }).catch(() => undefined);
      return made;
    });
  } finally {
    service.close();
  }
}

async function askedService(dataDir: string): Promise<AskedService> {
  return await askService(dataDir).catch((error: unknown) => {
    const reason = messageOf(error);
    throw new CommandFailure(`the service of ${dataDir} cannot be asked: ${reason}`);
  });
}

/**
 * PostgreSQL announces the removal of old events two minutes before (jobs/event-retention.ts): a snapshot from before
 * that must not be combined with a ClickHouse from after it.
 */
const MOMENT_MS_MAX = 60_000;

async function frozenNow(service: AskedService): Promise<FrozenTables> {
  const startedMs = performance.now();
  const answer = await service.ask({ ask: 'freeze' }).catch((error: unknown) => {
    throw new CommandFailure(
      `the service does not answer: ${error instanceof Error ? error.message : error}`,
    );
  });
  if ('refused' in answer) throw new CommandFailure(`the service refuses a backup: ${answer.refused}`);
  if (!('frozen' in answer)) throw new Error('the service has answered something else');
  if (performance.now() - startedMs > MOMENT_MS_MAX)
    throw new CommandFailure('ClickHouse took too long to say what it has: try again when it has less to do');
  return answer.frozen;
}

interface Copying {
  readonly config: Config;
  readonly options: BackupOptions;
  readonly place: BackupPlace;
  readonly terminal: Terminal;
  readonly migrations: Manifest['postgres']['migrations'];
  readonly snapshot: DatabaseSnapshot;
  readonly frozen: FrozenTables;
}

async function copied(of: Copying): Promise<MadeBackup> {
  const { options, place, terminal, frozen } = of;
  const throttle = createThrottle(options.rateMb * 1_000_000);
  const stores = frozen.tables.find(({ name }) => name === 'usage_events')?.id ?? '';
  const writer = await BackupWriter.open(place, stores, throttle);
  try {
    if (writer.warning !== null) terminal.line(`Warning: ${writer.warning}`);
    const manifest = await written(of, writer);
    const removed = await writer.removeOld(options.keep);
    return { place: place.name, manifest, writtenBytes: writer.writtenBytes(), removed };
  } finally {
    await writer.close();
  }
}

/** Rows of PostgreSQL, whose changed part is unknown, and the manifest. */
const BYTES_BESIDE = 10_000_000;

async function written(of: Copying, writer: BackupWriter): Promise<Manifest> {
  const { config, place, terminal, snapshot, frozen } = of;
  const found = await findParts(frozen, await lastManifest(place), writer);
  await writer.requireRoom(bytesToCopy(found) + BYTES_BESIDE);
  // PostgreSQL first, so that its snapshot is short.
  const bar = progressOf(terminal, 'PostgreSQL', null);
  const tables = await copyRows(snapshot, writer, (bytes) => bar.advance(bytes / 1_000_000));
  bar.end();
  const parts = progressOf(terminal, 'ClickHouse', bytesToCopy(found) / 1_000_000);
  const clickhouse = await copyParts(found, writer, (bytes) => parts.advance(bytes / 1_000_000));
  parts.end();
  const manifest: Manifest = {
    format: 1,
    name: backupName(snapshot.moment),
    version: VERSION,
    moment: snapshot.moment,
    postgres: {
      migrations: of.migrations,
      tables,
      sequences: snapshot.sequences.map((sequence) => ({ ...sequence })),
    },
    clickhouse: {
      definitions: await writer.pieceOf(await readFile(join(config.dataDir, 'clickhouse', DEFINITIONS_FILE))),
      tables: clickhouse,
    },
    files: await otherFiles(config.dataDir, writer),
  };
  await snapshot.check();
  await writer.end(manifest);
  return manifest;
}

/** If nothing is copied there is nothing to show. */
function progressOf(terminal: Terminal, store: string, totalMb: number | null): Progress {
  return createProgress(terminal, { unit: `MB of ${store}`, total: totalMb === 0 ? null : totalMb });
}

async function appliedMigrations(connection: PostgresConnection) {
  const pool = createDatabase(connection);
  try {
    return (await findAppliedMigrations(pool.db)).map(({ name, checksum }) => ({ name, checksum }));
  } finally {
    await pool.close();
  }
}

/** The token of the first start, so that it is valid for the restored service. */
async function otherFiles(dataDir: string, writer: BackupWriter): Promise<Manifest['files']> {
  const token = await readFile(tokenFileOf(dataDir)).catch(() => null);
  return token === null ? [] : [{ path: 'api-token', piece: await writer.pieceOf(token) }];
}
