/**
 * Usage of a SQL metric in windows, for the usage API and previews: every window is evaluated separately, over its own
 * events. Pages and cursors are those of streaming metrics.
 */

import { z } from 'zod';
import { decimal } from '../../../core/decimal.ts';
import { invalid, type Refusal } from '../../../core/errors.ts';
import { ownValue } from '../../../core/own-value.ts';
import { type Instant, type Interval, SECOND_MS } from '../../../core/time.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import {
  cursorAfter,
  type HashedRowKey,
  hasGroups,
  lastRowOf,
  type UsageGroupCursor,
} from '../../query/group-cursor.ts';
import { compileWatermark } from '../../query/groups-sql.ts';
import { ANALYSIS_LIMITS, type QueryLimits } from '../../query/query-limits.ts';
import type { RowPlace } from '../../query/row-order-sql.ts';
import type { UsageGroupRow, UsageGroupsPage, UsageGroupsRequest } from '../../query/usage-groups.ts';
import { pageOfWindows } from '../../query/usage-groups.ts';
import { windowAt, windowLength, windowStartOf } from '../../query/usage-windows.ts';
import { compileWindows, type EventScope, type LeftOutEvents } from '../generate/statement-sql.ts';
import type { CheckedSqlMetric } from '../read/read-metric.ts';
import { OVERFLOW_MESSAGE } from '../values/exact-sql.ts';
import { ANALYSIS_SEARCH, findUncountable } from './event-search.ts';
import {
  createStatementRunner,
  isOverflow,
  type StatementRow,
  type StatementRunner,
} from './run-statement.ts';
import { outputColumns } from './sql-metric.ts';

/** As for streaming metrics; the group key is any of the group columns. */
export interface SqlUsageRequest extends Omit<UsageGroupsRequest, 'metric'> {
  readonly metric: CheckedSqlMetric;
  /** For refusals; a query that is tried out has none. */
  readonly metricName?: string;
  /** Texts of statements that were verified already; those of this request are added. */
  readonly verified?: Set<string>;
}

/**
 * One page. With a group key only groups with rows have one, ordered by window, then by the group values in the order
 * of the sorted names, null last. Without one, every window has a row, with null if the query has none. Throws an
 * `invalid` refusal for a cursor of another request, an unknown group column, and if the query exceeds a limit.
 */
export async function readSqlUsage(
  clickhouse: ClickHouse,
  request: SqlUsageRequest,
  limits: QueryLimits = ANALYSIS_LIMITS,
): Promise<UsageGroupsPage> {
  const { cursor, bytesMax: resultBytes } = request;
  if (cursor !== null) requireFittingCursor(request, cursor);
  const within = resultBytes === undefined ? limits : { ...limits, resultBytes };
  const runner = createStatementRunner(clickhouse, within, request.refs, request.verified);
  const names = [...(request.groupKey ?? [])].sort();
  const columns = outputColumns(request.metric, names);
  const ingestedUpTo = request.ingestedUpTo ?? cursor?.ingestedUpTo ?? (await readWatermark(runner, request));
  const evaluate = (range: Interval, place: RowPlace, limit: number) => {
    const scope: EventScope = { refs: request.refs, interval: range, usageFilter: null, ingestedUpTo };
    const groupFilters = names.map((name) => ownValue(request.groupFilters, name) ?? []);
    const page = { size: request.windowSize, groupFilters, place, limit };
    return runner.runQuery(compileWindows(request.metric.query, columns, scope, page));
  };
  try {
    return request.groupKey === null
      ? await readWindows(request, ingestedUpTo, evaluate)
      : await readGroups(request, names, ingestedUpTo, evaluate);
  } catch (error) {
    if (!isOverflow(error) || request.metricName === undefined) throw error;
    const { refs, range: interval } = request;
    const searched = {
      query: request.metric.query,
      columns,
      scope: { refs, interval, usageFilter: null, ingestedUpTo },
    };
    throw uncountable(request.metricName, await findUncountable(runner, searched, ANALYSIS_SEARCH));
  }
}

