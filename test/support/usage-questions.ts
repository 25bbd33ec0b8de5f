/** Drawn questions about usage, and what a source answers to them. */
import fc from 'fast-check';
import type { StreamingMetric } from '../../src/core/metric.ts';
import type { Interval } from '../../src/core/time.ts';
import type { UsageGroupCursor } from '../../src/metering/query/group-cursor.ts';
import type { UsageWindowSize } from '../../src/metering/query/usage-windows.ts';
import type { MetricSeriesRequest, PackedUsage } from '../../src/metering/usage/metric-usage.ts';
import type { UsageSource } from '../../src/metering/usage/usage-source.ts';
import {
  groupBy,
  PERIOD,
  range,
  streamingMetric,
  TEXT_NAMES,
  type UsageScenario,
} from './usage-scenarios.ts';

export interface Question {
  readonly metric: StreamingMetric;
  readonly groupBy: readonly string[];
  readonly filter: MetricSeriesRequest['usageFilter'];
  readonly countsEvents: boolean;
  /** Whether the last third of the events was ingested too late to count. */
  readonly isCut: boolean;
  readonly range: Interval;
  readonly windowSize: UsageWindowSize;
  readonly limit: number;
}

export const question: fc.Arbitrary<Question> = fc.record({
  metric: streamingMetric,
  groupBy,
  filter: fc.option(
    fc.record({
      property: fc.constantFrom(...TEXT_NAMES),
      values: fc.uniqueArray(fc.constantFrom('', 'a', 'b', '1'), { minLength: 1, maxLength: 3 }),
    }),
    { freq: 1 },
  ),
  countsEvents: fc.constantFrom(false, false, true),
  isCut: fc.boolean(),
  range,
  windowSize: fc.constantFrom<UsageWindowSize>('HOUR', 'DAY', 'NONE'),
  limit: fc.constantFrom(20, 100),
});

const hasCopies = (events: UsageScenario['events']) =>
  new Set(events.map(({ transactionId }) => transactionId)).size < events.length;

const days = ({ start, end }: Interval): Interval => ({
  start: Math.floor(start / 86_400_000) * 86_400_000,
  end: Math.ceil(end / 86_400_000) * 86_400_000,
});

interface AskedAs {
  readonly ingestedUpTo?: string | null;
  /** Whether the last ingestion is asked for too. */
  readonly hasLast?: boolean;
}

/** Up to which ingestion is counted; null: all of it. */
export function cutOf(events: UsageScenario['events'], { isCut }: Question): string | null {
  return isCut ? String(events[Math.floor((events.length * 2) / 3)]?.ingestedAt ?? 0) : null;
}

/** All that the port answers about a question, in a form that shows numbers as texts. */
export async function answers(
  source: UsageSource,
  { events, customers }: UsageScenario,
  asked: Question,
  { ingestedUpTo = cutOf(events, asked), hasLast = !hasCopies(events) }: AskedAs = {},
) {
  const { metric, filter: usageFilter, countsEvents, windowSize } = asked;
  const [name] = asked.groupBy;
  const request: MetricSeriesRequest = {
    ...{ metric, customers, usageFilter, countsEvents, ingestedUpTo, rowsMax: 1_000_000 },
    ...{ groupBy: asked.groupBy, period: PERIOD, evaluatedAt: 'hour' },
  };
  const refs = customers.flatMap((customer) => customer.refs);
  return {
    series: shownSeries(await source.series(request)),
    counts: [...((await source.countValues(request)) ?? [])].filter(([, count]) => count > 0).sort(),
    groups: await allGroups(source, customers[0]?.refs ?? [], { ...asked, ingestedUpTo }),
    windows: shownWindows(
      await source.windows({
        ...{ metric, customers, windowSize, ingestedUpTo, rowsMax: 1_000_000 },
        range: days(asked.range),
        groupBy: name === undefined ? null : { key: name, values: usageFilter?.values ?? null },
      }),
    ),
    present: [...(await source.presentRefs(refs, asked.range))].sort(),
    names: await namesIn(source, refs, asked.range),
    // ClickHouse may have merged later copies away; ingest stores none.
    last: hasLast ? await source.lastIngested(refs, asked.range) : null,
  };
}

function shownSeries(found: ReadonlyMap<string, PackedUsage>) {
  return [...found].map(([id, { valueCount, unpack }]) => [
    id,
    valueCount,
    ...unpack().series.map(({ groupValues, steps }) => [
      JSON.stringify(groupValues),
      ...steps.map(({ at, value }) => `${at} ${value}`),
    ]),
  ]);
}

function shownWindows(found: Awaited<ReturnType<UsageSource['windows']>>) {
  return found
    .map(({ customerId, start, value, groups }) =>
      JSON.stringify([
        customerId,
        start,
        String(value),
        [...groups].map(([name, one]) => [name, String(one)]),
      ]),
    )
    .sort();
}

/** The table has the events of other scenarios as well. */
async function namesIn({ events }: UsageSource, refs: readonly string[], asked: Interval) {
  const found = await events.refs(asked, { after: null, limit: 10_000 });
  return found
    .filter(({ customerRef }) => refs.includes(customerRef))
    .map(({ customerRef, events: count, first, last }) => [customerRef, count, first, last]);
}

async function allGroups(
  source: UsageSource,
  refs: readonly string[],
  asked: Question & { readonly ingestedUpTo: string | null },
) {
  const rows: string[] = [];
  let cursor: UsageGroupCursor | null = null;
  do {
    const page: Awaited<ReturnType<UsageSource['groups']>> = await source.groups({
      ...{ metric: asked.metric, refs, range: asked.range, windowSize: asked.windowSize },
      ...{ groupKey: asked.groupBy.length === 0 ? null : asked.groupBy, groupFilters: {} },
      ...{ limit: asked.limit, cursor, ingestedUpTo: asked.ingestedUpTo },
    });
    for (const { startingOn, endingBefore, group, value } of page.rows)
      rows.push(JSON.stringify([startingOn, endingBefore, group, value === null ? null : String(value)]));
    cursor = page.next;
  } while (cursor !== null);
  return rows;
}
