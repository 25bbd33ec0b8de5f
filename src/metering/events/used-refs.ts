/** The customer references of events as they were sent, whether or not a customer with that reference exists. */
import { z } from 'zod';
import type { PageRequest } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

/** The events under one id or alias. */
export interface UsedRef {
  readonly customerRef: string;
  readonly events: number;
  readonly first: Instant;
  readonly last: Instant;
  readonly position: UsedRefPosition;
}

/** A place in the list. A name may be too long for a cursor, so it contains the hash. */
export interface UsedRefPosition {
  /** The first characters of the name. */
  readonly prefix: string;
  readonly key: string;
}

const SQL = `
SELECT
  customer_ref,
  substringUTF8(customer_ref, 1, 64) AS prefix, hex(sipHash128(customer_ref)) AS key,
  toString(count()) AS events,
  toString(toUnixTimestamp64Milli(min(timestamp))) AS first_ms,
  toString(toUnixTimestamp64Milli(max(timestamp))) AS last_ms
FROM usage_events FINAL
WHERE timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
  AND customer_ref >= {after_prefix:String}
GROUP BY customer_ref
HAVING (prefix, key) > ({after_prefix:String}, {after_key:String})
ORDER BY prefix, key
LIMIT {limit:UInt32}`;

const row = z
  .object({
    customer_ref: z.string(),
    prefix: z.string(),
    key: z.string(),
    events: z.string().transform(Number),
    first_ms: z.string().transform(Number),
    last_ms: z.string().transform(Number),
  })
  .transform(
    ({ customer_ref: customerRef, prefix, key, events, first_ms: first, last_ms: last }): UsedRef => ({
      ...{ customerRef, events, first, last },
      position: { prefix, key },
    }),
  );

/** At most `limit` entries after `after`, by the prefix of their names. `after` null: from the beginning. */
export async function usedRefs(
  clickhouse: ClickHouse,
  { start, end }: Interval,
  { after, limit }: PageRequest<UsedRefPosition>,
): Promise<UsedRef[]> {
  return clickhouse.query({
    sql: SQL,
    params: { start, end, after_prefix: after?.prefix ?? '', after_key: after?.key ?? '', limit },
    schema: row,
  });
}
