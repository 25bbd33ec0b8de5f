/** Tables of every size are copied out one after the other on one connection. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { copiedOut } from '../../src/store/postgres-driver/copied-out.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database?.close();
});

/** The driver pauses its socket at 16 KB that nobody has taken; a socket gives 64 KB at once. */
const SIZES = [10, 15, 17, 20, 30, 40, 50, 60, 63, 65, 70, 130, 200].map((kilobytes) => kilobytes * 1_000);

test('a statement after a copy is answered, whatever its size', async () => {
  const client = connectPostgres(database.connection, { max: 1 });
  try {
    for (const size of SIZES) {
      let bytes = 0;
      const copy = `copy (select repeat('x', 999) from generate_series(1, ${size / 1_000})) to stdout`;
      for await (const chunk of copiedOut(client, copy)) bytes += chunk.length;
      expect(bytes).toBe(size);
      expect(await client`select 1 as one`).toEqual([{ one: 1 }]);
    }
  } finally {
    await client.end({ timeout: 1 });
  }
});

test('a copy whose connection is lost says so', async () => {
  const client = connectPostgres(database.connection, { max: 1 });
  const other = connectPostgres(database.connection, { max: 1 });
  try {
    const rows = copiedOut(
      client,
      "copy (select repeat('x', 999) from generate_series(1, 1000000)) to stdout",
    );
    await rows.next();
    await other`select pg_terminate_backend(pid) from pg_stat_activity where query like 'copy (select repeat%'`;
    const rest = async () => {
      for await (const _ of rows);
    };
    await expect(rest()).rejects.toThrow(/connection|terminat/i);
  } finally {
    await Promise.all([client, other].map((each) => each.end({ timeout: 1 })));
  }
});
