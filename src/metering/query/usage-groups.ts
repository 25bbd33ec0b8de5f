/**
 * Usage of one customer and one metric in windows, for `POST /v1/usage/groups`: every window is aggregated separately.
 * Rules and paging are in docs/explanation/metering.md.
 */
import { z } from 'zod';
import type { Decimal } from '../../core/decimal.ts';
import { assert, invalid } from '../../core/errors.ts';
import type { StreamingMetric } from '../../core/metric.ts';
import type { Page } from '../../core/paging.ts';
import { type Instant, type Interval, SECOND_MS } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import {
  cursorAfter,
  type HashedRowKey,
  hasGroups,
  lastRowOf,
  type UsageGroupCursor,
} from './group-cursor.ts';
import { compileUsageGroups, compileWatermark, type GroupsQuery } from './groups-sql.ts';
import { readNumbers } from './read-numbers.ts';
import { queryUsage } from './usage-relation.ts';
import { exactUsage } from './usage-value.ts';
import { type UsageWindowSize, windowAt, windowLength, windowStartOf } from './usage-windows.ts';

export interface UsageGroupsRequest {
  readonly metric: StreamingMetric;
  /** All values of `customer_id` in the customer's events. */
  readonly refs: readonly string[];
  /** Aligned to whole seconds. */
  readonly range: Interval;
  readonly windowSize: UsageWindowSize;
  /** One group key of the metric, simple or compound, in any order; null for no groups. */
  readonly groupKey: readonly string[] | null;
  /** Only these values of a property of the group key; missing or empty: all. */
  readonly groupFilters: Readonly<Record<string, readonly string[]>>;
  readonly limit: number;
  /** The `next` of the previous page, for the same request. */
  readonly cursor: UsageGroupCursor | null;
  /** Events ingested later are left out, epoch microseconds. Default: the cursor's, or now. */
  readonly ingestedUpTo?: string | null;
  /** A larger answer of the engine, in bytes, is refused as `too_large`; no such limit unless given. */
  readonly bytesMax?: number;
}

export interface UsageGroupRow {
  readonly startingOn: Instant;
  readonly endingBefore: Instant;
  /** Empty without a group key; null for a property that the events lack. */
  readonly group: Readonly<Record<string, string | null>>;
  /** Null only without a group key, if no event matched. */
  readonly value: Decimal | null;
}

export type UsageGroupsPage = Page<UsageGroupRow, UsageGroupCursor>;

/**
 * One page. With a group key only groups with usage have rows, ordered by window, then by the group values in the order
 * of the sorted names, null last. Without one, every window has a row. Throws an `invalid` refusal for a cursor of
 * another request, or whose row no longer exists.
 */
export async function readUsageGroups(
  clickhouse: ClickHouse,
  request: UsageGroupsRequest,
): Promise<UsageGroupsPage> {
  const { range, cursor, groupKey } = request;
  assert(
    range.start < range.end && range.start % SECOND_MS === 0 && range.end % SECOND_MS === 0,
    'a proper range',
  );
  if (cursor !== null) requireFittingCursor(request, cursor);
  return groupKey === null
    ? await readWindows(clickhouse, request)
    : await readGroups(clickhouse, request, groupKey);
}

function requireFittingCursor(
  { groupKey, windowSize, range }: UsageGroupsRequest,
  cursor: UsageGroupCursor,
): void {
  const { windowStart } = cursor;
  const isWindow = windowStart === windowStartOf(windowSize, range, windowStart);
  const isInRange = windowStart >= windowStartOf(windowSize, range, range.start) && windowStart < range.end;
  if (!isWindow || !isInRange || !hasGroups(cursor, groupKey?.length ?? 0)) {
    throw invalid(['cursor'], 'does not belong to this request');
  }
}

async function readGroups(
  clickhouse: ClickHouse,
  request: UsageGroupsRequest,
  groupKey: readonly string[],
): Promise<UsageGroupsPage> {
  const { range, windowSize, cursor, limit } = request;
  const names = [...groupKey].sort();
  const upTo = cursor?.ingestedUpTo ?? request.ingestedUpTo ?? null;
  const query = { ...request, groupKey: names, ingestedUpTo: upTo };
  const behind =
    cursor === null ? null : await lastRowOf(cursor, (only) => findGroup(clickhouse, query, only));
  const rows = await queryGroups(clickhouse, {
    ...query,
    range: { start: Math.max(range.start, behind?.windowStart ?? range.start), end: range.end },
    place: behind === null ? null : { behind },
    limit: limit + 1,
  });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = ({ window_start, group_values, ingested_up_to }: GroupRow): UsageGroupCursor =>
    cursorAfter({ windowStart: window_start, group: group_values }, upTo ?? ingested_up_to);
  return {
    rows: shown.map((row) => {
      const { start, end } = windowAt(windowSize, range, row.window_start);
      const group = Object.fromEntries(
        groupKey.map((name) => [name, row.group_values[names.indexOf(name)] ?? null]),
      );
      return { startingOn: start, endingBefore: end, group, value: exactUsage(row.value) };
    }),
    next: rows.length > limit && last !== undefined ? next(last) : null,
  };
}

