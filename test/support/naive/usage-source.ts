/**
 * The port through which billing reads usage, answered by the naive engine from events in memory. A test whose guarantee
 * is not SQL reads usage here; that the answers are those of ClickHouse is a property (test/property/naive-usage.test.ts).
 *
 * Metrics of the five aggregations, and none of SQL. All other questions throw, so that no test passes on nothing.
 */

import { type Decimal, decimal } from '../../../src/core/decimal.ts';
import { Refusal } from '../../../src/core/errors.ts';
import type { BillableMetric, StreamingMetric } from '../../../src/core/metric.ts';
import type { PageRequest } from '../../../src/core/paging.ts';
import { HOUR_MS, type Instant, type Interval } from '../../../src/core/time.ts';
import type { UsageSeries } from '../../../src/core/usage-series.ts';
import type { UsedRef, UsedRefPosition } from '../../../src/metering/events/used-refs.ts';
import { cursorAfter } from '../../../src/metering/query/group-cursor.ts';
import type { UsageBatchRequest, UsageBatchWindow } from '../../../src/metering/query/usage-batch.ts';
import type { UsageGroupRow, UsageGroupsPage } from '../../../src/metering/query/usage-groups.ts';
import type { MetricSeriesRequest, PackedUsage } from '../../../src/metering/usage/metric-usage.ts';
import type { MetricGroupsRequest } from '../../../src/metering/usage/pages-ahead.ts';
import type { UsageSource } from '../../../src/metering/usage/usage-source.ts';
import {
  deduplicated,
  groupOrder,
  type NaiveEvent,
  type NaiveLine,
  naiveMatches,
  naiveUsage,
  propertyText,
} from './usage.ts';

/** `events`: all that are stored now, in any order. */
export function naiveUsageSource(events: () => readonly NaiveEvent[]): UsageSource {
  const series = async (request: MetricSeriesRequest) => seriesOf(events(), request);
  const source: UsageSource = {
    series,
    sharedSeries: ({ metrics, usageFilter = null, ...request }) =>
      Promise.all(metrics.map((metric) => series({ ...request, metric, usageFilter, evaluatedAt: 'hour' }))),
    async countValues(request) {
      if (request.metric.kind === 'sql') return null;
      const all = await series({ ...request, rowsMax: Number.POSITIVE_INFINITY });
      return new Map([...all].map(([id, { valueCount }]) => [id, valueCount]));
    },
    groups: async (request) => groupsPage(events(), request),
    windows: async (request) => batchWindows(events(), request),
    presentRefs: async (refs, range) => [...new Set(inRange(events(), refs, range).map(refOf))],
    lastIngested: async (refs, range) => lastIngested(inRange(events(), refs, range)),
    sqlGroups: () => unanswered('SQL metrics'),
    contributions: () => unanswered('contributions'),
    events: {
      find: () => unanswered('events'),
      acceptedIds: () => unanswered('events'),
      properties: () => unanswered('events'),
      recent: () => unanswered('events'),
      periodsWithLater: () => unanswered('events'),
      byDay: () => unanswered('events'),
      byType: () => unanswered('events'),
      refs: async (range, page) => refsPage(inRange(events(), null, range), page),
      days: () => unanswered('events'),
      models: () => unanswered('events'),
    },
    inLane: () => source,
    inShare: () => source,
    forAnalysis: () => source,
    forget: () => undefined,
    withPreview: () => {
      throw new Error('the naive engine previews nothing');
    },
  };
  return source;
}

async function unanswered(asked: string): Promise<never> {
  throw new Error(`the naive engine answers nothing about ${asked}: the test needs real stores`);
}

const refOf = ({ customerRef }: NaiveEvent) => customerRef;

function inRange(
  events: readonly NaiveEvent[],
  refs: readonly string[] | null,
  { start, end }: Interval,
): NaiveEvent[] {
  return events.filter(
    ({ customerRef, timestamp }) =>
      (refs === null || refs.includes(customerRef)) && start <= timestamp && timestamp < end,
  );
}

function lastIngested(events: readonly NaiveEvent[]): string {
  return String(events.reduce((last, { ingestedAt }) => Math.max(last, ingestedAt), 0));
}

const PREFIX_LENGTH = 64;

