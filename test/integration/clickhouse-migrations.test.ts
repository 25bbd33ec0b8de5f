/** ClickHouse migrations: applied once, in order, recorded; repeated when they failed half-way. */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { migrateStores } from '../../src/app/stores/migrate-stores.ts';
import { MigrationError } from '../../src/core/migrations.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { readSchemaFiles, schemaStatements } from '../../src/metering/schema/schema-files.ts';
import { clickhouseFolderWith } from '../support/migration-folders.ts';
import { createEmptyClickHouse, createEmptyDatabase } from '../support/stores.ts';

let clickhouse: ClickHouse;

beforeEach(async () => {
  clickhouse = await createEmptyClickHouse();
});
afterEach(() => clickhouse.close());

async function recorded(): Promise<string[]> {
  const rows = await clickhouse.query({
    sql: 'SELECT name FROM schema_migrations ORDER BY name',
    schema: z.object({ name: z.string() }),
  });
  return rows.map(({ name }) => name);
}

async function countOf(table: string): Promise<number | undefined> {
  const schema = z.object({ count: z.coerce.number() });
  const rows = await clickhouse.query({ sql: `SELECT count() AS count FROM ${table}`, schema });
  return rows[0]?.count;
}

const released = async () => (await readSchemaFiles()).map(({ name }) => name);

/** A statement that shows how often it was run. */
const COUNTED =
  'CREATE TABLE IF NOT EXISTS runs (n UInt8) ENGINE = MergeTree ORDER BY n;\nINSERT INTO runs VALUES (1);\n';

describe('a migration', () => {
  test('a migration is applied once and recorded', async () => {
    const folder = await clickhouseFolderWith({ '0801_counted': COUNTED });
    await applySchema(clickhouse, undefined, folder);
    await applySchema(clickhouse, undefined, folder);
    expect(await countOf('runs')).toBe(1);
    expect(await recorded()).toEqual([...(await released()), '0801_counted']);
  });

  test('a migration is applied when a later version adds it', async () => {
    await applySchema(clickhouse, undefined);
    await applySchema(clickhouse, undefined, await clickhouseFolderWith({ '0801_counted': COUNTED }));
    expect(await countOf('runs')).toBe(1);
  });

  test('a migration that failed half-way is named with its statement, and repeated by the next start', async () => {
    const folder = await clickhouseFolderWith({
      '0801_counted': COUNTED,
      '0802_failing': `${COUNTED.replaceAll('runs', 'others')}INSERT INTO nowhere VALUES (1);\n`,
    });
    const failing = applySchema(clickhouse, undefined, folder);
    await expect(failing).rejects.toThrow(MigrationError);
    await expect(failing).rejects.toThrow(
      /^migration 0802_failing could not be applied to ClickHouse, statement 3 of 3: .*nowhere.*\. No data is lost\. .*start again/,
    );
    expect(await recorded()).toEqual([...(await released()), '0801_counted']);
    await clickhouse.command('CREATE TABLE nowhere (n UInt8) ENGINE = MergeTree ORDER BY n');
    await applySchema(clickhouse, undefined, folder);
    expect([await countOf('runs'), await countOf('others'), await countOf('nowhere')]).toEqual([1, 2, 1]);
    expect(await recorded()).toContain('0802_failing');
  });
});

describe('an installation', () => {
  test('an installation from before there was a record is taken over as it is', async () => {
    for (const statement of await schemaStatements(undefined)) await clickhouse.command(statement);
    const rows = Buffer.from(
      '["t","c","e","2026-11-20 10:00:00.123",{},"2026-11-20 10:00:00.5","1",1,2,3]\n',
    );
    const columns = [
      'transaction_id',
      'customer_ref',
      'event_type',
      'timestamp',
      'properties',
      'ingested_at',
      'version',
      'id_hash_a',
      'id_hash_b',
      'id_hash_c',
    ];
    await clickhouse.insertRows({ table: 'usage_events', columns, rows });
    await applySchema(clickhouse, undefined);
    expect(await recorded()).toEqual(await released());
    expect(await countOf('usage_events')).toBe(1);
  });

  test('an installation of a newer version that only adds something lets an older one start', async () => {
    await applySchema(clickhouse, undefined, await clickhouseFolderWith({ '0801_expand_counted': COUNTED }));
    await applySchema(clickhouse, undefined);
    expect(await recorded()).toEqual([...(await released()), '0801_expand_counted']);
  });

  test('an installation of a newer version is not touched by an older one', async () => {
    await applySchema(clickhouse, undefined, await clickhouseFolderWith({ '0801_counted': COUNTED }));
    const starting = applySchema(clickhouse, undefined);
    await expect(starting).rejects.toThrow(MigrationError);
    await expect(starting).rejects.toThrow(
      /^ClickHouse has the migration 0801_counted, which this version of tallyhouse does not know/,
    );
  });

  test('an installation is refused by files that were changed after they had been applied, before anything is applied', async () => {
    await applySchema(clickhouse, undefined);
    const folder = await clickhouseFolderWith({ '0801_counted': COUNTED });
    await appendFile(join(folder, '0001_usage_events.sql'), '-- changed\n');
    await expect(applySchema(clickhouse, undefined, folder)).rejects.toThrow(
      /^migration 0001_usage_events was applied to ClickHouse with another text than it has now/,
    );
    await expect(countOf('runs')).rejects.toThrow();
  });
});

test('several processes that start at once migrate both stores once', async () => {
  const postgres = await createEmptyDatabase();
  const stores = { postgres, clickhouse, cluster: undefined };
  await Promise.all(Array.from({ length: 4 }, () => migrateStores(stores)));
  expect(await recorded()).toEqual(await released());
});
