import { describe, expect, it } from 'vitest';
import { checkSqlMetric } from '../../src/metering/sql/run/sql-metric.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';

const clickhouse = await clickhouseForFile();

const where = (condition: string) => `SELECT COUNT(*) AS value FROM events WHERE ${condition}`;

describe('a pattern that cannot be read is refused when the metric is created', () => {
  it.each<[string, string, string]>([
    [
      'a bracket is open',
      where("REGEXP_MATCHES(properties.a, '(')"),
      "the pattern '(' cannot be read: missing )",
    ],
    [
      'it looks ahead',
      where("REGEXP_MATCHES(properties.a, '(?=x)')"),
      "the pattern '(?=x)' cannot be read: invalid perl operator",
    ],
    [
      'it repeats too often',
      where("REGEXP_MATCHES(properties.a, '(a{1000}){1000}')"),
      "the pattern '(a{1000}){1000}' cannot be read: invalid repetition size",
    ],
    [
      'it is long',
      where(`REGEXP_MATCHES(properties.a, '(${'x'.repeat(200)}')`),
      `the pattern '(${'x'.repeat(99)}…' cannot be read: missing )`,
    ],
    [
      'LIKE ends with a backslash',
      where("properties.a LIKE 'a\\'"),
      "the pattern 'a\\' cannot be read: it ends with \\",
    ],
    [
      'a replacement names a group that is not there',
      where("REGEXP_REPLACE(properties.a, '(a)', '\\2') = 'x'"),
      "the replacement '\\2' does not fit the pattern '(a)': \\2 is no group of it",
    ],
    [
      'the pattern of a replacement',
      where("REGEXP_REPLACE(properties.a, '[', 'x') = 'x'"),
      "the pattern '[' cannot be read: missing ]",
    ],
  ])('%s', async (_, sql, problem) => {
    const refusal: unknown = await checkSqlMetric(clickhouse, sql).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'invalid', path: ['sql'] });
    expect(refusal).toHaveProperty('message', expect.stringContaining(problem));
  });

  it.each([
    ["SELECT COUNT(*) FILTER (WHERE REGEXP_MATCHES(properties.a, '(')) AS value FROM events"],
    ["SELECT COUNT(*) AS value, REGEXP_EXTRACT(properties.a, '(') AS k FROM events GROUP BY k"],
    [
      "SELECT COUNT(*) AS value FROM events GROUP BY properties.b HAVING MAX(REGEXP_EXTRACT(properties.a, '(')) > 1",
    ],
    [
      "SELECT COUNT(*) AS value FROM (SELECT REGEXP_EXTRACT(properties.a, '(') AS k FROM events) WHERE k = '1'",
    ],
    [
      "WITH x AS (SELECT REGEXP_EXTRACT(properties.a, '(') AS k FROM events) SELECT COUNT(*) AS value FROM x JOIN x AS y ON x.k = y.k",
    ],
    [
      "SELECT COUNT(*) AS value FROM events WHERE properties.a IN (SELECT REGEXP_EXTRACT(properties.a, '(') AS k FROM events)",
    ],
    ["SELECT (SELECT MAX(REGEXP_EXTRACT(properties.a, '(')) AS k FROM events) AS value FROM events LIMIT 1"],
    [
      "SELECT SUM(n) AS value FROM (SELECT ROW_NUMBER() OVER (ORDER BY REGEXP_EXTRACT(properties.a, '(')) AS n FROM events)",
    ],
    [
      "SELECT x AS value FROM (SELECT REGEXP_EXTRACT(properties.a, '(') AS x FROM events ORDER BY REGEXP_EXTRACT(properties.a, '(') LIMIT 1)",
    ],
    [
      "SELECT COUNT(*) AS value FROM events CROSS JOIN (SELECT REGEXP_REPLACE(properties.a, '(', 'x') AS k FROM events) AS b",
    ],
    ["SELECT 1 AS value FROM events UNION ALL SELECT REGEXP_EXTRACT(properties.a, '(') AS value FROM events"],
  ])(
    'a pattern that cannot be read is refused when the metric is created wherever it stands: %s',
    async (sql) => {
      const column = sql.indexOf("'('") + 1;
      await expect(checkSqlMetric(clickhouse, sql)).rejects.toMatchObject({
        message: `sql: line 1, column ${column}: the pattern '(' cannot be read: missing )`,
      });
    },
  );

  it('names the place of the wrong one among right ones', async () => {
    const right = Array.from({ length: 40 }, (_, index) => `REGEXP_MATCHES(properties.a, '^${index}')`);
    const sql = where(`${[...right, "REGEXP_MATCHES(properties.a, '[')"].join('\n OR ')}`);
    await expect(checkSqlMetric(clickhouse, sql)).rejects.toThrow(
      "sql: line 41, column 34: the pattern '[' cannot be read: missing ]",
    );
  });

  it('a pattern that cannot be read is refused when the metric is created takes every pattern that can be read', async () => {
    const sql = where(
      String.raw`REGEXP_MATCHES(properties.a, '^(a|b)+\d{2}$') AND properties.a LIKE '10\%%'
        AND REGEXP_REPLACE(properties.a, '(a)(b)', '\2\1') = 'x' AND REGEXP_REPLACE(properties.a, 'a', 'b\') = 'x'`,
    );
    expect(await checkSqlMetric(clickhouse, sql)).toMatchObject({ sql });
  });
});
