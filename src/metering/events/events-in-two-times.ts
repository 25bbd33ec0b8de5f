/** Counts events by customer in two intervals, such as the same days of two months. */
import { z } from 'zod';
import type { Interval } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { tabSeparated } from '../client/sent-tables.ts';

export interface EventsCompared {
  readonly now: number;
  readonly before: number;
}

const within = (name: string) =>
  `timestamp >= fromUnixTimestamp64Milli({${name}_start:Int64}, 'UTC') AND timestamp < fromUnixTimestamp64Milli({${name}_end:Int64}, 'UTC')`;

const SQL = `
SELECT customer_ref, toString(countIf(${within('now')})) AS now, toString(countIf(${within('before')})) AS before
FROM usage_events FINAL
WHERE ((${within('now')}) OR (${within('before')}))
  AND customer_ref GLOBAL IN (SELECT ref FROM sent_refs)
GROUP BY customer_ref`;

const count = z.string().transform(Number);
const row = z.object({ customer_ref: z.string(), now: count, before: count });

/** By customer; `refs` contains the id and the aliases of each. Customers without events are absent. */
export async function eventsInTwoTimes(
  clickhouse: ClickHouse,
  refs: ReadonlyMap<string, readonly string[]>,
  { now, before }: { readonly now: Interval; readonly before: Interval },
): Promise<ReadonlyMap<string, EventsCompared>> {
  const owners = new Map([...refs].flatMap(([id, own]) => own.map((ref) => [ref, id] as const)));
  if (owners.size === 0) return new Map();
  const rows = await clickhouse.query({
    sql: SQL,
    params: { now_start: now.start, now_end: now.end, before_start: before.start, before_end: before.end },
    tables: [
      {
        name: 'sent_refs',
        columns: [{ name: 'ref', type: 'String' }],
        rows: tabSeparated([...owners.keys()].map((ref) => [ref])),
      },
    ],
    eventsOf: [...owners.keys()],
    schema: row,
  });
  const found = new Map<string, EventsCompared>();
  for (const each of rows) {
    const id = owners.get(each.customer_ref) ?? '';
    const known = found.get(id);
    found.set(id, { now: (known?.now ?? 0) + each.now, before: (known?.before ?? 0) + each.before });
  }
  return found;
}