async function findGroup(
  clickhouse: ClickHouse,
  query: Omit<GroupsQuery, 'place'>,
  only: HashedRowKey,
): Promise<GroupRow['group_values'] | undefined> {
  const range = windowAt(query.windowSize, query.range, only.windowStart);
  const [row] = await queryGroups(clickhouse, { ...query, range, place: { only }, limit: 1 });
  return row?.group_values;
}

/** Every window has a row here, so a page is a range of windows and only that range is read. */
async function readWindows(clickhouse: ClickHouse, request: UsageGroupsRequest): Promise<UsageGroupsPage> {
  const { range, windowSize, cursor } = request;
  const starts = pageOfWindows(request);
  const windows = starts.map((start) => windowAt(windowSize, range, start));
  const lastStart = starts.at(-1);
  const stretch = { start: windows[0]?.start ?? range.end, end: windows.at(-1)?.end ?? range.end };
  if (lastStart === undefined) return { rows: [], next: null };
  const hasMore = stretch.end < range.end;
  const known = cursor?.ingestedUpTo ?? request.ingestedUpTo ?? null;
  const ingestedUpTo = known ?? (hasMore ? await readWatermark(clickhouse, request) : null);
  const rows = await queryGroups(clickhouse, {
    ...request,
    range: stretch,
    groupKey: [],
    groupFilters: {},
    place: null,
    ingestedUpTo,
    limit: starts.length,
  });
  const values = new Map(rows.map((row) => [windowAt(windowSize, range, row.window_start).start, row.value]));
  return {
    rows: windows.map(({ start, end }) => {
      const value = values.get(start);
      return {
        startingOn: start,
        endingBefore: end,
        group: {},
        value: value === undefined ? null : exactUsage(value),
      };
    }),
    next: hasMore && ingestedUpTo !== null ? { windowStart: lastStart, group: [], ingestedUpTo } : null,
  };
}

/** Starts of the windows of a page, not yet cut to the range. */
export function pageOfWindows({
  range,
  windowSize,
  limit,
  cursor,
}: Pick<UsageGroupsRequest, 'range' | 'windowSize' | 'limit' | 'cursor'>): Instant[] {
  const length = windowLength(windowSize);
  if (length === null) return cursor === null ? [range.start] : [];
  const first = cursor === null ? windowStartOf(windowSize, range, range.start) : cursor.windowStart + length;
  const count = Math.min(limit, Math.max(0, Math.ceil((range.end - first) / length)));
  return Array.from({ length: count }, (_, index) => first + index * length);
}

const groupRow = z.object({
  /** Unix seconds in the row; epoch milliseconds here. */
  window_start: z.string().transform((seconds) => Number(seconds) * SECOND_MS),
  /** In the order of the sorted names. */
  group_values: z.array(z.string().nullable()),
  value: z.string(),
  ingested_up_to: z.string(),
});
type GroupRow = z.infer<typeof groupRow>;

async function queryGroups(
  clickhouse: ClickHouse,
  query: GroupsQuery & { readonly bytesMax?: number },
): Promise<GroupRow[]> {
  if (query.refs.length === 0) return [];
  return await readNumbers([query.metric], (numbers) =>
    queryUsage(clickhouse, query.metric, {
      ...compileUsageGroups(query, numbers),
      schema: groupRow,
      bytesMax: query.bytesMax ?? null,
      customer: query.refs[0],
      eventsOf: query.refs,
    }),
  );
}

const watermarkRow = z.object({ ingested_up_to: z.string() });

/** Epoch microseconds; '0' if there is no event yet. */
async function readWatermark(
  clickhouse: ClickHouse,
  { metric, refs, range }: UsageGroupsRequest,
): Promise<string> {
  if (refs.length === 0) return '0';
  const [row] = await queryUsage(clickhouse, metric, {
    ...compileWatermark(refs, range),
    schema: watermarkRow,
    customer: refs[0],
    eventsOf: refs,
  });
  return row?.ingested_up_to ?? '0';
}
