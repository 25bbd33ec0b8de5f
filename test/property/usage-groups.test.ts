import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS, type Interval } from '../../src/core/time.ts';
import { type UsageGroupCursor, usageGroupCursor } from '../../src/metering/query/group-cursor.ts';
import type { UsageGroupRow } from '../../src/metering/query/usage-groups.ts';
import type { UsageWindowSize } from '../../src/metering/query/usage-windows.ts';
import { readMetricGroups } from '../../src/metering/usage/metric-usage.ts';
import { createRowsAhead } from '../../src/metering/usage/rows-ahead.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { groupOrder, type NaiveEvent, naiveUsage } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { groupBy, range, streamingMetric, usageScenario } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();

interface Question {
  readonly metric: StreamingMetric;
  readonly groupKey: readonly string[] | null;
  readonly groupFilters: Readonly<Record<string, readonly string[]>>;
  readonly range: Interval;
  readonly windowSize: UsageWindowSize;
  readonly limit: number;
  /** Rows that the second page reads, and each page after the last of them. */
  readonly rowsAhead: number;
}

const question: fc.Arbitrary<Question> = fc
  .record({
    metric: streamingMetric,
    groupKey: fc.option(
      groupBy.filter((names) => names.length > 0),
      { freq: 3 },
    ),
    filterValues: fc.uniqueArray(fc.constantFrom('', 'a', 'b', '1'), { maxLength: 3 }),
    range,
    windowSize: fc.constantFrom<UsageWindowSize>('HOUR', 'DAY', 'NONE'),
    limit: fc.constantFrom(3, 7, 20, 100),
    rowsAhead: fc.constantFrom(0, 8, 20, 5_000),
  })
  .map(({ filterValues, ...rest }) => {
    const [name] = rest.groupKey ?? [];
    return {
      ...rest,
      groupFilters: name === undefined || filterValues.length === 0 ? {} : { [name]: filterValues },
    };
  });

/** All pages one after another; `between` runs after each, with the number of pages so far. */
async function readAllPages(
  { rowsAhead, ...asked }: Question,
  refs: readonly string[],
  between: (pages: number) => Promise<void> = async () => {},
): Promise<UsageGroupRow[]> {
  const ahead = createRowsAhead({ rowsAhead });
  let pages = 0;
  const rows: UsageGroupRow[] = [];
  let cursor: UsageGroupCursor | null = null;
  do {
    const page = await readMetricGroups(clickhouse, { ...asked, refs, cursor }, ahead);
    expect(page.rows.length).toBeLessThanOrEqual(asked.limit);
    rows.push(...page.rows);
    pages += 1;
    await between(pages);
    // As the API does it: through text and back.
    cursor = page.next === null ? null : usageGroupCursor.parse(JSON.parse(JSON.stringify(page.next)));
  } while (cursor !== null);
  return rows;
}

function windowsOf({ range: { start, end }, windowSize }: Question): Interval[] {
  if (windowSize === 'NONE') return [{ start, end }];
  const length = windowSize === 'HOUR' ? HOUR_MS : DAY_MS;
  const windows: Interval[] = [];
  for (let at = Math.floor(start / length) * length; at < end; at += length) {
    windows.push({ start: Math.max(at, start), end: Math.min(at + length, end) });
  }
  return windows;
}

function oracleRows(asked: Question, events: readonly NaiveEvent[], refs: readonly string[]) {
  const { metric, groupKey, groupFilters } = asked;
  const names = groupKey === null ? [] : [...groupKey].sort();
  return windowsOf(asked).flatMap((window) => {
    const lines = naiveUsage(metric, events, refs, window, names)
      .filter(({ group }) =>
        names.every((name, index) => groupFilters[name]?.includes(group[index] ?? '\0') ?? true),
      )
      .sort((a, b) => groupOrder(a.group, b.group))
      .map(({ group, value }) => ({
        window,
        group: Object.fromEntries(names.map((name, index) => [name, group[index]])),
        value: value as string | null,
      }));
    return groupKey === null && lines.length === 0 ? [{ window, group: {}, value: null }] : lines;
  });
}

function shown(rows: readonly UsageGroupRow[]) {
  return rows.map(({ startingOn, endingBefore, group, value }) => ({
    window: { start: startingOn, end: endingBefore },
    group,
    value: value?.toString() ?? null,
  }));
}

describe('usage in windows', () => {
  it('usage in windows is what the naive aggregate gives for every window and group, in order, whatever the page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        fc.array(question, { minLength: 5, maxLength: 5 }),
        async (scenario, questions) => {
          await storeEvents(clickhouse, scenario.events);
          const [customer] = scenario.customers;
          const refs = customer?.refs ?? [];
          await Promise.all(
            questions.map(async (asked) => {
              const rows = await readAllPages(asked, refs);
              expect(shown(rows)).toEqual(oracleRows(asked, scenario.events, refs));
            }),
          );
        },
      ),
      { numRuns: runs(20) },
    );
  });

  it('usage in windows stays what it was on the first page while events arrive', async () => {
    await fc.assert(
      fc.asyncProperty(usageScenario, usageScenario, question, async (before, after, asked) => {
        await storeEvents(clickhouse, before.events);
        const [customer] = before.customers;
        const refs = customer?.refs ?? [];
        const arriving = after.events.map((event) => ({
          ...event,
          customerRef: refs[0] ?? '',
          transactionId: `late-${event.transactionId}`,
          ingestedAt: event.ingestedAt + 1_000_000,
        }));
        // Some after the first page, the others after the third.
        const early = arriving.slice(0, Math.ceil(arriving.length / 2));
        const arrive = async (pages: number) => {
          if (pages === 1) await storeEvents(clickhouse, early);
          if (pages === 3) await storeEvents(clickhouse, arriving.slice(early.length));
        };
        let reached = 0;
        const rows = await readAllPages(asked, refs, async (pages) => {
          reached = pages;
          await arrive(pages);
        });
        expect(shown(rows)).toEqual(oracleRows(asked, before.events, refs));
        const arrived = reached >= 3 ? arriving : early;
        const again = await readAllPages(asked, refs);
        expect(shown(again)).toEqual(oracleRows(asked, [...before.events, ...arrived], refs));
      }),
      { numRuns: runs(20) },
    );
  });
});
