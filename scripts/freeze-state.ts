/**
 * Writes test/frozen/<name>: a fixed story that this version of the service runs on fresh stores, everything that
 * the stores then hold, and the answers of the service about it. Later versions are tested against it.
 *
 * Run it once, before the first migration after a release: npm run freeze-state -- <name>
 */
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { createApplication } from '../src/app/application/application.ts';
import type { Application } from '../src/app/application/application-parts.ts';
import { migrateStores } from '../src/app/stores/migrate-stores.ts';
import { createEmbeddedClickHouse } from '../src/app/stores/stores.ts';
import { parseRfc3339 } from '../src/core/time.ts';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import type { ClickHouse } from '../src/metering/client/clickhouse.ts';
import { createDatabase } from '../src/store/base/database.ts';
import type { PostgresConnection } from '../src/store/postgres-driver/connect-postgres.ts';
import { type ApiClient, createApiClient } from '../test/support/api-client.ts';
import {
  FROZEN_FOLDER,
  type FrozenAnswer,
  type FrozenRequest,
  writeFrozenState,
} from '../test/support/frozen-state.ts';
import { dumpClickHouse, dumpPostgres } from './frozen-state/dump.ts';
import { type FrozenSubscription, readRequests } from './frozen-state/reads.ts';
import { STORY_BEGINS, STORY_ENDS, tellStory } from './frozen-state/story.ts';

const ROOT = join(import.meta.dirname, '..');
const TOKEN = 'token-of-the-frozen-state';
const ORIGIN = 'http://frozen.invalid';

async function main(name: string | undefined): Promise<void> {
  if (name === undefined || !/^[\w.-]+$/.test(name)) throw new Error('usage: npm run freeze-state -- <name>');
  const directory = join(FROZEN_FOLDER, name);
  const exists = await stat(directory).then(
    () => true,
    () => false,
  );
  if (exists) throw new Error(`${directory} is there already, and a frozen state never changes`);
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyhouse-freeze-'));
  // As root, PostgreSQL runs under another account, which has to pass through.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: join(dataDir, 'postgres') });
  const clickhouse = await createEmbeddedClickHouse({ directory: join(dataDir, 'clickhouse') });
  try {
    await migrateStores({ postgres: postgres.connection, clickhouse, cluster: undefined });
    const answers = await tellAndAsk(postgres.connection, clickhouse);
    await writeFrozenState(directory, {
      facts: { now: STORY_ENDS, token: TOKEN, migrations: await appliedMigrations() },
      ...(await dumpPostgres(postgres.connection)),
      clickhouse: await dumpClickHouse(clickhouse),
      answers,
    });
  } finally {
    await clickhouse.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** When it returns the application is closed, and with that the last repeats of events are written. */
async function tellAndAsk(connection: PostgresConnection, clickhouse: ClickHouse): Promise<FrozenAnswer[]> {
  const pool = createDatabase(connection);
  const application = await createApplication({
    config: {
      apiToken: TOKEN,
      gracePeriodHours: 24,
      ingestWindowDays: 34,
      sandboxNow: parseRfc3339(STORY_BEGINS) ?? undefined,
    },
    log: pino({ level: 'warn' }),
    stores: { db: pool.db, clickhouse, pingPostgres: () => pool.ping() },
    firstToken: async () => ({ token: TOKEN }),
  });
  try {
    return await askEverything(application);
  } finally {
    await application.close();
    await pool.close();
  }
}

async function askEverything(application: Application): Promise<FrozenAnswer[]> {
  const request = (path: string, init: RequestInit) => application.fetch(new Request(ORIGIN + path, init));
  const api = createApiClient({ hono: { request }, routes: application.routes }, TOKEN);
  const story = await tellStory(api);
  const customers = await api.get('/v1/customers', { query: { limit: 100 } });
  const archived = await api.get('/v1/customers', { query: { limit: 100, only_archived: true } });
  const idsIn = (list: unknown[]) =>
    list.flatMap((one) => (one !== null && typeof one === 'object' && 'id' in one ? [String(one.id)] : []));
  const invoiceIds = new Map<string, string[]>();
  const subscriptions: FrozenSubscription[] = [];
  for (const customer of idsIn([...customers.list('data'), ...archived.list('data')])) {
    const invoices = await api.get(`/v1/customers/${customer}/invoices`, { query: { limit: 100 } });
    invoiceIds.set(customer, idsIn(invoices.list('data')));
    subscriptions.push(...(await subscriptionsOf(api, customer)));
  }
  const answers: FrozenAnswer[] = [];
  for (const one of readRequests(story, invoiceIds, subscriptions, application.routes)) {
    answers.push({ request: one, answer: await answerTo(one, request) });
  }
  return answers;
}

async function subscriptionsOf(api: ApiClient, customerId: string): Promise<FrozenSubscription[]> {
  const answer = await api.post('/v2/contracts/list', { customer_id: customerId, include_archived: true });
  const subscription = z.object({ id: z.string(), quantity_management_mode: z.string() });
  const contract = z.object({ id: z.string(), subscriptions: z.array(subscription).optional() });
  return z
    .array(contract)
    .parse(answer.list('data'))
    .flatMap(({ id: contractId, subscriptions = [] }) =>
      subscriptions.map(({ id, quantity_management_mode: mode }) => ({
        ...{ customerId, contractId, id },
        hasSeats: mode === 'SEAT_BASED',
      })),
    );
}

async function answerTo(
  { method, path, body }: FrozenRequest,
  request: (path: string, init: RequestInit) => Response | Promise<Response>,
): Promise<string> {
  const response = await request(path, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path} ${JSON.stringify(body)} → ${text}`);
  return text;
}

async function appliedMigrations() {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(join(ROOT, 'drizzle', 'meta', '_journal.json'), 'utf8'),
  );
  const files = (await readdir(join(ROOT, 'clickhouse'))).filter((name) => /^\d{4}_.*\.sql$/.test(name));
  return { postgres: journal.entries.map(({ tag }) => tag), clickhouse: files.sort(), areRecorded: true };
}

await main(process.argv[2]);
