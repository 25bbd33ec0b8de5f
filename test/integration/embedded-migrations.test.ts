import { execFile } from 'node:child_process';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import { describe, expect, test } from 'vitest';
import { MigrationError, pendingMigrations } from '../../src/core/migrations.ts';
import { createDatabase } from '../../src/store/base/database.ts';
import { migrateDatabase, withMigrationLock } from '../../src/store/migrations/migrate.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import { drizzleFolderOf, drizzleFolderWith } from '../support/migration-folders.ts';
import { createEmptyDatabase, createTestDatabase } from '../support/stores.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const tables = sql`select count(*)::int as count from information_schema.tables where table_schema = 'public'`;

describe('the migrations', () => {
  test('the migrations give one result when several processes run them at the same time, and change nothing when run again', async () => {
    const connection = await createEmptyDatabase();
    await Promise.all(Array.from({ length: 4 }, () => migrateDatabase(connection)));
    const pool = createDatabase(connection);
    const before = await pool.db.execute(tables);
    expect(before[0]?.count).toBeGreaterThan(0);
    await migrateDatabase(connection);
    expect(await pool.db.execute(tables)).toEqual(before);
    await pool.close();
  });

  test('the migrations that wait for another process say which connection they wait for, and run when it has ended', async () => {
    const connection = await createEmptyDatabase();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let hasLock = () => {};
    const locked = new Promise<void>((resolve) => {
      hasLock = resolve;
    });
    const other = withMigrationLock(connection, async () => {
      hasLock();
      await ended;
    });
    await locked;
    const lines: string[] = [];
    const say = (line: string) => {
      lines.push(line);
      if (lines.length === 2) end();
    };
    const limit = await withMigrationLock(
      connection,
      async (db) => (await db.execute(sql`show lock_timeout`))[0]?.lock_timeout,
      { say, everyMs: 50 },
    );
    await other;
    expect(limit).toBe('0');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^the start waits for the lock of migrations, which the connection of tallyhouse migrate from this machine \(pid \d+ of PostgreSQL\) has$/,
    );
  });

  test('migrations leave no trace when one of them fails, name it, and continue when the cause is gone', async () => {
    const { db, connection, close } = await createTestDatabase();
    const good = 'create table added (n int);';
    const bad = 'create table half_done (n int);--> statement-breakpoint\ninsert into nowhere values (1);';
    const failing = migrateDatabase(
      connection,
      await drizzleFolderWith({ '0801_good': good, '0802_bad': bad }),
    );
    await expect(failing).rejects.toThrow(MigrationError);
    await expect(failing).rejects.toThrow(
      /^migration 0802_bad could not be applied to PostgreSQL: relation "nowhere" does not exist\. Nothing of it was kept and no data is lost\. .*start again/,
    );
    const found = sql`select to_regclass('added') as added, to_regclass('half_done') as half_done`;
    expect((await db.execute(found))[0]).toEqual({ added: null, half_done: null });
    // The earlier version continues with it.
    await migrateDatabase(connection);
    await db.execute(sql`create table nowhere (n int)`);
    await migrateDatabase(connection, await drizzleFolderWith({ '0801_good': good, '0802_bad': bad }));
    expect((await db.execute(found))[0]).toEqual({ added: 'added', half_done: 'half_done' });
    await close();
  });

  test('the migrations of a newer version are not touched by an older one', async () => {
    const { db, connection, close } = await createTestDatabase();
    await migrateDatabase(
      connection,
      await drizzleFolderWith({ '0801_newer': 'create table newer (n int);' }),
    );
    const before = await db.execute(tables);
    const starting = migrateDatabase(connection);
    await expect(starting).rejects.toThrow(MigrationError);
    await expect(starting).rejects.toThrow(
      /^PostgreSQL has the migration 0801_newer, which this version of tallyhouse does not know: a newer version .*restore the backup/,
    );
    expect(await db.execute(tables)).toEqual(before);
    await close();
  });

  test('the migrations of a newer version that only add something let the version before start, until one of them takes something away', async () => {
    const { db, connection, close } = await createTestDatabase();
    const added = { '0801_expand_newer': 'create table newer (n int);' };
    await migrateDatabase(connection, await drizzleFolderWith(added));
    const before = await db.execute(tables);
    await migrateDatabase(connection);
    expect(await db.execute(tables)).toEqual(before);
    const removed = { ...added, '0802_contract_newer': 'drop table newer;' };
    await migrateDatabase(connection, await drizzleFolderWith(removed));
    await expect(migrateDatabase(connection)).rejects.toThrow(
      /^PostgreSQL has the migration 0802_contract_newer, which this version of tallyhouse does not know/,
    );
    await close();
  });

  test('move the record of earlier versions, and leave them one that each of them refuses', async () => {
    const connection = await createEmptyDatabase();
    const client = connectPostgres(connection, { max: 1 });
    const former = drizzle(client);
    // As the versions before did it.
    await migrate(former, { migrationsFolder: await drizzleFolderOf(['0000_initial', '0001_jobs_subject']) });
    const before = await former.execute(sql`select * from drizzle.__drizzle_migrations order by id`);
    await migrateDatabase(connection);
    const record = await former.execute(sql`select * from drizzle.applied_migrations order by id`);
    expect(record.slice(0, 2)).toEqual(before.map((row) => ({ ...row, name: null })));
    expect(record).toHaveLength(
      (await readdir(join(ROOT, 'drizzle'))).filter((name) => name.endsWith('.sql')).length,
    );
    // A version that checks the record finds a migration that it does not know.
    const found = await former.execute(sql`select hash, created_at from drizzle.__drizzle_migrations`);
    const [{ hash: checksum = '' } = {}] = found.map(({ hash }) => ({ hash: String(hash) }));
    expect(() => pendingMigrations('PostgreSQL', [], [{ name: 'of 1970', checksum }])).toThrow(
      /a newer version has been started on this data/,
    );
    // A version that does not check it starts from the first migration, and fails on the tables that are there.
    await expect(
      migrate(former, { migrationsFolder: await drizzleFolderOf(['0000_initial']) }),
    ).rejects.toThrow(/Failed query: CREATE/);
    expect(await former.execute(sql`select * from drizzle.applied_migrations order by id`)).toEqual(record);
    await client.end();
  });

  test('the migrations are refused when their text has changed since', async () => {
    const { connection, close } = await createTestDatabase();
    const folder = await drizzleFolderWith({});
    await appendFile(join(folder, '0000_initial.sql'), '-- changed\n');
    await expect(migrateDatabase(connection, folder)).rejects.toThrow(
      /^migration 0000_initial was applied to PostgreSQL with another text than it has now/,
    );
    await close();
  });

  test('the migrations make exactly the schema that the code declares', async () => {
    const { connection, close } = await createTestDatabase();
    const declared = await createEmptyDatabase();
    const client = connectPostgres(declared, { max: 1 });
    for (const definition of await functionsOf(connection)) await client.unsafe(definition);
    await client.unsafe(await declaredSchema());
    await client.end();
    expect(await catalogueOf(connection)).toEqual(await catalogueOf(declared));
    await close();
  });
});

