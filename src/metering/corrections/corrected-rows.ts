/** Writes and reads the rows of corrections in `corrected_events`. */
import { z } from 'zod';
import type { Instant } from '../../core/time.ts';
import { NO_EVENTS } from '../client/around.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

export const CORRECTED_EVENTS_TABLE = 'corrected_events';

/** A version of an event that an application of a set takes away, or gives. */
export interface CorrectedRow {
  readonly isGiven: boolean;
  /** The application that gave a version which is taken away; empty: it is the event as it was sent. */
  readonly ofAttempt: string;
  readonly transactionId: string;
  readonly customerRef: string;
  readonly eventType: string;
  readonly timestamp: Instant;
  /** JSON object of the texts of the values. */
  readonly propertiesJson: string;
  /** Epoch microseconds. */
  readonly ingestedAt: string;
}

const COLUMNS = [
  ...['attempt', 'is_given', 'of_attempt', 'transaction_id', 'customer_ref', 'event_type'],
  ...['timestamp', 'properties', 'ingested_at'],
];

/** Resolves when they are on disk. No reader sees them before the attempt is that of an applied set. */
export async function insertCorrectedRows(
  clickhouse: ClickHouse,
  attempt: string,
  rows: readonly CorrectedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const lines = rows.map((row) => `${lineOf(attempt, row)}\n`);
  await clickhouse.insertRows({
    table: CORRECTED_EVENTS_TABLE,
    columns: COLUMNS,
    rows: Buffer.from(lines.join('')),
  });
}

function lineOf(attempt: string, row: CorrectedRow): string {
  const values = [attempt, row.isGiven ? 1 : 0, row.ofAttempt, row.transactionId, row.customerRef];
  const time = ticksText(BigInt(row.timestamp) * 1_000n).slice(0, -3);
  const plain = JSON.stringify([...values, row.eventType, time]);
  // The texts stay as they are.
  return `${plain.slice(0, -1)},${row.propertiesJson},"${ticksText(BigInt(row.ingestedAt))}"]`;
}

const MICROSECONDS_PER_MS = 1_000n;

/** `2026-11-20 00:00:00.123456` */
function ticksText(microseconds: bigint): string {
  const time = new Date(Number(microseconds / MICROSECONDS_PER_MS)).toISOString().slice(0, 23);
  return time.replace('T', ' ') + String(microseconds % MICROSECONDS_PER_MS).padStart(3, '0');
}

const refRow = z.object({ ref: z.string() });

/** The ids and aliases under which an application has taken versions away or given them. */
export async function refsOfAttempt(clickhouse: ClickHouse, attempt: string): Promise<string[]> {
  const rows = await clickhouse.query({
    sql: `SELECT DISTINCT customer_ref AS ref FROM ${CORRECTED_EVENTS_TABLE} WHERE attempt = {attempt:String}`,
    params: { attempt },
    eventsOf: NO_EVENTS,
    schema: refRow,
  });
  return rows.map(({ ref }) => ref);
}

const tickRow = z.object({ last: z.string() });

/** The last ingestion time among the events that were ingested at `from` or later: epoch microseconds; '0': none. */
export async function lastIngestionSince(clickhouse: ClickHouse, from: Instant): Promise<string> {
  const [row] = await clickhouse.query({
    sql: `SELECT toString(toUnixTimestamp64Micro(max(ingested_at))) AS last FROM usage_events
      WHERE ingested_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')`,
    params: { from },
    schema: tickRow,
  });
  return row?.last ?? '0';
}
