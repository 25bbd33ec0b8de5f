/**
 * Usage of any kind of metric. The only place that distinguishes streaming and SQL metrics; used by invoices, the usage
 * API and previews.
 */
import type { BillableMetric, SqlMetric, StreamingMetric } from '../../core/metric.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import type { PackedSeries } from '../query/packed-series.ts';
import type { UsageSeriesRequest } from '../query/series-sql.ts';
import { readSharedSeries } from '../query/shared-series.ts';
import { canShare, type SharedSeriesRequest, type SharingMetric } from '../query/shared-series-sql.ts';
import { readUsageGroups, type UsageGroupsPage } from '../query/usage-groups.ts';
import { countSeriesValues, type MeteredSeries, readPackedSeries } from '../query/usage-series.ts';
import { readCountedSeries } from '../sql/run/counted-series.ts';
import type { SqlSeriesRequest } from '../sql/run/read-series.ts';
import { readSqlUsage } from '../sql/run/read-usage.ts';
import { loadSqlMetric } from '../sql/run/sql-metric.ts';
import { type MetricGroupsRequest, pageAhead } from './pages-ahead.ts';
import type { RowsAhead } from './rows-ahead.ts';

export interface MetricSeriesRequest
  extends Omit<UsageSeriesRequest, 'metric' | 'boundaries' | 'usageFilter'> {
  readonly metric: BillableMetric;
  /** When a SQL metric is evaluated; a streaming metric always is at every hour. */
  readonly evaluatedAt: SqlSeriesRequest['evaluatedAt'];
  /** Only events with one of these values of a property; null for all events. */
  readonly usageFilter: { readonly property: string; readonly values: readonly string[] } | null;
  /** For all customers together; for a SQL metric, for each. */
  readonly rowsMax: number;
}

/** The usage of one customer, packed until it is used. */
export interface PackedUsage {
  /** The number of values of all series. */
  readonly valueCount: number;
  /** The series, rebuilt by each call. */
  unpack(): MeteredSeries;
}

/**
 * V(t) of every customer and line key; see `readPackedSeries` and `readCountedSeries`. Throws a `too_large` refusal
 * beyond `rowsMax` values. Every value of a streaming metric can be counted, whatever the events: their numbers are
 * checked one by one, and ten billion of the largest can be summed.
 */
export async function readPackedUsage(
  clickhouse: ClickHouse,
  { metric, evaluatedAt, ...request }: MetricSeriesRequest,
): Promise<Map<string, PackedUsage>> {
  if (metric.kind === 'sql') {
    const checked = await loadSqlMetric(metric.sql);
    const counted = await readCountedSeries(clickhouse, { ...request, metric: checked, evaluatedAt });
    return new Map([...counted].map(([id, metered]) => [id, notPacked(metered)]));
  }
  const found = await readPackedSeries(clickhouse, { ...request, metric, boundaries: 'hour' });
  return usageOf(found);
}

export type SharedUsageRequest = Omit<SharedSeriesRequest, 'boundaries'>;

/** `readPackedUsage` of several metrics from one statement, in their order; see `readSharedSeries`. */
export async function readSharedUsage(
  clickhouse: ClickHouse,
  request: SharedUsageRequest,
): Promise<Map<string, PackedUsage>[]> {
  const found = await readSharedSeries(clickhouse, { ...request, boundaries: 'hour' });
  return found.map(usageOf);
}

/** Whether the metric can be read by `readSharedUsage`. */
export function canShareReading(metric: BillableMetric): metric is SharingMetric {
  return metric.kind === 'streaming' && canShare(metric);
}

function usageOf(found: ReadonlyMap<string, PackedSeries>): Map<string, PackedUsage> {
  return new Map(
    [...found].map(([id, { valueCount, unpack }]) => [
      id,
      { valueCount, unpack: () => ({ series: unpack(), uncounted: null, problem: null }) },
    ]),
  );
}

function notPacked(metered: MeteredSeries): PackedUsage {
  const valueCount = metered.series.reduce((total, { steps }) => total + steps.length, 0);
  return { valueCount, unpack: () => metered };
}

/**
 * The number of values in the series of each customer, for a request that was too large. Null for a SQL metric, whose
 * values are known only after evaluation.
 */
export async function countMetricValues(
  clickhouse: ClickHouse,
  { metric, evaluatedAt: _, ...request }: Omit<MetricSeriesRequest, 'rowsMax'>,
): Promise<Map<string, number> | null> {
  if (metric.kind === 'sql') return null;
  return await countSeriesValues(clickhouse, { ...request, metric, boundaries: 'hour' });
}

/**
 * A page of usage in windows; see `readUsageGroups` and `readSqlUsage`. Pages after the first are read ahead: for a
 * minute their rows may be those that an earlier page has read.
 */
export async function readMetricGroups(
  clickhouse: ClickHouse,
  request: MetricGroupsRequest,
  ahead: RowsAhead,
): Promise<UsageGroupsPage> {
  return await pageAhead(request, ahead, (asked) => readPage(clickhouse, asked));
}

async function readPage(
  clickhouse: ClickHouse,
  { metric, ...request }: MetricGroupsRequest,
): Promise<UsageGroupsPage> {
  return metric.kind === 'streaming'
    ? await readUsageGroups(clickhouse, { ...request, metric })
    : await readSqlUsage(clickhouse, {
        ...request,
        metric: await loadSqlMetric(metric.sql),
        metricName: metric.name,
      });
}

/**
 * Why usage cannot be grouped by exactly these names, or null if it can: a streaming metric has declared group keys,
 * one of which has to be named completely; a SQL metric is grouped by any of its columns.
 */
export async function groupKeyProblem(
  metric: BillableMetric,
  names: readonly string[],
): Promise<string | null> {
  if (metric.kind === 'sql') return await columnProblem(metric, names);
  const isDeclared = metric.groupKeys.some(
    (key) => key.length === names.length && key.every((name) => names.includes(name)),
  );
  return isDeclared ? null : `must be a group key of the billable metric, which has ${listKeys(metric)}`;
}

/** Why these names cannot form line keys, or null: one declared group key has to contain them all. */
export async function lineKeyProblem(
  metric: BillableMetric,
  names: readonly string[],
): Promise<string | null> {
  if (metric.kind === 'sql') return await columnProblem(metric, names);
  if (names.length === 0) return null;
  const isContained = metric.groupKeys.some((key) => names.every((name) => key.includes(name)));
  return isContained
    ? null
    : `billable metric ${metric.id} has no group key that contains ${names.join(', ')}`;
}

async function columnProblem({ sql }: SqlMetric, names: readonly string[]): Promise<string | null> {
  const { groupColumns } = await loadSqlMetric(sql);
  const columns = new Set(groupColumns.map((name) => name.toLowerCase()));
  const missing = names.find((name) => !columns.has(name.toLowerCase()));
  if (missing === undefined) return null;
  return `${missing} is not one of the group columns of the query, which has ${groupColumns.join(', ') || 'none'}`;
}

function listKeys({ groupKeys }: StreamingMetric): string {
  return groupKeys.map((names) => `[${names.join(', ')}]`).join(', ') || 'none';
}
