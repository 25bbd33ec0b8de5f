/** Checks the requirements on a ClickHouse server. The check changes nothing, so it creates no table. */
import { z } from 'zod';
import type { Config } from '../../../config.ts';
import { pendingMigrations } from '../../../core/migrations.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { createRemoteClickHouse } from '../../../metering/client/clickhouse-remote.ts';
import { readSchemaFiles } from '../../../metering/schema/schema-files.ts';
import { reached } from '../../failures/store-failure.ts';
import { checkClock } from './clock.ts';
import { type Finding, fine, looked, wrong } from './finding.ts';

const serverRow = z.object({ version: z.string(), now: z.coerce.number() });
const tableRow = z.object({ name: z.string() });
const appliedRow = z.object({ name: z.string(), checksum: z.string() });

/** An embedded one is part of the service. */
export async function checkClickHouse({
  clickhouseUrl: url,
  clickhouseCluster: cluster,
}: Pick<Config, 'clickhouseUrl' | 'clickhouseCluster'>): Promise<readonly Finding[]> {
  if (url === undefined) return [fine('ClickHouse', 'the embedded one is part of the service')];
  const clickhouse = createRemoteClickHouse({ url, cluster });
  try {
    await reached({ store: 'ClickHouse', variable: 'CLICKHOUSE_URL', url }, () => clickhouse.ping());
    const before = Date.now();
    const sql = 'SELECT version() AS version, toUnixTimestamp64Milli(now64(3)) AS now';
    const [row] = await clickhouse.query({ sql, schema: serverRow });
    const { version, now } = serverRow.parse(row);
    return [
      fine('ClickHouse', `version ${version}`),
      checkClock('ClickHouse', now, before, Date.now()),
      ...(await looked('migrations', () => checkMigrations(clickhouse))),
    ];
  } finally {
    await clickhouse.close();
  }
}

async function checkMigrations(clickhouse: ClickHouse): Promise<readonly Finding[]> {
  const tables = await clickhouse.query({
    sql: "SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'schema_migrations'",
    schema: tableRow,
  });
  if (tables.length === 0)
    return [fine('migrations', 'ClickHouse is empty: the first start makes its tables')];
  const applied = await clickhouse.query({
    sql: 'SELECT DISTINCT name, checksum FROM schema_migrations ORDER BY name',
    schema: appliedRow,
  });
  const pending = pendingMigrations('ClickHouse', await readSchemaFiles(), applied);
  if (pending.length === 0) return [fine('migrations', 'ClickHouse has all of this version')];
  const text = `ClickHouse has ${pending.length} pending, from ${pending[0]?.name} on`;
  return [wrong('migrations', `${text}: back up, then start this version, which applies them`)];
}
