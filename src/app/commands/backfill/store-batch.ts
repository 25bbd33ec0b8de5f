/**
 * Stores a batch of events whose ids are not stored yet. Exact against everything stored, of any age, by
 * looking the ids up in ClickHouse before each insert; a service that stores the same id in between is
 * reconciled by that service (docs/deduplication.md).
 */
import type { Instant } from '../../../core/time.ts';
import { formatInstant } from '../../../core/time.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import {
  createRowEncoder,
  type RowEncoder,
  rowBytesMax,
  USAGE_EVENTS_COLUMNS,
  USAGE_EVENTS_TABLE,
} from '../../../metering/ingest/encode-events.ts';
import { findStoredIds } from '../../../metering/ingest/stored-ids.ts';
import { HASH_WORDS, hashTransactionId } from '../../../metering/ingest/transaction-hash.ts';
import type { ValidEvent } from '../../../metering/ingest/validate-events.ts';

interface BatchOutcome {
  readonly stored: number;
  readonly duplicates: number;
}

export interface BatchStore {
  /** Resolves when the new ones are on disk. Of two events with one id the first is stored. */
  store(events: readonly ValidEvent[], now: Instant): Promise<BatchOutcome>;
}

/** Events lie in partitions by month, and ClickHouse refuses an insert into more than a hundred. */
const MONTHS_PER_INSERT = 50;
/** Ids of the batches just written are remembered too: on a cluster a replica that lags may not show them. */
const BATCHES_REMEMBERED = 10;

interface NewEvent {
  readonly event: ValidEvent;
  readonly hash: Uint32Array;
}

export function createBatchStore(clickhouse: ClickHouse): BatchStore {
  const encoder = createRowEncoder();
  const recent: Set<string>[] = [];
  return {
    async store(events, now) {
      const fresh = await newEvents(clickhouse, events, recent);
      for (const group of byMonths([...fresh.values()])) {
        await clickhouse.insertRows({
          table: USAGE_EVENTS_TABLE,
          columns: USAGE_EVENTS_COLUMNS,
          rows: encodeRows(encoder, group, now),
        });
      }
      recent.push(new Set(fresh.keys()));
      if (recent.length > BATCHES_REMEMBERED) recent.shift();
      return { stored: fresh.size, duplicates: events.length - fresh.size };
    },
  };
}

/** By id, in the order of the file. */
async function newEvents(
  clickhouse: ClickHouse,
  events: readonly ValidEvent[],
  recent: readonly ReadonlySet<string>[],
): Promise<Map<string, NewEvent>> {
  const candidates = new Map<string, NewEvent>();
  for (const event of events) {
    const { transactionId } = event;
    if (candidates.has(transactionId) || recent.some((ids) => ids.has(transactionId))) continue;
    const hash = new Uint32Array(HASH_WORDS);
    hashTransactionId(transactionId, hash);
    candidates.set(transactionId, { event, hash });
  }
  const words = [...candidates.values()].map(({ hash }) => hash[0] ?? 0);
  for (const id of await findStoredIds(clickhouse, words)) candidates.delete(id);
  return candidates;
}

/** Groups of few months each; a batch of neighbouring times, the usual case, is one group as it is. */
function byMonths(events: readonly NewEvent[]): NewEvent[][] {
  const months = new Map<string, NewEvent[]>();
  for (const each of events) {
    const month = formatInstant(each.event.timestamp).slice(0, 7);
    const known = months.get(month);
    if (known === undefined) months.set(month, [each]);
    else known.push(each);
  }
  const groups: NewEvent[][] = [];
  const inOrder = [...months.values()];
  for (let from = 0; from < inOrder.length; from += MONTHS_PER_INSERT) {
    groups.push(inOrder.slice(from, from + MONTHS_PER_INSERT).flat());
  }
  return groups;
}

function encodeRows(encoder: RowEncoder, events: readonly NewEvent[], now: Instant): Buffer {
  const bytesMax = events.reduce((sum, { event }) => sum + rowBytesMax(event), 0);
  const buffer = Buffer.allocUnsafe(bytesMax);
  let end = 0;
  for (const { event, hash } of events) end = encoder.encode(event, hash, 0, now, buffer, end);
  return buffer.subarray(0, end);
}
