/**
 * Usage for invoices: the cumulative value V(t) of a metric per customer and line key, for any number of customers in
 * one query. Rules are in docs/explanation/metering.md.
 */
import { z } from 'zod';
import { assert, type Refusal } from '../../core/errors.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { AGGREGATES } from './aggregate-sql.ts';
import {
  lineOfTexts,
  NOTHING_PACKED,
  type PackedLine,
  type PackedSeries,
  packedSeries,
} from './packed-series.ts';
import { BILLING_EXECUTION_SECONDS } from './query-limits.ts';
import { readNumbers } from './read-numbers.ts';
import {
  aggregationOf,
  compileSeriesSizes,
  compileUsageSeries,
  refsOf,
  type UsageSeriesRequest,
} from './series-sql.ts';
import { queryUsage, tooManyValues, USAGE_ROWS_MAX } from './usage-relation.ts';

/** The series of one customer, and what they exclude. */
export interface MeteredSeries {
  readonly series: readonly UsageSeries[];
  /** Events with which the metric cannot be evaluated, so it was evaluated without them; null for none. */
  readonly uncounted: { readonly count: number; readonly transactionIds: readonly string[] } | null;
  /** Why the metric could not be evaluated at all, in which case there are no series; else null. */
  readonly problem: Refusal | null;
}

/** `readPackedSeries`, unpacked. */
export async function readUsageSeries(
  clickhouse: ClickHouse,
  request: UsageSeriesRequest,
): Promise<Map<string, UsageSeries[]>> {
  const packed = await readPackedSeries(clickhouse, request);
  return new Map([...packed].map(([customerId, one]) => [customerId, one.unpack()]));
}

/**
 * The series of every requested customer, an empty list if it has no matching event. Series are in byte order of their
 * group values. Throws a `too_large` refusal beyond `rowsMax` values.
 */
export async function readPackedSeries(
  clickhouse: ClickHouse,
  request: UsageSeriesRequest,
): Promise<Map<string, PackedSeries>> {
  const { metric, customers, groupBy, rowsMax = USAGE_ROWS_MAX } = request;
  const linesOf = new Map<string, PackedLine[]>(customers.map(({ customerId }) => [customerId, []]));
  assert(linesOf.size === customers.length, 'no customer is asked for twice');
  const aggregation = aggregationOf(request);
  // Events are grouped by values before these are counted in windows.
  const groupsMax = AGGREGATES[aggregation].countsFirstSeen ? null : rowsMax;
  const owners = customers.filter(({ refs }) => refs.length > 0);
  if (owners.length === 0) return new Map([...linesOf.keys()].map((id) => [id, NOTHING_PACKED]));
  const { lines, windowEnd } = await readNumbers([metric], async (numbers) => {
    const compiled = compileUsageSeries({ ...request, customers: owners }, rowsMax, numbers);
    const found = await queryUsage(clickhouse, metric, {
      sql: compiled.sql,
      parameters: compiled.parameters,
      schema: lineRow,
      rowsMax,
      groupsMax,
      executionSeconds: BILLING_EXECUTION_SECONDS,
      customer: owners.length === 1 ? owners[0]?.customerId : undefined,
      eventsOf: refsOf(owners),
    });
    return { lines: found, windowEnd: compiled.windowEnd };
  });
  if (lines.reduce((sum, line) => sum + line.window_count, 0) > rowsMax) throw tooManyValues(metric, rowsMax);
  for (const { owner, group_values: groupValues, ...line } of lines) {
    const customerId = owners[owner]?.customerId;
    assert(customerId !== undefined, 'every line belongs to a requested customer');
    const { window_count: count, window_offsets: offsets, window_values: values } = line;
    linesOf.get(customerId)?.push(lineOfTexts({ groupValues, count, offsets, values }));
  }
  const form = { aggregation, groupBy, windowEnd };
  return new Map([...linesOf].map(([customerId, own]) => [customerId, packedSeries(own, form)]));
}

/** The number of values in the series of each customer; customers without any are absent. */
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
  window_count: z.number(),
  window_offsets: z.string(),
  window_values: z.string(),
});
