/**
 * A backup of servers: the rows of PostgreSQL from one snapshot, and ClickHouse by its own BACKUP, which begins when
 * the snapshot exists. In this order every invoice in the backup has its frozen hours, and every earlier acknowledged
 * event is included: servers acknowledge when ClickHouse has it (docs/how-to/backups.md, "With servers").
 */
import type { Config } from '../../../config.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { createRemoteClickHouse } from '../../../metering/client/clickhouse-remote.ts';
import { parseClickHouseUrl } from '../../../metering/client/clickhouse-url.ts';
import { createDatabase } from '../../../store/base/database.ts';
import { type DatabaseSnapshot, withDatabaseSnapshot } from '../../../store/base/database-copy.ts';
import { LOCKS } from '../../../store/base/lock-numbers.ts';
import { findAppliedMigrations } from '../../../store/migrations/migrate.ts';
import { VERSION } from '../../../version.ts';
import type { Manifest } from '../../backups/manifest.ts';
import type { BackupPlace } from '../../backups/place.ts';
import { BackupWriter, backupName, lastManifest } from '../../backups/repository.ts';
import { CommandFailure, WrongCall } from '../../failures/command-failure.ts';
import { createProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { databaseOfService } from '../token-command.ts';
import { beginBackup, clickhousePlace, endOfWork, serverTables } from './clickhouse-server.ts';
import { copyRows } from './copy-rows.ts';
import type { BackupOptions } from './options.ts';
import type { MadeBackup } from './report.ts';
import { createThrottle } from './throttle.ts';
import { requireWhole } from './verify-restored.ts';

interface ServersBackup {
  readonly config: Config;
  readonly options: BackupOptions;
  readonly place: BackupPlace;
  readonly terminal: Terminal;
}

/** Throws a `CommandFailure`. */
export async function backUpServers(of: ServersBackup, clickhouseUrl: string): Promise<MadeBackup> {
  const { config, options } = of;
  if (config.clickhouseCluster !== undefined)
    throw new CommandFailure('a cluster of ClickHouse is backed up by hand (docs/how-to/backups.md)');
  if (options.keep !== null)
    throw new WrongCall('--keep is for an embedded ClickHouse: a server does not remove its backups');
  const clickhouse = createRemoteClickHouse({ url: clickhouseUrl, cluster: undefined });
  const connection = await databaseOfService(config);
  const pool = createDatabase(connection);
  try {
    await requireWhole({ db: pool.db, clickhouse }, { isEmbedded: false });
    const migrations = (await findAppliedMigrations(pool.db)).map(({ name, checksum }) => ({
      name,
      checksum,
    }));
    return await withDatabaseSnapshot(connection, LOCKS.backup, (snapshot) =>
      copied({ ...of, clickhouse, clickhouseUrl, migrations, snapshot }),
    );
  } finally {
    await pool.close();
    await clickhouse.close();
  }
}

interface Copying extends ServersBackup {
  readonly clickhouse: ClickHouse;
  readonly clickhouseUrl: string;
  readonly migrations: Manifest['postgres']['migrations'];
  readonly snapshot: DatabaseSnapshot;
}

async function copied(of: Copying): Promise<MadeBackup> {
  const { options, place, clickhouse, snapshot, terminal } = of;
  const startedMs = performance.now();
  const tables = await serverTables(clickhouse);
  const stores = tables.find(({ name }) => name === 'usage_events')?.id ?? '';
  const writer = await BackupWriter.open(place, stores, createThrottle(options.rateMb * 1_000_000));
  try {
    if (writer.warning !== null) terminal.line(`Warning: ${writer.warning}`);
    const manifest = await written({ ...of, startedMs }, tables, writer);
    await snapshot.check();
    await writer.end(manifest);
    await writer.removeOld(null);
    return { place: place.name, manifest, writtenBytes: writer.writtenBytes(), removed: [] };
  } finally {
    await writer.close();
  }
}

/**
 * PostgreSQL announces the removal of old events two minutes before: a snapshot from before that must not be combined
 * with a ClickHouse from after it.
 */
const MOMENT_MS_MAX = 60_000;

async function written(
  of: Copying & { readonly startedMs: number },
  tables: Awaited<ReturnType<typeof serverTables>>,
  writer: BackupWriter,
): Promise<Manifest> {
  const { config, options, clickhouse, snapshot, terminal } = of;
  const name = backupName(snapshot.moment);
  const place = clickhousePlace(config.backupClickhouse);
  const { database } = parseClickHouseUrl(of.clickhouseUrl);
  const before = options.isFull ? null : await lastManifest(of.place);
  const base = before?.clickhouse.server?.name ?? null;
  const work = await beginBackup(clickhouse, { database, place, name, base });
  if (performance.now() - of.startedMs > MOMENT_MS_MAX)
    throw new CommandFailure(
      'ClickHouse took too long to begin its backup: try again when it has less to do',
    );
  const bar = createProgress(terminal, { unit: 'MB of PostgreSQL', total: null });
  const rows = await copyRows(snapshot, writer, (bytes) => bar.advance(bytes / 1_000_000));
  bar.end();
  const bytes = await endOfWork(clickhouse, place, work);
  return {
    format: 2,
    name,
    version: VERSION,
    moment: snapshot.moment,
    postgres: {
      migrations: of.migrations,
      tables: rows,
      sequences: snapshot.sequences.map((sequence) => ({ ...sequence })),
    },
    clickhouse: {
      tables: tables.map((table) => ({ ...table, parts: [] })),
      server: { name, base, database, bytes },
    },
    files: [],
  };
}