/** By the first characters of the name, and by the whole of it. */
function refsPage(events: readonly NaiveEvent[], { after, limit }: PageRequest<UsedRefPosition>): UsedRef[] {
  const order = (a: UsedRefPosition, b: UsedRefPosition) => groupOrder([a.prefix, a.key], [b.prefix, b.key]);
  const counted = deduplicated(events);
  return [...new Set(counted.map(refOf))]
    .map((customerRef) => {
      const times = counted.filter((event) => refOf(event) === customerRef).map(({ timestamp }) => timestamp);
      return {
        ...{ customerRef, events: times.length },
        first: times.reduce((a, b) => Math.min(a, b)),
        last: times.reduce((a, b) => Math.max(a, b)),
        position: { prefix: [...customerRef].slice(0, PREFIX_LENGTH).join(''), key: customerRef },
      };
    })
    .filter(({ position }) => after === null || order(position, after) > 0)
    .sort((a, b) => order(a.position, b.position))
    .slice(0, limit);
}

/** Once each, and none that was ingested later. */
function countedEvents(
  events: readonly NaiveEvent[],
  refs: readonly string[],
  range: Interval,
  ingestedUpTo: string | null = null,
): NaiveEvent[] {
  const counted = deduplicated(inRange(events, refs, range));
  return ingestedUpTo === null
    ? counted
    : counted.filter(({ ingestedAt }) => ingestedAt <= Number(ingestedUpTo));
}

function streaming(metric: BillableMetric): StreamingMetric {
  if (metric.kind === 'streaming') return metric;
  throw new Error('the naive engine evaluates no SQL');
}

function seriesOf(events: readonly NaiveEvent[], request: MetricSeriesRequest): Map<string, PackedUsage> {
  const { customers, period, usageFilter, ingestedUpTo = null, slice = null } = request;
  if (slice !== null && slice.count > 1) throw new Error('the naive engine reads no slices of line keys');
  const found = new Map<string, PackedUsage>();
  let total = 0;
  for (const { customerId, refs } of customers) {
    const counted = countedEvents(events, refs, period, ingestedUpTo).filter(
      (event) =>
        usageFilter === null ||
        usageFilter.values.includes(propertyText(event, usageFilter.property) ?? '\0'),
    );
    const { lines, valueCount } = linesOf(counted, request);
    total += valueCount;
    found.set(customerId, {
      valueCount,
      unpack: () => ({ series: lines, uncounted: null, problem: null }),
    });
  }
  if (total <= request.rowsMax) return found;
  throw new Refusal('too_large', `usage has more than ${request.rowsMax} values`);
}

/** One series for each combination of values, in their order; hours that change nothing have a value but no step. */
function linesOf(
  events: readonly NaiveEvent[],
  { metric: asked, groupBy, period, countsEvents = false }: MetricSeriesRequest,
): { readonly lines: UsageSeries[]; readonly valueCount: number } {
  const metric = streaming(asked);
  const byLine = new Map<string, NaiveEvent[]>();
  for (const event of events) {
    if (!naiveMatches(metric, event)) continue;
    const group = groupBy.map((name) => propertyText(event, name));
    if (group.includes(null)) continue;
    const key = JSON.stringify(group);
    byLine.set(key, [...(byLine.get(key) ?? []), event]);
  }
  const counting: StreamingMetric = countsEvents ? { ...ANY_EVENT, id: metric.id } : metric;
  let valueCount = 0;
  const lines = [...byLine]
    .map(([key, own]) => ({ group: JSON.parse(key) as string[], own }))
    .sort((a, b) => groupOrder(a.group, b.group))
    .map(({ group, own }) => {
      const { steps, hours } = stepsOf(counting, own, period);
      valueCount += hours;
      return { groupValues: Object.fromEntries(groupBy.map((name, i) => [name, group[i] ?? ''])), steps };
    });
  return { lines, valueCount };
}

const ANY_EVENT: Omit<StreamingMetric, 'id'> = {
  ...{ kind: 'streaming', name: 'events', aggregation: 'COUNT', aggregationKey: null },
  ...{ eventTypeFilter: null, propertyFilters: [], groupKeys: [], archivedAt: null },
};

/** V at the end of each hour in which there is an event. A later copy of a value of UNIQUE is not counted again. */
function stepsOf(metric: StreamingMetric, own: readonly NaiveEvent[], period: Interval) {
  const refs = [...new Set(own.map(refOf))];
  const ends = [...new Set(own.map(({ timestamp }) => hourEnd(timestamp)))].sort((a, b) => a - b);
  const steps: { at: Instant; value: Decimal }[] = [];
  let hours = 0;
  for (const at of ends) {
    const [line] = naiveUsage(metric, own, refs, { start: period.start, end: at }, []);
    const value = decimal(line?.value ?? '0');
    const before = steps.at(-1)?.value;
    const isNew = before === undefined || !before.eq(value);
    if (isNew) steps.push({ at, value });
    if (isNew || metric.aggregation !== 'UNIQUE') hours += 1;
  }
  return { steps, hours };
}

