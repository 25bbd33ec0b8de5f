/**
 * Usage as billing reads it: the counts of metrics, and the events that they count. Billing reads it only through
 * `UsageSource`; this file implements it on ClickHouse. Statements of analysts (SQL metrics that are checked, `POST
 * /v1/sql`) are not usage and use ClickHouse itself.
 */
import { assert } from '../../core/errors.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { ClickHouse, QueryLane } from '../client/clickhouse.ts';
import { inLane, inShare } from '../client/clickhouse-client.ts';
import { whileKept } from '../client/kept-events.ts';
import { countByDay, countByType } from '../events/count-events.ts';
import { daysWithEvents } from '../events/days-with-events.ts';
import { type FoundEvents, findAcceptedIds, findEvents } from '../events/find-events.ts';
import { periodsWithLaterEvents } from '../events/later-events.ts';
import { type PropertyReader, readProperties } from '../events/nested-properties.ts';
import { type RecentEvents, recentEvents } from '../events/recent-events.ts';
import type { StoredEvent } from '../events/stored-event.ts';
import { usedModels } from '../events/token-uses.ts';
import { usedRefs } from '../events/used-refs.ts';
import type { EventFacts } from '../ingest/event-facts.ts';
import { type EventPreview, withPreviewedEvents } from '../query/previewed-events.ts';
import { forAnalysis } from '../query/query-limits.ts';
import {
  readBatchWatermark,
  readPresentRefs,
  readUsageBatch,
  type UsageBatchRequest,
  type UsageBatchWindow,
} from '../query/usage-batch.ts';
import type { UsageGroupsPage } from '../query/usage-groups.ts';
import { readSqlUsage, type SqlUsageRequest } from '../sql/run/read-usage.ts';
import { type Contribution, type ContributionsRequest, readContributions } from './contributions.ts';
import {
  countMetricValues,
  type MetricSeriesRequest,
  type PackedUsage,
  readMetricGroups,
  readPackedUsage,
  readSharedUsage,
  type SharedUsageRequest,
} from './metric-usage.ts';
import type { MetricGroupsRequest } from './pages-ahead.ts';
import { NO_RECENT_USAGE, type RecentUsage } from './recent-usage.ts';
import { createRowsAhead } from './rows-ahead.ts';

/** Rejects (`invalid`) usage queries that reach into removed events; the result would silently be too low. */
export interface UsageSource {
  /** V(t) of every customer and line key (`readPackedUsage`). Refuses (`too_large`) more than `rowsMax` values. */
  series(request: MetricSeriesRequest): Promise<ReadonlyMap<string, PackedUsage>>;
  /** `series` of several metrics, in their order (`canShareReading`). */
  sharedSeries(request: SharedUsageRequest): Promise<readonly ReadonlyMap<string, PackedUsage>[]>;
  /** The number of values that `series` would have, by customer; null for a SQL metric. */
  countValues(request: Omit<MetricSeriesRequest, 'rowsMax'>): Promise<ReadonlyMap<string, number> | null>;
  /** A page of the usage of some references in windows, by group. */
  groups(request: MetricGroupsRequest): Promise<UsageGroupsPage>;
  /** `groups` of a SQL metric, without reading ahead. */
  sqlGroups(request: SqlUsageRequest): Promise<UsageGroupsPage>;
  /** The windows of many customers with events that match a streaming metric, in no particular order. */
  windows(request: UsageBatchRequest): Promise<readonly UsageBatchWindow[]>;
  /** The contributions of events with the same values of properties to a line key, by hour. */
  contributions(request: ContributionsRequest): Promise<readonly Contribution[]>;
  /** The subset of the references with events of any type in the range. */
  presentRefs(refs: readonly string[], range: Interval): Promise<readonly string[]>;
  /**
   * The last ingestion time among the events of these references (null: all) in the range, in epoch microseconds; '0'
   * if there is none.
   */
  lastIngested(refs: readonly string[] | null, range: Interval): Promise<string>;
  readonly events: ListedEvents;
  /** The same usage, read in a lane. */
  inLane(lane: QueryLane): UsageSource;
  /** The same usage; statements for many customers use the share of one customer. */
  inShare(share: string): UsageSource;
  /** The same usage, within the limits of analysts' queries. */
  forAnalysis(): UsageSource;
  /** Usage as it would be with unsent events. */
  withPreview(preview: EventPreview): UsageSource;
  /** Stored events were changed: earlier answers are not repeated. */
  forget(): void;
}

