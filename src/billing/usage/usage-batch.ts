/**
 * Usage of many customers and metrics in windows (docs/explanation/metering.md, "Usage"). Every combination has a row,
 * also without matches, so the rows of a page are known before anything is measured.
 */
import { z } from 'zod';
import { type FieldPath, invalid, notFound, Refusal } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Interval } from '../../core/time.ts';
import type { UsageBatchGrouping } from '../../metering/query/usage-batch.ts';
import { type UsageWindowSize, windowLength } from '../../metering/query/usage-windows.ts';
import { groupKeyProblem } from '../../metering/usage/metric-usage.ts';
import { customerRefs } from '../../store/customers/customers.ts';
import { activeCustomerIds } from '../../store/customers/usage-owners.ts';
import { allMetrics, loadMetrics } from '../../store/metrics/billable-metrics.ts';
import type { BillingContext } from '../billing-context.ts';
import { type BatchStretch, type BatchWindows, firstRows, nextStretch, rowCount } from './batch-rows.ts';
import { type AskedMetric, type MeasuredRow, measureRuns } from './measure-batch.ts';
import { checkUsageRange } from './usage-range.ts';

/** Rows of a page: 1.5 MB of JSON at most, unless they have many groups. */
export const BATCH_ROWS_PER_PAGE = 5_000;
/** Group values of a page. A single row may have more: the groups of a row are never split. */
const GROUPS_PER_PAGE = 50_000;
/** After this time a page ends with the rows measured by then. SQL metrics are one query per customer. */
const PAGE_MS_MAX = 10_000;
/** The factor by which the next attempt is smaller if a page exceeds the limits of a query, or takes too long. */
const SHRINK = 10;

/** The start of the next page, and the moment that all pages show. */
export const usageBatchCursor = z.strictObject({
  customerId: z.string().refine(isUuid),
  metricId: z.string().refine(isUuid),
  /** Start of the last row's window, epoch milliseconds. */
  windowStart: z.int(),
  /** Events ingested later are left out. Epoch microseconds. */
  ingestedUpTo: z.string().regex(/^\d{1,18}$/),
});
export type UsageBatchCursor = z.infer<typeof usageBatchCursor>;

interface BatchMetricInput {
  readonly id: string;
  readonly groupBy: UsageBatchGrouping | null;
}

export interface UsageBatchInput extends PageRequest<UsageBatchCursor> {
  /** Null: all that are not archived. */
  readonly customerIds: readonly string[] | null;
  /** Null: all that are not archived, without groups. */
  readonly metrics: readonly BatchMetricInput[] | null;
  readonly windowSize: UsageWindowSize;
  readonly range: Interval;
}

export type UsageBatchPage = Page<MeasuredRow, UsageBatchCursor>;

/** Refuses an unknown customer or metric (`not_found`), and an unsound request (`invalid`). */
export async function usageBatch(
  context: BillingContext,
  input: UsageBatchInput,
  pageMsMax: number = PAGE_MS_MAX,
): Promise<UsageBatchPage> {
  const { windowSize, range, after } = input;
  checkUsageRange(windowSize, range);
  const windows = { range, lengthMs: windowLength(windowSize) ?? range.end - range.start };
  checkPosition(windows, after);
  const metrics = await askedMetrics(context, input.metrics);
  const rowsMax = rowsOfPage(input);
  const customerIds = await askedCustomers(context, input, metrics.size * rowCount(range, windows), rowsMax);
  const stretch = nextStretch(customerIds, [...metrics.keys()], windows, after, rowsMax);
  return await pageOf(context, input, { metrics, windows, pageMsMax }, stretch);
}

function checkPosition({ range, lengthMs }: BatchWindows, after: UsageBatchCursor | null): void {
  if (after === null) return;
  const { windowStart } = after;
  const isInside = range.start <= windowStart && windowStart < range.end;
  if (isInside && (windowStart - range.start) % lengthMs === 0) return;
  throw invalid(['cursor'], 'does not belong to this request');
}

