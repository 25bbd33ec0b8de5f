/**
 * Measures the rows of a page of batch usage: one query per streaming metric, one per customer and SQL metric.
 * Kinds of metric part here.
 */
import type { Decimal } from '../../core/decimal.ts';
import { assert, Refusal } from '../../core/errors.ts';
import { groupBy as groupItems } from '../../core/group-by.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { Interval } from '../../core/time.ts';
import type { UsageOwner } from '../../metering/query/series-sql.ts';
import type { UsageBatchGrouping, UsageBatchWindow } from '../../metering/query/usage-batch.ts';
import type { UsageWindowSize } from '../../metering/query/usage-windows.ts';
import type { UsageSource } from '../../metering/usage/usage-source.ts';
import { type BatchRun, type BatchWindows, windowStarts } from './batch-rows.ts';
import { measureSqlMetric } from './measure-sql-batch.ts';

export interface AskedMetric {
  readonly metric: BillableMetric;
  readonly groupBy: UsageBatchGrouping | null;
}

export interface MeasureRequest {
  readonly metrics: ReadonlyMap<string, AskedMetric>;
  /** The references of every customer of the runs. */
  readonly refs: ReadonlyMap<string, readonly string[]>;
  readonly windows: BatchWindows;
  readonly windowSize: UsageWindowSize;
  /** Epoch microseconds; null for all. */
  readonly ingestedUpTo: string | null;
}

export interface MeasuredRow {
  readonly customerId: string;
  readonly metric: BillableMetric;
  readonly window: Interval;
  /** Null if nothing matched. */
  readonly value: Decimal | null;
  /** Null without a group key. A requested value without matches is null. */
  readonly groups: ReadonlyMap<string, Decimal | null> | null;
}

/** Values that one query may return, windows and groups together. */
const VALUES_PER_QUERY_MAX = 1_000_000;
/** Half of the connections at least stay free for others. */
const QUERIES_AT_ONCE = 2;
/** Customers whose SQL metrics are evaluated side by side; one customer's are evaluated one after the other. */
const CUSTOMERS_AT_ONCE = 4;

export interface MeasuredRuns {
  /** A row for every window of the first runs, in their order. */
  readonly rows: readonly MeasuredRow[];
  /** Whether these are all runs, or the time was over before. */
  readonly isComplete: boolean;
}

/**
 * Measures runs in their order until all are measured or `timeMs` is over; the first one in any case. A run that
 * fails ends the rows before it, unless it is the first: then its refusal is thrown.
 */
export async function measureRuns(
  usageSource: UsageSource,
  request: MeasureRequest,
  runs: readonly BatchRun[],
  timeMs: number,
): Promise<MeasuredRuns> {
  const endsAt = performance.now() + timeMs;
  const { lengthMs } = request.windows;
  const measured = new Map<string, UsageBatchWindow>();
  const keep = (metricId: string, windows: readonly UsageBatchWindow[]) => {
    for (const window of windows) measured.set(rowKey(window.customerId, metricId, window.start), window);
  };
  const isSql = ({ metricId }: BatchRun) => askedMetric(request, metricId).metric.kind === 'sql';
  await measureStreaming(
    usageSource,
    request,
    runs.filter((run) => !isSql(run)),
    keep,
  );
  const left = await measureSqlRuns(usageSource, request, runs.filter(isSql), { keep, endsAt });
  const firstLeft = runs.findIndex((run) => left.has(run));
  const shown = firstLeft < 0 ? runs : runs.slice(0, firstLeft);
  const rows = shown.flatMap((run) => {
    const { metric, groupBy } = askedMetric(request, run.metricId);
    return windowStarts(run, request.windows).map((start): MeasuredRow => {
      const window = measured.get(rowKey(run.customerId, run.metricId, start));
      return {
        customerId: run.customerId,
        metric,
        window: { start, end: start + lengthMs },
        value: window?.value ?? null,
        groups: groupBy === null ? null : groupsOf(window, groupBy),
      };
    });
  });
  return { rows, isComplete: firstLeft < 0 };
}

type Keep = (metricId: string, windows: readonly UsageBatchWindow[]) => void;

/** One query for each metric, whatever the number of customers. */
async function measureStreaming(
  usageSource: UsageSource,
  request: MeasureRequest,
  runs: readonly BatchRun[],
  keep: Keep,
): Promise<void> {
  const metrics = [...groupItems(runs, ({ metricId }) => metricId)];
  for (let from = 0; from < metrics.length; from += QUERIES_AT_ONCE) {
    const some = metrics.slice(from, from + QUERIES_AT_ONCE);
    await Promise.all(
      some.map(async ([metricId, ofMetric]) => {
        keep(metricId, await measureStreamingMetric(usageSource, request, metricId, ofMetric));
      }),
    );
  }
}

