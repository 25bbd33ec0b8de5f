/**
 * Measures the rows of a page of batch usage: one query per metric, whatever the number of customers.
 * Kinds of metric part here.
 */
import type { Decimal } from '../../core/decimal.ts';
import { assert, unreachable } from '../../core/errors.ts';
import { groupBy as groupItems } from '../../core/group-by.ts';
import type { BillableMetric } from '../../core/metric.ts';
import type { Interval } from '../../core/time.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import {
  readUsageBatch,
  type UsageBatchGrouping,
  type UsageBatchWindow,
} from '../../metering/query/usage-batch.ts';
import type { UsageWindowSize } from '../../metering/query/usage-windows.ts';
import { type BatchRun, type BatchWindows, windowStarts } from './batch-rows.ts';
import { measureSqlMetric } from './measure-sql-batch.ts';

export interface AskedMetric {
  readonly metric: BillableMetric;
  readonly groupBy: UsageBatchGrouping | null;
}

export interface MeasureRequest {
  readonly metrics: ReadonlyMap<string, AskedMetric>;
  /** Of every customer of the runs. */
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
  /** Null where nothing matched. */
  readonly value: Decimal | null;
  /** Null without a group key. A requested value that nothing matched is null. */
  readonly groups: ReadonlyMap<string, Decimal | null> | null;
}

/** Values that one query may return, windows and groups together. */
const VALUES_PER_QUERY_MAX = 1_000_000;
/** Half of the connections at least stay free for others. */
const QUERIES_AT_ONCE = 2;

/** A row for every window of the runs, in their order. Throws a `too_large` refusal where one query is. */
export async function measureRuns(
  clickhouse: ClickHouse,
  request: MeasureRequest,
  runs: readonly BatchRun[],
): Promise<MeasuredRow[]> {
  const { lengthMs } = request.windows;
  const measured = new Map<string, UsageBatchWindow>();
  const metrics = [...groupItems(runs, ({ metricId }) => metricId)];
  for (let from = 0; from < metrics.length; from += QUERIES_AT_ONCE) {
    const some = metrics.slice(from, from + QUERIES_AT_ONCE);
    await Promise.all(
      some.map(async ([metricId, ofMetric]) => {
        for (const window of await measureMetric(clickhouse, request, metricId, ofMetric)) {
          measured.set(rowKey(window.customerId, metricId, window.start), window);
        }
      }),
    );
  }
  return runs.flatMap((run) => {
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

/** All runs of one metric at once; what their common interval covers beyond them is measured in vain. */
async function measureMetric(
  clickhouse: ClickHouse,
  request: MeasureRequest,
  metricId: string,
  runs: readonly BatchRun[],
): Promise<UsageBatchWindow[]> {
  const { refs, windowSize, ingestedUpTo } = request;
  const { metric, groupBy } = askedMetric(request, metricId);
  const range = {
    start: Math.min(...runs.map(({ interval }) => interval.start)),
    end: Math.max(...runs.map(({ interval }) => interval.end)),
  };
  const customers = runs.map(({ customerId }) => ({ customerId, refs: refs.get(customerId) ?? [] }));
  switch (metric.kind) {
    case 'streaming':
      return await readUsageBatch(clickhouse, {
        metric,
        customers,
        range,
        windowSize,
        groupBy,
        ingestedUpTo,
        rowsMax: VALUES_PER_QUERY_MAX,
      });
    case 'sql':
      return await measureSqlMetric(
        clickhouse,
        { metric, groupBy, windowSize, range, ingestedUpTo },
        customers,
      );
    default:
      return unreachable(metric);
  }
}
