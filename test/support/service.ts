/**
 * The whole service for a test: its own real stores and port, a sandbox clock, and a client that checks every
 * answer against its declared schema.
 */
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Logger, pino } from 'pino';
import { inject } from 'vitest';
import { createApplication } from '../../src/app/application/application.ts';
import type { Application, ApplicationParts } from '../../src/app/application/application-parts.ts';
import { drain } from '../../src/app/http/drain.ts';
import type { NetworkService } from '../../src/core/network-services.ts';
import type { ProviderConfig } from '../../src/core/provider-settings.ts';
import { NO_SELLER, type Seller } from '../../src/core/seller.ts';
import { formatInstant, type Instant, parseRfc3339 } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { EventBlocks } from '../../src/metering/ingest/event-blocks.ts';
import { factsWithoutIngest } from '../../src/metering/ingest/event-facts.ts';
import { createUsageSource, type UsageSource } from '../../src/metering/usage/usage-source.ts';
import type { Database } from '../../src/store/base/database.ts';
import { type Listen, listenTo } from '../../src/store/base/notifications.ts';
import type { PostgresConnection } from '../../src/store/postgres-driver/connect-postgres.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { naiveEventStore } from './naive/event-store.ts';
import { createTestDatabase, createTestLoggedClickHouse } from './stores.ts';

export interface TestServiceOptions {
  /** Where the sandbox clock starts, RFC 3339. 2026-11-10T00:00:00Z unless given; null: the system's clock. */
  readonly sandboxNow?: string | null;
  readonly gracePeriodHours?: number;
  readonly invoiceLinesMax?: number;
  readonly subscriptionSeatsMax?: number;
  readonly eventRetentionMonths?: number;
  /** How often the events of nobody are counted for `/metrics`. */
  readonly unmatchedEveryMs?: number;
  readonly otlpCustomerAttributes?: readonly string[];
  readonly paymentProvider?: 'simulated' | 'stripe';
  /** Where the account of the environment is reached. */
  readonly stripe?: {
    readonly apiKey: string;
    readonly webhookSecret?: string;
    readonly apiBase: string;
    readonly leavesInDraft?: boolean;
    /** A second, unless given. */
    readonly timeoutMs?: number;
  };
  readonly secretsKey?: Buffer;
  readonly publicUrl?: string;
  readonly identityProvider?: ProviderConfig;
  readonly dashboardOrigins?: readonly string[];
  readonly deliveryHooks?: ApplicationParts['deliveryHooks'];
  readonly seller?: Seller;
  readonly networkServices?: readonly NetworkService[];
  /** Whether webhooks reach receivers of the test; they do unless this is false. */
  readonly webhookAllowPrivate?: boolean;
  /** Warnings on standard output, unless given. */
  readonly log?: Logger;
  /** With its tables; closed with the service. An embedded one, unless given. */
  readonly clickhouse?: ClickHouse;
  /**
   * `naive`: events stay in memory and the naive engine answers usage, without any ClickHouse. For tests whose
   * guarantee is not SQL; what needs ClickHouse throws.
   */
  readonly usage?: 'naive';
}

export interface TestService {
  readonly url: string;
  readonly token: string;
  readonly api: ApiClient;
  /** The same without a connection: for tests of many requests that are not about HTTP. */
  readonly inProcess: ApiClient;
  readonly routes: Application['routes'];
  readonly db: Database;
  readonly connection: PostgresConnection;
  readonly clickhouse: ClickHouse;
  /** Usage as billing reads it. */
  readonly usageSource: UsageSource;
  /** The blocks of acknowledged events; absent where they go to a server at once. */
  readonly blocks?: EventBlocks | undefined;
  /** Moves the sandbox clock and waits until everything that fell due is done. */
  moveClock(to: string | Instant): Promise<void>;
  /** Stops the application and starts it again on the same stores, with other settings where given. */
  restart(
    settings?: Pick<TestServiceOptions, 'invoiceLinesMax' | 'secretsKey' | 'subscriptionSeatsMax'>,
  ): Promise<void>;
  close(): Promise<void>;
}

