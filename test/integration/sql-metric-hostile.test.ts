import { beforeAll, describe, expect, it } from 'vitest';
import { ANALYSIS_LIMITS, type QueryLimits } from '../../src/metering/query/query-limits.ts';
import { verifyStatement } from '../../src/metering/sql/run/parse-tree.ts';
import { readSqlUsage } from '../../src/metering/sql/run/read-usage.ts';
import { checkSqlMetric } from '../../src/metering/sql/run/sql-metric.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { REFUSED_QUERIES } from '../support/hostile-queries.ts';
import { DOUBLING_QUERIES, NESTED_QUERIES } from '../support/nested-queries.ts';
import { ACME, EVENTS, MONTH } from '../support/sql-metric-events.ts';
import { storeEvents } from '../support/usage-events.ts';

const times = (count: number, text: string) => text.repeat(count);

const clickhouse = await clickhouseForFile();
beforeAll(async () => {
  await storeEvents(clickhouse, EVENTS);
});

it('250 hostile queries at least are tried, each another one', () => {
  const queries = Object.values(REFUSED_QUERIES).flat();
  expect(new Set(queries).size).toBe(queries.length);
  expect(queries.length).toBeGreaterThanOrEqual(250);
});

describe.each(Object.entries(REFUSED_QUERIES))('%s', (_, queries) => {
  it.each(queries)('a hostile query is refused, naming line and column: %s', async (sql) => {
    await expect(checkSqlMetric(clickhouse, sql)).rejects.toMatchObject({
      name: 'Refusal',
      kind: 'invalid',
      message: expect.stringMatching(/^sql: (line \d+, column \d+: .+|the query is too complicated)$/s),
    });
  });
});

describe('a query with one construct inside itself', () => {
  // A query that doubles with every level is planned for hours, and no limit of time ends that.
  it.each(NESTED_QUERIES)('a query with one construct inside itself is planned: %s', async (_, sql) => {
    expect(await checkSqlMetric(clickhouse, sql)).toMatchObject({ sql });
  });

  it.each(DOUBLING_QUERIES)('a query with one construct inside itself is refused: %s', async (_, sql) => {
    await expect(checkSqlMetric(clickhouse, sql)).rejects.toMatchObject({ kind: 'invalid' });
  });
});

describe('a query that is allowed', () => {
  const everything = {
    refs: ACME,
    range: MONTH,
    windowSize: 'NONE',
    groupFilters: {},
    limit: 1_000,
  } as const;

  it.each([
    'SELECT COUNT(*) AS value, properties.secret FROM events GROUP BY secret',
    'SELECT COUNT(*) AS value, properties.model AS m FROM events WHERE properties.secret IS NOT NULL OR 1 = 1 GROUP BY m',
    "SELECT SUM(properties.tokens) AS value, properties['customer_ref'] AS c FROM events GROUP BY c",
    'SELECT COUNT(*) AS value, x FROM (SELECT DISTINCT properties.user, CAST(properties.tokens AS VARCHAR) AS x FROM events) GROUP BY x',
    "SELECT COUNT(*) AS value, 'refs' AS \"refs:Array(String)}' OR 1=1 --\" FROM events",
    "SELECT COUNT(*) AS value, '{refs:Array(String)}' AS x, properties.\"') OR (1=1\" AS y FROM events GROUP BY x, y",
  ])('a query that is allowed reads no row of another customer, month or copy: %s', async (sql) => {
    const metric = await checkSqlMetric(clickhouse, sql);
    const { rows } = await readSqlUsage(clickhouse, {
      ...everything,
      metric,
      groupKey: metric.groupColumns,
      cursor: null,
    });
    const shown = JSON.stringify(rows);
    for (const secret of ['other customer', 'secret-model', '1000000', 'copy', '999', '5000', '7000']) {
      expect(shown).not.toContain(secret);
    }
    expect(rows.length).toBeGreaterThan(0);
  });

  it.each<[string, Partial<QueryLimits>, string, RegExp]>([
    [
      'time',
      { executionSeconds: 0.001 },
      'SELECT SUM(properties.tokens / 7) FROM events',
      /longer than 0.001 s/,
    ],
    ['rows to read', { rowsRead: 2 }, 'SELECT COUNT(*) FROM events', /reads more than 2 events/],
    ['values', { resultRows: 2 }, 'SELECT 1 AS value, properties.tokens FROM events', /more than 2 values/],
    ['memory', { memoryBytes: 100_000 }, 'SELECT COUNT(DISTINCT properties.tokens) FROM events', /memory/],
    ['numbers', {}, `SELECT SUM(properties.tokens * 1${times(35, '0')}) FROM events`, /more than 36 digits/],
    [
      'numbers that grow',
      {},
      `SELECT SUM(properties.tokens) * 1${times(35, '0')} * 1${times(35, '0')} FROM events`,
      /more than 36 digits/,
    ],
    [
      'quotients',
      {},
      `SELECT COUNT(*) * 1${times(16, '0')} / 0.${times(29, '0')}1 FROM events`,
      /more than 36 digits/,
    ],
  ])(
    'a query that is allowed is stopped at its limit on %s, with a refusal that names it',
    async (_, change, sql, message) => {
      const metric = await checkSqlMetric(clickhouse, sql);
      const asked = {
        ...everything,
        metric,
        groupKey: metric.groupColumns.length === 0 ? null : metric.groupColumns,
        cursor: null,
      };
      await expect(readSqlUsage(clickhouse, asked, { ...ANALYSIS_LIMITS, ...change })).rejects.toMatchObject({
        kind: 'invalid',
        message: expect.stringMatching(message),
      });
    },
  );
});

