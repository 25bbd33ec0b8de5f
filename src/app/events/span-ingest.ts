/** Wires the ingestion of spans: the operator's settings, the upgrade, and stored calls. */
import type { Config } from '../../config.ts';
import { SPAN_CUSTOMER_ATTRIBUTE } from '../../core/token-billing.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { inLane } from '../../metering/client/clickhouse-client.ts';
import type { Ingest } from '../../metering/ingest/ingest-operations.ts';
import {
  createSpanIngest,
  type SpanIngest,
  type SpanIngestOptions,
} from '../../metering/otlp/ingest-spans.ts';
import { createStoredCalls } from '../../metering/otlp/stored-calls.ts';
import type { Database } from '../../store/base/database.ts';
import { findResponseIdsFrom } from '../../store/events/identities.ts';

export interface SpanIngestParts extends Pick<SpanIngestOptions, 'ingestEvents'> {
  readonly config: Partial<
    Pick<Config, 'otlpCustomerAttributes' | 'otlpCachedBesideInput' | 'clickhouseUrl'>
  >;
  readonly db: Database;
  readonly clickhouse: ClickHouse;
  readonly ingest: Pick<Ingest, 'storedAmong'>;
  readonly log: Logger;
}

export async function createServiceSpans(parts: SpanIngestParts): Promise<SpanIngest> {
  const { config, db, clickhouse, ingest, log, ingestEvents } = parts;
  return createSpanIngest({
    ingestEvents,
    rules: {
      customerAttributes: config.otlpCustomerAttributes ?? [SPAN_CUSTOMER_ATTRIBUTE],
      cachedBeside: config.otlpCachedBesideInput ?? [],
      responseIdsFrom: await findResponseIdsFrom(db),
    },
    storedCalls: createStoredCalls({
      clickhouse: inLane(clickhouse, 'ingest'),
      storedAmong: (ids) => ingest.storedAmong(ids),
      isShared: config.clickhouseUrl !== undefined,
    }),
    onFailedLookup: (err) => log.warn({ err }, 'stored calls could not be read: spans may count twice'),
    onWarning: (span, warned) => log.warn({ ...span, warned }, 'a span was taken with a warning'),
  });
}
