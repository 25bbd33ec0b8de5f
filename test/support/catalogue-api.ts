/**
 * The API over a real PostgreSQL database, without a job runner. ClickHouse is available only if the test passes
 * one.
 */
import { pino } from 'pino';
import { createAudit } from '../../src/access/audit.ts';
import { createIdempotency } from '../../src/access/idempotency.ts';
import { ensureFirstToken } from '../../src/access/manage-tokens.ts';
import { createRequestRecords } from '../../src/access/request-records.ts';
import { createAuthenticator } from '../../src/access/tokens.ts';
import { createInvoicePdf } from '../../src/api/pdf/invoice-pdf.ts';
import { createApp } from '../../src/app/http/http-app.ts';
import { applicationRoutes } from '../../src/app/http/routes.ts';
import { NO_SELLER } from '../../src/core/seller.ts';
import type { Instant } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import type { Database } from '../../src/store/base/database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { billingContext, noClickHouse, WINDOW_DAYS } from './billing-context.ts';

/** The name of the token that the client sends. */
export const ACTOR_NAME = 'API_TOKEN';

export interface CatalogueApiOptions {
  readonly now?: Instant;
  readonly clickhouse?: ClickHouse;
  readonly strictFields?: boolean;
}

const TOKEN = 'token-of-the-tests';
/** The clock stands still at `now`, 2026-11-20T12:34:56.789Z unless given. */
export function createCatalogueApi(db: Database, options: CatalogueApiOptions = {}): ApiClient {
  const now = options.now ?? Date.UTC(2026, 10, 20, 12, 34, 56, 789);
  const clock = { now: () => now };
  const log = pino({ level: 'silent' });
  const clickhouse = options.clickhouse ?? noClickHouse();
  const stores = { db, clock, clickhouse };
  const { authenticate } = createAuthenticator(stores);
  let tokenIsKnown: Promise<unknown> | undefined;
  const ingest = createIngest({ ...stores, windowDays: WINDOW_DAYS, log });
  const { hono, routes } = createApp({
    version: '0.0.0',
    log,
    authenticate: async (text, from) => {
      tokenIsKnown ??= ensureFirstToken({
        ...stores,
        apiToken: TOKEN,
        firstToken: async () => ({ token: TOKEN }),
      });
      await tokenIsKnown;
      return authenticate(text, from);
    },
    records: createRequestRecords({
      db,
      idempotency: createIdempotency(stores),
      audit: createAudit(stores),
      onLost: (error) => {
        throw error;
      },
    }),
    routes: applicationRoutes({
      ...billingContext(stores),
      seller: NO_SELLER,
      invoicePdf: createInvoicePdf(undefined),
      invoiceDecimals: undefined,
    }),
    ...(options.strictFields === undefined ? {} : { strictFields: options.strictFields }),
    ingest: (body) => ingest.ingest(body),
    ingestCloudEvents: async () => undefined,
    ingestSpans: async () => ({ accepted: 0, duplicates: 0, ignored: 0, refused: [], warned: [] }),
    readiness: async () => ({ ready: true, checks: {} }),
    measures: () => [],
  });
  return createApiClient({ hono, routes }, TOKEN);
}

/** Creates through the API and returns the id. */
export async function createdId(api: ApiClient, path: string, body: unknown): Promise<string> {
  return (await api.post(path, body)).text('data.id');
}

export const METRICS = '/v1/billable-metrics/create';
export const PRODUCTS = '/v1/contract-pricing/products/create';
export const RATE_CARDS = '/v1/contract-pricing/rate-cards/create';
export const ADD_RATE = '/v1/contract-pricing/rate-cards/addRate';
export const ADD_RATES = '/v1/contract-pricing/rate-cards/addRates';
export const CONTRACTS = '/v1/contracts/create';

/** A metric that sums `tokens` and can be grouped by `model` and `region`. */
export const TOKENS_METRIC = {
  name: 'Tokens',
  event_type_filter: { in_values: ['completion'] },
  property_filters: [
    { name: 'tokens', exists: true },
    { name: 'model', exists: true },
    { name: 'region', in_values: ['eu', 'us'] },
  ],
  aggregation_type: 'SUM',
  aggregation_key: 'tokens',
  group_keys: [['model'], ['model', 'region']],
};
