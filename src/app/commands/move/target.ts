/** The target servers of a move: empty ones, or those of the same move that was interrupted. */
import { z } from 'zod';
import { type Config, ConfigError, type Environment, loadConfig } from '../../../config.ts';
import type { MoveRecord } from '../../../embedded/move-record.ts';
import {
  createRemoteClickHouse,
  createRemoteDatabase,
  createRemoteInserts,
} from '../../../metering/client/clickhouse-remote.ts';
import { parseClickHouseUrl } from '../../../metering/client/clickhouse-url.ts';
import type { TableCopy } from '../../../metering/copies/copy-tables.ts';
import { findMoveMark, firstTable, markMoveTarget } from '../../../store/base/move-target.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import { CommandFailure, WrongCall } from '../../failures/command-failure.ts';
import { reached } from '../../failures/store-failure.ts';
import { type Stores, startStores } from '../../stores/stores.ts';
import type { MoveOptions } from './options.ts';

/** The URLs for the service, and in readable form. */
export interface TargetPlace {
  readonly config: Config;
  readonly postgresUrl: string;
  readonly clickhouseUrl: string;
  /** Without users and passwords. */
  readonly to: MoveRecord['to'];
}

export interface MoveTarget {
  readonly connection: PostgresConnection;
  /** Migrated, without rows of the source's PostgreSQL. */
  readonly stores: Stores;
  readonly clickhouse: TableCopy['to'];
  close(): Promise<void>;
}

/** Throws a `WrongCall` for URLs that a service cannot use. */
export function targetPlace(options: Extract<MoveOptions, { kind: 'move' }>, env: Environment): TargetPlace {
  const { cluster } = options;
  const [postgres, clickhouse] = [urlOf(options.postgres, env), urlOf(options.clickhouse, env)];
  try {
    const config = loadConfig({
      ...env,
      DATABASE_URL: postgres,
      CLICKHOUSE_URL: clickhouse,
      CLICKHOUSE_CLUSTER: cluster ?? undefined,
      // Settings of the service that runs here.
      BACKUP_SCHEDULE: undefined,
      BACKUP_DIR: undefined,
    });
    const { database } = parseClickHouseUrl(clickhouse);
    const to = { postgres: placeOf(postgres), clickhouse: placeOf(clickhouse, database) };
    return { config, postgresUrl: postgres, clickhouseUrl: clickhouse, to };
  } catch (error) {
    if (error instanceof ConfigError || (error instanceof Error && error.message.includes('CLICKHOUSE_URL')))
      throw new WrongCall(inOptions(error.message));
    throw error;
  }
}

const FROM_ENVIRONMENT = 'env:';

/** A command line is visible to others on the machine, the environment is not. */
function urlOf(text: string, env: Environment): string {
  if (!text.startsWith(FROM_ENVIRONMENT)) return text;
  const name = text.slice(FROM_ENVIRONMENT.length);
  const url = env[name];
  if (url === undefined || url === '') throw new WrongCall(`the environment has no ${name}`);
  return url;
}

/** Refusals name the option with the URL. */
export function inOptions(text: string): string {
  return text.replaceAll('DATABASE_URL', '--to-postgres').replaceAll('CLICKHOUSE_URL', '--to-clickhouse');
}

function placeOf(text: string, database: string | null = null): string {
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${database === null ? pathname : `/${database}`}`;
}

/** Marks the servers as targets of this move. Throws a `CommandFailure` if they have other data. */
export async function claimTarget(place: TargetPlace, record: MoveRecord): Promise<void> {
  const { postgresUrl, to } = place;
  const connection = { url: postgresUrl };
  const mark = await reached({ store: 'PostgreSQL', variable: 'DATABASE_URL', url: postgresUrl }, () =>
    findMoveMark(connection),
  );
  if (mark === null) {
    await requireEmptyPostgres(connection, to.postgres);
    await requireEmptyClickHouse(serverOf(place), to.clickhouse);
    await markMoveTarget(connection, { id: record.id, clickhouse: to.clickhouse });
  } else if (mark.id !== record.id || mark.clickhouse !== to.clickhouse || mark.isEnded) {
    throw new CommandFailure(
      `${to.postgres} has the data of another move: name an empty database, or the servers of this one`,
    );
  }
}

/** Migrates both. */
export async function openTarget(place: TargetPlace): Promise<MoveTarget> {
  const stores = await startStores(place.config);
  const inserts = createRemoteInserts(serverOf(place));
  return {
    connection: { url: place.postgresUrl },
    stores,
    clickhouse: { ...stores.clickhouse, insert: inserts.insert },
    async close() {
      await inserts.close();
      await stores.close();
    },
  };
}

function serverOf({ clickhouseUrl, config }: TargetPlace) {
  return { url: clickhouseUrl, cluster: config.clickhouseCluster };
}

async function requireEmptyPostgres(connection: PostgresConnection, place: string): Promise<void> {
  const table = await firstTable(connection);
  if (table === null) return;
  throw new CommandFailure(
    `${place} is not empty (${table}): nothing is overwritten; name an empty database`,
  );
}

async function requireEmptyClickHouse(
  server: { readonly url: string; readonly cluster: string | undefined },
  place: string,
): Promise<void> {
  await reached({ store: 'ClickHouse', variable: 'CLICKHOUSE_URL', url: server.url }, () =>
    createRemoteDatabase(server),
  );
  const clickhouse = createRemoteClickHouse(server);
  try {
    const [table] = await clickhouse.query({
      sql: 'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name LIMIT 1',
      schema: z.object({ name: z.string() }),
    });
    if (table === undefined) return;
    throw new CommandFailure(
      `${place} is not empty (${table.name}): nothing is overwritten; name an empty database`,
    );
  } finally {
    await clickhouse.close();
  }
}
