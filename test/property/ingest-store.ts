/** A real embedded ClickHouse on temporary data for the ingest tests, and what it holds. */
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createTestClickHouse } from '../support/stores.ts';

export interface IngestStore {
  readonly clickhouse: ClickHouse;
  /** All events through FINAL, in the order in which they were ingested. */
  events(): Promise<StoredEvent[]>;
  /** Rows as they were written, copies included. */
  rowCount(): Promise<number>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

const STORED_EVENT = z.object({
  transaction_id: z.string(),
  customer_ref: z.string(),
  event_type: z.string(),
  timestamp_ms: z.coerce.number(),
  properties: z.record(z.string(), z.string()),
  ingested_us: z.coerce.number(),
  version: z.string(),
});

type StoredEvent = z.infer<typeof STORED_EVENT>;

const EVENTS_SQL = `
  SELECT transaction_id, customer_ref, event_type, toUnixTimestamp64Milli(timestamp) AS timestamp_ms,
    properties, toUnixTimestamp64Micro(ingested_at) AS ingested_us, version
  FROM usage_events FINAL
  ORDER BY ingested_at`;

export async function openIngestStore(): Promise<IngestStore> {
  const clickhouse = await createTestClickHouse();
  return {
    clickhouse,
    events: () => clickhouse.query({ sql: EVENTS_SQL, schema: STORED_EVENT }),
    async rowCount() {
      const schema = z.object({ rows: z.coerce.number() });
      const [row] = await clickhouse.query({ sql: 'SELECT count() AS rows FROM usage_events', schema });
      return row?.rows ?? 0;
    },
    clear: () => clickhouse.command('TRUNCATE TABLE usage_events'),
    close: () => clickhouse.close(),
  };
}
