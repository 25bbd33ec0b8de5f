import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { renderStatements, schemaStatements } from '../../src/metering/schema/schema-files.ts';
import { createTestClickHouse } from '../support/stores.ts';

const anything = z.unknown();
const MAX_UINT64 = '18446744073709551615';

/** Without later changes of the tables. */
async function tableStatements(cluster: string | undefined): Promise<string[]> {
  return (await schemaStatements(cluster)).filter((statement) => statement.includes('CREATE TABLE'));
}

describe('the ClickHouse schema', () => {
  test('the ClickHouse schema has the tables of the service, and its own record', async () => {
    const clickhouse = await createTestClickHouse();
    const sql = 'SELECT name, engine FROM system.tables WHERE database = currentDatabase() ORDER BY name';
    expect(await clickhouse.query({ sql, schema: anything })).toEqual([
      { name: 'corrected_events', engine: 'MergeTree' },
      { name: 'event_repeats', engine: 'MergeTree' },
      { name: 'invoice_hourly_lines', engine: 'MergeTree' },
      { name: 'known_id_runs', engine: 'ReplacingMergeTree' },
      { name: 'schema_migrations', engine: 'MergeTree' },
      { name: 'usage_events', engine: 'ReplacingMergeTree' },
    ]);
    await clickhouse.close();
  });

  test('the ClickHouse schema merges the parts of hourly lines sixteen at a time', async () => {
    const clickhouse = await createTestClickHouse();
    const sql = `
      SELECT engine_full FROM system.tables
      WHERE database = currentDatabase() AND name = 'invoice_hourly_lines'`;
    const [table] = await clickhouse.query({ sql, schema: z.object({ engine_full: z.string() }) });
    expect(table?.engine_full).toContain('merge_selector_base = 16');
    await clickhouse.close();
  });

  test('the ClickHouse schema keeps an event as it was sent, the earliest ingestion winning', async () => {
    const clickhouse = await createTestClickHouse();
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
    const first = [
      't',
      'c',
      'e',
      1_795_168_800_123,
      { size: '0.10', 'a b': '' },
      1_795_168_800_123_456n,
      MAX_UINT64,
      1,
      2,
      4_294_967_295,
    ];
    const second = [
      't',
      'c',
      'e',
      '2026-11-20 10:00:00.123',
      { size: '9' },
      '2026-11-20 10:00:00.123457',
      '1',
      1,
      2,
      3,
    ];
    for (const row of [second, first]) {
      const text = JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
      await clickhouse.insertRows({ table: 'usage_events', columns, rows: Buffer.from(`${text}\n`) });
    }
    const rows = await clickhouse.query({ sql: 'SELECT * FROM usage_events FINAL', schema: anything });
    expect(rows).toEqual([
      {
        transaction_id: 't',
        customer_ref: 'c',
        event_type: 'e',
        timestamp: '2026-11-20 10:00:00.123',
        properties: { size: '0.10', 'a b': '' },
        ingested_at: '2026-11-20 10:00:00.123456',
        version: MAX_UINT64,
        id_hash_a: 1,
        id_hash_b: 2,
        id_hash_c: 4_294_967_295,
      },
    ]);
    await clickhouse.close();
  });

  test('the ClickHouse schema fsyncs every insert before it is answered', async () => {
    for (const statement of await tableStatements(undefined)) {
      // Repeats are shown, never counted: they may be lost, and must not cost anybody a wait.
      if (statement.includes('EXISTS event_repeats')) continue;
      expect(statement).toContain('SETTINGS fsync_after_insert = 1, fsync_part_directory = 1');
    }
  });

  test('the ClickHouse schema fsyncs what a merge makes of acknowledged rows, and what a replica fetches', async () => {
    for (const statement of await tableStatements(undefined)) {
      if (statement.includes('EXISTS event_repeats')) continue;
      expect(statement).toContain('min_compressed_bytes_to_fsync_after_merge = 1');
      expect(statement).toContain('min_compressed_bytes_to_fsync_after_fetch = 1');
    }
  });

  test('the ClickHouse schema has replicated tables under a distributed one on a cluster, from the same source', async () => {
    const plain = (text: string) => text.replace(/--.*\n/g, '').replace(/\s+/g, ' ');
    const single = (await tableStatements(undefined)).map(plain);
    const statements = (await tableStatements('prod')).map(plain);
    expect(statements).toHaveLength(2 * single.length);
    for (const [index, statement] of single.entries()) {
      const [, table, definition] = /EXISTS (\w+) (\(.*)$/.exec(statement) ?? [];
      const replicated = definition
        ?.replace(
          /ENGINE = (\w*MergeTree)\(/,
          "ENGINE = Replicated$1('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', ",
        )
        .replace(
          /ENGINE = (\w*MergeTree) /,
          "ENGINE = Replicated$1('/clickhouse/tables/{shard}/{database}/{table}', '{replica}') ",
        );
      expect(statements[2 * index]).toBe(
        `CREATE TABLE IF NOT EXISTS ${table}_local ON CLUSTER 'prod' ${replicated}`,
      );
      expect(statements[2 * index + 1]).toMatch(
        `CREATE TABLE IF NOT EXISTS ${table} ON CLUSTER 'prod' AS ${table}_local ENGINE = Distributed('prod', currentDatabase(), ${table}_local, sipHash64(`,
      );
    }
    expect(statements.join()).not.toContain('${');
  });

  test('the ClickHouse schema sends the copies of an event to one shard, and all hours of a frozen invoice', async () => {
    const statements = (await schemaStatements('prod')).join();
    expect(statements).toContain('usage_events_local, sipHash64(transaction_id))');
    expect(statements).toContain('invoice_hourly_lines_local, sipHash64(breakdown_id))');
  });

  test('the ClickHouse schema is read by ClickHouse itself, each statement as one, on a single node and on a cluster', async () => {
    const clickhouse = await createTestClickHouse();
    const parsed = z.object({ formatted: z.string() });
    for (const cluster of [undefined, 'prod']) {
      for (const statement of await schemaStatements(cluster)) {
        const sql = 'SELECT formatQuerySingleLine({statement:String}) AS formatted';
        const [row] = await clickhouse.query({ sql, params: { statement }, schema: parsed });
        expect(row?.formatted).toMatch(/^(?:CREATE TABLE IF NOT EXISTS|ALTER TABLE) /);
        expect(row?.formatted.includes('ON CLUSTER prod')).toBe(cluster !== undefined);
      }
    }
    await clickhouse.close();
  });

  test('the ClickHouse schema refuses a placeholder that it does not know', () => {
    const placeholder = '$'.concat('{NAME}');
    const unknown = () => renderStatements(`CREATE TABLE ${placeholder} (a UInt8);`, undefined);
    expect(unknown).toThrow(`unknown placeholder ${placeholder}`);
  });
});
