/**
 * Events in memory instead of in ClickHouse, for a service whose usage the naive engine answers. The service takes
 * events in, and drops repeats, as always; only the way from its log to ClickHouse is missing. No engine is started.
 */
import type { ClickHouse, SelectStatement } from '../../../src/metering/client/clickhouse.ts';
import type { EventBlocks } from '../../../src/metering/ingest/event-blocks.ts';
import { RowReader } from '../../../src/metering/ingest/row-binary.ts';
import type { UsageSource } from '../../../src/metering/usage/usage-source.ts';
import { naiveFrozenLines } from './frozen-lines.ts';
import type { NaiveEvent } from './usage.ts';
import { naiveUsageSource } from './usage-source.ts';

interface NaiveEventStore {
  readonly clickhouse: ClickHouse;
  readonly blocks: EventBlocks;
  readonly usageSource: UsageSource;
  close(): Promise<void>;
}

export function naiveEventStore(): NaiveEventStore {
  const events: NaiveEvent[] = [];
  return {
    clickhouse: clickhouseWithoutEvents(),
    blocks: {
      async append(rows) {
        events.push(...decoded(rows));
      },
      visible: async () => {},
      stats: () => ({ waitingRows: 0, waitingBytes: 0, inserts: 0, failedInserts: 0 }),
      close: async () => {},
    },
    usageSource: naiveUsageSource(() => events),
    close: async () => {},
  };
}

/**
 * It keeps the frozen hours of invoices, and nothing else: a start and ingest, whose lane is `ingest`, find no events.
 * All other reads throw, so that no test passes on nothing.
 */
function clickhouseWithoutEvents(): ClickHouse {
  const frozen = naiveFrozenLines();
  const requireIngest = ({ sql, lane }: SelectStatement) => {
    if (lane !== 'ingest') throw new Error(`this test has no ClickHouse, which it needs for: ${sql}`);
  };
  return {
    async query(statement) {
      const lines = frozen.select(statement);
      if (lines === null) requireIngest(statement);
      const rows = lines ?? (statement.sql.includes(' AS last_tick') ? [NO_EVENTS_STORED] : []);
      return rows.map((row) => statement.schema.parse(row));
    },
    async queryBytes(statement) {
      requireIngest(statement);
      return Buffer.alloc(0);
    },
    async *queryStream(statement) {
      requireIngest(statement);
      yield* [];
    },
    command: async () => {},
    insertRows: async (insert) => frozen.insert(insert),
    ping: async () => {},
    laneFigures: () => new Map(),
    cancelQueries: async () => {},
    close: async () => {},
  };
}

/** The summary that the index of known events begins with (rebuild-index.ts). */
const NO_EVENTS_STORED = { events: 0, ahead: 0, last_tick: 0 };

/** A row has three words of hashes after the timestamp, the tick and the version. */
const TICK_AT = 8;
const TEXTS_AT = 36;

/** Events as ingest encodes them for ClickHouse (encode-events.ts). */
function* decoded(rows: Buffer): Generator<NaiveEvent> {
  const reader = new RowReader(rows);
  while (!reader.isAtEnd) {
    const timestamp = Number(rows.readBigInt64LE(reader.offset));
    const ingestedAt = Number(rows.readBigInt64LE(reader.offset + TICK_AT));
    reader.offset += TEXTS_AT;
    const [transactionId, customerRef, eventType] = [reader.text(), reader.text(), reader.text()];
    const properties: [string, string][] = [];
    for (let left = reader.length(); left > 0; left -= 1) properties.push([reader.text(), reader.text()]);
    yield {
      ...{ transactionId, customerRef, eventType, timestamp, ingestedAt },
      properties: Object.fromEntries(properties),
    };
  }
}
