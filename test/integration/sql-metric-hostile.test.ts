import { beforeAll, describe, expect, it } from 'vitest';
import { ANALYSIS_LIMITS, type QueryLimits } from '../../src/metering/query/query-limits.ts';
import { verifyStatement } from '../../src/metering/sql-metric/parse-tree.ts';
import { readSqlUsage } from '../../src/metering/sql-metric/read-usage.ts';
import { checkSqlMetric } from '../../src/metering/sql-metric/sql-metric.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { DOUBLING_QUERIES, NESTED_QUERIES } from '../support/nested-queries.ts';
import { sample } from '../support/shares-of-tests.ts';
import { ACME, EVENTS, MONTH } from '../support/sql-metric-events.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
beforeAll(async () => {
  await storeEvents(clickhouse, EVENTS);
});

const times = (count: number, text: string) => text.repeat(count);

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  'reading from elsewhere': [
    "SELECT COUNT(*) FROM file('/etc/passwd', 'LineAsString')",
    "SELECT COUNT(*) FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT COUNT(*) FROM s3('http://127.0.0.1:1/bucket/x', 'CSV')",
    "SELECT COUNT(*) FROM remote('127.0.0.1', system.one)",
    "SELECT COUNT(*) FROM cluster('default', system.one)",
    "SELECT COUNT(*) FROM executable('id', 'TSV', 'x String')",
    "SELECT COUNT(*) FROM postgresql('127.0.0.1:5432', 'd', 't', 'u', 'p')",
    "SELECT COUNT(*) FROM merge('tallyhouse', '.*')",
    "SELECT COUNT(*) FROM input('x String')",
    "SELECT COUNT(*) FROM values('x String', 'a')",
    'SELECT COUNT(*) FROM numbers(1000000000000)',
    'SELECT COUNT(*) FROM zeros(1000000000000)',
    "SELECT COUNT(*) FROM generateRandom('x String')",
    'SELECT COUNT(*) FROM system.tables',
    'SELECT COUNT(*) FROM information_schema.tables',
    'SELECT COUNT(*) FROM usage_events',
    'SELECT COUNT(*) FROM tallyhouse.usage_events',
    'SELECT COUNT(*) FROM default.events',
    'SELECT COUNT(*) FROM `usage_events`',
    'SELECT COUNT(*) FROM "system"."tables"',
    'SELECT COUNT(*) FROM invoice_hourly_lines',
    'SELECT COUNT(*) FROM {table:Identifier}',
    "SELECT COUNT(*) FROM (SELECT * FROM file('/etc/passwd'))",
    'WITH events AS (SELECT 1 AS a FROM events) SELECT COUNT(*) FROM events',
    'WITH x AS (SELECT 1 AS a FROM system.one) SELECT COUNT(*) FROM x',
    'SELECT (SELECT COUNT(*) FROM usage_events) FROM events',
    'SELECT COUNT(*) FROM events WHERE event_type IN (SELECT name FROM system.users)',
    'SELECT COUNT(*) FROM events WHERE event_type IN usage_events',
    'SELECT COUNT(*) FROM events WHERE EXISTS (SELECT 1 FROM system.users)',
    'SELECT COUNT(*) FROM events_, events',
    'SELECT COUNT(*)',
  ],
  'joins and products of tables': [
    'SELECT COUNT(*) FROM events, events AS other',
    'SELECT COUNT(*) FROM events a CROSS JOIN events b CROSS JOIN events c',
    'SELECT COUNT(*) FROM events JOIN system.users ON 1 = 1',
    'SELECT COUNT(*) FROM events AS a LEFT JOIN events AS b USING (event_type)',
    'SELECT COUNT(*) FROM events GLOBAL ANY LEFT JOIN numbers(10) ON 1',
    'SELECT COUNT(*) FROM events ARRAY JOIN [1, 2, 3] AS x',
    'SELECT COUNT(*) FROM (SELECT 1 AS a FROM events) x ASOF JOIN events ON 1',
    'SELECT COUNT(*) FROM events PASTE JOIN events',
  ],
  'statements other than one SELECT': [
    "INSERT INTO usage_events (transaction_id) VALUES ('x')",
    "INSERT INTO FUNCTION file('x') SELECT * FROM events",
    'DROP TABLE usage_events',
    'TRUNCATE TABLE usage_events',
    'ALTER TABLE usage_events DELETE WHERE 1',
    'CREATE TABLE x ENGINE = Memory AS SELECT 1',
    'SYSTEM SHUTDOWN',
    'SET readonly = 0',
    'EXPLAIN AST SELECT COUNT(*) FROM events',
    'DESCRIBE TABLE usage_events',
    'SELECT COUNT(*) FROM events; DROP TABLE usage_events',
    'SELECT COUNT(*) FROM events;;',
    'SELECT COUNT(*) FROM events; --',
    'SELECT COUNT(*) FROM events UNION ALL SELECT COUNT(*) FROM system.tables',
    'SELECT COUNT(*) FROM events INTERSECT SELECT 1 FROM events',
    'FROM events SELECT COUNT(*)',
    '(SELECT COUNT(*) FROM events)',
    '',
    '   -- nothing',
    'SELECT COUNT(*) FROM (SELECT 1 AS a FROM events UNION ALL SELECT 2 FROM events)',
  ].filter((sql) => sql !== 'SELECT COUNT(*) FROM events; --'),
  'clauses with effects of their own': [
    'SELECT COUNT(*) FROM events SETTINGS max_execution_time = 0',
    'SELECT COUNT(*) FROM events FORMAT CSV',
    "SELECT COUNT(*) FROM events INTO OUTFILE '/tmp/x'",
    'SELECT COUNT(*) FROM events FINAL',
    'SELECT COUNT(*) FROM events SAMPLE 0.1',
    'SELECT COUNT(*) FROM events PREWHERE 1',
    'SELECT COUNT(*) FROM events ORDER BY 1 WITH FILL FROM 0 TO 1000000000',
    'SELECT COUNT(*) FROM events LIMIT 1',
    'SELECT COUNT(*) FROM events LIMIT 1 BY event_type',
    'SELECT COUNT(*) FROM events GROUP BY event_type WITH TOTALS',
    'SELECT COUNT(*) FROM events GROUP BY ROLLUP(event_type)',
    'SELECT COUNT(*) FROM events GROUP BY GROUPING SETS ((event_type), ())',
    'SELECT COUNT(*) FROM events QUALIFY 1',
    'SELECT COUNT(*) FROM events WINDOW w AS (ORDER BY timestamp)',
    'SELECT SUM(properties.a) OVER (ORDER BY timestamp) FROM events',
    'SELECT COUNT(*) FILTER (WHERE 1) FROM events',
    'WITH RECURSIVE x AS (SELECT 1 AS n FROM events) SELECT COUNT(*) FROM x',
    'WITH x AS (SELECT n FROM x) SELECT COUNT(*) FROM x',
    'WITH 1 AS x SELECT COUNT(*) FROM events',
  ],
  'columns that are not for analysts': [
    'SELECT * FROM events',
    'SELECT events.* FROM events',
    'SELECT e.* FROM events e',
    'SELECT COUNT(*), customer_ref FROM events GROUP BY customer_ref',
    "SELECT COUNT(*) FROM events WHERE customer_ref = 'other'",
    'SELECT MAX(transaction_id) FROM events',
    'SELECT MAX(ingested_at) FROM events',
    'SELECT MAX(version) FROM events',
    'SELECT properties FROM events',
    'SELECT COUNT(*), properties FROM events GROUP BY properties',
    "SELECT COLUMNS('.*') FROM events",
    'SELECT * APPLY(toString) FROM events',
    'SELECT * EXCEPT (event_type) FROM events',
    'SELECT * REPLACE (1 AS event_type) FROM events',
    'SELECT usage_events.customer_ref FROM events',
    'SELECT e.customer_ref FROM events AS e',
    'SELECT tallyhouse.usage_events.customer_ref FROM events',
    'SELECT a.customer_ref FROM (SELECT event_type FROM events) AS a',
    'SELECT _part, COUNT(*) AS value FROM events GROUP BY _part',
    'SELECT properties.keys() FROM events',
    'SELECT COUNT(*) FROM events WHERE x = 1',
    'SELECT COUNT(*) AS properties FROM events',
  ],
  'functions that are not listed': [
    'SELECT sleep(3) FROM events',
    'SELECT COUNT(sleepEachRow(3)) FROM events',
    'SELECT COUNT(throwIf(1)) FROM events',
    "SELECT COUNT(getSetting('readonly')) FROM events",
    'SELECT COUNT(currentUser()) FROM events',
    'SELECT COUNT(hostName()) FROM events',
    'SELECT COUNT(version()) FROM events',
    "SELECT COUNT(dictGet('d', 'a', 1)) FROM events",
    "SELECT COUNT(file('/etc/passwd')) FROM events",
    "SELECT COUNT(joinGet('t', 'a', 1)) FROM events",
    'SELECT COUNT(materialize(1)) FROM events',
    'SELECT COUNT(range(1000000000)) FROM events',
    "SELECT COUNT(repeat('x', 1000000000)) FROM events",
    'SELECT SUM(arrayJoin(range(1000000))) FROM events',
    'SELECT SUM(arraySum(arrayMap(x -> x, [1]))) FROM events',
    'SELECT groupArray(timestamp) FROM events',
    'SELECT quantile(0.5)(properties.a) FROM events',
    'SELECT sumIf(properties.a, 1) FROM events',
    'SELECT sumState(properties.a) FROM events',
    'SELECT UPPER(event_type) FROM events',
    'SELECT `SUM`(properties.a) FROM events',
    'SELECT COUNT(rand()) FROM events',
    'SELECT COUNT(now()) FROM events',
    "SELECT COUNT(*) FROM events WHERE event_type LIKE '%'",
    "SELECT COUNT(*) FROM events WHERE match(event_type, '(a+)+')",
    "SELECT COUNT(*) FROM events WHERE event_type || 'a' = 'b'",
    'SELECT SUM(properties.a % 2) FROM events',
    'SELECT SUM(properties.a::Int8) FROM events',
    'SELECT SUM(CAST(properties.a AS Array(String))) FROM events',
    'SELECT SUM(CAST(properties.a AS DOUBLE)) FROM events',
    "SELECT SUM(CAST(properties.a, 'Int8')) FROM events",
    'SELECT COUNT((1, 2).1) FROM events',
    'SELECT COUNT([1, 2][1]) FROM events',
    'SELECT COUNT({x: 1}) FROM events',
    'SELECT COUNT({x:String}) FROM events',
    'SELECT COUNT(@@version) FROM events',
    'SELECT COUNT($$text$$) FROM events',
    "SELECT COUNT(x'41') FROM events",
    'SELECT SUM(SUM(properties.a)) FROM events',
    'SELECT COUNT(*) FROM events WHERE COUNT(*) > 1',
  ],
  'quotes, comments and look-alikes': [
    "SELECT COUNT(*) FROM events WHERE event_type = 'a' OR 1",
    "SELECT COUNT(*) FROM events WHERE event_type = 'a\\' OR customer_ref = 'other'",
    "SELECT COUNT(*) FROM events WHERE event_type = 'open",
    'SELECT COUNT(*) FROM "events',
    'SELECT COUNT(*) FROM events /* open',
    'SELECT COUNT(*) FROM events */ 1',
    'SELECT COUNT(*) FROM events -- \n, usage_events',
    'SELECT COUNT(*) FROM events # comment',
    'SELECT COUNT(*) FROM еvents',
    'SELECT COUNT(*) FROM events\u00a0WHERE 1',
    'SELECT COUNT(*) FROM events WHERE event_type = ‘a’',
    'SELECT COUNT(*) FROM events\u0000',
    "SELECT COUNT(*) FROM events WHERE event_type = 'a\u0000'",
    "SELECT COUNT(*) FROM events WHERE event_type = '\ud800'",
    'SELECT COUNT(*) FROM events＿',
    'ＳＥＬＥＣＴ COUNT(*) FROM events',
    'SELECT 1e400 FROM events',
    `SELECT ${times(40, '9')} FROM events`,
    'SELECT 0x10 FROM events',
    'SELECT NaN FROM events',
    'SELECT 1 FROM events WHERE inf',
    'SELECT COUNT(*) AS a, 1 AS A FROM events',
  ],
  'queries without bound': [
    `SELECT ${times(1000, '(')}1${times(1000, ')')} FROM events`,
    `SELECT ${times(1000, '-')}1 FROM events`.replaceAll('--', '- -'),
    `SELECT COUNT(*) FROM events WHERE ${times(1000, 'NOT ')}1 = 1`,
    `${times(1000, 'SELECT COUNT(*) FROM (')}SELECT 1 AS a FROM events${times(1000, ')')}`,
    `${times(20, 'SELECT COUNT(*) FROM (')}SELECT 1 AS a FROM events${times(20, ')')}`,
    `SELECT ${times(2000, '1+')}1 FROM events`,
    `SELECT ${times(90, 'CASE WHEN TRUE THEN ')}1${times(90, ' END')} FROM events`,
    `SELECT COUNT(*) FROM events WHERE event_type IN (${times(1_500, "'a',")}'a')`,
    `SELECT ${times(40, 'properties.a,')} 1 FROM events`,
    `SELECT COUNT(*) FROM events WHERE event_type = '${times(10_000, 'a')}'`,
    `SELECT ${times(100, 'properties.x / ')}2 FROM events`,
  ],
  sense: [
    'SELECT event_type FROM events',
    'SELECT timestamp AS value FROM events',
    'SELECT COUNT(*), properties.model FROM events',
    'SELECT properties.model, COUNT(*) FROM events GROUP BY model',
    'SELECT SUM(event_type) FROM events',
    'SELECT SUM(timestamp) FROM events',
    'SELECT COUNT(*) FROM events WHERE properties.flag',
    'SELECT COUNT(*) FROM events WHERE event_type = 5',
    "SELECT COUNT(*) FROM events WHERE timestamp > 'yesterday'",
    "SELECT COUNT(*) FROM events WHERE event_type IN ('a', 1)",
    "SELECT COUNT(*) FROM events WHERE event_type IN ('a', NULL)",
    "SELECT DATE_TRUNC('month', timestamp) AS m, COUNT(*) AS value FROM events GROUP BY m",
    "SELECT DATE_TRUNC('day', properties.at) AS m, COUNT(*) AS value FROM events GROUP BY m",
    'SELECT LATEST(n) FROM (SELECT COUNT(*) AS n FROM events GROUP BY event_type)',
    'SELECT properties.a FROM (SELECT event_type FROM events)',
    'SELECT COUNT(*) FROM events GROUP BY COUNT(*)',
    'SELECT COUNT(*) FROM events GROUP BY 2',
    'SELECT DISTINCT COUNT(*) FROM events',
    "SELECT SUM(CASE WHEN TRUE THEN 1 ELSE 'one' END) FROM events",
    'SELECT ROUND(properties.a, properties.b) FROM events',
    'SELECT ROUND(properties.a, 31) FROM events',
  ],
};

describe.each(Object.entries(REFUSED))('%s', (_, queries) => {
  it.each(sample(queries))('is refused, naming line and column: %s', async (sql) => {
    await expect(checkSqlMetric(clickhouse, sql)).rejects.toMatchObject({
      name: 'Refusal',
      kind: 'invalid',
      message: expect.stringMatching(/^sql: (line \d+, column \d+: .+|the query is too complicated)$/s),
    });
  });
});

describe('a query with one construct inside itself', () => {
  // A query that doubles with every level is planned for hours, and no limit of time ends that.
  it.each(sample(NESTED_QUERIES))('is planned: %s', async (_, sql) => {
    expect(await checkSqlMetric(clickhouse, sql)).toMatchObject({ sql });
  });

  it.each(sample(DOUBLING_QUERIES))('is refused: %s', async (_, sql) => {
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
  ])('reads no row of another customer, month or copy: %s', async (sql) => {
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
  ])('is stopped at its limit on %s, with a refusal that names it', async (_, change, sql, message) => {
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
  });
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
  ])('stops a statement that should never have been written: %s', async (sql) => {
    await expect(verifyStatement(clickhouse, sql, {})).rejects.toThrow(/^assertion failed/);
  });
});
