/**
 * Pages of usage by group where the values are long: as many bytes as an event may have, the same for
 * thousands of characters, or absent. A streaming metric and the query that says the same.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cursor as cursorField, pageToWire } from '../../src/api/wire/paging.ts';
import type { SqlMetric, StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { type UsageGroupCursor, usageGroupCursor } from '../../src/metering/query/group-cursor.ts';
import type { UsageGroupRow, UsageGroupsPage } from '../../src/metering/query/usage-groups.ts';
import type { UsageWindowSize } from '../../src/metering/query/usage-windows.ts';
import { readMetricGroups } from '../../src/metering/usage/metric-usage.ts';
import { createRowsAhead } from '../../src/metering/usage/rows-ahead.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { groupOrder, type NaiveEvent, naiveUsage } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { PERIOD } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();

const CURSOR_LENGTH_MAX = 600;
const NAMES = ['model', 'region'];

const COUNT: StreamingMetric = {
  kind: 'streaming',
  id: 'metric',
  name: 'Metric',
  archivedAt: null,
  groupKeys: [NAMES],
  aggregation: 'COUNT',
  aggregationKey: null,
  eventTypeFilter: null,
  propertyFilters: [],
};
const COUNT_SQL: SqlMetric = {
  kind: 'sql',
  id: 'query',
  name: 'Query',
  archivedAt: null,
  sql: 'SELECT COUNT(*) AS value, properties.model, properties.region FROM events GROUP BY 2, 3',
};

/** Few beginnings and ends, so that values are equal, or alike up to their last character. */
const longValue = fc
  .record({
    of: fc.constantFrom('x', '長', '𝄞', "it's\\", '"\t'),
    length: fc.constantFrom(30, 280, 300, 1_600, 12_000, 60_000),
    end: fc.constantFrom('', 'a', 'b', '長'),
  })
  .map(({ of, length, end }) => of.repeat(Math.ceil(length / of.length)) + end);

const value = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(null, '', 'a', '長', '-', '1:a') },
  { weight: 3, arbitrary: longValue },
);

const drafts = fc.array(fc.record({ model: value, region: value, hour: fc.nat(30) }), {
  minLength: 2,
  maxLength: 9,
});
type Draft = typeof drafts extends fc.Arbitrary<(infer One)[]> ? One : never;

const MICROSECONDS_APART = 1_000_000;

function eventOf({ model, region, hour }: Draft, ref: string, index: number): NaiveEvent {
  return {
    transactionId: `${ref}-${index}`,
    customerRef: ref,
    eventType: 'call',
    timestamp: PERIOD.start + hour * HOUR_MS,
    properties: { ...(model === null ? {} : { model }), ...(region === null ? {} : { region }) },
    ingestedAt: PERIOD.end * 1000 + index * MICROSECONDS_APART,
  };
}

type ReadPage = (cursor: UsageGroupCursor | null) => Promise<UsageGroupsPage>;

/** All pages, with an event of `arriving` stored after each. */
async function readAllPages(read: ReadPage, arriving: readonly NaiveEvent[] = []): Promise<UsageGroupRow[]> {
  const rows: UsageGroupRow[] = [];
  let cursor: UsageGroupCursor | null = null;
  for (let pages = 0; pages === 0 || cursor !== null; pages += 1) {
    const page: UsageGroupsPage = await read(cursor);
    rows.push(...page.rows);
    await storeEvents(clickhouse, arriving.slice(pages, pages + 1));
    const text: string | null = pageToWire(page, (row) => row).next_page;
    expect(text?.length ?? 0).toBeLessThan(CURSOR_LENGTH_MAX);
    cursor = text === null ? null : cursorField(usageGroupCursor).parse(text);
  }
  return rows;
}

function oracleRows(events: readonly NaiveEvent[], ref: string, windowSize: UsageWindowSize) {
  const windows =
    windowSize === 'NONE'
      ? [PERIOD]
      : [PERIOD.start, PERIOD.start + DAY_MS].map((start) => ({ start, end: start + DAY_MS }));
  return windows.flatMap((window) =>
    naiveUsage(COUNT, events, [ref], window, NAMES)
      .sort((a, b) => groupOrder(a.group, b.group))
      .map((line) => [window.start, ...line.group, line.value]),
  );
}

const shown = (rows: readonly UsageGroupRow[]) =>
  rows.map(({ startingOn, group, value }) => [
    startingOn,
    group.model ?? null,
    group.region ?? null,
    value?.toString(),
  ]);

let customers = 0;

it('every row of usage is listed once and in order, whatever its values, the page size and how far pages are read ahead, while events arrive', async () => {
  await fc.assert(
    fc.asyncProperty(
      drafts,
      drafts,
      fc.constantFrom<UsageWindowSize>('DAY', 'NONE'),
      fc.constantFrom(1, 1, 2, 5),
      fc.constantFrom(0, 3, 4, 5_000),
      fc.boolean(),
      async (before, after, windowSize, limit, rowsAhead, isQuery) => {
        customers += 1;
        const ref = `long-${customers}`;
        const stored = before.map((draft, index) => eventOf(draft, ref, index));
        const arriving = after.map((draft, index) => eventOf(draft, ref, before.length + index));
        await storeEvents(clickhouse, stored);
        const asked = { refs: [ref], range: PERIOD, windowSize, groupKey: NAMES, groupFilters: {}, limit };
        const metric = isQuery ? COUNT_SQL : COUNT;
        const ahead = createRowsAhead({ rowsAhead });
        const read: ReadPage = (cursor) => readMetricGroups(clickhouse, { ...asked, metric, cursor }, ahead);
        const rows = await readAllPages(read, arriving);
        expect(shown(rows)).toEqual(oracleRows(stored, ref, windowSize));
        const arrived = arriving.slice(0, Math.max(1, Math.ceil(rows.length / limit)));
        const again = await readAllPages(read);
        expect(shown(again)).toEqual(oracleRows([...stored, ...arrived], ref, windowSize));
      },
    ),
    { numRuns: runs(12) },
  );
});
