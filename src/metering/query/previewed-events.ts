/**
 * Usage as it would be with unsent events: every query reads them in addition to the stored ones, or instead of them.
 * Nothing is stored.
 *
 * All statements read events from `usage_events`. Here this name is replaced by a relation with the same columns, so
 * metrics of every kind are evaluated by the statements that evaluate stored events. The parse trees of SQL metrics are
 * verified before the replacement, as always.
 */
import type { Instant, Interval } from '../../core/time.ts';
import { around } from '../client/around.ts';
import type { ClickHouse, QueryParams, SelectStatement } from '../client/clickhouse.ts';
import { COUNTED_UP_TO } from '../corrections/parameter-names.ts';

export interface PreviewedEvent {
  readonly transactionId: string;
  readonly eventType: string;
  readonly timestamp: Instant;
  /** JSON object of the texts of the values, in the form of ingestion. */
  readonly propertiesJson: string;
}

export interface EventPreview {
  readonly events: readonly PreviewedEvent[];
  /** The customer reference of the events. */
  readonly customerRef: string;
  /** They count as ingested one after another, later than this: epoch microseconds. */
  readonly ingestedAfter: bigint;
  /** The stored events that also count, if they were ingested no later than the moment above; null for none. */
  readonly beside: { readonly refs: readonly string[]; readonly interval: Interval } | null;
}

const EVENTS_TABLE = /\busage_events(?: FINAL)?\b/g;

/** The same ClickHouse, for reading usage. */
export function withPreviewedEvents(clickhouse: ClickHouse, preview: EventPreview): ClickHouse {
  const relation = relationSql(preview);
  const added = parametersOf(preview);
  const previewed = <Statement extends SelectStatement>(statement: Statement): Statement =>
    statement.lane === 'verification'
      ? statement
      : {
          ...statement,
          sql: statement.sql.replace(EVENTS_TABLE, () => relation),
          params: { ...statement.params, ...added },
          eventsOf: preview.beside?.refs ?? [],
        };
  return around(clickhouse, { change: previewed });
}

const GIVEN = `
SELECT
  one.1 AS transaction_id, {previewed_ref:String} AS customer_ref, one.2 AS event_type,
  fromUnixTimestamp64Milli(one.3, 'UTC') AS timestamp,
  JSONExtract(one.4, 'Map(String, String)') AS properties,
  fromUnixTimestamp64Micro(one.5, 'UTC') AS ingested_at
FROM (
  SELECT arrayJoin(arrayZip(
    {previewed_ids:Array(String)}, {previewed_types:Array(String)}, {previewed_times:Array(Int64)},
    {previewed_properties:Array(String)}, {previewed_ingestions:Array(Int64)}
  )) AS one
)`;

/** The conditions are those of the enclosing queries, at their widest: they narrow the primary key. */
const STORED = `
SELECT transaction_id, customer_ref, CAST(event_type, 'String') AS event_type, timestamp, properties, ingested_at
FROM usage_events FINAL
WHERE customer_ref IN {previewed_beside:Array(String)}
  AND timestamp >= fromUnixTimestamp64Milli({previewed_from:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({previewed_to:Int64}, 'UTC')
  AND ingested_at <= fromUnixTimestamp64Micro({previewed_after:Int64}, 'UTC')
UNION ALL`;

function relationSql({ beside }: EventPreview): string {
  return `(${beside === null ? '' : STORED}${GIVEN}\n)`;
}

function parametersOf({ events, customerRef, ingestedAfter, beside }: EventPreview): QueryParams {
  return {
    previewed_ref: customerRef,
    previewed_ids: events.map(({ transactionId }) => transactionId),
    previewed_types: events.map(({ eventType }) => eventType),
    previewed_times: events.map(({ timestamp }) => timestamp),
    previewed_properties: events.map(({ propertiesJson }) => propertiesJson),
    previewed_ingestions: events.map((_, index) => ingestedAfter + BigInt(index + 1)),
    ...(beside === null
      ? {}
      : {
          previewed_beside: beside.refs,
          previewed_from: beside.interval.start,
          previewed_to: beside.interval.end,
          previewed_after: String(ingestedAfter),
          [COUNTED_UP_TO]: String(ingestedAfter),
        }),
  };
}
