/**
 * The tables that are copied from one ClickHouse to another, in portions of rows that are compared and copied together.
 * Excludes the record of migrations, which each has separately, and the record of known-id files, which are rebuilt.
 */
import { DAY_MS, type Instant, SECOND_MS } from '../../core/time.ts';

export interface CopiedTable {
  readonly name: string;
  /** Every stored column. */
  readonly columns: readonly string[];
  /** SQL of a number, the same in all rows of a portion. */
  readonly portion: string;
  /** SQL of the month that a row belongs to: all rows of a portion are in one month. */
  readonly month: string;
  /** SQL of the values of a row, of plain types, whose hashes are the same in every version. */
  readonly values: string;
  /** Set if copies of a row count once: SQL of when a row was accepted, in microseconds. Null: each copy counts. */
  readonly acceptedAt: string | null;
  /** SQL condition for the rows that are copied. */
  readonly condition: string;
}

/** Repeated events are deleted after 35 days by the clock of a server. Those about to be deleted are left out. */
const REPEATS_COPIED_DAYS = 34;

/** `now`: real time, fixed for all comparisons of a copy. */
export function copiedTables(now: Instant): readonly CopiedTable[] {
  const repeatsFrom = Math.floor((now - REPEATS_COPIED_DAYS * DAY_MS) / SECOND_MS);
  return [
    {
      name: 'usage_events',
      columns: [
        ...['transaction_id', 'customer_ref', 'event_type', 'timestamp', 'properties', 'ingested_at'],
        ...['version', 'id_hash_a', 'id_hash_b', 'id_hash_c'],
      ],
      portion: 'toYYYYMMDD(timestamp)',
      month: 'toYYYYMM(timestamp)',
      values: `transaction_id, customer_ref, toString(event_type), toUnixTimestamp64Milli(timestamp),
        mapKeys(properties), mapValues(properties), toUnixTimestamp64Micro(ingested_at),
        version, id_hash_a, id_hash_b, id_hash_c`,
      acceptedAt: 'toUnixTimestamp64Micro(ingested_at)',
      condition: 'true',
    },
    {
      name: 'corrected_events',
      columns: [
        ...['attempt', 'is_given', 'of_attempt', 'transaction_id', 'customer_ref', 'event_type'],
        ...['timestamp', 'properties', 'ingested_at'],
      ],
      portion: 'toYYYYMM(timestamp)',
      month: 'toYYYYMM(timestamp)',
      values: `toString(attempt), is_given, toString(of_attempt), transaction_id, customer_ref, toString(event_type),
        toUnixTimestamp64Milli(timestamp), mapKeys(properties), mapValues(properties),
        toUnixTimestamp64Micro(ingested_at)`,
      acceptedAt: null,
      condition: 'true',
    },
    {
      name: 'invoice_hourly_lines',
      columns: ['breakdown_id', 'line_index', 'first_hour', 'hours', 'quantities', 'amounts'],
      portion: 'toYYYYMM(first_hour)',
      month: 'toYYYYMM(first_hour)',
      values: `toString(breakdown_id), line_index, toUnixTimestamp(first_hour),
        arrayMap(hour -> toUnixTimestamp(hour), hours), quantities, amounts`,
      acceptedAt: null,
      condition: 'true',
    },
    {
      name: 'event_repeats',
      columns: [
        ...['transaction_id', 'customer_ref', 'event_type', 'timestamp', 'properties', 'received_at'],
        ...['sequence', 'written_at'],
      ],
      portion: 'toYYYYMMDD(written_at)',
      month: 'toYYYYMM(written_at)',
      values: `transaction_id, customer_ref, event_type, toUnixTimestamp64Milli(timestamp), properties,
        toUnixTimestamp64Milli(received_at), sequence, toUnixTimestamp(written_at)`,
      acceptedAt: null,
      condition: `written_at >= toDateTime(${repeatsFrom}, 'UTC')`,
    },
  ];
}
