/**
 * Opens the two stores that the configuration names, embedded or by URL, and brings both up to date.
 * Used by the service, the demo and the tests alike.
 */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { NO_TRACER, type Tracer } from '../core/tracing.ts';
import { type EmbeddedClickHouseOptions, openEmbeddedClickHouse } from '../embedded/chdb.ts';
import { openEventLog } from '../embedded/event-log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/postgres.ts';
import type { Logger } from '../log.ts';
import type { ClickHouse } from '../metering/client/clickhouse.ts';
import { createClickHouse } from '../metering/client/clickhouse-client.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../metering/client/clickhouse-remote.ts';
import { withHeldMerges } from '../metering/client/held-merges.ts';
import { createEventBlocks, type EventBlocks } from '../metering/ingest/event-blocks.ts';
import { withAcknowledgedEvents } from '../metering/ingest/read-events.ts';
import { createDatabase, type DatabasePool, type PostgresConnection } from '../store/database.ts';
import { type Listen, listenTo } from '../store/notifications.ts';
import { migrateStores } from './migrate-stores.ts';
import { reached } from './store-failure.ts';

export type StoresConfig = Pick<
  Config,
  'dataDir' | 'databaseUrl' | 'clickhouseUrl' | 'clickhouseCluster' | 'workerThreads'
>;

export interface Stores {
  readonly db: DatabasePool['db'];
  /** With every acknowledged event in it. */
  readonly clickhouse: ClickHouse;
  /** Listens to a channel of PostgreSQL until it is closed, whatever happens to the connection. */
  readonly listen: Listen;
  /** The way of events through the log in front of an embedded ClickHouse. */
  readonly blocks?: EventBlocks | undefined;
  /** Rejects when PostgreSQL does not answer. */
  pingPostgres(): Promise<void>;
  /** Resolves, with a line saying why, when an embedded store has ended by itself and cannot be started again. */
  readonly lost: Promise<string>;
  /** Waits for what is running in either, then stops the embedded ones. */
  close(): Promise<void>;
}

export interface Observers {
  readonly log?: Logger | undefined;
  readonly tracer?: Tracer | undefined;
}

export interface StoresOptions extends Observers {
  /** Whether an embedded ClickHouse merges nothing until `startMerges`, which ingest calls when its index is built. */
  readonly holdMerges?: boolean;
}

/** Starts both at the same time; when something fails what is open is closed again before this throws. */
export async function startStores(config: StoresConfig, options: StoresOptions = {}): Promise<Stores> {
  const { log, holdMerges = false } = options;
  const [relational, columnar] = await Promise.allSettled([
    openPostgres(config, log),
    openClickHouse(config, holdMerges),
  ]);
  if (relational.status === 'rejected' || columnar.status === 'rejected') {
    if (relational.status === 'fulfilled') await relational.value.close();
    if (columnar.status === 'fulfilled') await columnar.value.close();
    throw relational.status === 'rejected' ? relational.reason : (columnar as PromiseRejectedResult).reason;
  }
  const { connection, pool, close: closePostgres, lost } = relational.value;
  const clickhouse = columnar.value;
  const close = async () => {
    await Promise.all([closePostgres(), clickhouse.close()]);
  };
  let events: LoggedClickHouse | undefined;
  try {
    await migrateStores({ postgres: connection, clickhouse, cluster: config.clickhouseCluster });
    if (config.clickhouseUrl === undefined) events = await withEventLog(clickhouse, config.dataDir, options);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    db: pool.db,
    clickhouse: events?.clickhouse ?? clickhouse,
    blocks: events?.blocks,
    lost,
    listen: (channel, listener) => listenTo(connection, channel, listener),
    pingPostgres: () => pool.ping(),
    close: async () => {
      await events?.close();
      await close();
    },
  };
}

/** An embedded ClickHouse and the events that are on their way to it. */
export interface LoggedClickHouse {
  readonly clickhouse: ClickHouse;
  readonly blocks: EventBlocks;
  /** Brings them there and closes the log; ClickHouse stays open. */
  close(): Promise<void>;
}

/** Opens the log of DATA_DIR in front of a ClickHouse that has its tables, and takes up what it holds. */
export async function withEventLog(
  clickhouse: ClickHouse,
  dataDir: string,
  { log, tracer = NO_TRACER }: Observers = {},
): Promise<LoggedClickHouse> {
  const eventLog = await openEventLog(join(dataDir, 'event-log'));
  const onFailure = (error: unknown, rows: number) =>
    log?.error(
      { err: error, rows },
      'acknowledged events could not be written to ClickHouse; it is tried again',
    );
  const blocks = createEventBlocks({ clickhouse, log: eventLog, tracer, onFailure });
  return {
    clickhouse: withAcknowledgedEvents(clickhouse, blocks),
    blocks,
    close: async () => {
      await blocks.close();
      await eventLog.close();
    },
  };
}

interface Relational {
  readonly connection: PostgresConnection;
  readonly pool: DatabasePool;
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

async function openPostgres(config: StoresConfig, log: Logger | undefined): Promise<Relational> {
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbeddedPostgres({ directory: join(config.dataDir, 'postgres'), log })
      : undefined;
  const connection: PostgresConnection = embedded?.connection ?? { url: config.databaseUrl ?? '' };
  const pool = createDatabase(connection);
  const { databaseUrl: url } = config;
  if (url !== undefined) {
    try {
      await reached({ store: 'PostgreSQL', variable: 'DATABASE_URL', url }, () => pool.ping());
    } catch (error) {
      await pool.close();
      throw error;
    }
  }
  return { connection, pool, lost: endOf(embedded), close: () => closeInOrder(pool, embedded) };
}

/** The pool first, so that no query meets a server that is going away. */
async function closeInOrder(pool: DatabasePool, embedded: EmbeddedPostgres | undefined): Promise<void> {
  await pool.close();
  await embedded?.stop();
}

async function endOf(embedded: EmbeddedPostgres | undefined): Promise<string> {
  if (embedded === undefined) return await new Promise<never>(() => {});
  return `the embedded PostgreSQL has ended and cannot be started again: ${await embedded.lost}`;
}

async function openClickHouse(config: StoresConfig, holdMerges: boolean): Promise<ClickHouse> {
  if (config.clickhouseUrl === undefined) {
    const directory = join(config.dataDir, 'clickhouse');
    const embedded = await createEmbeddedClickHouse({ directory, workerThreads: config.workerThreads });
    return holdMerges ? await withHeldMerges(embedded) : embedded;
  }
  const server = { url: config.clickhouseUrl, cluster: config.clickhouseCluster };
  const where = { store: 'ClickHouse', variable: 'CLICKHOUSE_URL', url: server.url } as const;
  await reached(where, () => createRemoteDatabase(server));
  return createRemoteClickHouse(server);
}

/** The embedded engine as the service sees it, without tables. */
export async function createEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<ClickHouse> {
  return createClickHouse(await openEmbeddedClickHouse(options));
}
