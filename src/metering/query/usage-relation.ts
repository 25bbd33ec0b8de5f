/**
 * The one relation through which usage is read: the deduplicated events of some customers in an interval that match a
 * metric. Also the limits of such a query. Every usage query reads `usage_events` with FINAL.
 */
import { ClickHouseError } from '@clickhouse/client';
import type { z } from 'zod';
import { Refusal } from '../../core/errors.ts';
import type { StreamingMetric } from '../../core/metric.ts';
import type { Interval } from '../../core/time.ts';
import type { ClickHouse, SelectStatement } from '../client/clickhouse.ts';
import type { Parameters } from './parameters.ts';

/** Maximum rows of one result: 744 hours of 1,000 groups fit; a result ten times this size would exhaust memory. */
export const USAGE_ROWS_MAX = 1_000_000;

const TOO_MANY_ROWS_OR_BYTES = '396';
const TOO_MANY_GROUPS = '158';

/** The parts of a query over the events. Empty lists omit their clause. */
export interface UsageStatement {
  readonly definitions: readonly string[];
  readonly columns: readonly string[];
  /** Default: `usage_events FINAL`. */
  readonly from?: string;
  readonly conditions: readonly string[];
  readonly groupBy: readonly string[];
  readonly having?: readonly string[];
  readonly orderBy?: readonly string[];
  readonly limit?: string;
}

export function renderStatement(statement: UsageStatement): string {
  const { definitions, columns, from, conditions, groupBy, having = [], orderBy = [], limit } = statement;
  const clauses = [
    definitions.length > 0 ? `WITH\n  ${definitions.join(',\n  ')}` : '',
    `SELECT ${columns.join(', ')}`,
    `FROM ${from ?? 'usage_events FINAL'}`,
    conditions.length > 0 ? `WHERE ${conditions.join('\n  AND ')}` : '',
    groupBy.length > 0 ? `GROUP BY ${groupBy.join(', ')}` : '',
    having.length > 0 ? `HAVING ${having.join(' AND ')}` : '',
    orderBy.length > 0 ? `ORDER BY ${orderBy.join(', ')}` : '',
    limit !== undefined ? `LIMIT ${limit}` : '',
  ];
  return clauses.filter((clause) => clause !== '').join('\n');
}

/** The conditions that select customers and time; they narrow the primary key, so they are first. */
export function scopeConditions(
  parameters: Parameters,
  refs: readonly string[],
  { start, end }: Interval,
): string[] {
  return [
    `customer_ref IN ${parameters.bind('refs', 'Array(String)', refs)}`,
    `timestamp >= fromUnixTimestamp64Milli(${parameters.bind('start', 'Int64', start)}, 'UTC')`,
    `timestamp < fromUnixTimestamp64Milli(${parameters.bind('end', 'Int64', end)}, 'UTC')`,
  ];
}

interface UsageQuery {
  readonly sql: string;
  readonly parameters: Parameters;
  readonly rowsMax?: number;
  /** Maximum bytes of the answer; null for no limit. */
  readonly bytesMax?: number | null;
  /** The engine aborts as soon as a thread has more groups, which saves time; null for no such limit. */
  readonly groupsMax?: number | null;
  /** Longer than the default, for an invoice that has to be computed. */
  readonly executionSeconds?: number;
  /** The customer whose usage it is, if it is only one. */
  readonly customer?: string | undefined;
  readonly eventsOf: readonly string[];
}

/**
 * Runs a usage query. Throws a `too_large` refusal if it has more than `rowsMax` rows.
 *
 * Copies of an event share the whole sorting key, including the timestamp, and so are in one partition: FINAL need not
 * merge across partitions, and a partition that is a single part needs no merging.
 */
export async function queryUsage<Row>(
  clickhouse: ClickHouse,
  metric: StreamingMetric,
  { schema, ...query }: UsageQuery & { readonly schema: z.ZodType<Row> },
): Promise<Row[]> {
  return await withinLimits(metric, query, (statement) => clickhouse.query({ ...statement, schema }));
}

/** `queryUsage` for an answer in a format. */
export async function queryUsageBytes(
  clickhouse: ClickHouse,
  metric: StreamingMetric,
  { format, ...query }: UsageQuery & { readonly format: 'Native' },
): Promise<Buffer> {
  const sql = `${query.sql}\nFORMAT ${format}`;
  return await withinLimits(metric, { ...query, sql }, (statement) => clickhouse.queryBytes(statement));
}

async function withinLimits<Answer>(
  metric: StreamingMetric,
  {
    sql,
    parameters,
    rowsMax = USAGE_ROWS_MAX,
    bytesMax = null,
    groupsMax = null,
    executionSeconds,
    customer,
    eventsOf,
  }: UsageQuery,
  run: (statement: SelectStatement) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await run({
      sql,
      params: parameters.values(),
      customer,
      eventsOf,
      settings: {
        do_not_merge_across_partitions_select_final: 1,
        max_result_rows: rowsMax,
        result_overflow_mode: 'throw',
        ...(bytesMax === null ? {} : { max_result_bytes: bytesMax }),
        ...(executionSeconds === undefined ? {} : { max_execution_time: executionSeconds }),
        ...(groupsMax === null ? {} : { max_rows_to_group_by: groupsMax, group_by_overflow_mode: 'throw' }),
      },
    });
  } catch (error) {
    if (error instanceof ClickHouseError && [TOO_MANY_ROWS_OR_BYTES, TOO_MANY_GROUPS].includes(error.code)) {
      throw tooManyValues(metric, rowsMax);
    }
    throw error;
  }
}

export function tooManyValues({ name }: StreamingMetric, max: number): Refusal {
  return new Refusal(
    'too_large',
    `usage of metric "${name}" has more than ${max} values; ask for a shorter time or fewer groups`,
  );
}
