/** All rows of both stores as text, in an order that does not depend on how they came to be stored. */
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';
import type { FrozenTable } from '../../test/support/frozen-state.ts';

export async function dumpPostgres(
  connection: PostgresConnection,
): Promise<{ postgres: FrozenTable[]; sequences: Record<string, string> }> {
  const client = connectPostgres(connection, { max: 1, connection: { TimeZone: 'UTC' } });
  try {
    const tables = z
      .array(z.object({ name: z.string() }))
      .parse(
        await client`select tablename as name from pg_tables where schemaname = 'public' order by tablename`,
      );
    const postgres: FrozenTable[] = [];
    for (const { name } of tables) postgres.push({ name, text: await rowsOf(client, name) });
    const sequences = z.array(z.object({ name: z.string(), last: z.string() })).parse(
      await client`select sequencename as name, last_value::text as last from pg_sequences
          where schemaname = 'public' and last_value is not null order by sequencename`,
    );
    return { postgres, sequences: Object.fromEntries(sequences.map(({ name, last }) => [name, last])) };
  } finally {
    await client.end();
  }
}

/** Each value in PostgreSQL's own text, which keeps every digit. */
async function rowsOf(client: ReturnType<typeof connectPostgres>, table: string): Promise<string> {
  const columns = z
    .array(z.object({ name: z.string() }))
    .parse(
      await client`select attname as name from pg_attribute
        where attrelid = ${table}::regclass and attnum > 0 and not attisdropped order by attnum`,
    )
    .map(({ name }) => name);
  const values = columns.map((name) => `"${name}"::text`).join(', ');
  const rows = z
    .array(z.object({ text: z.string() }))
    .parse(
      await client.unsafe(
        `select to_json(array[${values}])::text as text from "${table}" order by to_json(array[${values}])::text collate "C"`,
      ),
    );
  return [JSON.stringify(columns), ...rows.map(({ text }) => text)].map((line) => `${line}\n`).join('');
}

/** The record of migrations is left out: who loads the rows applies the migrations, and with that records them. */
export async function dumpClickHouse(clickhouse: ClickHouse): Promise<FrozenTable[]> {
  const tables = await clickhouse.query({
    sql: "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations' ORDER BY name",
    schema: z.object({ name: z.string() }),
  });
  const dumped: FrozenTable[] = [];
  for (const { name } of tables) {
    const rows = await clickhouse.queryBytes({
      sql: `SELECT * FROM ${name} ORDER BY ALL FORMAT JSONCompactEachRowWithNames`,
    });
    dumped.push({ name, text: rows.toString('utf8') });
  }
  return dumped;
}