/** Stored events themselves. */
interface ListedEvents {
  find(ids: readonly string[], receivedFrom: Instant, repeatsMax: number): Promise<FoundEvents>;
  acceptedIds(ids: readonly string[], receivedFrom: Instant): Promise<ReadonlySet<string>>;
  properties(events: readonly StoredEvent[], names: Iterable<string>): Promise<PropertyReader>;
  recent(now: Instant): Promise<RecentEvents>;
  /** The indexes of the periods with events that were ingested after their moment. */
  periodsWithLater: AfterClickHouse<typeof periodsWithLaterEvents>;
  byDay: AfterClickHouse<typeof countByDay>;
  byType: AfterClickHouse<typeof countByType>;
  refs: AfterClickHouse<typeof usedRefs>;
  days: AfterClickHouse<typeof daysWithEvents>;
  models: AfterClickHouse<typeof usedModels>;
}

/** The parameters of a read after the first one, its ClickHouse. */
type AfterClickHouse<Read> = Read extends (clickhouse: ClickHouse, ...asked: infer Asked) => infer Answer
  ? (...asked: Asked) => Answer
  : never;

/** Pages of groups are read ahead by the source, for as long as it exists. */
export function createUsageSource(
  clickhouse: ClickHouse,
  facts: Pick<EventFacts, 'keptFrom'>,
  recent: RecentUsage = NO_RECENT_USAGE,
): UsageSource {
  const ahead = createRowsAhead();
  let analysis: UsageSource | undefined;
  const kept = <Usage>(start: Instant, read: () => Promise<Usage>) => whileKept(facts, start, read);
  const over = (changed: ClickHouse) => createUsageSource(changed, facts);
  return {
    series: (asked) => kept(asked.period.start, () => recentSeries(clickhouse, asked, recent)),
    sharedSeries: (asked) =>
      kept(asked.period.start, () =>
        recent.series(asked, asked.metrics, () => readSharedUsage(clickhouse, asked)),
      ),
    countValues: (asked) => countMetricValues(clickhouse, asked),
    groups: (asked) => kept(asked.range.start, () => readMetricGroups(clickhouse, asked, ahead)),
    sqlGroups: (asked) => kept(asked.range.start, () => readSqlUsage(clickhouse, asked)),
    windows: (asked) => kept(asked.range.start, () => readUsageBatch(clickhouse, asked)),
    contributions: (asked) => kept(asked.period.start, () => readContributions(clickhouse, asked)),
    presentRefs: (refs, range) => readPresentRefs(clickhouse, refs, range),
    lastIngested: (refs, range) => kept(range.start, () => readBatchWatermark(clickhouse, refs, range)),
    events: listedEvents(clickhouse),
    inLane: (lane) => over(inLane(clickhouse, lane)),
    inShare: (share) => over(inShare(clickhouse, share)),
    forAnalysis: () => {
      analysis ??= over(forAnalysis(clickhouse));
      return analysis;
    },
    withPreview: (preview) => over(withPreviewedEvents(clickhouse, preview)),
    forget: () => recent.forget(),
  };
}

/** A SQL metric may count anything of its customer, so its usage is always read. */
async function recentSeries(
  clickhouse: ClickHouse,
  asked: MetricSeriesRequest,
  recent: RecentUsage,
): Promise<ReadonlyMap<string, PackedUsage>> {
  const read = () => readPackedUsage(clickhouse, asked);
  if (asked.metric.kind === 'sql') return await read();
  const [series] = await recent.series(asked, [asked.metric], async () => [await read()]);
  assert(series !== undefined, 'a metric is read');
  return series;
}

function listedEvents(clickhouse: ClickHouse): ListedEvents {
  return {
    find: (...asked) => findEvents(clickhouse, ...asked),
    acceptedIds: (...asked) => findAcceptedIds(clickhouse, ...asked),
    properties: (...asked) => readProperties(clickhouse, ...asked),
    recent: (now) => recentEvents(clickhouse, now),
    periodsWithLater: (...asked) => periodsWithLaterEvents(clickhouse, ...asked),
    byDay: (...asked) => countByDay(clickhouse, ...asked),
    byType: (...asked) => countByType(clickhouse, ...asked),
    refs: (...asked) => usedRefs(clickhouse, ...asked),
    days: (...asked) => daysWithEvents(clickhouse, ...asked),
    models: (...asked) => usedModels(clickhouse, ...asked),
  };
}
