/** Spans that an earlier version may have stored keep their ids after the upgrade. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { createDatabase } from '../../src/store/base/database.ts';
import { findResponseIdsFrom } from '../../src/store/events/identities.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import { drizzleFolderOf } from '../support/migration-folders.ts';
import { createEmptyDatabase } from '../support/stores.ts';

test('a new installation knows all spans by the id of the answer', async () => {
  const connection = await createEmptyDatabase();
  await migrateDatabase(connection);
  const pool = createDatabase(connection);
  expect(await findResponseIdsFrom(pool.db)).toBe(0);
  await pool.close();
});

test('an upgraded one knows spans by it that ended after the upgrade, on the clock of the service', async () => {
  const connection = await createEmptyDatabase();
  await migrateDatabase(connection, await drizzleFolderOf(['0000_initial']));
  const pool = createDatabase(connection);
  await pool.db.execute(
    sql`insert into customers (id, name, created_at, updated_at) values (gen_random_uuid(), 'Acme', now(), now())`,
  );
  const before = Date.now();
  await migrateDatabase(connection);
  expect(await findResponseIdsFrom(pool.db)).toBeGreaterThanOrEqual(before);
  await pool.close();
});

test('a span with a separate clock is dated by that clock', async () => {
  const connection = await createEmptyDatabase();
  await migrateDatabase(connection, await drizzleFolderOf(['0000_initial']));
  const pool = createDatabase(connection);
  await pool.db.execute(
    sql`insert into customers (id, name, created_at, updated_at) values (gen_random_uuid(), 'Acme', now(), now())`,
  );
  await pool.db.execute(sql`insert into service_clock (now) values ('2026-11-20T00:00:00Z')`);
  await migrateDatabase(connection);
  expect(await findResponseIdsFrom(pool.db)).toBe(Date.UTC(2026, 10, 20));
  await pool.close();
});
