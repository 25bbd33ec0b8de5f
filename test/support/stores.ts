/** Real stores for a test file: its own migrated PostgreSQL database, and its own ClickHouse database. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { z } from 'zod';
import { type LoggedClickHouse, withEventLog } from '../../src/app/stores/logged-clickhouse.ts';
import { createEmbeddedClickHouse } from '../../src/app/stores/stores.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../src/metering/client/clickhouse-remote.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { createDatabase, type Database, type DatabasePool } from '../../src/store/base/database.ts';
import { withUnits } from '../../src/store/base/request-unit.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import {
  clickhouseSchema,
  createEmptied,
  emptyClickHouse,
  emptyPostgres,
  postgresSchema,
} from './emptied-stores.ts';
import { frontUrl } from './front-process.ts';
import { TEMPLATE_DATABASE } from './global-setup.ts';

export interface TestDatabase {
  readonly db: Database;
  readonly connection: PostgresConnection;
  ping(): Promise<void>;
  /** Ends the use of it. */
  close(): Promise<void>;
}

/** A migrated database without rows. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const copy = databases.take() ?? (await copyDatabase());
  const { pool } = copy;
  // A test that uses the database after its end fails, also when other tests have it by then.
  const { proxy, revoke } = Proxy.revocable(pool.db, {});
  return {
    db: withUnits(proxy, { reading: proxy, identifying: proxy }),
    connection: copy.connection,
    ping: pool.ping,
    close: async () => {
      revoke();
      if (!(await databases.give(copy))) await copy.drop();
    },
  };
}

interface DatabaseCopy {
  readonly connection: PostgresConnection;
  readonly pool: DatabasePool;
  readonly schema: string;
  drop(): Promise<void>;
}

const databases = createEmptied<DatabaseCopy>(({ pool, schema }) => emptyPostgres(pool.db, schema));

async function copyDatabase(): Promise<DatabaseCopy> {
  const name = uniqueName();
  // Half the time of the default, which writes every page to the log.
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  const connection = { ...inject('postgres'), database: name };
  const pool = createDatabase(connection);
  return {
    connection,
    pool,
    schema: await postgresSchema(pool.db),
    drop: async () => {
      await pool.close();
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A database without any table, for tests of the migrations themselves. Dropped with the run. */
export async function createEmptyDatabase(): Promise<PostgresConnection> {
  const name = uniqueName();
  await onServer(`CREATE DATABASE ${name}`);
  return { ...inject('postgres'), database: name };
}

/**
 * An empty ClickHouse database with its tables: embedded, or over HTTP where the project of the run says
 * so (vitest.config.ts).
 */
export async function createTestClickHouse(): Promise<ClickHouse> {
  const remote = inject('clickhouse');
  if (remote !== undefined) {
    const clickhouse = await createEmptyClickHouse();
    await applySchema(clickhouse, remote.cluster);
    return clickhouse;
  }
  const copy = clickhouses.take() ?? (await copyClickHouse());
  const { proxy, revoke } = Proxy.revocable({ ...copy.clickhouse }, {});
  return Object.assign(proxy, {
    close: async () => {
      revoke();
      if (!(await clickhouses.give(copy))) await copy.clickhouse.close();
    },
  });
}

interface ClickHouseCopy {
  readonly clickhouse: ClickHouse;
  readonly schema: string;
  /** The database of which it is a copy. */
  readonly template: string;
}

const clickhouses = createEmptied<ClickHouseCopy>((copy) => emptyClickHouse(copy.clickhouse, copy));

async function copyClickHouse(): Promise<ClickHouseCopy> {
  template ??= createTemplate();
  const from = await template;
  const clickhouse = await createEmptyDatabaseInProcess();
  await copyTables(clickhouse, from);
  return { clickhouse, schema: await clickhouseSchema(clickhouse), template: from };
}

/** As the service has it: the embedded one with a log of acknowledged events in front. */
export async function createTestLoggedClickHouse(): Promise<
  Pick<LoggedClickHouse, 'clickhouse' | 'close'> & Partial<LoggedClickHouse>
> {
  const clickhouse = await createTestClickHouse();
  if (inject('clickhouse') !== undefined) return { clickhouse, close: () => clickhouse.close() };
  const directory = await mkdtemp(join(inject('storeDirectory'), 'log-'));
  const events = await withEventLog(clickhouse, directory);
  return {
    ...events,
    close: async () => {
      await events.close();
      await clickhouse.close();
    },
  };
}

let template: Promise<string> | undefined;

/** Takes a fifth of the time that the migrations take. */
async function copyTables(to: ClickHouse, from: string): Promise<void> {
  for (const { name } of await to.query({
    sql: 'SELECT name FROM system.tables WHERE database = {from:String}',
    params: { from },
    schema: z.object({ name: z.string() }),
  })) {
    await to.command(`CREATE TABLE ${name} AS ${from}.${name}`);
  }
  await to.command(`INSERT INTO schema_migrations SELECT * FROM ${from}.schema_migrations`);
}

/**
 * A database of this process with migrated tables. It stays open: an engine without any connection stops, and
 * starting it again for each test takes longer than most tests do.
 */
async function createTemplate(): Promise<string> {
  const database = uniqueName();
  const clickhouse = await createEmbeddedClickHouse({ directory: await engineDirectory(), database });
  await applySchema(clickhouse, undefined);
  return database;
}

/** The same without any table, for tests of the migrations themselves. */
export async function createEmptyClickHouse(): Promise<ClickHouse> {
  const remote = inject('clickhouse');
  if (remote === undefined) return createEmptyDatabaseInProcess();
  const database = uniqueName();
  const server = { url: frontUrl(remote.port, database), cluster: remote.cluster };
  await createRemoteDatabase(server);
  const clickhouse = createRemoteClickHouse(server);
  return {
    ...clickhouse,
    close: async () => {
      const where = remote.cluster === undefined ? '' : ` ON CLUSTER '${remote.cluster}'`;
      await clickhouse.command(`DROP DATABASE ${database}${where}`);
      await clickhouse.close();
    },
  };
}

/** The engine also serves the next file of this process, which has nothing to do with these tables. */
async function createEmptyDatabaseInProcess(): Promise<ClickHouse> {
  const database = uniqueName();
  const clickhouse = await createEmbeddedClickHouse({ directory: await engineDirectory(), database });
  return {
    ...clickhouse,
    close: async () => {
      await clickhouse.command(`DROP DATABASE ${database}`);
      await clickhouse.close();
    },
  };
}

/** A new directory below that of the run, which is removed with it. */
export async function createTestDirectory(): Promise<string> {
  const directory = await mkdtemp(join(inject('runDirectory'), 'dir-'));
  // For an embedded PostgreSQL under another account: where it cannot pass, root keeps the data elsewhere for good.
  await chmod(directory, 0o755);
  return directory;
}

let engine: Promise<string> | undefined;

/** The engine binds one directory per process, so all databases of a process share it. */
async function engineDirectory(): Promise<string> {
  engine ??= mkdtemp(join(inject('storeDirectory'), 'clickhouse-'));
  return await engine;
}

async function onServer(statement: string): Promise<void> {
  const admin = connectPostgres(inject('postgres'), { max: 1 });
  try {
    await admin.unsafe(statement);
  } finally {
    await admin.end();
  }
}

function uniqueName(): string {
  return `t_${randomUUID().replaceAll('-', '')}`;
}
