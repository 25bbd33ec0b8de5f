/**
 * Fixtures of a test file, opened once and closed after its last test. Call at the top of a file:
 * `const { api } = await catalogueForFile();`.
 */
import { afterAll } from 'vitest';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import type { ApiClient } from './api-client.ts';
import { createCatalogueApi } from './catalogue-api.ts';
import { startTestService, type TestService, type TestServiceOptions } from './service.ts';
import { createTestClickHouse, createTestDatabase, type TestDatabase } from './stores.ts';

/** A migrated database. */
export async function databaseForFile(): Promise<TestDatabase> {
  const pool = await createTestDatabase();
  afterAll(() => pool.close());
  return pool;
}

/** A ClickHouse with empty tables. */
export async function clickhouseForFile(): Promise<ClickHouse> {
  const clickhouse = await createTestClickHouse();
  afterAll(() => clickhouse.close());
  return clickhouse;
}

/** A database and the routes of catalogue and contracts over it, in process. */
export async function catalogueForFile(
  options?: Parameters<typeof createCatalogueApi>[1],
): Promise<{ readonly pool: TestDatabase; readonly api: ApiClient }> {
  const pool = await databaseForFile();
  return { pool, api: createCatalogueApi(pool.db, options) };
}

/** The whole service on separate stores. */
export async function serviceForFile(options?: TestServiceOptions): Promise<TestService> {
  const service = await startTestService(options);
  afterAll(() => service.close());
  return service;
}
