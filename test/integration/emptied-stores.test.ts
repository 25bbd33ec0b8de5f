/** Stores that one test hands on to the next are empty, and otherwise unchanged. */
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createDatabase } from '../../src/store/base/database.ts';
import { createTestClickHouse, createTestDatabase, type TestDatabase } from '../support/stores.ts';
import { storeEvents } from '../support/usage-events.ts';

interface HandedOn<Store> {
  /** Whether the second store is the first one. */
  readonly isSame: boolean;
  readonly second: Store;
}

/** A database is used and closed, and another one is asked for. */
async function afterDatabase(use: (database: TestDatabase) => Promise<unknown>) {
  const first = await createTestDatabase();
  await use(first);
  await first.close();
  const second = await createTestDatabase();
  const isSame = JSON.stringify(second.connection) === JSON.stringify(first.connection);
  return { isSame, second } satisfies HandedOn<TestDatabase>;
}

const addChange = ({ db }: TestDatabase) =>
  db.execute<{ id: string }>(
    sql`insert into customer_changes (customer_id) values (${crypto.randomUUID()}) returning id`,
  );

describe('a PostgreSQL database', () => {
  test('a PostgreSQL database is handed on without rows, and numbers its rows from the first on', async () => {
    const { isSame, second } = await afterDatabase(addChange);
    expect(isSame).toBe(true);
    expect(await second.db.execute(sql`select from customer_changes`)).toHaveLength(0);
    expect(await addChange(second)).toMatchObject([{ id: '1' }]);
    await second.close();
  });

  test.each([
    ['another table', 'create table another (id int)'],
    ['a trigger that is off', 'alter table customers disable trigger all'],
    ['another column', 'alter table customers add column another int'],
    ['a lock of a session', 'select pg_advisory_lock(1)'],
    [
      'many rows',
      'insert into customer_changes (customer_id) select gen_random_uuid() from generate_series(1, 6000)',
    ],
  ])('a PostgreSQL database is not handed on with %s', async (_, statement) => {
    const { isSame, second } = await afterDatabase(({ db }) => db.execute(sql.raw(statement)));
    expect(isSame).toBe(false);
    await second.close();
  });

  test('a PostgreSQL database is not handed on while another session has a transaction', async () => {
    let end = (): void => {};
    let other: Promise<unknown> = Promise.resolve();
    const { isSame, second } = await afterDatabase(async ({ connection }) => {
      const pool = createDatabase(connection);
      await new Promise<void>((resolve) => {
        other = pool.db.transaction(async () => {
          resolve();
          await new Promise<void>((ended) => {
            end = ended;
          });
        });
      });
    });
    end();
    await expect(other).rejects.toThrow();
    expect(isSame).toBe(false);
    await second.close();
  });

  test('a PostgreSQL database is not used any more by those who have closed it', async () => {
    const { db, close } = await createTestDatabase();
    await close();
    expect(() => db.execute(sql`select 1`)).toThrow('revoked');
  });
});

const nameOf = (clickhouse: ClickHouse) =>
  clickhouse.query({
    sql: 'SELECT currentDatabase() AS name',
    schema: z.object({ name: z.string() }),
  });

/** Two of them are an event and a later copy of it. */
const storeThree = async (clickhouse: ClickHouse) => {
  const at = Date.UTC(2026, 10, 3);
  const event = { customerRef: 'ada', eventType: 'call', timestamp: at, properties: {} };
  await storeEvents(clickhouse, [
    { ...event, transactionId: 'a', ingestedAt: at * 1000 },
    { ...event, transactionId: 'a', ingestedAt: at * 1000 + 1 },
    { ...event, transactionId: 'b', ingestedAt: at * 1000 },
  ]);
};

const partsOf = (clickhouse: ClickHouse) =>
  clickhouse.query({
    sql: `SELECT name FROM system.parts
      WHERE database = currentDatabase() AND table = 'usage_events' AND active ORDER BY name`,
    schema: z.object({ name: z.string() }),
  });

async function afterClickHouse(use: (clickhouse: ClickHouse) => Promise<unknown>) {
  const first = await createTestClickHouse();
  const name = await nameOf(first);
  await storeThree(first);
  await use(first);
  await first.close();
  const second = await createTestClickHouse();
  const isSame = JSON.stringify(await nameOf(second)) === JSON.stringify(name);
  return { isSame, second } satisfies HandedOn<ClickHouse>;
}

describe('a ClickHouse database', () => {
  test('a ClickHouse database is handed on without events, and with the record of its migrations', async () => {
    const { isSame, second } = await afterClickHouse(async () => undefined);
    expect(isSame).toBe(true);
    const rows = await second.query({
      sql: `SELECT (SELECT count() FROM usage_events) AS events,
        (SELECT count() FROM schema_migrations) > 0 AS migrated`,
      schema: z.object({ events: z.string(), migrated: z.coerce.boolean() }),
    });
    expect(rows).toEqual([{ events: '0', migrated: true }]);
    // As in a new table, and not merged with what was there.
    await storeThree(second);
    expect(await partsOf(second)).toEqual([{ name: '202611_1_1_0' }, { name: '202611_2_2_0' }]);
    await second.close();
  });

  test.each([
    ['another table', 'CREATE TABLE another (id UInt8) ENGINE = Memory'],
    ['another column', 'ALTER TABLE usage_events ADD COLUMN another UInt8'],
    ['events that were removed', "ALTER TABLE usage_events DELETE WHERE customer_ref = 'ada'"],
    ['a part set aside', 'ALTER TABLE usage_events DETACH PARTITION ALL'],
  ])('a ClickHouse database is not handed on with %s', async (_, statement) => {
    const { isSame, second } = await afterClickHouse((clickhouse) => clickhouse.command(statement));
    expect(isSame).toBe(false);
    await second.close();
  });

  test('a ClickHouse database is not handed on when its queries were ended', async () => {
    const { isSame, second } = await afterClickHouse((clickhouse) => clickhouse.cancelQueries());
    expect(isSame).toBe(false);
    await second.close();
  });
});
