/** The migration sets the subject of jobs that an older version queued without one. */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { createDatabase } from '../../src/store/base/database.ts';
import { migrateDatabase } from '../../src/store/migrations/migrate.ts';
import { drizzleFolderOf } from '../support/migration-folders.ts';
import { createEmptyDatabase } from '../support/stores.ts';

const CONTRACT = '00000000-0000-4000-8000-000000000001';

test('a job that was queued before jobs had subjects has its contract as its subject', async () => {
  const connection = await createEmptyDatabase();
  await migrateDatabase(connection, await drizzleFolderOf(['0000_initial']));
  const { db, close } = createDatabase(connection);
  const payload = JSON.stringify({ contract_id: CONTRACT, period_start: 0 });
  await db.execute(sql`
    insert into jobs (kind, key, run_at, payload) values
      ('finalize_usage_invoice', 'a', now(), ${payload}::jsonb), ('other', 'b', now(), '{}')`);
  await migrateDatabase(connection);
  expect(await db.execute(sql`select key, subject from jobs order by key`)).toEqual([
    { key: 'a', subject: CONTRACT },
    { key: 'b', subject: null },
  ]);
  await close();
});
