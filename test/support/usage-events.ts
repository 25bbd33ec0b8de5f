/** Inserts events into ClickHouse as ingestion stores them, including copies of one event. */
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { firstHashWord } from '../../src/metering/ingest/transaction-hash-search.ts';
import type { NaiveEvent } from './naive/usage.ts';

const COLUMNS = [
  'transaction_id',
  'customer_ref',
  'event_type',
  'timestamp',
  'properties',
  'ingested_at',
  'version',
  'id_hash_a',
];

/**
 * Copies of one event are inserted separately, the later ones first. ClickHouse collapses the copies within one insert
 * by itself, but those of several inserts only when they are read through FINAL.
 */
export async function storeEvents(clickhouse: ClickHouse, events: readonly NaiveEvent[]): Promise<void> {
  const inserts: NaiveEvent[][] = [];
  const seen = new Map<string, number>();
  for (const event of events) {
    const copy = seen.get(event.transactionId) ?? 0;
    seen.set(event.transactionId, copy + 1);
    inserts[copy] = [...(inserts[copy] ?? []), event];
  }
  for (const insert of inserts.reverse()) {
    const rows = Buffer.from(insert.map((event) => `${eventRow(event)}\n`).join(''));
    await clickhouse.insertRows({ table: 'usage_events', columns: COLUMNS, rows });
  }
}

/** `version` decreases with the microsecond of ingestion, so that the first copy counts. */
function eventRow(event: NaiveEvent): string {
  const { transactionId, customerRef, eventType, timestamp, properties, ingestedAt } = event;
  const ingested = clickHouseTime(Math.floor(ingestedAt / 1000)) + String(ingestedAt % 1000).padStart(3, '0');
  const version = String(10n ** 16n - 1n - BigInt(ingestedAt));
  return JSON.stringify([
    transactionId,
    customerRef,
    eventType,
    clickHouseTime(timestamp),
    properties,
    ingested,
    version,
    firstHashWord(transactionId),
  ]);
}

function clickHouseTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 23).replace('T', ' ');
}
