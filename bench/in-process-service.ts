/**
 * The application in this process, on separate embedded stores: for benchmarks that compare the API with
 * a query written by hand on the same engine, or that fill tables faster than ingest could.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApplication } from '../src/app/application/application.ts';
import { startStores } from '../src/app/stores/stores.ts';
import { loadConfig } from '../src/config.ts';
import type { ClickHouse, SelectStatement } from '../src/metering/client/clickhouse.ts';
import type { Database } from '../src/store/base/database.ts';

const TOKEN = 'bench-token-of-temporary-data';

export interface InProcessService {
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  /** Throws for everything but 200. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  /** Creates and returns the id. */
  create(path: string, body: unknown): Promise<string>;
  /** A new event of a type that no metric counts, so that the next draft of the customer reads its usage. */
  newEvent(customerRef: string): Promise<void>;
  /** The queries that the application sends to ClickHouse during a call. */
  queriesOf(call: () => Promise<unknown>): Promise<SelectStatement[]>;
  close(): Promise<void>;
}

/** `environment` is added to what the service is configured by. */
export async function startInProcessService(
  environment: Readonly<Record<string, string>> = {},
): Promise<InProcessService> {
  const directory = await mkdtemp(join(tmpdir(), 'tallyhouse-bench-'));
  await chmod(directory, 0o755);
  const config = loadConfig({
    DATA_DIR: directory,
    UV_THREADPOOL_SIZE: '16',
    API_TOKEN: TOKEN,
    ...environment,
  });
  const stores = await startStores(config);
  const recorder = recordQueries(stores.clickhouse);
  const application = await createApplication({
    config,
    log: pino({ level: 'error' }),
    stores: { ...stores, clickhouse: recorder.clickhouse },
    firstToken: async () => ({ token: TOKEN }),
  });
  let events = 0;
  async function send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<string> {
    const response = await application.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path} → ${response.status} ${text}`);
    return text;
  }
  const call = async (method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> =>
    JSON.parse(await send(method, path, body));
  return {
    db: stores.db,
    clickhouse: stores.clickhouse,
    call,
    create: async (path, body) => ((await call('POST', path, body)) as { data: { id: string } }).data.id,
    async newEvent(customerRef) {
      events += 1;
      const event = {
        transaction_id: `new event ${events}`,
        customer_id: customerRef,
        event_type: 'not counted',
        timestamp: environment.SANDBOX_NOW ?? new Date().toISOString(),
      };
      await send('POST', '/v1/ingest', [event]);
    },
    queriesOf: recorder.queriesOf,
    async close() {
      await application.close();
      await stores.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The same ClickHouse, and the queries that it gets. */
function recordQueries(clickhouse: ClickHouse): Pick<InProcessService, 'clickhouse' | 'queriesOf'> {
  let sent: SelectStatement[] | null = null;
  return {
    clickhouse: {
      ...clickhouse,
      query: (query) => {
        sent?.push(query);
        return clickhouse.query(query);
      },
    },
    queriesOf: async (call) => {
      const queries: SelectStatement[] = [];
      sent = queries;
      await call();
      sent = null;
      return queries;
    },
  };
}