/** In the order of their ids. */
async function askedMetrics(
  { db }: BillingContext,
  asked: readonly BatchMetricInput[] | null,
): Promise<Map<string, AskedMetric>> {
  if (asked === null) {
    const metrics = await allMetrics(db, { includeArchived: false });
    return new Map(metrics.map((metric) => [metric.id, { metric, groupBy: null }]));
  }
  const known = await loadMetrics(
    db,
    asked.map(({ id }) => id),
  );
  const metrics = new Map<string, AskedMetric>();
  for (const [index, { id, groupBy }] of asked.entries()) {
    const metric = known.get(id);
    if (metric === undefined) throw notFound('billable metric', id);
    if (metrics.has(id)) throw invalid(['metrics', index, 'id'], `repeats ${id}`);
    if (groupBy !== null) await checkDeclared(metric, groupBy, ['metrics', index, 'groupBy', 'key']);
    metrics.set(id, { metric, groupBy });
  }
  return new Map([...metrics].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function checkDeclared(
  metric: BillableMetric,
  { key }: UsageBatchGrouping,
  field: FieldPath,
): Promise<void> {
  const problem = await groupKeyProblem(metric, [key]);
  if (problem !== null) throw invalid(field, problem);
}

/** Requested group values are all in every row, so they bound the rows from the start. */
function rowsOfPage({ metrics, limit }: UsageBatchInput): number {
  const most = Math.max(1, ...(metrics ?? []).map(({ groupBy }) => groupBy?.values?.length ?? 1));
  return Math.min(limit, Math.max(1, Math.floor(GROUPS_PER_PAGE / most)));
}

/** Ascending; if all are requested, enough of them for a page and to know whether there is another. */
async function askedCustomers(
  { db }: BillingContext,
  { customerIds, after }: UsageBatchInput,
  rowsOfCustomer: number,
  rowsMax: number,
): Promise<string[]> {
  if (customerIds === null) {
    // The customer of the position may have no rows left.
    const limit = rowsOfCustomer === 0 ? 0 : Math.ceil(rowsMax / rowsOfCustomer) + 2;
    return await activeCustomerIds(db, after?.customerId ?? null, limit);
  }
  const ids = [...new Set(customerIds)].sort();
  const known = await customerRefs(db, ids);
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw notFound('customer', unknown);
  return ids;
}

/** Measures a stretch of rows, or less of it if it has too many groups for a page. */
async function pageOf(
  context: BillingContext,
  input: UsageBatchInput,
  asked: {
    readonly metrics: ReadonlyMap<string, AskedMetric>;
    readonly windows: BatchWindows;
    readonly pageMsMax: number;
  },
  stretch: BatchStretch,
): Promise<UsageBatchPage> {
  const { metrics, windows, pageMsMax } = asked;
  const refs = await customerRefs(context.db, [...new Set(stretch.runs.map(({ customerId }) => customerId))]);
  const mayBeCut =
    stretch.hasMore ||
    [...metrics.values()].some(({ metric, groupBy }) => metric.kind === 'sql' || groupBy !== null);
  const ingestedUpTo = input.after?.ingestedUpTo ?? (mayBeCut ? await watermark(context, input) : null);
  const request = { metrics, windows, refs, windowSize: input.windowSize, ingestedUpTo };
  let { runs, hasMore } = stretch;
  for (;;) {
    try {
      const { rows, isComplete } = await measureRuns(context.usageSource, request, runs, pageMsMax);
      return cutPage(rows, hasMore || !isComplete, ingestedUpTo);
    } catch (error) {
      const rows = runs.reduce((total, { interval }) => total + rowCount(interval, windows), 0);
      if (!isTooMuch(error) || rows <= 1) throw error;
      runs = firstRows(runs, windows, Math.ceil(rows / SHRINK));
      hasMore = true;
    }
  }
}

/** More than one query may return, or more than one may take. */
function isTooMuch(error: unknown): boolean {
  return error instanceof Refusal && (error.kind === 'too_large' || error.path[0] === 'sql');
}

async function watermark(
  { db, usageSource }: BillingContext,
  { customerIds, range }: UsageBatchInput,
): Promise<string> {
  const refs =
    customerIds === null ? null : [...(await customerRefs(db, [...new Set(customerIds)])).values()].flat();
  return await usageSource.lastIngested(refs, range);
}

/** At least one row, and no more groups than a page may have. */
function cutPage(
  rows: readonly MeasuredRow[],
  hasMore: boolean,
  ingestedUpTo: string | null,
): UsageBatchPage {
  let groups = 0;
  const end = rows.findIndex((row, index) => {
    groups += row.groups?.size ?? 0;
    return groups > GROUPS_PER_PAGE && index > 0;
  });
  const shown = end < 0 ? rows : rows.slice(0, end);
  const last = shown.at(-1);
  if (last === undefined || ingestedUpTo === null || !(hasMore || end >= 0))
    return { rows: shown, next: null };
  const { customerId, metric, window } = last;
  return { rows: shown, next: { customerId, metricId: metric.id, windowStart: window.start, ingestedUpTo } };
}
