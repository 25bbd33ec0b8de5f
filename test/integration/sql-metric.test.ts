import { beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { keySlices } from '../../src/metering/query/key-slice.ts';
import { readSqlMetric } from '../../src/metering/sql/read/read-metric.ts';
import { readSqlSeries, type SqlSeriesRequest } from '../../src/metering/sql/run/read-series.ts';
import { readSqlUsage, type SqlUsageRequest } from '../../src/metering/sql/run/read-usage.ts';
import { checkSqlMetric } from '../../src/metering/sql/run/sql-metric.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { sample } from '../support/shares-of-tests.ts';
import { ACME, EVENTS, MONTH } from '../support/sql-metric-events.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
beforeAll(async () => {
  await storeEvents(clickhouse, EVENTS);
});

/** Rows over the month, as `value` or as `group values: value`. */
async function rowsOf(sql: string, change: Partial<SqlUsageRequest> = {}): Promise<(string | null)[]> {
  const metric = await checkSqlMetric(clickhouse, sql);
  const { rows } = await readSqlUsage(clickhouse, {
    metric,
    refs: ACME,
    range: MONTH,
    windowSize: 'NONE',
    groupKey: metric.groupColumns.length === 0 ? null : metric.groupColumns,
    groupFilters: {},
    limit: 100,
    cursor: null,
    ...change,
  });
  return rows.map(({ group, value }) => {
    const values = Object.values(group);
    const text = value === null ? null : value.toString();
    return values.length === 0 ? text : `${values.join(', ')}: ${text}`;
  });
}

const of = (rest: string) => `SELECT ${rest} FROM events`;

/** tokens: 100, 50, 7, "many", 0.003, -20; price: 0.5, 0.25, 0.1, –, –, 1. */
const QUERIES: ReadonlyArray<readonly [sql: string, rows: readonly (string | null)[]]> = [
  [of('COUNT(*)'), ['8']],
  [of('count(1) AS calls'), ['8']],
  [of('COUNT(properties.tokens)'), ['6']],
  [of('SUM(properties.tokens)'), ['137.003']],
  [of('AVG(properties.tokens)'), ['27.4006']],
  [of('SUM(properties.tokens) / 7'), ['19.571857142857142857142857142857']],
  [of('-SUM(properties.tokens) / 7'), ['-19.571857142857142857142857142857']],
  [of('2 / 3'), ['5.333333333333333333333333333336']],
  [of('MAX(properties.tokens) - MIN(properties.tokens)'), ['120']],
  [of('LATEST(properties.tokens)'), ['-20']],
  [of('EARLIEST(properties.tokens)'), ['100']],
  [of('LATEST(properties.level)'), ['2']],
  [of('EARLIEST(properties.level)'), ['1']],
  [of('COUNT(DISTINCT properties.user)'), ['3']],
  [of("COUNT(DISTINCT CASE WHEN properties.region = 'eu' THEN properties.user END)"), ['2']],
  [of('SUM(properties.tokens * properties.price)'), ['43.2']],
  [of("SUM(CASE WHEN properties.model = 'gpt' THEN properties.tokens ELSE 0 END)"), ['130']],
  [of("SUM(CASE properties.model WHEN 'gpt' THEN properties.tokens * 2 WHEN 'mini' THEN 1 END)"), ['262']],
  [of('SUM(IF(properties.tokens > 50, 1, 0.5))'), ['4.5']],
  [of('SUM(COALESCE(properties.price, 10))'), ['41.85']],
  [of('SUM(NULLIF(properties.tokens, 100))'), ['37.003']],
  [of('SUM(properties.tokens) / (COUNT(*) - 8)'), [null]],
  [of('SUM(properties.nothing)'), [null]],
  [of('GREATEST(SUM(properties.tokens), 1000, NULL)'), ['1000']],
  [of('LEAST(SUM(properties.tokens), 1000)'), ['137.003']],
  [of('ROUND(SUM(properties.tokens), 2)'), ['137']],
  [of('ROUND(-2.5) + ROUND(2.5) * 100 + CEIL(0.001) * 10000 + FLOOR(-0.001)'), ['82368']],
  [of('CAST(SUM(properties.tokens) AS INTEGER)'), ['137']],
  [of('CAST(SUM(properties.price) AS DECIMAL(10, 1))'), ['1.9']],
  [of('SUM(CAST(CAST(properties.tokens AS VARCHAR) AS DECIMAL))'), ['137.003']],
  [`${of('COUNT(*)')} WHERE properties.tokens > 6.5 AND properties.tokens <= 100`, ['3']],
  [`${of('COUNT(*)')} WHERE properties.tokens > '6'`, ['2']],
  [`${of('COUNT(*)')} WHERE properties.tokens IN (7.0, 50)`, ['2']],
  [`${of('COUNT(*)')} WHERE properties.tokens IN ('7.0', '50')`, ['1']],
  [`${of('COUNT(*)')} WHERE properties.tokens NOT IN ('many')`, ['5']],
  [`${of('COUNT(*)')} WHERE properties.price IS NULL`, ['4']],
  [`${of('COUNT(*)')} WHERE NOT (event_type = 'call' OR event_type <> 'gauge')`, ['2']],
  [`${of('COUNT(*)')} WHERE properties.free = TRUE`, ['1']],
  [`${of('COUNT(*)')} WHERE properties.tokens BETWEEN 7 AND 50`, ['2']],
  [`${of('COUNT(*)')} WHERE timestamp >= '2026-11-02' AND timestamp < '2026-11-02T13:00:00Z'`, ['1']],
  [`${of('COUNT(*)')} WHERE DATE_TRUNC('day', timestamp) IN ('2026-11-01')`, ['4']],
  [
    `${of('COUNT(*)')} WHERE properties."a.b" = 'dotted' AND properties.a.b = 'dotted' AND properties['a.b'] = 'dotted'`,
    ['1'],
  ],
  [`${of('COUNT(*)')} WHERE properties.meta.tier = 'gold' AND properties.meta.weight = 2.5`, ['1']],
  [`${of('COUNT(*)')} WHERE properties.Model = 'CASE'`, ['1']],
  [`${of('COUNT(*)')} WHERE properties."odd name; -- ""x""" = 'it''s' -- a comment`, ['1']],
  ["SELECT COUNT(*) FROM events AS e WHERE e.properties.model = 'gpt' AND e.event_type = 'call';", ['2']],
  ['SELECT properties.tokens FROM events', ['137.003']],
  [
    'SELECT properties.region, SUM(properties.tokens) AS value FROM events GROUP BY region',
    ['eu: 87', 'us: 50.003', ': null'],
  ],
  [
    'SELECT SUM(properties.tokens) AS value, properties.region AS r, event_type FROM events WHERE properties.tokens IS NOT NULL GROUP BY 2, event_type HAVING value > 0',
    ['eu, call: 107', 'us, call: 50.003'],
  ],
  [
    "SELECT DATE_TRUNC('day', timestamp) AS day, COUNT(*) AS value FROM events GROUP BY day",
    ['2026-11-01T00:00:00.000Z: 4', '2026-11-02T00:00:00.000Z: 2', '2026-11-03T00:00:00.000Z: 2'],
  ],
  [
    "SELECT SUM(most) AS value FROM (SELECT DATE_TRUNC('day', timestamp) AS day, MAX(properties.tokens) AS most FROM events GROUP BY day) WHERE most < 60",
    ['0.003'],
  ],
  [
    "WITH calls AS (SELECT properties.user, properties.tokens AS t FROM events WHERE event_type = 'call'), users AS (SELECT user, SUM(t) AS total FROM calls GROUP BY user) SELECT COUNT(*) AS value FROM users WHERE total > 51",
    ['1'],
  ],
  ['SELECT COUNT(*) FROM (SELECT DISTINCT properties.user FROM events)', ['4']],
  [
    "SELECT LATEST(t) FROM (SELECT CASE WHEN event_type = 'call' THEN properties.tokens END AS t FROM events) x",
    ['0.003'],
  ],
  ['SELECT COUNT(*) AS value, LATEST(CAST(properties.region AS VARCHAR)) AS last FROM events', ['eu: 8']],
  [of('SUM(CASE properties.tokens * 2 WHEN 200 THEN 1 WHEN 14 THEN 10 ELSE 100 END)'), ['611']],
  [
    of("SUM(CASE COALESCE(properties.tokens, properties.size) WHEN 50 THEN 1 WHEN 'many' THEN 10 END)"),
    ['11'],
  ],
  [of('CASE SUM(properties.tokens) / 2 WHEN 68.5015 THEN 3 END'), ['3']],
  [`${of('COUNT(*)')} WHERE properties.tokens * 2 BETWEEN 14 AND 100`, ['2']],
  [`${of('COUNT(*)')} WHERE properties.tokens * 2 NOT BETWEEN 14 AND 100`, ['3']],
  [
    'SELECT COUNT(*) AS value, CAST(properties.tokens > 7 AS VARCHAR) AS large FROM events GROUP BY large',
    ['true: 2', 'false: 3', ': 3'],
  ],
  [
    'SELECT SUM(properties.tokens) / 1 AS value, properties.region FROM events GROUP BY region HAVING value > 60 AND value < 100 AND COUNT(*) > 1',
    ['eu: 87'],
  ],
];

/** The same in two ways: with an operand that the construct uses several times, and written out. */
const SAME: ReadonlyArray<readonly [short: string, long: string]> = [
  [
    "CASE properties.tokens / 7 WHEN 1 THEN 'a' WHEN properties.price * 10 THEN 'b' ELSE 'c' END",
    "CASE WHEN properties.tokens / 7 = 1 THEN 'a' WHEN properties.tokens / 7 = properties.price * 10 THEN 'b' ELSE 'c' END",
  ],
  [
    "CASE DATE_TRUNC('day', timestamp) WHEN '2026-11-01' THEN timestamp WHEN '2026-11-02' THEN DATE_TRUNC('day', timestamp) END",
    "CASE WHEN DATE_TRUNC('day', timestamp) = '2026-11-01' THEN timestamp WHEN DATE_TRUNC('day', timestamp) = '2026-11-02' THEN DATE_TRUNC('day', timestamp) END",
  ],
  [
    'CASE (properties.tokens > 7) WHEN TRUE THEN 1 WHEN FALSE THEN 2 END',
    'CASE WHEN (properties.tokens > 7) = TRUE THEN 1 WHEN (properties.tokens > 7) = FALSE THEN 2 END',
  ],
  [
    'CASE COALESCE(properties.region, event_type) WHEN properties.region THEN event_type END',
    'CASE WHEN COALESCE(properties.region, event_type) = properties.region THEN event_type END',
  ],
  [
    '(COALESCE(properties.tokens, properties.size) BETWEEN 5 AND properties.price * 100)',
    '(COALESCE(properties.tokens, properties.size) >= 5 AND COALESCE(properties.tokens, properties.size) <= properties.price * 100)',
  ],
  [
    '((properties.tokens > 7) NOT BETWEEN FALSE AND FALSE)',
    'NOT ((properties.tokens > 7) >= FALSE AND (properties.tokens > 7) <= FALSE)',
  ],
];

describe('a SQL metric', () => {
  it.each(sample(QUERIES))('%s', async (sql, rows) => {
    expect((await rowsOf(sql)).sort()).toEqual([...rows].sort());
  });

  it.each(sample(SAME))('a SQL metric means the same written out: %s', async (short, long) => {
    const query = (expression: string) =>
      `SELECT COUNT(*) AS value, ${expression} AS x, properties.tokens FROM events GROUP BY x, tokens`;
    const rows = await rowsOf(query(short));
    expect(rows).toEqual(await rowsOf(query(long)));
    expect(new Set(rows.map((row) => row?.split(', ')[0])).size).toBeGreaterThan(1);
  });

  it('a SQL metric is evaluated in each window on its own', async () => {
    const days = { start: MONTH.start, end: MONTH.start + 4 * DAY_MS };
    expect(await rowsOf(of('MAX(properties.tokens)'), { range: days, windowSize: 'DAY' })).toEqual([
      ...['100', '0.003', null, null],
    ]);
    expect(
      await rowsOf('SELECT COUNT(*) AS value, properties.model FROM events GROUP BY model', {
        range: days,
        windowSize: 'DAY',
        groupFilters: { model: ['mini'] },
      }),
    ).toEqual(['mini: 1', 'mini: 1']);
  });

  it('a SQL metric gives its rows page by page, and no page sees what came after the first', async () => {
    const metric = readSqlMetric('SELECT COUNT(*) AS value, properties.user FROM events GROUP BY user');
    const request: SqlUsageRequest = {
      ...{ metric, refs: ['paged'], range: MONTH, groupKey: ['user'], groupFilters: {} },
      ...{ windowSize: 'DAY', limit: 2, cursor: null },
    };
    const paged = EVENTS.slice(0, 6).map((event) => ({ ...event, customerRef: 'paged' }));
    await storeEvents(clickhouse, paged);
    const first = await readSqlUsage(clickhouse, request);
    const late = {
      ...paged[0],
      transactionId: 'late',
      customerRef: 'paged',
      ingestedAt: MONTH.end * 1000 + 1e9,
    };
    await storeEvents(clickhouse, [{ ...EVENTS[0], ...late } as (typeof EVENTS)[number]]);
    const second = await readSqlUsage(clickhouse, { ...request, cursor: first.next });
    const third = await readSqlUsage(clickhouse, { ...request, cursor: second.next });
    const seen = [first, second, third].flatMap((page) =>
      page.rows.map(({ startingOn, group, value }) => [
        (startingOn - MONTH.start) / DAY_MS,
        group.user,
        value?.toString(),
      ]),
    );
    expect(seen).toEqual([
      [0, 'u1', '2'],
      [0, 'u2', '1'],
      [0, 'u3', '1'],
      [1, 'u2', '1'],
      [1, null, '1'],
    ]);
    expect(third.next).toBeNull();
    const windows = { ...request, groupKey: null, limit: 20 };
    const stretch = await readSqlUsage(clickhouse, windows);
    const rest = await readSqlUsage(clickhouse, { ...windows, cursor: stretch.next });
    expect(stretch.rows.length + rest.rows.length).toBe(30);
    await expect(readSqlUsage(clickhouse, { ...request, cursor: stretch.next })).rejects.toMatchObject({
      message: 'cursor: does not belong to this request',
    });
  });

  it('groups by its other columns only, and says which they are', async () => {
    await expect(
      rowsOf('SELECT COUNT(*) AS value, properties.model FROM events GROUP BY model', {
        groupKey: ['region'],
      }),
    ).rejects.toMatchObject({
      message: 'groupKey: region is not one of the group columns of the query: they are model',
    });
  });
});

describe('a SQL metric on an invoice', () => {
  const customers = [
    { customerId: 'acme', refs: ACME },
    { customerId: 'other', refs: ['other'] },
    { customerId: 'nobody', refs: [] },
  ];

  /** customer → line → [hour of the month, V]. */
  async function seriesOf(sql: string, change: Partial<SqlSeriesRequest> = {}) {
    const metric = await checkSqlMetric(clickhouse, sql);
    const series = await readSqlSeries(clickhouse, {
      ...{ metric, customers, period: MONTH, evaluatedAt: 'hour', groupBy: [] },
      ...change,
    });
    return Object.fromEntries(
      [...series].map(([customerId, lines]) => [
        customerId,
        lines.map(({ groupValues, steps }) => [
          ...Object.values(groupValues),
          ...steps.map(({ at, value }) => `${(at - MONTH.start) / HOUR_MS}h ${value}`),
        ]),
      ]),
    );
  }

  it('changes at the ends of the hours in which something happened, and may go down', async () => {
    expect(await seriesOf(of('AVG(properties.tokens)'))).toEqual({
      acme: [['1h 75', '6h 52.333333333333333333333333333333', '25h 39.25075', '38h 27.4006']],
      other: [['2h 1000000']],
      nobody: [[]],
    });
  });

  it('a SQL metric on an invoice is the same read in slices of its lines, each of which has every line once', async () => {
    const sql = 'SELECT properties.model, COUNT(*) AS value FROM events GROUP BY model';
    for (const evaluatedAt of ['hour', [MONTH.end]] as const) {
      const whole = await seriesOf(sql, { evaluatedAt, groupBy: ['model'] });
      const parts = await Promise.all(
        keySlices(3).map((slice) => seriesOf(sql, { evaluatedAt, groupBy: ['model'], slice })),
      );
      for (const [customerId, lines] of Object.entries(whole)) {
        const joined = parts.flatMap((part) => part[customerId] ?? []);
        expect(joined.map((line) => JSON.stringify(line)).sort()).toEqual(
          lines.map((line) => JSON.stringify(line)).sort(),
        );
      }
    }
  });

  it('a SQL metric on an invoice has one step at the end of the period when it is evaluated there only', async () => {
    const sql = 'SELECT properties.model, COUNT(*) AS value FROM events GROUP BY model';
    const change = { evaluatedAt: [MONTH.end], groupBy: ['model'] };
    expect(await seriesOf(sql, change)).toEqual({
      acme: [
        ['gpt', '720h 3'],
        ['mini', '720h 2'],
      ],
      other: [['secret-model', '720h 1']],
      nobody: [],
    });
  });

  it('a SQL metric on an invoice sums the rows of columns that are not asked for', async () => {
    const sql =
      'SELECT properties.model, properties.region, MAX(properties.tokens) AS value FROM events GROUP BY 1, 2';
    expect((await seriesOf(sql, { groupBy: ['region'] })).acme).toEqual([
      ['eu', '1h 100', '6h 107'],
      ['us', '1h 50', '25h 50.003'],
    ]);
  });

  it('a SQL metric on an invoice counts only events that pass the usage filter, also where the query does not read the property', async () => {
    const usageFilter = { property: 'region', values: ['us'] };
    expect((await seriesOf(of('COUNT(*)'), { usageFilter })).acme).toEqual([['1h 1', '25h 2']]);
  });

  it('a SQL metric on an invoice moves a quantity from one line to another when a group column changes', async () => {
    const sql = 'SELECT COUNT(*) AS value, COUNT(DISTINCT properties.user) AS users FROM events';
    expect((await seriesOf(sql, { groupBy: ['users'] })).acme).toEqual([
      ['2', '1h 2', '6h 0'],
      ['3', '6h 4', '25h 5', '38h 6', '49h 8'],
    ]);
  });

  it('a SQL metric on an invoice bills what a query says about nothing at all', async () => {
    const { nobody } = await seriesOf(of('GREATEST(COUNT(*), 3)'));
    expect(nobody).toEqual([['1h 3']]);
    expect((await seriesOf(of('GREATEST(COUNT(*), 3)'), { evaluatedAt: [MONTH.end] })).nobody).toEqual([
      ['720h 3'],
    ]);
  });

  it.each([
    'SELECT COUNT(*) AS value, LATEST(event_type) AS t, EARLIEST(timestamp) AS e, MAX(timestamp) AS l FROM events',
    'SELECT COUNT(*) AS value, COALESCE(properties.region, event_type) AS r FROM events GROUP BY r',
    "SELECT COUNT(*) AS value, event_type = 'call' AS is_call FROM events GROUP BY is_call",
    'SELECT COUNT(NULL) + COUNT(DISTINCT NULL) + COALESCE(SUM(NULL), 1) AS value FROM events',
    'SELECT COUNT(*) AS value, LATEST(TRUE) AS d, LATEST(CAST(NULL AS VARCHAR)) IS NULL AS n FROM events',
    'SELECT DISTINCT properties.region, properties.tokens AS value FROM events',
    'SELECT COUNT(b) AS value, b FROM (SELECT COUNT(*) > 1 AS b FROM events GROUP BY event_type) GROUP BY b',
    'SELECT SUM(x) AS value FROM (SELECT DISTINCT m AS x FROM (SELECT MAX(properties.tokens) AS m FROM events GROUP BY event_type))',
    'SELECT AVG(CASE WHEN n > 1 THEN NULL ELSE n END) AS value, n FROM (SELECT event_type, COUNT(*) AS n FROM events GROUP BY 1) GROUP BY n',
  ])(
    'a SQL metric on an invoice ends at the value of the whole period, whatever its columns are: %s',
    async (sql) => {
      const groupBy = readSqlMetric(sql).groupColumns;
      const lastValues = async (evaluatedAt: SqlSeriesRequest['evaluatedAt']) =>
        ((await seriesOf(sql, { evaluatedAt, groupBy })).acme ?? [])
          .filter((line) => line.length > groupBy.length)
          .map((line) => [...line.slice(0, groupBy.length), line.at(-1)?.replace(/^\d+h /, '')].join(', '))
          .filter((line) => !line.endsWith(' 0'))
          .sort();
      const whole = await lastValues([MONTH.end]);
      expect(await lastValues('hour')).toEqual(whole);
      expect(whole).not.toEqual([]);
    },
  );
});
