import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../../src/store/database.ts';
import { migrateDatabase } from '../../src/store/migrate.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/stores.ts';

const tables = sql`select count(*)::int as count from information_schema.tables where table_schema = 'public'`;

describe('the migrations', () => {
  test('give one result when several processes run them at the same time, and change nothing when run again', async () => {
    const connection = await createEmptyDatabase();
    await Promise.all(Array.from({ length: 4 }, () => migrateDatabase(connection)));
    const pool = createDatabase(connection);
    const before = await pool.db.execute(tables);
    expect(before[0]?.count).toBeGreaterThan(0);
    await migrateDatabase(connection);
    expect(await pool.db.execute(tables)).toEqual(before);
    await pool.close();
  });
});

describe('the database', () => {
  test('ends a statement that runs too long, and a transaction is all or nothing', async () => {
    const database = await createTestDatabase();
    const limits = await database.db.execute(sql`select current_setting('statement_timeout') as timeout`);
    expect(limits[0]).toEqual({ timeout: '30s' });
    await database.db.execute(sql`create table t (n int)`);
    const failing = database.db.transaction(async (transaction) => {
      await transaction.execute(sql`insert into t values (1)`);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await database.db.execute(sql`select n from t`)).toHaveLength(0);
    await database.ping();
    await database.close();
  });

  test('of one test file is not that of another', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await one.db.execute(sql`create table only_here (n int)`);
    await expect(two.db.execute(sql`select * from only_here`)).rejects.toThrow();
    await Promise.all([one.close(), two.close()]);
  });
});
