/** Which tokens of which models customers used: the events of token billing, by customer, provider and model. */
import { z } from 'zod';
import { Refusal } from '../../core/errors.ts';
import type { Instant, Interval } from '../../core/time.ts';
import { TOKEN_EVENT_TYPE, TOKEN_KINDS, type TokenKind } from '../../core/token-billing.ts';
import type { ClickHouse } from '../client/clickhouse.ts';

/** Events of one customer with the same provider and model. */
export interface UsedModel {
  readonly customerRef: string;
  /** Empty where the events have none. */
  readonly provider: string;
  readonly model: string;
  /** What at least one of the events has. */
  readonly kinds: readonly TokenKind[];
  readonly events: number;
  readonly first: Instant;
  readonly last: Instant;
}

/** More models times customers than anybody looks through. */
const GROUPS_MAX = 100_000;

const KIND_COLUMNS = TOKEN_KINDS.map((kind) => `countIf(mapContains(properties, '${kind}')) > 0`);

const SQL = `
SELECT
  customer_ref, properties['provider'] AS provider, properties['model'] AS model,
  [${KIND_COLUMNS.join(', ')}] AS has,
  toString(count()) AS events,
  toString(toUnixTimestamp64Milli(min(timestamp))) AS first_ms,
  toString(toUnixTimestamp64Milli(max(timestamp))) AS last_ms
FROM usage_events FINAL
WHERE event_type = {type:String}
  AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
  AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
GROUP BY customer_ref, provider, model
ORDER BY customer_ref, provider, model
LIMIT {limit:UInt32}`;

const row = z
  .object({
    customer_ref: z.string(),
    provider: z.string(),
    model: z.string(),
    has: z.array(z.union([z.boolean(), z.number()])),
    events: z.string().transform(Number),
    first_ms: z.string().transform(Number),
    last_ms: z.string().transform(Number),
  })
  .transform(
    ({ customer_ref: customerRef, has, first_ms: first, last_ms: last, ...rest }): UsedModel => ({
      ...rest,
      customerRef,
      kinds: TOKEN_KINDS.filter((_, index) => Boolean(has[index])),
      first,
      last,
    }),
  );

/** In the order of customer, provider and model. Refuses (`too_large`) more groups than one answer can look through. */
export async function usedModels(clickhouse: ClickHouse, { start, end }: Interval): Promise<UsedModel[]> {
  const rows = await clickhouse.query({
    sql: SQL,
    params: { type: TOKEN_EVENT_TYPE, start, end, limit: GROUPS_MAX + 1 },
    schema: row,
  });
  if (rows.length > GROUPS_MAX) {
    throw new Refusal('too_large', 'customers used too many models: ask for a shorter time');
  }
  return rows;
}
