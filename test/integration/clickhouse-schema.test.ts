import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { applySchema, renderStatements, schemaStatements } from '../../src/metering/schema.ts';
import { createTestClickHouse } from '../support/stores.ts';

const anything = z.unknown();
const MAX_UINT64 = '18446744073709551615';

describe('the ClickHouse schema', () => {
  test('can be applied again at every start', async () => {
    const clickhouse = await createTestClickHouse();
    await applySchema(clickhouse, undefined);
    const sql = 'SELECT name, engine FROM system.tables WHERE database = currentDatabase() ORDER BY name';
    expect(await clickhouse.query({ sql, schema: anything })).toEqual([
      { name: 'invoice_hourly_lines', engine: 'MergeTree' },
      { name: 'usage_events', engine: 'ReplacingMergeTree' },
    ]);
    await clickhouse.close();
  });

  test('keeps an event as it was sent, the earliest ingestion winning', async () => {
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

  test('fsyncs every insert before it is answered', async () => {
    for (const statement of await schemaStatements(undefined)) {
      expect(statement).toContain('SETTINGS fsync_after_insert = 1, fsync_part_directory = 1');
    }
  });

  test('has replicated tables behind a distributed one on a cluster, from the same source', async () => {
    const statements = (await schemaStatements('prod')).map((text) =>
      text.replace(/--.*\n/g, '').replace(/\s+/g, ' '),
    );
    expect(statements).toHaveLength(4);
    expect(statements[0]).toMatch(
      /^CREATE TABLE IF NOT EXISTS usage_events_local ON CLUSTER 'prod' \(.* ENGINE = ReplicatedReplacingMergeTree\(version\)/,
    );
    expect(statements[1]).toBe(
      "CREATE TABLE IF NOT EXISTS usage_events ON CLUSTER 'prod' AS usage_events_local ENGINE = Distributed('prod', currentDatabase(), usage_events_local, sipHash64(transaction_id))",
    );
    expect(statements.join()).not.toContain('${');
  });

  test('refuses a placeholder that it does not know', () => {
    const placeholder = '$'.concat('{NAME}');
    const unknown = () => renderStatements(`CREATE TABLE ${placeholder} (a UInt8);`, undefined);
    expect(unknown).toThrow(`unknown placeholder ${placeholder}`);
  });
});
