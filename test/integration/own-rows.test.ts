import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type DatabasePool } from '../../src/store/base/database.ts';
import { jobs } from '../../src/store/jobs/jobs.tables.ts';
import { endOtherConnections, replaceLostConnections } from '../support/lost-connections.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';

let database: TestDatabase;
let pool: DatabasePool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createDatabase(database.connection);
});
afterAll(async () => {
  await pool.close();
  await replaceLostConnections(database.db);
  await database.close();
});

/** More than a pool has connections. */
const STATEMENTS = 40;
/** In which all connections are ended while they are used. */
const ROUNDS = 8;
/** Rows of an answer that the server sends in many parts. */
const ROWS = 3_000;

/** The answers of statements on every connection; those that fail are left out. */
async function answers<Answer>(ask: (place: number) => Promise<Answer>): Promise<Answer[]> {
  const asked = await Promise.allSettled(Array.from({ length: STATEMENTS }, (_, place) => ask(place)));
  return asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** A server sends rows when it has some kilobytes of them, long before this statement fails. */
const failsBehindRows = () =>
  pool.db.execute(sql`select repeat('x', 100), 1 / (5000 - i) from generate_series(1, 5000) as i`);

describe('a statement on a connection', () => {
  it.each([
    ['with parameters', (place: number) => pool.db.execute(sql`select ${place}::int as place`)],
    ['without parameters', () => pool.db.execute(sql`select 1 as place`)],
  ])('%s has its own rows after one that failed after its first rows', async (_, ask) => {
    await answers(failsBehindRows);
    for (const rows of await answers(ask)) {
      expect(rows).toHaveLength(1);
      expect(Object.keys(rows)).toEqual(['0']);
      expect(rows[0]).toHaveProperty('place');
    }
  });

  it('a statement on a connection has its own rows also as lists, and none where it finds none', async () => {
    await answers(failsBehindRows);
    const counted = await answers(() => pool.db.select({ count: sql<string>`count(*)` }).from(jobs));
    expect(new Set(counted.map((rows) => JSON.stringify(rows)))).toEqual(new Set(['[{"count":"0"}]']));
    await answers(failsBehindRows);
    for (const rows of await answers(() => pool.db.select().from(jobs))) expect(rows).toHaveLength(0);
  });

  it('a statement on a connection has its own rows while connections are ended again and again', async () => {
    let isOver = false;
    const ending = (async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await endOtherConnections(database.db).catch(() => undefined);
      }
      isOver = true;
    })();
    let count = 0;
    while (!isOver) {
      const found = await answers(async (place) => {
        const rows = await pool.db.execute<{ place: number }>(
          sql`select i as place, repeat('x', 100) from generate_series(${place}::int, ${place}::int + ${ROWS - 1}) as i`,
        );
        return { place, places: rows.map((row) => row.place) };
      });
      for (const { place, places } of found) {
        expect(places).toEqual(Array.from({ length: ROWS }, (_, index) => place + index));
      }
      count += found.length;
    }
    await ending;
    expect(count).toBeGreaterThan(0);
  });
});
