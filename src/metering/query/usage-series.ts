/**
 * Usage for invoices: the cumulative value V(t) of a metric per customer and line key, for any number
 * of customers in one query. Rules in docs/metering.md.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import type { StreamingMetric } from '../../core/metric.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { UsageSeries } from '../../core/usage-series.ts';
import type { ClickHouse } from '../clickhouse.ts';
import { cumulativeSteps } from './series-fold.ts';
import { compileUsageSeries } from './series-sql.ts';
import { queryUsage, USAGE_ROWS_MAX } from './usage-relation.ts';
import { exactUsage } from './usage-value.ts';

/** A customer and everything its events may carry as `customer_id`: its id and its ingest aliases. */
export interface UsageOwner {
  readonly customerId: string;
  readonly refs: readonly string[];
}

export interface UsageSeriesRequest {
  readonly metric: StreamingMetric;
  readonly customers: readonly UsageOwner[];
  /** On hour boundaries. */
  readonly period: Interval;
  /** Where V is wanted besides the end of the period: at every hour, or at these instants (hour-aligned). */
  readonly boundaries: 'hour' | readonly Instant[];
  /** Properties that make a line; events that lack one of them belong to no line. */
  readonly groupBy: readonly string[];
  /** Only events with one of these values of a property; null for all events. */
  readonly usageFilter?: { readonly property: string; readonly values: readonly string[] } | null;
  /** Default `USAGE_ROWS_MAX`. */
  readonly rowsMax?: number;
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
  const { sql, parameters, windowEnd } = compileUsageSeries({ ...request, customers: owners });
  const rows = await queryUsage(clickhouse, metric, { sql, parameters, schema: seriesRow, rowsMax });
  for (const line of linesOf(rows)) {
    const [first] = line;
    const customerId = owners[first?.owner ?? 0]?.customerId;
    assert(first !== undefined && customerId !== undefined, 'every row belongs to a requested customer');
    const windows = line.map((row) => ({ at: windowEnd(row.window_start), value: exactUsage(row.value) }));
    result.get(customerId)?.push({
      groupValues: Object.fromEntries(groupBy.map((name, index) => [name, first.group_values[index] ?? ''])),
      steps: cumulativeSteps(metric.aggregation, windows),
    });
  }
  return result;
}

const seriesRow = z.object({
  /** Index into the requested customers. */
  owner: z.number(),
  group_values: z.array(z.string()),
  /** Unix seconds. */
  window_start: z.string().transform(Number),
  value: z.string(),
});
type SeriesRow = z.infer<typeof seriesRow>;

/** Rows come line by line; a line ends where the customer or a group value changes. */
function linesOf(rows: readonly SeriesRow[]): SeriesRow[][] {
  const lines: SeriesRow[][] = [];
  let line: SeriesRow[] = [];
  for (const row of rows) {
    const previous = line.at(-1);
    if (previous !== undefined && isSameLine(previous, row)) {
      line.push(row);
    } else {
      line = [row];
      lines.push(line);
    }
  }
  return lines;
}

function isSameLine(a: SeriesRow, b: SeriesRow): boolean {
  return a.owner === b.owner && a.group_values.every((value, index) => value === b.group_values[index]);
}