describe('the second lock', () => {
  it.each([
    'SELECT count() FROM usage_events FINAL, usage_events',
    'SELECT count() FROM usage_events CROSS JOIN system.users',
    'SELECT count() FROM system.tables',
    'SELECT 1',
    'SELECT count() FROM usage_events WHERE event_type IN (SELECT name FROM system.users)',
    'SELECT count() FROM usage_events WHERE event_type IN system.users',
    'SELECT count() FROM usage_events WHERE sleep(1) = 0',
    "SELECT count() FROM usage_events UNION ALL SELECT toUInt64(line) FROM file('/etc/passwd', 'LineAsString', 'line String')",
    "SELECT count() FROM url('http://127.0.0.1:1/') UNION ALL SELECT count() FROM usage_events",
    'SELECT * FROM usage_events',
    "SELECT COLUMNS('.*') FROM usage_events",
    'SELECT count() FROM usage_events ARRAY JOIN mapKeys(properties) AS k',
    'SELECT count() FROM usage_events SETTINGS max_threads = 1',
    'WITH x AS (SELECT count() FROM usage_events) SELECT * FROM x',
    'SELECT count() FROM usage_events',
    "SELECT count() FROM usage_events WHERE timestamp > 1 AND event_type IN ['a']",
    "SELECT count(customer_ref IN ['a']) FROM usage_events WHERE timestamp > 1",
    "SELECT count() FROM usage_events WHERE customer_ref IN ['a'] OR 1 = 1",
    "SELECT count() FROM (SELECT 1 AS a FROM usage_events WHERE customer_ref IN ['a']) AS x JOIN usage_events AS y ON 1 = 1",
    "SELECT count() FROM (SELECT 1 AS a FROM usage_events WHERE customer_ref IN ['a']) AS x JOIN (SELECT 1 AS b FROM usage_events) AS y ON a = b",
    "SELECT count() FROM (SELECT 1 AS a FROM usage_events WHERE customer_ref IN ['a']) AS x JOIN (SELECT name FROM system.users) AS y ON 1 = 1",
    "SELECT count() FROM usage_events WHERE customer_ref IN ['a'] UNION ALL SELECT count() FROM usage_events WHERE timestamp > 1",
    "SELECT (SELECT count() FROM usage_events) FROM usage_events WHERE customer_ref IN ['a']",
  ])('the second lock stops a statement that should never have been written: %s', async (sql) => {
    await expect(verifyStatement(clickhouse, sql, {})).rejects.toThrow(/^assertion failed/);
  });
});
