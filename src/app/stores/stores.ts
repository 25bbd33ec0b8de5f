/**
 * Opens the two configured stores, embedded or by URL, and migrates both. Used by the service, the demo and the tests
 * alike.
 */
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Tracer } from '../../core/tracing.ts';
import { type EmbeddedClickHouseOptions, openEmbeddedClickHouse } from '../../embedded/chdb.ts';
import type { RecordedPosition } from '../../embedded/event-log/find-event-log.ts';
import { restoreDefinitions, whileDefinitionsChange } from '../../embedded/kept-definitions.ts';
import type { EmbeddedPostgres } from '../../embedded/postgres.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { createClickHouse } from '../../metering/client/clickhouse-client.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../metering/client/clickhouse-remote.ts';
import { withHeldMerges } from '../../metering/client/held-merges.ts';
import type { EventBlocks } from '../../metering/ingest/event-blocks.ts';
import { reportedWait } from '../../runtime/reported-wait.ts';
import { createDatabase, type DatabasePool } from '../../store/base/database.ts';
import { type Listen, listenTo } from '../../store/base/notifications.ts';
import { findEventLogRecord, recordEventLog } from '../../store/events/event-log.ts';
import type { PostgresConnection } from '../../store/postgres-driver/connect-postgres.ts';
import { reached } from '../failures/store-failure.ts';
import { openEmbeddedDatabase } from './embedded-database.ts';
import { type LoggedClickHouse, type LostEvents, withEventLog } from './logged-clickhouse.ts';
import { migrateStores } from './migrate-stores.ts';

export type StoresConfig = Pick<
  Config,
  'dataDir' | 'databaseUrl' | 'clickhouseUrl' | 'clickhouseCluster' | 'workerThreads'
>;

export interface Stores {
  readonly db: DatabasePool['db'];
  /** Includes every acknowledged event. */
  readonly clickhouse: ClickHouse;
  /** Listens to a channel of PostgreSQL until it is closed, across reconnections. */
  readonly listen: Listen;
  /** The log in front of an embedded ClickHouse. */
  readonly blocks?: EventBlocks | undefined;
  /** The records missing from the log. */
  readonly lostEvents?: LostEvents | undefined;
  /** Rejects if PostgreSQL does not respond. */
  pingPostgres(): Promise<void>;
  /** Resolves, with a line with the reason, when an embedded store has ended by itself and cannot be restarted. */
  readonly lost: Promise<string>;
  /** Waits for running work in both, then stops the embedded ones. */
  close(): Promise<void>;
}

export interface StoresOptions {
  readonly log?: Logger | undefined;
  readonly tracer?: Tracer | undefined;
  /** Whether an embedded ClickHouse merges nothing until `startMerges`, which ingest calls when its index is built. */
  readonly holdMerges?: boolean;
}

/** Starts both concurrently; if something fails, open ones are closed again before this throws. */
export async function startStores(config: StoresConfig, options: StoresOptions = {}): Promise<Stores> {
  const { log, holdMerges = false } = options;
  const say = (line: string) => log?.warn(line);
  const { databaseUrl, clickhouseUrl } = config;
  const postgresql = databaseUrl === undefined ? 'the embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL';
  const analytic = clickhouseUrl === undefined ? 'the embedded ClickHouse' : 'ClickHouse of CLICKHOUSE_URL';
  const [relational, columnar] = await Promise.allSettled([
    reportedWait({ what: postgresql, say }, () => openPostgres(config, log)),
    reportedWait({ what: analytic, say }, () => openClickHouse(config, holdMerges, log)),
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
    const stores = { postgres: connection, clickhouse, cluster: config.clickhouseCluster, log };
    await reportedWait({ what: 'the migrations of both stores', say }, () =>
      withDefinitions(config, () => migrateStores(stores)),
    );
    if (clickhouseUrl === undefined) {
      const records = {
        read: () => findEventLogRecord(pool.db),
        write: (record: RecordedPosition) => recordEventLog(pool.db, record, Date.now()),
      };
      events = await reportedWait({ what: 'the log of events', say }, () =>
        withEventLog(clickhouse, config.dataDir, { ...options, records }),
      );
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    db: pool.db,
    clickhouse: events?.clickhouse ?? clickhouse,
    blocks: events?.blocks,
    lostEvents: events?.lostEvents,
    lost,
    listen: (channel, listener) => listenTo(connection, channel, listener),
    pingPostgres: () => pool.ping(),
    close: async () => {
      await events?.close();
      await close();
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
  const { databaseUrl: url } = config;
  if (url === undefined) {
    const { embedded, pool, close } = await openEmbeddedDatabase(join(config.dataDir, 'postgres'), log);
    return { connection: embedded.connection, pool, lost: endOf(embedded), close };
  }
  const pool = createDatabase({ url });
  try {
    await reached({ store: 'PostgreSQL', variable: 'DATABASE_URL', url }, () => pool.ping());
  } catch (error) {
    await pool.close();
    throw error;
  }
  return { connection: { url }, pool, lost: new Promise<never>(() => {}), close: () => pool.close() };
}

async function endOf(embedded: EmbeddedPostgres): Promise<string> {
  return `the embedded PostgreSQL has ended and cannot be started again: ${await embedded.lost}`;
}

const clickhouseDirectory = ({ dataDir }: Pick<StoresConfig, 'dataDir'>) => join(dataDir, 'clickhouse');

/** Migrates; the definitions of an embedded ClickHouse are copied, so that the next start can restore them. */
async function withDefinitions(config: StoresConfig, migrate: () => Promise<void>): Promise<void> {
  if (config.clickhouseUrl !== undefined) await migrate();
  else await whileDefinitionsChange(clickhouseDirectory(config), migrate);
}

async function openClickHouse(
  config: StoresConfig,
  holdMerges: boolean,
  log: Logger | undefined,
): Promise<ClickHouse> {
  if (config.clickhouseUrl === undefined) {
    const directory = clickhouseDirectory(config);
    const restored = await restoreDefinitions(directory);
    if (restored.length > 0)
      log?.warn({ files: restored }, 'damaged definitions of tables were put back from their copy');
    const embedded = await createEmbeddedClickHouse({ directory, workerThreads: config.workerThreads });
    return holdMerges ? await withHeldMerges(embedded) : embedded;
  }
  const server = { url: config.clickhouseUrl, cluster: config.clickhouseCluster };
  const where = { store: 'ClickHouse', variable: 'CLICKHOUSE_URL', url: server.url } as const;
  await reached(where, () => createRemoteDatabase(server));
  return createRemoteClickHouse(server);
}

/** The embedded engine with the service's settings, without tables. */
export async function createEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<ClickHouse> {
  return createClickHouse(await openEmbeddedClickHouse(options));
}