/** The functions that migrations make: indexes that the code declares need them, and Drizzle has no form for them. */
async function functionsOf(connection: PostgresConnection): Promise<string[]> {
  const client = connectPostgres(connection, { max: 1 });
  const rows = await client<{ definition: string }[]>`
    select pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'public'::regnamespace order by proname`;
  await client.end();
  return rows.map(({ definition }) => definition);
}

/** The statements that make the tables of src/store in an empty database. */
async function declaredSchema(): Promise<string> {
  const tool = join(ROOT, 'node_modules', 'drizzle-kit', 'bin.cjs');
  const args = [tool, 'export', '--sql', '--dialect', 'postgresql', '--schema', './src/store/*/*.tables.ts'];
  return (await promisify(execFile)(process.execPath, args, { cwd: ROOT })).stdout;
}

/** Everything that tables consist of, whatever the order of its creation. */
async function catalogueOf(connection: PostgresConnection) {
  const client = connectPostgres(connection, { max: 1 });
  try {
    return {
      columns: await client`
        select table_name, column_name, data_type, udt_name, is_nullable, column_default, numeric_precision,
          numeric_scale, datetime_precision, collation_name, is_identity, identity_generation, is_generated
        from information_schema.columns where table_schema = 'public' order by 1, 2`,
      constraints: await client`
        select conrelid::regclass::text as table_name, conname, pg_get_constraintdef(oid) as definition
        from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`,
      indexes: await client`
        select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' order by 1, 2`,
      types: await client`
        select t.typname, array_agg(e.enumlabel order by e.enumsortorder) as labels
        from pg_type t join pg_enum e on e.enumtypid = t.oid group by t.typname order by 1`,
    };
  } finally {
    await client.end();
  }
}

describe('the database', () => {
  test('the database ends a statement that runs too long, and a transaction is all or nothing', async () => {
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

  test('the database of one test file is not that of another', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await one.db.execute(sql`create table only_here (n int)`);
    await expect(two.db.execute(sql`select * from only_here`)).rejects.toThrow();
    await Promise.all([one.close(), two.close()]);
  });
});
