/**
 * The rows of a batch usage request before anything is measured: every customer × metric × window, in this
 * order. Pure. A page is a stretch of them, kept as runs: windows in a row of one customer and one metric.
 */
import type { Instant, Interval } from '../../core/time.ts';

/** The last row of the page before. */
export interface BatchPosition {
  readonly customerId: string;
  readonly metricId: string;
  readonly windowStart: Instant;
}

export interface BatchRun {
  readonly customerId: string;
  readonly metricId: string;
  /** From the start of the first window to the end of the last. */
  readonly interval: Interval;
}

export interface BatchWindows {
  readonly range: Interval;
  /** Length of one window; the whole range if it is one window. */
  readonly lengthMs: number;
}

export interface BatchStretch {
  readonly runs: readonly BatchRun[];
  /** Whether there are rows after the last run. */
  readonly hasMore: boolean;
}

/** The first `rowsMax` rows after `after`. Both lists of ids ascend and hold no id twice. */
export function nextStretch(
  customerIds: readonly string[],
  metricIds: readonly string[],
  windows: BatchWindows,
  after: BatchPosition | null,
  rowsMax: number,
): BatchStretch {
  const { range, lengthMs } = windows;
  const runs: BatchRun[] = [];
  let room = rowsMax;
  for (const customerId of customerIds) {
    for (const metricId of metricIds) {
      const start = startBehind(customerId, metricId, windows, after);
      if (start >= range.end) continue;
      if (room === 0) return { runs, hasMore: true };
      const count = Math.min(room, (range.end - start) / lengthMs);
      const end = start + count * lengthMs;
      runs.push({ customerId, metricId, interval: { start, end } });
      room -= count;
      if (end < range.end) return { runs, hasMore: true };
    }
  }
  return { runs, hasMore: false };
}

/** The start of the first window of this customer and metric that comes after the position. */
function startBehind(
  customerId: string,
  metricId: string,
  { range, lengthMs }: BatchWindows,
  after: BatchPosition | null,
): Instant {
  if (after === null || customerId > after.customerId) return range.start;
  if (customerId < after.customerId || metricId < after.metricId) return range.end;
  return metricId > after.metricId ? range.start : after.windowStart + lengthMs;
}

/** How many windows an interval that begins and ends with them holds. */
export function rowCount({ start, end }: Interval, { lengthMs }: BatchWindows): number {
  return (end - start) / lengthMs;
}

/** The first rows of the runs, as runs again. */
export function firstRows(runs: readonly BatchRun[], windows: BatchWindows, rowsMax: number): BatchRun[] {
  const kept: BatchRun[] = [];
  let room = rowsMax;
  for (const run of runs) {
    if (room === 0) break;
    const { start } = run.interval;
    const count = Math.min(room, rowCount(run.interval, windows));
    kept.push({ ...run, interval: { start, end: start + count * windows.lengthMs } });
    room -= count;
  }
  return kept;
}

/** The starts of the windows of a run, ascending. */
export function windowStarts({ interval }: BatchRun, windows: BatchWindows): Instant[] {
  const starts = Array.from({ length: rowCount(interval, windows) }, (_, index) => index);
  return starts.map((index) => interval.start + index * windows.lengthMs);
}
