/**
 * The tables of an embedded ClickHouse are copied to a server: both have the same rows afterwards, whatever the server had
 * before, and rows that it has already are not copied again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import {
  createRemoteClickHouse,
  createRemoteDatabase,
  createRemoteInserts,
  type RemoteInserts,
} from '../../src/metering/client/clickhouse-remote.ts';
import { copiedTables } from '../../src/metering/copies/copied-tables.ts';
import { type CopiedRows, copyTable } from '../../src/metering/copies/copy-tables.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { createTestClickHouse, createTestDirectory } from '../support/stores.ts';

let source: ClickHouse;
let front: FrontProcess;
let server: ClickHouse;
let inserts: RemoteInserts;

beforeAll(async () => {
  source = await createTestClickHouse();
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
  const place = { url: frontUrl(front.port, 'copied') };
  await createRemoteDatabase(place);
  server = createRemoteClickHouse(place);
  inserts = createRemoteInserts(place);
  await applySchema(server, undefined);
});
afterAll(async () => {
  await inserts?.close();
  await server?.close();
  await front?.kill();
  await source?.close();
});

/** The rows of all tables, by their names. */
async function copy(): Promise<Record<string, CopiedRows>> {
  const to = { ...server, insert: inserts.insert };
  const copied: Record<string, CopiedRows> = {};
  for (const table of copiedTables(Date.now()))
    copied[table.name] = await copyTable({ from: source, to, cluster: undefined, onRows: () => {} }, table);
  return copied;
}

const EVENT_COLUMNS =
  'transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version, id_hash_a, id_hash_b, id_hash_c';

/** Events on each of the first days of a month, accepted one after the other. */
function events(from: number, count: number, month: string): string {
  return `INSERT INTO usage_events (${EVENT_COLUMNS})
    SELECT 'id-' || toString(number), 'ö-' || toString(number % 7), 'type', toDateTime64('${month}-01 00:00:00.125', 3, 'UTC') + toIntervalDay(number % 5),
      map('key', toString(number), 'text', 'quo"te\\t' || char(10)), toDateTime64('2026-06-01 00:00:00', 6, 'UTC') + toIntervalSecond(number),
      1000000 - number, toUInt32(number), 2, 3 FROM numbers(${from}, ${count})`;
}

function frozenLine(hour: string, quantity: string): string {
  return `INSERT INTO invoice_hourly_lines VALUES
    (generateUUIDv4(), 1, '${hour}', ['${hour}', '${hour}'], ['${quantity}', '0.5'], ['1', '2.000000000000000000000001'])`;
}

const countRow = z.object({ rows: z.coerce.number() });

async function eventsOnServer(condition: string): Promise<number> {
  const sql = `SELECT count() AS rows FROM usage_events FINAL WHERE ${condition}`;
  return (await server.query({ sql, schema: countRow }))[0]?.rows ?? 0;
}

test('a copy has every row, and the next one copies what was added', async () => {
  await source.command(events(0, 1_000, '2026-03'));
  await source.command(events(1_000, 500, '2026-04'));
  // A copy of an event that no merge has joined yet.
  await source.command(events(0, 10, '2026-03'));
  await source.command(frozenLine('2026-03-01 05:00:00', '7.25'));
  await source.command(
    `INSERT INTO event_repeats (transaction_id, customer_ref, event_type, timestamp, properties, received_at, sequence)
     VALUES ('id-1', 'a', 'type', '2026-03-01 00:00:00', '{}', '2026-03-01 00:00:00.5', 1)`,
  );
  await source.command(
    `INSERT INTO corrected_events VALUES
     ('x', 1, '', 'id-1', 'a', 'type', '2026-03-01 00:00:00', map('key', 'quo"te'), '2026-06-01 00:00:00.000001')`,
  );
  expect(await copy()).toMatchObject({
    usage_events: { rows: 1_500, copiedRows: 1_500 },
    corrected_events: { rows: 1, copiedRows: 1 },
    invoice_hourly_lines: { rows: 1, copiedRows: 1 },
    event_repeats: { rows: 1, copiedRows: 1 },
  });
  await source.command(frozenLine('2026-03-01 06:00:00', '1'));
  await source.command(events(2_000, 1, '2026-03'));
  expect(await copy()).toMatchObject({
    // Those of its day, and of the other days none.
    usage_events: { rows: 1_501, copiedRows: 201 },
    invoice_hourly_lines: { rows: 2, copiedRows: 2 },
    event_repeats: { rows: 1, copiedRows: 0 },
  });
  expect(await copy()).toMatchObject({
    usage_events: { copiedRows: 0 },
    invoice_hourly_lines: { copiedRows: 0 },
  });
});

test('what was erased or removed in between is erased and removed on the server', async () => {
  await source.command(
    "ALTER TABLE usage_events UPDATE properties = map() WHERE customer_ref = 'ö-3' SETTINGS mutations_sync = 2",
  );
  await source.command("ALTER TABLE usage_events DROP PARTITION ID '202604'");
  const { usage_events } = await copy();
  expect(usage_events?.rows).toBe(1_001);
  expect(await eventsOnServer("customer_ref = 'ö-3' AND notEmpty(properties)")).toBe(0);
  expect(await eventsOnServer("timestamp >= '2026-04-01'")).toBe(0);
});

test('rows that only the server has, or has twice, go away', async () => {
  await server.command(events(5_000, 3, '2026-03'));
  await server.command(events(6_000, 3, '2026-07'));
  await server.command('INSERT INTO invoice_hourly_lines SELECT * FROM invoice_hourly_lines');
  expect(await copy()).toMatchObject({ usage_events: { rows: 1_001 }, invoice_hourly_lines: { rows: 2 } });
  expect(await eventsOnServer('true')).toBe(1_001);
});

test('a copy that was cut in the middle of a day is completed', async () => {
  await server.command(
    'ALTER TABLE usage_events DELETE WHERE id_hash_a % 3 = 0 AND toYYYYMMDD(timestamp) = 20260302 SETTINGS mutations_sync = 2',
  );
  await source.command(events(3_001, 1, '2026-03'));
  expect(await copy()).toMatchObject({ usage_events: { rows: 1_002 } });
  expect(await eventsOnServer('true')).toBe(1_002);
});
