import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../src/core/errors.ts';
import { readSqlMetric } from '../../../../src/metering/sql/read/read-metric.ts';
import { outputColumns } from '../../../../src/metering/sql/run/sql-metric.ts';

function problem(sql: string): string {
  try {
    readSqlMetric(sql);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'invalid') return error.message;
    throw error;
  }
  throw new Error(`${sql} was not refused`);
}

it('more names and texts than a server takes with a statement are refused', () => {
  const path = (steps: number) =>
    `SELECT SUM(properties${Array.from({ length: steps }, (_, index) => `.p${index}`).join('')}) FROM events`;
  expect(readSqlMetric(path(700)).groupColumns).toEqual([]);
  expect(problem(path(900))).toContain('different names, texts and lists, more than 800');
});

describe('a refusal', () => {
  it.each([
    [
      'SELECT COUNT(*)\n  FROM users',
      'line 2, column 8: the table users is not available; the only table is events',
    ],
    [
      "SELECT COUNT(*) FROM file('x')",
      'line 1, column 22: the table function file is not available; the only table is events',
    ],
    [
      'SELECT COUNT(*)\nFROM events\nFULL JOIN events AS b ON 1 = 1',
      'line 3, column 1: RIGHT and FULL JOIN are not available: put the query whose rows stay first, with LEFT JOIN',
    ],
    [
      'SELECT MEDIEN(properties.a) FROM events',
      'line 1, column 8: the function MEDIEN is not available: did you mean MEDIAN?',
    ],
    [
      'SELECT sparkbar(properties.a) FROM events',
      'line 1, column 8: the function sparkbar is not available; GET /v1/billable-metrics/sql-reference lists those that are',
    ],
    [
      'SELECT SUM(tokens) FROM events',
      "line 1, column 12: tokens is not a column of events: did you mean properties.tokens? Columns are event_type, timestamp, transaction_id. Text stands in 'single quotes'",
    ],
    [
      'SELECT COUNT(*) FROM events WHERE timestmp > 1',
      'line 1, column 35: timestmp is not a column of events: did you mean timestamp?',
    ],
    [
      'SELECT COUNT(*) FROM event',
      'line 1, column 22: the table event is not available: did you mean events?',
    ],
    [
      'SELECT COUNT(*), properties.a FROM events',
      'line 1, column 18: properties.a must stand in GROUP BY or inside an aggregate function',
    ],
    [
      'SELECT properties.a, COUNT(*) FROM events GROUP BY a',
      'line 1, column 8: the first column is the quantity, and here it is what is grouped by: name the quantity with AS value',
    ],
    [
      "SELECT 'x' AS value FROM events",
      'line 1, column 8: the column value is the quantity and must be a number, not text: name the quantity with AS value',
    ],
    ['SELECT COUNT(*) FROM events; SELECT 1', 'line 1, column 28: one statement only'],
    [
      'SELECT COUNT(*) FROM events LIMIT -1',
      'line 1, column 35: expected a number of rows up to 1000000, found "-"',
    ],
    [
      'DELETE FROM events',
      'line 1, column 1: expected SELECT or WITH: a SQL metric is one SELECT statement, found "DELETE"',
    ],
    ["SELECT COUNT(*) FROM events WHERE event_type = 'x", "line 1, column 48: the quote ' is never closed"],
    ['SELECT COUNT(*) FROM еvents', 'line 1, column 22: unexpected character U+0435'],
  ])('a refusal names the place and what is allowed: %s', (sql, message) => {
    expect(problem(sql)).toBe(`sql: ${message}`);
  });
});

describe('the quantity', () => {
  it('the quantity of a SQL metric is the column named value in any letter case, or else the first', () => {
    expect(readSqlMetric('SELECT MAX(properties.a), COUNT(*) AS VALUE FROM events').valueColumn).toBe(1);
    expect(readSqlMetric('SELECT MAX(properties.a), COUNT(*) AS n FROM events').valueColumn).toBe(0);
  });

  it('the quantity of a SQL metric is not a group; every other column with a name is', () => {
    const sql = `SELECT properties."a.b", event_type kind, COUNT(*) AS value, COUNT(*) + 1, 1 AS "One" FROM events GROUP BY 1, 2`;
    const metric = readSqlMetric(sql);
    expect(metric.groupColumns).toEqual(['a.b', 'kind', 'One']);
    expect(outputColumns(metric, ['ONE', 'a.b'])).toEqual({ value: 2, groups: [4, 0] });
    expect(() => outputColumns(metric, ['value'])).toThrow('groupKey: value is not one of the group columns');
  });
});