/** Usage answers have no place for warnings, so they are refused, with the events that an invoice leaves out. */
function uncountable(metricName: string, { ids }: LeftOutEvents): Refusal {
  const events = ids.map((id) => JSON.stringify(id)).join(', ');
  const named = ids.length === 0 ? 'these events together' : `event${ids.length === 1 ? '' : 's'} ${events}`;
  return invalid(
    [],
    `metric ${JSON.stringify(metricName)} cannot be computed with ${named}: ${OVERFLOW_MESSAGE}`,
  );
}

type Evaluate = (range: Interval, place: RowPlace, limit: number) => Promise<StatementRow[]>;

async function readGroups(
  { range, windowSize, cursor, limit, groupKey }: SqlUsageRequest,
  names: readonly string[],
  ingestedUpTo: string,
  evaluate: Evaluate,
): Promise<UsageGroupsPage> {
  const find = async (only: HashedRowKey) => {
    const [row] = await evaluate(windowAt(windowSize, range, only.windowStart), { only }, 1);
    return row?.group_values;
  };
  const behind = cursor === null ? null : await lastRowOf(cursor, find);
  const start = behind === null ? range.start : Math.max(range.start, behind.windowStart);
  const rows = await evaluate({ start, end: range.end }, behind === null ? null : { behind }, limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    rows: shown.map((row) =>
      usageRow(
        row,
        windowAt(windowSize, range, windowStart(row, windowSize, range)),
        Object.fromEntries(
          (groupKey ?? []).map((name) => [name, row.group_values[names.indexOf(name)] ?? null]),
        ),
      ),
    ),
    next:
      rows.length > limit && last !== undefined
        ? cursorAfter(
            { windowStart: windowStart(last, windowSize, range), group: last.group_values },
            ingestedUpTo,
          )
        : null,
  };
}

/** Every window has a row here, so a page is a range of windows and only that range is evaluated. */
async function readWindows(
  request: SqlUsageRequest,
  ingestedUpTo: string,
  evaluate: Evaluate,
): Promise<UsageGroupsPage> {
  const { range, windowSize, limit } = request;
  const starts = pageOfWindows(request);
  const windows = starts.map((start) => windowAt(windowSize, range, start));
  const stretch = { start: windows[0]?.start ?? range.end, end: windows.at(-1)?.end ?? range.end };
  const lastStart = starts.at(-1);
  if (lastStart === undefined) return { rows: [], next: null };
  const rows = await evaluate(stretch, null, limit);
  const byStart = new Map(rows.map((row) => [windowStart(row, windowSize, range), row]));
  return {
    rows: starts.map((start) => usageRow(byStart.get(start), windowAt(windowSize, range, start), {})),
    next: stretch.end < range.end ? { windowStart: lastStart, group: [], ingestedUpTo } : null,
  };
}

/** Start of a row's window, before it is cut to the range. */
function windowStart(row: StatementRow, size: SqlUsageRequest['windowSize'], range: Interval): Instant {
  return windowLength(size) === null ? range.start : row.part * SECOND_MS;
}

function usageRow(
  row: StatementRow | undefined,
  { start, end }: Interval,
  group: UsageGroupRow['group'],
): UsageGroupRow {
  const value = row?.value ?? null;
  return { startingOn: start, endingBefore: end, group, value: value === null ? null : decimal(value) };
}

function requireFittingCursor(
  { groupKey, windowSize, range }: SqlUsageRequest,
  cursor: UsageGroupCursor,
): void {
  const { windowStart: start } = cursor;
  const isWindow = start === windowStartOf(windowSize, range, start);
  const isInRange = start >= windowStartOf(windowSize, range, range.start) && start < range.end;
  if (!isWindow || !isInRange || !hasGroups(cursor, groupKey?.length ?? 0)) {
    throw invalid(['cursor'], 'does not belong to this request');
  }
}

const watermarkRow = z.object({ ingested_up_to: z.string() });

/** The watermark of this and all further pages. Epoch microseconds; '0' if there is no event yet. */
async function readWatermark(runner: StatementRunner, { refs, range }: SqlUsageRequest): Promise<string> {
  const [row] = await runner.run(compileWatermark(refs, range), watermarkRow);
  return row?.ingested_up_to ?? '0';
}
