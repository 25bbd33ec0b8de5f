/** Pages of usage groups; pages after the second are served from rows that were read ahead. */
import { Refusal } from '../../core/errors.ts';
import type { BillableMetric } from '../../core/metric.ts';
import { cursorAfter, type UsageGroupCursor } from '../query/group-cursor.ts';
import type { UsageGroupsPage, UsageGroupsRequest } from '../query/usage-groups.ts';
import { windowStartOf } from '../query/usage-windows.ts';
import { BYTES_AHEAD_MAX, type RowsAhead, type RowsOfPage } from './rows-ahead.ts';

export type MetricGroupsRequest = Omit<UsageGroupsRequest, 'metric'> & { readonly metric: BillableMetric };

/** Reads a page of a request from the events. */
type ReadPage = (request: MetricGroupsRequest) => Promise<UsageGroupsPage>;

/** The page of a request, as `read` would read it. */
export async function pageAhead(
  request: MetricGroupsRequest,
  ahead: RowsAhead,
  read: ReadPage,
): Promise<UsageGroupsPage> {
  const { cursor, groupKey, limit, ingestedUpTo = null } = request;
  // A first page shows the current state, and windows without groups are read for each page separately.
  if (cursor === null || groupKey === null || ingestedUpTo !== null) return await read(request);
  const list = listOf(request);
  const known = ahead.behind(list, cursor, limit);
  const shown = known ?? (await readAhead({ ...request, cursor }, list, ahead, read));
  const next = shown.hasMore ? cursorOf(request, groupKey, shown, cursor.ingestedUpTo) : null;
  if (next !== null) ahead.goOn(list, cursor, shown.rows.length, next);
  return { rows: shown.rows, next };
}

/** Reads the page, and more rows after it if they are short enough. */
async function readAhead(
  request: MetricGroupsRequest & { readonly cursor: UsageGroupCursor },
  list: string,
  ahead: RowsAhead,
  read: ReadPage,
): Promise<RowsOfPage> {
  const { cursor, limit } = request;
  const count = ahead.countOf(list);
  if (count <= limit) return rowsOf(await read(request));
  try {
    const found = rowsOf(await read({ ...request, limit: count, bytesMax: BYTES_AHEAD_MAX }));
    ahead.keep(list, cursor, found);
    return { rows: found.rows.slice(0, limit), hasMore: found.hasMore || found.rows.length > limit };
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'too_large') throw error;
    ahead.readFewer(list);
    return rowsOf(await read(request));
  }
}

function rowsOf({ rows, next }: UsageGroupsPage): RowsOfPage {
  return { rows, hasMore: next !== null };
}

/** The cursor of the page after these rows. */
function cursorOf(
  { range, windowSize }: MetricGroupsRequest,
  groupKey: readonly string[],
  { rows }: RowsOfPage,
  ingestedUpTo: string,
): UsageGroupCursor | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const windowStart = windowStartOf(windowSize, range, last.startingOn);
  const group = [...groupKey].sort().map((name) => last.group[name] ?? null);
  return cursorAfter({ windowStart, group }, ingestedUpTo);
}

/** All parameters that determine the rows. */
function listOf({ metric, refs, range, windowSize, groupKey, groupFilters }: MetricGroupsRequest): string {
  return JSON.stringify([metric, refs, range, windowSize, groupKey, groupFilters]);
}
