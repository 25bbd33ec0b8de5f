/**
 * Finds ids that were stored more than once within the window with different customers, event types or timestamps,
 * which only happens if two processes accept an id before either knows of the other, and removes all copies but the
 * first. docs/explanation/deduplication.md describes when.
 *
 * The choice depends on stored data alone, so every process makes the same one and repeating it is harmless. Copies
 * that agree in all three are not removed: they have one sorting key, and FINAL counts one.
 */
import { z } from 'zod';
import { groupBy } from '../../core/group-by.ts';
import { DAY_MS, formatInstant, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { stringLiteral } from '../client/clickhouse-parameters.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';

/** Ids looked up at once: a search by hash takes well under a millisecond for each. */
const IDS_PER_LOOKUP = 1_000;
/** Copies removed by one statement; ClickHouse keeps its text until every part has been processed. */
const COPIES_PER_STATEMENT = 100;
const MICROSECONDS_PER_SECOND = 1_000_000;

const COPIES_SQL = `
  SELECT transaction_id, customer_ref, event_type,
    toUnixTimestamp64Milli(timestamp) AS timestamp_ms, toUnixTimestamp64Micro(ingested_at) AS tick
  FROM ${USAGE_EVENTS_TABLE}
  WHERE id_hash_a IN {hashes:Array(UInt32)}
    AND ingested_at >= fromUnixTimestamp64Milli({accepted_from:Int64}, 'UTC')`;

const copyRow = z.object({
  transaction_id: z.string(),
  customer_ref: z.string(),
  event_type: z.string(),
  timestamp_ms: z.coerce.number(),
  tick: z.coerce.number(),
});

/** The columns of a stored row that identify a copy of an event. */
export type StoredCopy = z.infer<typeof copyRow>;

export interface Reconciliation {
  readonly clickhouse: ClickHouse;
  /** Name of the cluster with the events; undefined for a single node. */
  readonly cluster: string | undefined;
  readonly windowDays: number;
  readonly now: Instant;
}

/**
 * Removes the conflicting copies of the ids whose hashes begin with these words and returns them. When this resolves,
 * no read sees them any longer (on a cluster: on the nodes that answered in time).
 */
export async function reconcileCopies(
  context: Reconciliation,
  hashes: ReadonlySet<number>,
): Promise<StoredCopy[]> {
  const { clickhouse, cluster, windowDays, now } = context;
  const list = [...hashes];
  const removed: StoredCopy[] = [];
  for (let from = 0; from < list.length; from += IDS_PER_LOOKUP) {
    const rows = await clickhouse.query({
      sql: COPIES_SQL,
      params: {
        hashes: list.slice(from, from + IDS_PER_LOOKUP),
        accepted_from: now - 2 * windowDays * DAY_MS,
      },
      schema: copyRow,
    });
    removed.push(...conflictingCopies(rows, windowDays));
  }
  for (const [partition, copies] of groupBy(removed, partitionOf)) {
    for (let from = 0; from < copies.length; from += COPIES_PER_STATEMENT) {
      await clickhouse.command(removal(copies.slice(from, from + COPIES_PER_STATEMENT), partition, cluster));
    }
  }
  return removed;
}

/**
 * The rows to remove, given all rows of some ids: every row within the window after a counted copy that differs from
 * it. The lowest tick is the first; at the same microsecond the sorting key decides, so that the order is the same
 * everywhere.
 */
function conflictingCopies(rows: readonly StoredCopy[], windowDays: number): StoredCopy[] {
  const windowSeconds = (windowDays * DAY_MS) / 1000;
  const inOrder = rows.toSorted(
    (left, right) => left.tick - right.tick || compare(keyOf(left), keyOf(right)),
  );
  const counting = new Map<string, StoredCopy>();
  return inOrder.filter((row) => {
    const first = counting.get(row.transaction_id);
    // In whole seconds, like the window of the index.
    if (first === undefined || secondOf(row) - secondOf(first) >= windowSeconds) {
      counting.set(row.transaction_id, row);
      return false;
    }
    return keyOf(row) !== keyOf(first);
  });
}

function secondOf({ tick }: StoredCopy): number {
  return Math.floor(tick / MICROSECONDS_PER_SECOND);
}

function keyOf({ customer_ref, event_type, timestamp_ms }: StoredCopy): string {
  return JSON.stringify([customer_ref, event_type, timestamp_ms]);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The table is partitioned by the month of the timestamp. */
function partitionOf({ timestamp_ms }: StoredCopy): string {
  return formatInstant(timestamp_ms).slice(0, 7).replace('-', '');
}

/**
 * Sorting key and tick identify the rows, so only parts of their month that contain one are rewritten. Without the
 * month, ClickHouse would scan all parts.
 */
function removal(copies: readonly StoredCopy[], partition: string, cluster: string | undefined): string {
  const table =
    cluster === undefined ? USAGE_EVENTS_TABLE : `${USAGE_EVENTS_TABLE}_local ON CLUSTER '${cluster}'`;
  const rows = copies.map(
    (copy) =>
      `(${stringLiteral(copy.customer_ref)}, ${stringLiteral(copy.event_type)},` +
      ` fromUnixTimestamp64Milli(${copy.timestamp_ms}, 'UTC'), ${stringLiteral(copy.transaction_id)},` +
      ` fromUnixTimestamp64Micro(${copy.tick}, 'UTC'))`,
  );
  const key = '(customer_ref, event_type, timestamp, transaction_id, ingested_at)';
  return `ALTER TABLE ${table} DELETE IN PARTITION ID '${partition}' WHERE ${key} IN (${rows.join(', ')}) SETTINGS mutations_sync = 1`;
}
