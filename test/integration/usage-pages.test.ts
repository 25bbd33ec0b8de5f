/** The cost of all pages of usage by group together. That they are right: test/property/usage-groups.test.ts. */
import { describe, expect, it } from 'vitest';
import { cursor as cursorField, pageToWire } from '../../src/api/wire/paging.ts';
import type { BillableMetric } from '../../src/core/metric.ts';
import { DAY_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { type UsageGroupCursor, usageGroupCursor } from '../../src/metering/query/group-cursor.ts';
import { forAnalysis } from '../../src/metering/query/query-limits.ts';
import type { UsageGroupRow } from '../../src/metering/query/usage-groups.ts';
import { readMetricGroups } from '../../src/metering/usage/metric-usage.ts';
import { createRowsAhead } from '../../src/metering/usage/rows-ahead.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();

const START = Date.UTC(2026, 7, 1);
const RANGE = { start: START, end: START + DAY_MS };
const STREAMING: BillableMetric = {
  kind: 'streaming',
  id: 'metric',
  name: 'Calls',
  eventTypeFilter: null,
  propertyFilters: [],
  aggregation: 'COUNT',
  aggregationKey: null,
  groupKeys: [['user']],
  archivedAt: null,
};
const QUERY: BillableMetric = {
  kind: 'sql',
  id: 'query',
  name: 'Calls',
  sql: 'SELECT COUNT(*) AS value, properties.user FROM events GROUP BY 2',
  archivedAt: null,
};

async function storeUsers(customer: string, users: readonly string[]): Promise<void> {
  await storeEvents(
    clickhouse,
    users.map((user, index) => ({
      transactionId: `${customer}-${String(index).padStart(4, '0')}`,
      customerRef: customer,
      eventType: 'call',
      timestamp: START,
      properties: { user },
      ingestedAt: START * 1000 + index,
    })),
  );
}

/** A ClickHouse that counts the statements which read usage. */
function counting() {
  const counted = { statements: 0 };
  const of: ClickHouse = {
    ...clickhouse,
    query: (query) => {
      if (/\bgroup_values\b/.test(query.sql) && !query.sql.includes('EXPLAIN')) counted.statements += 1;
      return clickhouse.query(query);
    },
  };
  return { counted, of };
}

/** All rows of a list, page by page as a client reads it. */
async function readPages(
  of: ClickHouse,
  asked: { readonly metric: BillableMetric; readonly customer: string; readonly limit: number },
  ahead = createRowsAhead(),
): Promise<UsageGroupRow[]> {
  const { metric, customer, limit } = asked;
  const rows: UsageGroupRow[] = [];
  let cursor: UsageGroupCursor | null = null;
  for (;;) {
    const request = { metric, refs: [customer], range: RANGE, windowSize: 'NONE', limit, cursor } as const;
    const page = await readMetricGroups(of, { ...request, groupKey: ['user'], groupFilters: {} }, ahead);
    rows.push(...page.rows);
    const text: string | null = pageToWire(page, (row) => row).next_page;
    if (text === null) return rows;
    cursor = cursorField(usageGroupCursor).parse(text);
  }
}

const usersOf = (rows: readonly UsageGroupRow[]) => rows.map(({ group }) => group.user);

describe.each<[string, BillableMetric]>([
  ['a streaming metric', STREAMING],
  ['a SQL metric', QUERY],
])('pages of %s', (kind, metric) => {
  it('pages take a statement for as many rows as are read ahead, not one each', async () => {
    const customer = `many of ${kind}`;
    const users = Array.from({ length: 300 }, (_, index) => `user-${String(index).padStart(3, '0')}`);
    await storeUsers(customer, users);
    const { counted, of } = counting();
    const asked = { metric, customer, limit: 7 };
    expect(usersOf(await readPages(of, asked, createRowsAhead({ rowsAhead: 40 })))).toEqual(users);
    // Five pages of each 40 rows.
    expect(counted.statements).toBe(1 + Math.ceil((300 - 7) / 35));
    counted.statements = 0;
    expect(usersOf(await readPages(of, asked))).toEqual(users);
    expect(counted.statements).toBe(2);
  });

  it('pages of rows that are too long to read many ahead read fewer, and nothing is refused', async () => {
    const customer = `long of ${kind}`;
    const users = Array.from(
      { length: 60 },
      (_, index) => 'x'.repeat(60_000) + String(index).padStart(2, '0'),
    );
    await storeUsers(customer, users);
    for (const analysis of [false, true]) {
      const { counted, of } = counting();
      const from = analysis ? forAnalysis(of) : of;
      expect(usersOf(await readPages(from, { metric, customer, limit: 2 }))).toEqual(users);
      // Three times too many are read, then eight rows of four pages at once. The place is found by its hash each time.
      expect(counted.statements).toBeLessThan(30);
    }
  });
});

it('two clients that read the same pages at once, and one that asks for a page again, share what was read ahead', async () => {
  const users = Array.from({ length: 90 }, (_, index) => `user-${String(index).padStart(2, '0')}`);
  await storeUsers('shared', users);
  const { counted, of } = counting();
  const ahead = createRowsAhead();
  const asked = { metric: STREAMING, customer: 'shared', limit: 9 };
  const first = await readPages(of, asked, ahead);
  counted.statements = 0;
  const both = await Promise.all([readPages(of, asked, ahead), readPages(of, asked, ahead)]);
  expect(both).toEqual([first, first]);
  // The first page is always read.
  expect(counted.statements).toBe(2);
});
