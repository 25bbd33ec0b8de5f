/**
 * Fills the event table of a data directory on the server side, far faster than ingest could: events with
 * ids of random hashes, as good as real ones for the index, and some that can be searched for.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createEmbeddedClickHouse } from '../src/app/stores/stores.ts';
import type { ClickHouse } from '../src/metering/client/clickhouse.ts';
import { hashTransactionId } from '../src/metering/ingest/transaction-hash.ts';
import { applySchema } from '../src/metering/schema/schema.ts';

const ROWS_PER_INSERT = 1_000_000;
const CUSTOMERS = 1_000;
/** The events lie in the weeks before now, well within the window of deduplication. */
const SPREAD_SECONDS = 2_000_000;

const MERGES_SQL = 'SELECT count() AS merges FROM system.merges';

const COLUMNS = `transaction_id, customer_ref, event_type, timestamp, properties, ingested_at, version,
  id_hash_a, id_hash_b, id_hash_c`;

/** Merging a hundred million events may take this long. */
const MERGING_MS_MAX = 30 * 60_000;
/** Without a merge for so long, there is none to come. */
const QUIET_MS = 3_000;

/** `events` of them, a million an insert, then one insert with the events of the `findable` ids. */
export async function storeEvents(
  directory: string,
  events: number,
  findable: readonly string[],
): Promise<void> {
  const clickhouse = await createEmbeddedClickHouse({ directory });
  await applySchema(clickhouse, undefined);
  for (let from = 0; from < events; from += ROWS_PER_INSERT) {
    await clickhouse.command(`
      INSERT INTO usage_events (${COLUMNS})
      SELECT concat('id-', toString(number)), concat('customer-', toString(number % ${CUSTOMERS})), 'use',
             now64(3) - toIntervalSecond(number % ${SPREAD_SECONDS}), map('n', toString(number)),
             now64(6) - toIntervalSecond(number % ${SPREAD_SECONDS}), 9000000000000000 - number,
             rand(1), rand(2), rand(3)
      FROM numbers(${from}, ${Math.min(ROWS_PER_INSERT, events - from)})`);
  }
  await clickhouse.command(`INSERT INTO usage_events (${COLUMNS}) VALUES ${findable.map(row).join(', ')}`);
  await clickhouse.close();
}

const SMALL_ROWS_PER_INSERT = 4_000_000;

/** Events that are as small as they may be, in the order of their acceptance over the weeks before now. */
export async function storeSmallEvents(directory: string, events: number): Promise<void> {
  const clickhouse = await createEmbeddedClickHouse({ directory });
  await applySchema(clickhouse, undefined);
  for (let from = 0; from < events; from += SMALL_ROWS_PER_INSERT) {
    const rows = Math.min(SMALL_ROWS_PER_INSERT, events - from);
    const age = `toIntervalMillisecond(60000 + intDiv((${events} - number) * ${SPREAD_SECONDS}, ${events / 1_000}))`;
    await clickhouse.command(`
      INSERT INTO usage_events (${COLUMNS})
      SELECT toString(number), concat('customer-', toString(number % ${CUSTOMERS})), 'use', now64(3) - ${age}, map(),
             now64(6) - ${age}, 9000000000000000 - number,
             toUInt32(rand(1)), toUInt32(rand(2)), toUInt32(rand(3))
      FROM numbers(${from}, ${rows})
      SETTINGS max_insert_block_size = ${rows}, min_insert_block_size_rows = ${rows}`);
  }
  await clickhouse.close();
}

/** Resolves when nothing is left to merge of what a data directory holds. */
export async function mergeStoredEvents(directory: string): Promise<void> {
  const clickhouse = await createEmbeddedClickHouse({ directory });
  try {
    await mergesDone(clickhouse);
  } finally {
    await clickhouse.close();
  }
}

async function mergesDone(clickhouse: ClickHouse): Promise<void> {
  const deadline = performance.now() + MERGING_MS_MAX;
  for (let quietSince = performance.now(); performance.now() - quietSince < QUIET_MS; await delay(200)) {
    const [row] = await clickhouse.query({
      sql: MERGES_SQL,
      schema: z.object({ merges: z.coerce.number() }),
    });
    if (row?.merges !== 0) quietSince = performance.now();
    if (performance.now() > deadline) throw new Error('the stored events are still being merged');
  }
}

function row(id: string): string {
  const words = new Uint32Array(3);
  hashTransactionId(id, words, 0);
  return `('${id}', 'customer-1', 'use', now64(3), map(), now64(6), 1, ${words.join(', ')})`;
}
