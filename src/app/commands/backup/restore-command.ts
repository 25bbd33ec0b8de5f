/**
 * The command that restores a backup into an empty DATA_DIR (docs/how-to/backups.md): it places the files of
 * ClickHouse, loads PostgreSQL, and then compares. No job runs, so nothing is issued and no message is sent.
 *
 * Until it has ended a file prevents the service from starting on incomplete data.
 */
import { open, readdir, realpath, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Config, ConfigError, processEnvironment } from '../../../config.ts';
import { MigrationError } from '../../../core/migrations.ts';
import { EmbeddedClickHouseError } from '../../../embedded/chdb-engine.ts';
import {
  DataDirectoryError,
  takeDataDirectory,
  unfinishedRestore,
} from '../../../embedded/data-directory.ts';
import { startEmbeddedPostgres } from '../../../embedded/postgres.ts';
import { EmbeddedPostgresError } from '../../../embedded/postgres-binaries.ts';
import { migrationsOf } from '../../../store/migrations/migrate.ts';
import { bytesOf, type Manifest } from '../../backups/manifest.ts';
import { openPlace } from '../../backups/open-place.ts';
import { type BackupPlace, manifestFile } from '../../backups/place.ts';
import { placeFiles } from '../../backups/place-files.ts';
import { checkBackup, listBackups, loadManifest } from '../../backups/repository.ts';
import { sizeText } from '../../backups/size-text.ts';
import { CommandFailure, EXIT, failingWith } from '../../failures/command-failure.ts';
import { commandConfig } from '../command-config.ts';
import { createTerminal, type Terminal } from '../terminal/terminal.ts';
import { loadRows } from './load-rows.ts';
import type { RestoreOptions } from './options.ts';
import { countsOf, countsText } from './report.ts';
import { restoreServers } from './restore-servers.ts';
import { verifyRestored } from './verify-restored.ts';

const EXPECTED = [
  ConfigError,
  MigrationError,
  DataDirectoryError,
  EmbeddedPostgresError,
  EmbeddedClickHouseError,
];

/** Returns the exit code: that of a failure if the restored data differ. Throws a `CommandFailure`. */
export function restoreCommand(options: RestoreOptions): Promise<number> {
  return failingWith(EXPECTED, async () => {
    const terminal = createTerminal(process.stdout);
    const place = openPlace(options.place, processEnvironment());
    const manifest = await chosen(place, options.name);
    if (options.isCheck) {
      await migrationsOf(manifest.postgres.migrations);
      await checkBackup(place, manifest);
      terminal.line(`Backup ${manifest.name} is whole: ${sizeText(bytesOf(manifest))}.`);
      terminal.line(`  ${countsText(countsOf(manifest))}`);
      return EXIT.done;
    }
    return await restored(commandConfig(), place, manifest, terminal);
  });
}

async function chosen(place: BackupPlace, name: string | null): Promise<Manifest> {
  const names = await listBackups(place);
  const wanted = name ?? names.at(-1);
  if (wanted === undefined) throw new CommandFailure(`there is no backup in ${place.name}`);
  if (!names.includes(wanted)) {
    const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
    throw new CommandFailure(`${place.name} has no backup ${wanted}: ${known}`);
  }
  return await loadManifest(place, wanted);
}

async function restored(
  config: Config,
  from: BackupPlace,
  manifest: Manifest,
  terminal: Terminal,
): Promise<number> {
  const { dataDir, databaseUrl: postgres, clickhouseUrl: clickhouse } = config;
  if (postgres !== undefined && clickhouse !== undefined)
    return await restoreServers(config, { postgres, clickhouse }, from, manifest, terminal);
  if (postgres !== undefined || clickhouse !== undefined)
    throw new CommandFailure(
      'a restore makes two embedded stores in DATA_DIR, or fills two servers: set both of DATABASE_URL and CLICKHOUSE_URL, or none',
    );
  const { definitions } = manifest.clickhouse;
  if (definitions === undefined)
    throw new CommandFailure(
      'this backup is of servers: set DATABASE_URL and CLICKHOUSE_URL to empty databases',
    );
  await requireEmpty(dataDir);
  // Before anything is written: checks that this version supports the backup, and that the backup is complete.
  const migrations = await migrationsOf(manifest.postgres.migrations);
  await checkBackup(from, manifest);
  const taken = await takeDataDirectory(dataDir);
  try {
    await requireRoom(dataDir, manifest);
    await markUnfinished(dataDir);
    await placeFiles(dataDir, from, manifest, definitions);
    await loadPostgres(dataDir, from, manifest, migrations);
    await rm(unfinishedRestore(dataDir));
  } catch (error) {
    await taken.release();
    await removeContents(dataDir);
    throw error;
  }
  try {
    terminal.line(
      `Restored ${manifest.name} of ${from.pathOf(manifestFile(manifest.name))} into ${dataDir}.`,
    );
    return (await verifyRestored(config, manifest, terminal)) ? EXIT.done : EXIT.failed;
  } finally {
    await taken.release();
  }
}

/** Present on an empty file system. */
const HARMLESS = ['lost+found'];

async function requireEmpty(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CommandFailure(`DATA_DIR ${dataDir} cannot be read: ${error.message}`);
  });
  const found = names.find((name) => !HARMLESS.includes(name));
  if (found === undefined) return;
  throw new CommandFailure(
    `DATA_DIR ${dataDir} is not empty (${found}): nothing is overwritten; name another DATA_DIR, or move that one away`,
  );
}

/** Indexes and the log of PostgreSQL take more than its rows. */
const BYTES_PER_BYTE = 1.5;
const BYTES_BESIDE = 200_000_000;

async function requireRoom(dataDir: string, manifest: Manifest): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const needed = bytesOf(manifest) * BYTES_PER_BYTE + BYTES_BESIDE;
  if (bavail * bsize >= needed) return;
  const free = sizeText(bavail * bsize);
  throw new CommandFailure(
    `${free} are free for DATA_DIR ${dataDir}, and about ${sizeText(needed)} are needed`,
  );
}

async function markUnfinished(dataDir: string): Promise<void> {
  const file = await open(unfinishedRestore(dataDir), 'wx', 0o600);
  await file.sync().finally(() => file.close());
}

/** For a restore that failed. As root, the files of PostgreSQL may be elsewhere. */
async function removeContents(dataDir: string): Promise<void> {
  const postgres = join(dataDir, 'postgres');
  const elsewhere = await realpath(postgres).catch(() => null);
  if (elsewhere !== null && dirname(elsewhere) !== (await realpath(dataDir)))
    await rm(elsewhere, { recursive: true, force: true });
  for (const name of await readdir(dataDir)) {
    if (!HARMLESS.includes(name)) await rm(join(dataDir, name), { recursive: true, force: true });
  }
}

async function loadPostgres(
  dataDir: string,
  from: BackupPlace,
  manifest: Manifest,
  migrations: Awaited<ReturnType<typeof migrationsOf>>,
): Promise<void> {
  const server = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  try {
    await loadRows(server.connection, from, manifest, migrations);
  } finally {
    await server.stop();
  }
}