const TOKEN = 'token-of-the-tests';
/** Requests and jobs that take longer are ended with the service. */
const DRAIN_WAIT_MS = 10_000;
const DEFAULT_NOW = '2026-11-10T00:00:00Z';

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const [database, { clickhouse, blocks, usageSource, close: closeClickHouse }] = await Promise.all([
    createTestDatabase(),
    eventStore(options),
  ]);
  const parts = {
    config: {
      apiToken: TOKEN,
      // Statements other than queries, such as the removal of old events, are run on each shard.
      clickhouseCluster: inject('clickhouse')?.cluster,
      gracePeriodHours: options.gracePeriodHours ?? 24,
      ingestWindowDays: 34,
      ...(options.invoiceLinesMax === undefined ? {} : { invoiceLinesMax: options.invoiceLinesMax }),
      ...(options.subscriptionSeatsMax === undefined
        ? {}
        : { subscriptionSeatsMax: options.subscriptionSeatsMax }),
      eventRetentionMonths: options.eventRetentionMonths,
      ...(options.otlpCustomerAttributes === undefined
        ? {}
        : { otlpCustomerAttributes: options.otlpCustomerAttributes }),
      seller: options.seller ?? NO_SELLER,
      paymentProvider: options.paymentProvider,
      networkServices: options.networkServices ?? [],
      dashboardOrigins: options.dashboardOrigins ?? [],
      identityProvider: options.identityProvider,
      ...stripeSettings(options),
      webhookAllowPrivate: options.webhookAllowPrivate ?? true,
      sandboxNow: options.sandboxNow === null ? undefined : instantOf(options.sandboxNow ?? DEFAULT_NOW),
    },
    retentionTimes:
      options.eventRetentionMonths === undefined
        ? undefined
        : { everyMs: 100, readEveryMs: 100, announcedMs: 300 },
    unmatchedEveryMs: options.unmatchedEveryMs,
    deliveryHooks: options.deliveryHooks,
    log: options.log ?? pino({ level: 'warn' }),
    stores: {
      db: database.db,
      clickhouse,
      blocks,
      usageSource,
      pingPostgres: () => database.ping(),
      listen: ((channel, listener) => listenTo(database.connection, channel, listener)) as Listen,
    },
    firstToken: async () => ({ token: TOKEN }),
  };
  let application = await createApplication(parts);
  const server = createAdaptorServer({
    fetch: (request, bindings) => application.fetch(request, bindings),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const api = createApiClient({ baseUrl: url, routes: application.routes }, TOKEN);
  const inProcess = createApiClient(
    {
      hono: { request: (path, init) => application.fetch(new Request(new URL(path, url), init)) },
      routes: application.routes,
    },
    TOKEN,
  );
  return {
    url,
    token: TOKEN,
    api,
    inProcess,
    routes: application.routes,
    db: database.db,
    connection: database.connection,
    clickhouse,
    usageSource: usageSource ?? createUsageSource(clickhouse, factsWithoutIngest()),
    blocks,
    async moveClock(to) {
      const now = typeof to === 'number' ? formatInstant(to) : to;
      await api.post('/v1/sandbox/clock', { now });
    },
    async restart(settings = {}) {
      await application.close();
      application = await createApplication({ ...parts, config: { ...parts.config, ...settings } });
    },
    async close() {
      if ('closeAllConnections' in server) server.closeAllConnections();
      // A request whose client has gone continues to read the stores, which the next tests get.
      await drain({
        server,
        waitMs: DRAIN_WAIT_MS,
        requestsEnded: () => application.requestsEnded(),
        endJobs: () => application.endJobs(),
        cancelQueries: () => clickhouse.cancelQueries(),
      });
      await application.close();
      await closeClickHouse();
      await database.close();
    },
  };
}

/** Requests are not held back, and none is waited for longer than a second. */
function stripeSettings({ stripe, secretsKey, publicUrl }: TestServiceOptions) {
  const { timeoutMs = 1_000, ...given } = stripe ?? { apiKey: undefined, apiBase: undefined };
  return {
    stripe: { webhookSecret: undefined, leavesInDraft: false, ...given },
    secretsKey,
    publicUrl,
    stripeRates: { account: 100_000, endpoint: 100_000 },
    stripeTimeoutMs: timeoutMs,
  };
}

interface EventStore {
  readonly clickhouse: ClickHouse;
  readonly blocks?: EventBlocks | undefined;
  readonly usageSource?: UsageSource;
  close(): Promise<void>;
}

async function eventStore({ clickhouse, usage }: TestServiceOptions): Promise<EventStore> {
  if (usage === 'naive') return naiveEventStore();
  return clickhouse === undefined
    ? createTestLoggedClickHouse()
    : { clickhouse, close: () => clickhouse.close() };
}

function instantOf(text: string): Instant {
  const at = parseRfc3339(text);
  if (at === null) throw new Error(`not a timestamp: ${text}`);
  return at;
}
