/** Files in DATA_DIR for known ids that exceed the memory. */
import { join } from 'node:path';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import type { OlderIds } from '../../metering/ingest/known-ids/known-ids.ts';
import { createRunRecord, NO_RECORD } from '../../metering/ingest/known-ids/run-record.ts';
import type { Database } from '../../store/base/database.ts';
import { eventStoreState } from '../../store/events/event-store.ts';

export interface OlderIdsParts {
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly dataDir: string | undefined;
  readonly recentMax: number | undefined;
  readonly isEmbedded: boolean;
}

/** Longer than the delay of other processes' inserts, so that ids which a tail reads again are still in memory. */
const SHARED_RECENT_MS = 30 * MINUTE_MS;

/**
 * Undefined without a directory: all ids stay in memory. Only with an embedded ClickHouse are the files valid at the
 * next start, because others may store events in a server in between.
 */
export function createOlderIds(parts: OlderIdsParts): OlderIds | undefined {
  const { db, clickhouse, dataDir, recentMax, isEmbedded } = parts;
  if (dataDir === undefined || recentMax === undefined) return undefined;
  return {
    directory: join(dataDir, 'known-ids'),
    recentMax,
    record: isEmbedded ? createRunRecord(clickhouse) : NO_RECORD,
    storeState: () => eventStoreState(db),
    recentSeconds: isEmbedded ? 0 : SHARED_RECENT_MS / SECOND_MS,
  };
}
