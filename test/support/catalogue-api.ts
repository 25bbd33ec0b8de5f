/**
 * An app with the routes of customers, metrics, products, rate cards and contracts over a real database:
 * what the tests of those routes need, without ingest or jobs. Usage queries only with a ClickHouse.
 */
import { pino } from 'pino';
import { billableMetricPreviewRoutes } from '../../src/api/routes/billable-metrics/preview-routes.ts';
import { billableMetricRoutes } from '../../src/api/routes/billable-metrics/routes.ts';
import { billingProviderRoutes } from '../../src/api/routes/billing-providers/routes.ts';
import { contractEditRoutes } from '../../src/api/routes/contract-edits/routes.ts';
import { contractRateScheduleRoutes } from '../../src/api/routes/contracts/rate-schedule-routes.ts';
import { contractRoutes } from '../../src/api/routes/contracts/routes.ts';
import { creditTypeRoutes } from '../../src/api/routes/credit-types/routes.ts';
import { customFieldRoutes } from '../../src/api/routes/custom-fields/routes.ts';
import { customerRoutes } from '../../src/api/routes/customers/routes.ts';
import { packageRoutes } from '../../src/api/routes/packages/routes.ts';
import { productRoutes } from '../../src/api/routes/products/routes.ts';
import { rateRoutes } from '../../src/api/routes/rate-cards/rate-routes.ts';
import { rateCardRoutes } from '../../src/api/routes/rate-cards/routes.ts';
import { usageRoutes } from '../../src/api/routes/usage/routes.ts';
import { createApp } from '../../src/app/http-app.ts';
import type { Instant } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { Contract } from '../../src/store/contracts.ts';
import type { Database, Transaction } from '../../src/store/database.ts';
import { type ApiClient, createApiClient } from './api-client.ts';

export const ACTOR_NAME = 'tests';

export interface CatalogueApiOptions {
  readonly now?: Instant;
  readonly clickhouse?: ClickHouse;
  readonly onContractCreated?: (tx: Transaction, contract: Contract) => Promise<void>;
}

const unreachableStore = async () => {
  throw new Error('there is no ClickHouse in these tests');
};

/** For tests that never get as far as a query. */
const NO_CLICKHOUSE: ClickHouse = {
  query: unreachableStore,
  queryBytes: unreachableStore,
  command: unreachableStore,
  insertRows: unreachableStore,
  ping: unreachableStore,
  close: unreachableStore,
};

/** The clock stands still at `now`, 2026-11-20T12:34:56.789Z unless given. */
export function createCatalogueApi(db: Database, options: CatalogueApiOptions = {}): ApiClient {
  const now = options.now ?? Date.UTC(2026, 10, 20, 12, 34, 56, 789);
  const deps = {
    db,
    clock: { now: () => now },
    onContractCreated: options.onContractCreated ?? (async () => {}),
    onContractEndChanged: async () => {},
    clickhouse: options.clickhouse ?? NO_CLICKHOUSE,
  };
  const { hono, routes } = createApp({
    version: '0.0.0',
    log: pino({ level: 'silent' }),
    authenticate: async () => ({ id: 'tests', name: ACTOR_NAME, scope: 'write' }),
    routes: [
      ...customerRoutes(deps),
      ...billableMetricRoutes(deps),
      ...billingProviderRoutes(deps),
      ...creditTypeRoutes(deps),
      ...productRoutes(deps),
      ...rateCardRoutes(deps),
      ...rateRoutes(deps),
      ...packageRoutes(deps),
      ...contractRoutes(deps),
      ...contractEditRoutes(deps),
      ...contractRateScheduleRoutes(deps),
      ...customFieldRoutes(deps),
      ...(options.clickhouse === undefined
        ? []
        : [...usageRoutes(deps), ...billableMetricPreviewRoutes(deps)]),
    ],
    ingest: async () => {
      throw new Error('there is no ingest in these tests');
    },
    readiness: async () => ({ ready: true, checks: {} }),
    measures: () => [],
  });
  return createApiClient({ hono, routes }, 'any-token');
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
