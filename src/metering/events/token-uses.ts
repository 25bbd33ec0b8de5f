/** The tokens that customers used of each model: the events of token billing, by customer, provider and model. */
import { z } from 'zod';
import type { PageRequest } from '../../core/paging.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { TOKEN_EVENT_TYPE, TOKEN_KINDS, type TokenKind } from '../../core/token-billing.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

/** Events of one customer with the same provider and model. */
export interface UsedModel {
  readonly customerRef: string;
  /** Empty if the events have none. */
  readonly provider: string;
  readonly model: string;
  /** Properties that at least one of the events has. */
  readonly kinds: readonly TokenKind[];
  readonly events: number;
  readonly first: Instant;
  readonly last: Instant;
  readonly position: UsedModelPosition;
}

/** A place in the list. Values of events may be too long for a cursor, so it contains their hash. */
export interface UsedModelPosition {
  /** The first characters of the customer's name. */
  readonly prefix: string;
  /** The hash of customer, provider and model. */
  readonly key: string;
}

const KIND_COLUMNS = TOKEN_KINDS.map((kind) => `countIf(mapContains(properties, '${kind}')) > 0`);

const SQL = `
SELECT
  customer_ref, properties['provider'] AS provider, properties['model'] AS model,
  substringUTF8(customer_ref, 1, 64) AS prefix, hex(sipHash128(customer_ref, provider, model)) AS key,
  [${KIND_COLUMNS.join(', ')}] AS has,
  toString(count()) AS events,
  toString(toUnixTimestamp64Milli(min(timestamp))) AS first_ms,
  toString(toUnixTimestamp64Milli(max(timestamp))) AS last_ms
FROM usage_events FINAL
WHERE event_type = {type:String}
  AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
  AND customer_ref >= {after_prefix:String}
GROUP BY customer_ref, provider, model
HAVING (prefix, key) > ({after_prefix:String}, {after_key:String})
ORDER BY prefix, key
LIMIT {limit:UInt32}`;

const row = z
  .object({
    customer_ref: z.string(),
    provider: z.string(),
    model: z.string(),
    prefix: z.string(),
    key: z.string(),
    has: z.array(z.union([z.boolean(), z.number()])),
    events: z.string().transform(Number),
    first_ms: z.string().transform(Number),
    last_ms: z.string().transform(Number),
  })
  .transform(
    ({
      customer_ref: customerRef,
      has,
      prefix,
      key,
      first_ms: first,
      last_ms: last,
      ...rest
    }): UsedModel => ({
      ...rest,
      customerRef,
      position: { prefix, key },
      kinds: TOKEN_KINDS.filter((_, index) => Boolean(has[index])),
      first,
      last,
    }),
  );

/** At most `limit` entries after `after`, by the prefix of their customers' names. `after` null: from the beginning. */
export async function usedModels(
  clickhouse: ClickHouse,
  { start, end }: Interval,
  { after, limit }: PageRequest<UsedModelPosition>,
): Promise<UsedModel[]> {
  return clickhouse.query({
    sql: SQL,
    params: {
      type: TOKEN_EVENT_TYPE,
      start,
      end,
      after_prefix: after?.prefix ?? '',
      after_key: after?.key ?? '',
      limit,
    },
    schema: row,
  });
}
