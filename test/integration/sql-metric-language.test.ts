/** The language of SQL metrics: what each query gives, over the whole month and carried along or evaluated by hours. */
import { beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, type Interval } from '../../src/core/time.ts';
import type { UsageSeries } from '../../src/core/usage-series.ts';
import { documentedFunctions } from '../../src/metering/sql/functions/table.ts';
import { CLOCK_FUNCTIONS } from '../../src/metering/sql/functions/time-functions.ts';
import { readSqlMetric } from '../../src/metering/sql/read/read-metric.ts';
import { readSqlSeries } from '../../src/metering/sql/run/read-series.ts';
import { readSqlUsage } from '../../src/metering/sql/run/read-usage.ts';
import { checkSqlMetric } from '../../src/metering/sql/run/sql-metric.ts';
import { STUDIO_EVENTS } from '../support/analyst-events.ts';
import { ANALYST_QUERIES } from '../support/analyst-queries.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { sample } from '../support/shares-of-tests.ts';
import { MONTH } from '../support/sql-metric-events.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
beforeAll(async () => {
  await storeEvents(clickhouse, STUDIO_EVENTS);
});

const customers = [{ customerId: 'studio', refs: ['studio'] }];

/** Rows over the month, as `value` or as `group values: value`. */
async function rowsOf(sql: string): Promise<Array<string | null>> {
  const metric = readSqlMetric(sql);
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
  return rows.map(({ group, value }) => {
    const text = value === null ? null : value.toString();
    const values = Object.values(group);
    return values.length === 0 ? text : `${values.join(', ')}: ${text}`;
  });
}

async function seriesOf(sql: string, evaluatedAt: 'hour' | number[], period: Interval = MONTH) {
  const metric = readSqlMetric(sql);
  const asked = { metric, customers, period, evaluatedAt, groupBy: metric.groupColumns };
  return (await readSqlSeries(clickhouse, asked)).get('studio') ?? [];
}

/** The lines that are not 0 in the end, with what they are. */
function endOf(series: readonly UsageSeries[]): string[] {
  return series
    .map(({ groupValues, steps }) => [JSON.stringify(groupValues), steps.at(-1)?.value.toString() ?? '0'])
    .filter(([, value]) => value !== '0')
    .map((line) => line.join(' '))
    .sort();
}

it('the language of SQL metrics is tried with 120 queries at least', () => {
  expect(Object.values(ANALYST_QUERIES).flat().length).toBeGreaterThanOrEqual(120);
});

describe.each(Object.entries(ANALYST_QUERIES))('%s', (_, queries) => {
  it.each(sample(queries))('%s', async (sql, rows) => {
    expect((await rowsOf(sql)).sort()).toEqual([...rows].sort());
    expect(endOf(await seriesOf(sql, 'hour'))).toEqual(endOf(await seriesOf(sql, [MONTH.end])));
  });
});

describe('a query that is evaluated again at every hour', () => {
  const median = 'SELECT MEDIAN(properties.latency) AS value, properties.user FROM events GROUP BY user';

  it('a query that is evaluated again at every hour has at each hour the value over the events before it', async () => {
    const period = { start: MONTH.start, end: MONTH.start + 48 * HOUR_MS };
    const hoursWithEvents = [1, 10, 47, 48].map((hour) => period.start + hour * HOUR_MS);
    expect(await seriesOf(median, 'hour', period)).toEqual(await seriesOf(median, hoursWithEvents, period));
  });

  it('a query that is evaluated again at every hour may go down, and says so by its steps', async () => {
    const [u1] = await seriesOf(median, 'hour');
    expect(u1?.steps.map(({ at, value }) => [(at - MONTH.start) / HOUR_MS, value.toString()])).toEqual([
      [1, '120'],
      [47, '160'],
    ]);
  });

  it('a query that is evaluated again at every hour counts nothing as its first value where no event is', async () => {
    const sql =
      "SELECT GREATEST(COUNT(*), 100) + (SELECT COUNT(*) FROM events WHERE event_type = 'x') FROM events";
    expect(endOf(await seriesOf(sql, 'hour'))).toEqual(['{} 100']);
  });
});

describe('the table of functions', () => {
  it.each(CLOCK_FUNCTIONS)('the table of functions has %s() for queries across customers only', (name) => {
    const one = documentedFunctions().find((documented) => documented.name === name);
    expect(one?.note).toContain('only in POST /v1/sql');
    expect(isRead(`SELECT COUNT(*) AS value, ${one?.example} AS x FROM events GROUP BY x`)).toBe(false);
  });

  const metricFunctions = documentedFunctions().filter(({ name }) => !CLOCK_FUNCTIONS.includes(name));
  const examples = metricFunctions.map(({ example, group }) => {
    const isValue = group === 'aggregate' || group === 'window';
    return [isValue ? `SELECT 1 AS value, ${example} AS x FROM events` : example] as const;
  });

  it('the table of functions has examples that can be read', () => {
    const read = examples.map(([example]) =>
      example.startsWith('SELECT')
        ? example
        : `SELECT COUNT(*) AS value, ${example} AS x FROM events GROUP BY x`,
    );
    for (const sql of read) {
      // Some examples hold an aggregate, which cannot be grouped by.
      const alone = sql.replace('COUNT(*) AS value, ', '1 AS value, ').replace(' GROUP BY x', '');
      expect([sql, alone].some(isRead), sql).toBe(true);
    }
  });

  it('the table of functions has functions that pass the second check, in every evaluation', async () => {
    for (const sql of [
      "SELECT SUM(POWER(SQRT(properties.a), 0.5) + LOG2(properties.b) + EXP(properties.c)) AS value, FORMATDATETIME(timestamp, '%Y') AS y FROM events GROUP BY y",
      'SELECT BIT_AND(properties.a) + BIT_XOR(properties.a) + BIT_OR(properties.b) + STDDEV(properties.c) FROM events',
      'SELECT SUM(x) FROM (SELECT DENSE_RANK() OVER (ORDER BY timestamp) + LEAD(properties.a, 1, 0) OVER (ORDER BY timestamp) + LAST_VALUE(properties.a::DECIMAL) OVER (ORDER BY timestamp) AS x FROM events)',
      "SELECT COUNT(DISTINCT toStartOfMinute(timestamp) - INTERVAL '1 week' + INTERVAL '1 quarter' - INTERVAL '1 year' + INTERVAL '3 seconds' + INTERVAL '2 minutes') FROM events",
    ]) {
      expect(await checkSqlMetric(clickhouse, sql)).toMatchObject({ sql });
    }
  });
});

function isRead(sql: string): boolean {
  try {
    return readSqlMetric(sql).sql === sql;
  } catch {
    return false;
  }
}
