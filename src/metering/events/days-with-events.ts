/** The days on which references have events, and the time of their last event. */
import { z } from 'zod';
import type { Instant, Interval } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { createParameters } from '../query/parameters.ts';
import { inTextParts } from '../query/usage-batch.ts';
import { renderStatement, scopeConditions } from '../query/usage-relation.ts';

export interface DaysWithEvents {
  readonly customerRef: string;
  /** Midnights in UTC, in no order. */
  readonly days: readonly Instant[];
  readonly last: Instant;
}

const DAY = "toString(toUnixTimestamp(toStartOfDay(timestamp, 'UTC')) * 1000)";

const row = z
  .object({
    ref: z.string(),
    days: z.array(z.string().transform(Number)),
    last_ms: z.string().transform(Number),
  })
  .transform(({ ref: customerRef, days, last_ms: last }): DaysWithEvents => ({ customerRef, days, last }));

/**
 * One entry for each reference with events of any type in the range. Copies of an event have its timestamp, so they are
 * not removed first.
 */
export async function daysWithEvents(
  clickhouse: ClickHouse,
  refs: readonly string[],
  range: Interval,
): Promise<DaysWithEvents[]> {
  const found: DaysWithEvents[] = [];
  for (const part of inTextParts(refs, (ref) => [ref])) {
    const parameters = createParameters();
    const sql = renderStatement({
      definitions: [],
      columns: [
        'customer_ref AS ref',
        `groupUniqArray(${DAY}) AS days`,
        'toString(toUnixTimestamp64Milli(max(timestamp))) AS last_ms',
      ],
      from: 'usage_events',
      conditions: scopeConditions(parameters, part, range),
      groupBy: ['customer_ref'],
    });
    const params = parameters.values();
    found.push(...(await clickhouse.query({ sql, params, eventsOf: part, lane: 'reports', schema: row })));
  }
  return found;
}
