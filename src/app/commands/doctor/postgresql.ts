/** Checks the requirements on PostgreSQL, and its rows: migrations, failing jobs, unreachable webhooks. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Config } from '../../../config.ts';
import type { KeysetPosition } from '../../../core/paging.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { runningPostgres } from '../../../embedded/postgres.ts';
import { createDatabase, type Database } from '../../../store/base/database.ts';
import { listFailingDeliveries } from '../../../store/invoices/failing-deliveries.ts';
import { listFailedJobs } from '../../../store/jobs/failed-jobs.ts';
import { listEndpoints, type WebhookEndpoint } from '../../../store/messages/webhook-endpoints.ts';
import { findPendingMigrations } from '../../../store/migrations/migrate.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import { databaseIdentity } from '../../../store/service/database-identity.ts';
import { reached } from '../../failures/store-failure.ts';
import { checkClock } from './clock.ts';
import { type Finding, fine, looked, wrong } from './finding.ts';
import type { DataId } from './port.ts';

const VERSION_MIN = 15;
/** Maximum jobs and webhooks that are named. */
const NAMED_MAX = 10;
const ENDPOINTS_MAX = 100;
const CONNECT_MS_MAX = 3_000;

type Place = Pick<Config, 'dataDir' | 'databaseUrl'>;

/** Null: it is the embedded one, and is not running. */
async function connectionTo({ databaseUrl: url, dataDir }: Place): Promise<PostgresConnection | null> {
  return url === undefined ? await runningPostgres(join(dataDir, 'postgres')) : { url };
}

/** The identity of the configured data. */
export async function dataIdOf(config: Place): Promise<DataId> {
  const connection = await connectionTo(config);
  if (connection === null) return 'not running';
  const pool = createDatabase(connection);
  try {
    return await databaseIdentity(pool.db);
  } finally {
    await pool.close();
  }
}

/** An embedded one runs only with the service. */
export async function checkPostgres(config: Place): Promise<readonly Finding[]> {
  const { databaseUrl: url } = config;
  const connection = await connectionTo(config);
  if (connection === null) return [fine('PostgreSQL', 'the embedded one starts with the service')];
  const pool = createDatabase(connection);
  try {
    const ping = () => pool.ping();
    if (url === undefined) await ping();
    else await reached({ store: 'PostgreSQL', variable: 'DATABASE_URL', url }, ping);
    const { db } = pool;
    const server = await checkServer(db);
    const pending = await looked('migrations', () => checkMigrations(db));
    const isOurs = pending.every(({ isFine }) => isFine) && (await hasTables(db));
    const rows = isOurs
      ? await Promise.all([looked('jobs', () => checkJobs(db)), looked('webhooks', () => checkWebhooks(db))])
      : [];
    return [...server, ...pending, ...rows.flat()];
  } finally {
    await pool.close();
  }
}

const serverRow = z.object({ version: z.coerce.number(), text: z.string(), now: z.coerce.number() });

async function checkServer(db: Database): Promise<readonly Finding[]> {
  const before = Date.now();
  const [row] = await db.execute(
    sql`select current_setting('server_version_num') as version, current_setting('server_version') as text,
        extract(epoch from clock_timestamp()) * 1000 as now`,
  );
  const { version, text, now } = serverRow.parse(row);
  const isKnown = version >= VERSION_MIN * 10_000;
  const server = isKnown
    ? fine('PostgreSQL', `version ${text}`)
    : wrong('PostgreSQL', `version ${text} is too old: ${VERSION_MIN} or later is needed`);
  return [server, checkClock('PostgreSQL', now, before, Date.now())];
}

async function hasTables(db: Database): Promise<boolean> {
  const [row] = await db.execute(sql`select to_regclass('webhook_endpoints') is not null as found`);
  return row?.found === true;
}

async function checkMigrations(db: Database): Promise<readonly Finding[]> {
  const pending = await findPendingMigrations(db);
  if (pending.length === 0) return [fine('migrations', 'PostgreSQL has all of this version')];
  if (!(await hasTables(db)))
    return [fine('migrations', 'PostgreSQL is empty: the first start makes its tables')];
  const [first] = pending;
  return [
    wrong(
      'migrations',
      `PostgreSQL has ${pending.length} pending, from ${first?.name} on: back up, then start this version, which applies them`,
    ),
  ];
}

async function checkJobs(db: Database): Promise<readonly Finding[]> {
  const page = { afterId: null, limit: NAMED_MAX + 1 };
  const jobs = await listFailedJobs(db, page);
  const deliveries = await listFailingDeliveries(db, { ...page, since: Date.now() - HOUR_MS });
  const rows = [
    ...deliveries.map((delivery) => ({
      ...delivery,
      id: delivery.invoiceId,
      kind: 'the delivery of invoice',
    })),
    ...jobs,
  ];
  if (rows.length === 0) return [fine('jobs', 'none is failing')];
  const named = rows
    .slice(0, NAMED_MAX)
    .map(({ id, kind, attempts, lastError }) =>
      wrong(
        'jobs',
        `${kind} ${id} has failed ${attempts} times: ${(lastError ?? 'unknown').split('\n', 1).join('')}`,
      ),
    );
  return rows.length === named.length
    ? named
    : [...named, wrong('jobs', 'more are failing: GET /v1/system/failedJobs')];
}

/** Checks that receivers of messages accept connections; nothing is sent. */
async function checkWebhooks(db: Database): Promise<readonly Finding[]> {
  const active = await findActive(db);
  const unreachable = (
    await Promise.all(active.map(async ({ name, url }) => ({ name, url, reason: await connectFailure(url) })))
  ).filter(({ reason }) => reason !== null);
  if (active.length === 0) return [fine('webhooks', 'there are none')];
  if (unreachable.length === 0) return [fine('webhooks', `all ${active.length} can be reached`)];
  return unreachable
    .slice(0, NAMED_MAX)
    .map(({ name, url, reason }) =>
      wrong('webhooks', `${name} (${new URL(url).host}) cannot be reached: ${reason}`),
    );
}

async function findActive(db: Database): Promise<readonly WebhookEndpoint[]> {
  const active: WebhookEndpoint[] = [];
  let after: KeysetPosition | null = null;
  do {
    const page: Awaited<ReturnType<typeof listEndpoints>> = await listEndpoints(db, {
      after,
      limit: ENDPOINTS_MAX,
    });
    active.push(...page.rows.filter(({ archivedAt }) => archivedAt === null));
    after = page.next;
  } while (after !== null && active.length < ENDPOINTS_MAX);
  return active.slice(0, ENDPOINTS_MAX);
}

function connectFailure(url: string): Promise<string | null> {
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      timeout: CONNECT_MS_MAX,
    });
    const end = (reason: string | null) => {
      socket.destroy();
      resolve(reason);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end('no answer in time'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
