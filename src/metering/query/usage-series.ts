/**
 * Usage for invoices: the cumulative value V(t) of a metric per customer and line key, for any number
 * of customers in one query. Rules in docs/metering.md.
 */
import { z } from 'zod';
import { assert, type Refusal } from '../../core/errors.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { BILLING_EXECUTION_SECONDS } from './query-limits.ts';
import { cumulativeSteps } from './series-fold.ts';
import {
  aggregationOf,
  compileSeriesSizes,
  compileUsageSeries,
  refsOf,
  type UsageSeriesRequest,
} from './series-sql.ts';
import { queryUsage, tooManyValues, USAGE_ROWS_MAX } from './usage-relation.ts';
import { exactUsage } from './usage-value.ts';

/** The series of one customer, and what they do not contain. */
export interface MeteredSeries {
  readonly series: readonly UsageSeries[];
  /** Events without which the metric was evaluated, because it cannot be with them; null for none. */
  readonly uncounted: { readonly count: number; readonly transactionIds: readonly string[] } | null;
  /** Why the metric could not be evaluated at all, in which case there are no series; else null. */
  readonly problem: Refusal | null;
}

/**
 * The series of every requested customer, an empty list where it has no matching event. Series are in
 * byte order of their group values. Throws a `too_large` refusal beyond `rowsMax` values.
 */
export async function readUsageSeries(
  clickhouse: ClickHouse,
  request: UsageSeriesRequest,
): Promise<Map<string, UsageSeries[]>> {
  const { metric, customers, groupBy, rowsMax = USAGE_ROWS_MAX } = request;
  const result = new Map<string, UsageSeries[]>(customers.map(({ customerId }) => [customerId, []]));
  assert(result.size === customers.length, 'no customer is asked for twice');
  const owners = customers.filter(({ refs }) => refs.length > 0);
  if (owners.length === 0) return result;
  const { sql, parameters, windowEnd } = compileUsageSeries({ ...request, customers: owners }, rowsMax);
  // UNIQUE groups by values before it counts them in windows.
  const aggregation = aggregationOf(request);
  const groupsMax = aggregation === 'UNIQUE' ? null : rowsMax;
  const lines = await queryUsage(clickhouse, metric, {
    sql,
    parameters,
    schema: lineRow,
    rowsMax,
    groupsMax,
    executionSeconds: BILLING_EXECUTION_SECONDS,
    customer: owners.length === 1 ? owners[0]?.customerId : undefined,
    eventsOf: refsOf(owners),
  });
  if (lines.reduce((sum, line) => sum + line.window_values.length, 0) > rowsMax) {
    throw tooManyValues(metric, rowsMax);
  }
  for (const { owner, group_values, window_offsets, window_values } of lines) {
    const customerId = owners[owner]?.customerId;
    assert(customerId !== undefined, 'every line belongs to a requested customer');
    const windows = window_offsets.map((offset, index) => ({
      at: windowEnd(offset),
      value: exactUsage(window_values[index] ?? ''),
    }));
    result.get(customerId)?.push({
      groupValues: Object.fromEntries(groupBy.map((name, index) => [name, group_values[index] ?? ''])),
      steps: cumulativeSteps(aggregation, windows),
    });
  }
  return result;
}

/** How many values the series of each customer have; only of those with any. */
export async function countSeriesValues(
  clickhouse: ClickHouse,
  request: UsageSeriesRequest,
): Promise<Map<string, number>> {
  const owners = request.customers.filter(({ refs }) => refs.length > 0);
  if (owners.length === 0) return new Map();
  const query = compileSeriesSizes({ ...request, customers: owners });
  const rows = await queryUsage(clickhouse, request.metric, {
    ...query,
    schema: sizeRow,
    executionSeconds: BILLING_EXECUTION_SECONDS,
    eventsOf: refsOf(owners),
  });
  return new Map(
    rows.map(({ owner, value_count }) => {
      const customerId = owners[owner]?.customerId;
      assert(customerId !== undefined, 'every row belongs to a requested customer');
      return [customerId, Number(value_count)] as const;
    }),
  );
}

const sizeRow = z.object({ owner: z.number(), value_count: z.string() });

const lineRow = z.object({
  /** Index into the requested customers. */
  owner: z.number(),
  group_values: z.array(z.string()),
  /** Starts of the windows, in seconds after the start of the period. Ascending. */
  window_offsets: z.array(z.number()),
  window_values: z.array(z.string()),
});
