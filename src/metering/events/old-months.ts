/** Months of stored events, and their removal. The table is partitioned by the month of the timestamp. */
import { z } from 'zod';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { stringLiteral } from '../client/clickhouse-parameters.ts';
import { CORRECTED_EVENTS_TABLE } from '../corrections/corrected-rows.ts';
import { USAGE_EVENTS_TABLE } from '../ingest/encode-events.ts';

export interface EventMonth {
  /** The first instant of the month. */
  readonly start: Instant;
  /** Rows; copies and versions of one event count each. */
  readonly rows: number;
  /** When the last of them was accepted, by the clock of the service. */
  readonly lastAcceptedAt: Instant;
}

const MONTHS_SQL = `
  SELECT toUnixTimestamp(toStartOfMonth(timestamp, 'UTC')) * 1000 AS start, count() AS rows,
    max(toUnixTimestamp64Milli(ingested_at)) AS last
  FROM (
    SELECT timestamp, ingested_at FROM ${USAGE_EVENTS_TABLE}
    WHERE timestamp < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
    UNION ALL
    SELECT timestamp, ingested_at FROM ${CORRECTED_EVENTS_TABLE}
    WHERE timestamp < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
  )
  GROUP BY start
  ORDER BY start`;

const monthRow = z
  .object({ start: z.coerce.number(), rows: z.coerce.number(), last: z.coerce.number() })
  .transform(({ last, ...row }): EventMonth => ({ ...row, lastAcceptedAt: last }));

/** Reading the times of acceptance of many months takes longer than a request may. */
const SECONDS_MAX = 600;

/** The months with events before `before`, the first instant of a month, in order. */
export async function readMonthsBefore(clickhouse: ClickHouse, before: Instant): Promise<EventMonth[]> {
  return await clickhouse.query({
    sql: MONTHS_SQL,
    params: { before },
    settings: { max_execution_time: SECONDS_MAX },
    schema: monthRow,
  });
}

/** The partition of the month that contains `at`, such as `202611`. */
export function partitionOf(at: Instant): string {
  return formatInstant(at).slice(0, 7).replace('-', '');
}

/**
 * Removes all events of a month from disk. Idempotent. `cluster`: its name, or undefined for a single node. Servers
 * refuse to drop more than 50 GB at once unless the statement overrides that.
 */
export async function dropMonth(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  start: Instant,
): Promise<void> {
  const on = cluster === undefined ? '' : `_local ON CLUSTER ${stringLiteral(cluster)}`;
  const partition = stringLiteral(partitionOf(start));
  // Events last: a month is listed as long as it has any.
  for (const table of [CORRECTED_EVENTS_TABLE, USAGE_EVENTS_TABLE]) {
    await clickhouse.command(
      `ALTER TABLE ${table}${on} DROP PARTITION ID ${partition} SETTINGS max_partition_size_to_drop = 0`,
    );
  }
}