function hourEnd(at: Instant): Instant {
  return (Math.floor(at / HOUR_MS) + 1) * HOUR_MS;
}

const DAY_HOURS = 24;
const LENGTH_MS = { HOUR: HOUR_MS, DAY: DAY_HOURS * HOUR_MS };

interface Window extends Interval {
  /** Before it is cut to the range. */
  readonly whole: Instant;
}

function windowsOf(size: 'HOUR' | 'DAY' | 'NONE', { start, end }: Interval): Window[] {
  if (size === 'NONE') return [{ whole: start, start, end }];
  const length = LENGTH_MS[size];
  const windows: Window[] = [];
  for (let at = Math.floor(start / length) * length; at < end; at += length)
    windows.push({ whole: at, start: Math.max(at, start), end: Math.min(at + length, end) });
  return windows;
}

/** All rows in their order, of which the page is a stretch. */
function groupsPage(events: readonly NaiveEvent[], request: MetricGroupsRequest): UsageGroupsPage {
  const { refs, range, windowSize, groupKey, limit, cursor, ingestedUpTo = null } = request;
  const metric = streaming(request.metric);
  const names = [...(groupKey ?? [])].sort();
  const upTo = cursor?.ingestedUpTo ?? ingestedUpTo ?? lastIngested(inRange(events, refs, range));
  const counted = countedEvents(events, refs, range, upTo);
  const rows = windowsOf(windowSize, range).flatMap((window) => {
    const lines = linesOfWindow(metric, counted, window, names, request.groupFilters);
    const isEmpty = groupKey === null && lines.length === 0;
    return (isEmpty ? [{ group: [], value: null }] : lines).map((line) => ({ window, ...line }));
  });
  const after =
    cursor === null
      ? 0
      : 1 +
        rows.findIndex(
          ({ window, group }) =>
            JSON.stringify(cursorAfter({ windowStart: window.whole, group }, upTo)) ===
            JSON.stringify(cursor),
        );
  const shown = rows.slice(after, after + limit);
  const last = shown.at(-1);
  const hasMore = rows.length > after + limit;
  return {
    rows: shown.map(
      ({ window, group, value }): UsageGroupRow => ({
        startingOn: window.start,
        endingBefore: window.end,
        group: Object.fromEntries((groupKey ?? []).map((name) => [name, group[names.indexOf(name)] ?? null])),
        value: value === null ? null : decimal(value),
      }),
    ),
    next:
      hasMore && last !== undefined
        ? cursorAfter({ windowStart: last.window.whole, group: last.group }, upTo)
        : null,
  };
}

function linesOfWindow(
  metric: StreamingMetric,
  counted: readonly NaiveEvent[],
  window: Interval,
  names: readonly string[],
  filters: MetricGroupsRequest['groupFilters'],
): NaiveLine[] {
  return naiveUsage(metric, counted, [...new Set(counted.map(refOf))], window, names)
    .filter(({ group }) => names.every((name, i) => isWanted(filters[name] ?? [], group[i] ?? null)))
    .sort((a, b) => groupOrder(a.group, b.group));
}

function isWanted(values: readonly string[], value: string | null): boolean {
  return values.length === 0 || (value !== null && values.includes(value));
}

function batchWindows(events: readonly NaiveEvent[], request: UsageBatchRequest): UsageBatchWindow[] {
  const { metric, customers, range, windowSize, groupBy, ingestedUpTo, rowsMax } = request;
  const found = customers.flatMap(({ customerId, refs }) => {
    const counted = countedEvents(events, refs, range, ingestedUpTo);
    return windowsOf(windowSize, range).flatMap((window): UsageBatchWindow[] => {
      const [whole] = naiveUsage(metric, counted, refs, window, []);
      if (whole === undefined) return [];
      const lines =
        groupBy === null
          ? []
          : linesOfWindow(metric, counted, window, [groupBy.key], { [groupBy.key]: groupBy.values ?? [] });
      const groups = lines.flatMap(({ group: [name = null], value }) =>
        name === null ? [] : [[name, decimal(value)] as const],
      );
      return [{ customerId, start: window.start, value: decimal(whole.value), groups: new Map(groups) }];
    });
  });
  const rows = found.reduce((total, { groups }) => total + 1 + groups.size, 0);
  if (rows <= rowsMax) return found;
  throw new Refusal('too_large', `usage has more than ${rowsMax} values`);
}