/**
 * A query for each customer and metric, several customers side by side. Returns the runs that were not measured.
 * Customers without events share one evaluation of each metric, because a query over no events may still have a row.
 */
async function measureSqlRuns(
  usageSource: UsageSource,
  request: MeasureRequest,
  runs: readonly BatchRun[],
  { keep, endsAt }: { readonly keep: Keep; readonly endsAt: number },
): Promise<ReadonlySet<BatchRun>> {
  const left = new Set(runs);
  if (runs.length === 0) return left;
  const present = await presentRefs(usageSource, request, runs);
  const verified = new Set<string>();
  const ofNobody = new Map<string, Promise<UsageBatchWindow[]>>();
  const measure = async (run: BatchRun): Promise<UsageBatchWindow[]> => {
    const { customerId } = run;
    const refs = request.refs.get(customerId) ?? [];
    if (refs.some((ref) => present.has(ref)))
      return await measureSqlRun(usageSource, { ...request, verified }, run, { customerId, refs });
    const key = rowKey(run.metricId, String(run.interval.end), run.interval.start);
    const shared =
      ofNobody.get(key) ??
      measureSqlRun(usageSource, { ...request, verified }, run, { customerId, refs: [] });
    ofNobody.set(key, shared);
    return (await shared).map((window) => ({ ...window, customerId }));
  };
  const waiting = [...groupItems(runs, ({ customerId }) => customerId).values()];
  /** Returns whether the rows end here: the next page begins with the run that was not measured. */
  const measureAll = async (own: readonly BatchRun[]): Promise<boolean> => {
    for (const run of own) {
      const isFirst = run === runs[0];
      if (!isFirst && performance.now() > endsAt) return true;
      try {
        keep(run.metricId, await measure(run));
      } catch (error) {
        if (isFirst || !(error instanceof Refusal)) throw error;
        waiting.length = 0;
        return true;
      }
      left.delete(run);
    }
    return false;
  };
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (await measureAll(next)) return;
    }
  };
  await Promise.all(Array.from({ length: CUSTOMERS_AT_ONCE }, worker));
  return left;
}

/** The references of the customers that have events at all. */
async function presentRefs(
  usageSource: UsageSource,
  { refs, windows }: MeasureRequest,
  runs: readonly BatchRun[],
): Promise<ReadonlySet<string>> {
  const all = [...new Set(runs.flatMap(({ customerId }) => refs.get(customerId) ?? []))];
  return new Set(await usageSource.presentRefs(all, windows.range));
}

async function measureSqlRun(
  usageSource: UsageSource,
  { metrics, windowSize, ingestedUpTo, verified }: MeasureRequest & { readonly verified: Set<string> },
  { metricId, interval: range }: BatchRun,
  customer: UsageOwner,
): Promise<UsageBatchWindow[]> {
  const asked = metrics.get(metricId);
  assert(asked?.metric.kind === 'sql', 'a run of a SQL metric');
  const batch = { metric: asked.metric, groupBy: asked.groupBy, windowSize, range, ingestedUpTo, verified };
  return await measureSqlMetric(usageSource, batch, customer);
}

function rowKey(customerId: string, metricId: string, start: number): string {
  return `${customerId} ${metricId} ${start}`;
}

function askedMetric({ metrics }: MeasureRequest, id: string): AskedMetric {
  const asked = metrics.get(id);
  assert(asked !== undefined, `metric ${id} was asked for`);
  return asked;
}

function groupsOf(
  window: UsageBatchWindow | undefined,
  { values }: UsageBatchGrouping,
): Map<string, Decimal | null> {
  if (values === null) return new Map(window?.groups);
  return new Map(values.map((value) => [value, window?.groups.get(value) ?? null]));
}

/** All runs of one metric at once; the parts of their common interval beyond them are measured in vain. */
async function measureStreamingMetric(
  usageSource: UsageSource,
  request: MeasureRequest,
  metricId: string,
  runs: readonly BatchRun[],
): Promise<readonly UsageBatchWindow[]> {
  const { refs, windowSize, ingestedUpTo } = request;
  const { metric, groupBy } = askedMetric(request, metricId);
  assert(metric.kind === 'streaming', 'runs of a streaming metric');
  const range = {
    start: Math.min(...runs.map(({ interval }) => interval.start)),
    end: Math.max(...runs.map(({ interval }) => interval.end)),
  };
  return await usageSource.windows({
    metric,
    customers: runs.map(({ customerId }) => ({ customerId, refs: refs.get(customerId) ?? [] })),
    range,
    windowSize,
    groupBy,
    ingestedUpTo,
    rowsMax: VALUES_PER_QUERY_MAX,
  });
}
