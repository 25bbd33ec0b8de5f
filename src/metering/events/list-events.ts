/** Stored events, the newest first. */
import { z } from 'zod';
import type { PageRequest } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

export interface ListedEvent {
  readonly transactionId: string;
  readonly customerRef: string;
  readonly eventType: string;
  readonly timestamp: Instant;
}

export interface EventPosition {
  readonly at: Instant;
  readonly transactionId: string;
}

interface EventListFilter {
  readonly range: Interval;
  /** The id and the aliases of a customer; null: all customers. */
  readonly refs: readonly string[] | null;
  readonly eventType: string | null;
}

const row = z
  .object({
    transaction_id: z.string(),
    customer_ref: z.string(),
    type: z.string(),
    timestamp_ms: z.string().transform(Number),
  })
  .transform(
    (found): ListedEvent => ({
      transactionId: found.transaction_id,
      customerRef: found.customer_ref,
      eventType: found.type,
      timestamp: found.timestamp_ms,
    }),
  );

/** At most `limit` events of the range before `after`, by time descending, then by id. */
export async function listEvents(
  clickhouse: ClickHouse,
  { range, refs, eventType }: EventListFilter,
  { after, limit }: PageRequest<EventPosition>,
): Promise<ListedEvent[]> {
  const at = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;
  const sql = `
SELECT transaction_id, customer_ref, toString(event_type) AS type,
  toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms
FROM usage_events FINAL
WHERE timestamp >= ${at('start')} AND timestamp < ${at('end')}
${refs === null ? '' : 'AND customer_ref IN {refs:Array(String)}'}
${eventType === null ? '' : 'AND event_type = {event_type:String}'}
${after === null ? '' : `AND (timestamp < ${at('at')} OR (timestamp = ${at('at')} AND transaction_id > {id:String}))`}
ORDER BY timestamp DESC, transaction_id
LIMIT {limit:UInt32}`;
  return clickhouse.query({
    sql,
    params: {
      ...{ start: range.start, end: range.end, limit },
      ...(refs === null ? {} : { refs: [...refs] }),
      ...(eventType === null ? {} : { event_type: eventType }),
      ...(after === null ? {} : { at: after.at, id: after.transactionId }),
    },
    lane: 'reports',
    eventsOf: refs ?? undefined,
    schema: row,
  });
}
