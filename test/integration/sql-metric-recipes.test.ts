/** The recipes of docs/explanation/sql-metrics.md give what they say. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { readSqlUsage } from '../../src/metering/sql/run/read-usage.ts';
import { checkSqlMetric } from '../../src/metering/sql/run/sql-metric.ts';
import { STUDIO_EVENTS } from '../support/analyst-events.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { MONTH } from '../support/sql-metric-events.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
beforeAll(async () => {
  await storeEvents(clickhouse, STUDIO_EVENTS);
});

const page = readFileSync(new URL('../../docs/explanation/sql-metrics.md', import.meta.url), 'utf8');
const section = page.slice(page.indexOf('## Recipes'), page.indexOf('## Types'));
const RECIPES = [...section.matchAll(/### (.+)\n```sql\n([^`]+)```/g)].map(
  ([, name = '', sql = '']) => [name, sql] as const,
);

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'p95 latency': ['360'],
  'Peak concurrent seats': ['2'],
  'Weekly active users': ['8'],
  'Time-of-day prices': ['124.75'],
  'Top five projects': ['p1: 130', 'p2: 50', 'p3: 7.5', 'p4: 12'],
  'Tokens by JSON path': ['gpt-4o: 10', 'gpt-4o-mini: 20'],
  'Tokens by tag': ['beta: 150', 'eu: 100'],
};

it.each(RECIPES)('%s', async (name, sql) => {
  const metric = await checkSqlMetric(clickhouse, sql);
  const { rows } = await readSqlUsage(clickhouse, {
    ...{
      metric,
      refs: ['studio'],
      range: MONTH,
      windowSize: 'NONE',
      groupFilters: {},
      limit: 100,
      cursor: null,
    },
    groupKey: metric.groupColumns.length === 0 ? null : metric.groupColumns,
  });
  const shown = rows.map(({ group, value }) => [...Object.values(group), value].join(': '));
  expect(shown).toEqual(EXPECTED[name]);
});

it('the recipes of SQL metrics are all tried', () => {
  expect(RECIPES.map(([name]) => name)).toEqual(Object.keys(EXPECTED));
});
