/**
 * Restores a backup of servers into empty ones: ClickHouse by its own RESTORE, then PostgreSQL in one transaction. If
 * it is interrupted, PostgreSQL has no row of the backup.
 */

import { z } from 'zod';
import type { Config } from '../../../config.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../../metering/client/clickhouse-remote.ts';
import { parseClickHouseUrl } from '../../../metering/client/clickhouse-url.ts';
import { firstTable } from '../../../store/base/move-target.ts';
import { migrationsOf } from '../../../store/migrations/migrate.ts';
import type { Manifest } from '../../backups/manifest.ts';
import { type BackupPlace, manifestFile } from '../../backups/place.ts';
import { checkBackup } from '../../backups/repository.ts';
import { CommandFailure, EXIT } from '../../failures/command-failure.ts';
import { reached } from '../../failures/store-failure.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { beginRestore, clickhousePlace, endOfWork } from './clickhouse-server.ts';
import { loadRows } from './load-rows.ts';
import { verifyRestored } from './verify-restored.ts';

export interface ServerUrls {
  readonly postgres: string;
  readonly clickhouse: string;
}

/** Rebuilt from the events: a record newer than the events would treat resent events as known. */
const REBUILT_TABLE = 'known_id_runs';

/** Returns the exit code. Throws a `CommandFailure`. */
export async function restoreServers(
  config: Config,
  { postgres, clickhouse: url }: ServerUrls,
  from: BackupPlace,
  manifest: Manifest,
  terminal: Terminal,
): Promise<number> {
  const { server } = manifest.clickhouse;
  if (server === undefined)
    throw new CommandFailure(
      'this backup is of an embedded ClickHouse: unset DATABASE_URL and CLICKHOUSE_URL, restore it, then `tallyhouse move` it to servers',
    );
  const place = clickhousePlace(config.backupClickhouse);
  const migrations = await migrationsOf(manifest.postgres.migrations);
  await checkBackup(from, manifest);
  await requireEmptyPostgres(postgres);
  const address = { url, cluster: undefined };
  await reached({ store: 'ClickHouse', variable: 'CLICKHOUSE_URL', url }, () =>
    createRemoteDatabase(address),
  );
  const clickhouse = createRemoteClickHouse(address);
  try {
    await requireEmptyClickHouse(clickhouse);
    const into = parseClickHouseUrl(url).database;
    const restored = { from: server.database, into, place, name: server.name };
    await endOfWork(clickhouse, place, await beginRestore(clickhouse, restored));
    await clickhouse.command(`TRUNCATE TABLE IF EXISTS ${REBUILT_TABLE}`);
  } finally {
    await clickhouse.close();
  }
  await loadRows({ url: postgres }, from, manifest, migrations);
  terminal.line(`Restored ${manifest.name} of ${from.pathOf(manifestFile(manifest.name))} into the servers.`);
  return (await verifyRestored(config, manifest, terminal)) ? EXIT.done : EXIT.failed;
}

async function requireEmptyPostgres(url: string): Promise<void> {
  const table = await reached({ store: 'PostgreSQL', variable: 'DATABASE_URL', url }, () =>
    firstTable({ url }),
  );
  if (table !== null) throw notEmpty('DATABASE_URL', table);
}

async function requireEmptyClickHouse(clickhouse: ClickHouse): Promise<void> {
  const [table] = await clickhouse.query({
    sql: 'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name LIMIT 1',
    schema: z.object({ name: z.string() }),
  });
  if (table !== undefined) throw notEmpty('CLICKHOUSE_URL', table.name);
}

function notEmpty(variable: string, table: string): CommandFailure {
  return new CommandFailure(
    `the database of ${variable} is not empty (${table}): nothing is overwritten; name an empty one`,
  );
}
