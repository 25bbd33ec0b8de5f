/**
 * Limits of query planning, which no time limit can stop: the heaviest allowed queries become a limited amount of
 * SQL, and each property read appears in it once, however often it is used.
 */
import { describe, expect, it } from 'vitest';
import { compileHours, compileWhole } from '../../../../src/metering/sql/generate/statement-sql.ts';
import { readSqlMetric } from '../../../../src/metering/sql/read/read-metric.ts';

const SCOPE = {
  refs: ['acme'],
  interval: { start: 0, end: 3_600_000 },
  usageFilter: null,
  ingestedUpTo: null,
};
const VALUE_ONLY = { value: 0, groups: [] };

function list(count: number, item: (index: number) => string, separator = ', '): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(separator);
}

/** `level` around `level` around … `events`. */
function nested(levels: number, level: (source: string, depth: number) => string): string {
  let source = 'events';
  for (let depth = 0; depth < levels; depth += 1) source = `(${level(source, depth)})`;
  return source;
}

function nestedAggregate(name: string, levels: number): string {
  const column = (depth: number, column: string) => (depth === 0 ? `properties.${column}` : column);
  const source = nested(
    levels,
    (from, depth) =>
      `SELECT ${name}(${column(depth, 'v')}) AS v, ${column(depth, 'g')} AS g FROM ${from} GROUP BY g`,
  );
  return `SELECT ${name}(v) AS value FROM ${source}`;
}

function statements(sql: string): string[] {
  const { query } = readSqlMetric(sql);
  return [compileWhole(query, VALUE_ONLY, SCOPE).sql, compileHours(query, VALUE_ONLY, SCOPE, []).sql];
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

const paths = list(70, (index) => `properties.a.b.c${index} = 1`, ' OR ');

const HEAVIEST: ReadonlyArray<readonly [what: string, sql: string]> = [
  ['conditions on paths', `SELECT COUNT(*) FROM events WHERE ${paths}`],
  [
    'conditions on properties',
    `SELECT COUNT(*) FROM events WHERE ${list(73, (i) => `properties.c${i} = 1`, ' OR ')}`,
  ],
  ['a sum of properties', `SELECT SUM(${list(95, (i) => `properties.c${i}`, ' + ')}) FROM events`],
  ['keys', `SELECT COUNT(*) FROM events GROUP BY ${list(140, (i) => `properties.a.b${i}`)}`],
  ['products', `SELECT SUM(properties.a ${list(58, () => '* properties.b', ' ')}) FROM events`],
  ['quotients', `SELECT SUM(${list(20, (i) => `properties.a${i} / properties.b${i}`, ' + ')}) FROM events`],
  ['averages', `SELECT ${list(22, (i) => `AVG(properties.a${i})`, ' + ')} FROM events`],
  ['groups of groups', nestedAggregate('SUM', 8)],
  ['averages of averages', nestedAggregate('AVG', 7)],
  [
    'alternatives',
    `SELECT SUM(${list(25, (i) => `COALESCE(properties.a${i}, properties.b${i})`, ' + ')}) FROM events`,
  ],
];

describe('the heaviest queries that are let through', () => {
  it.each(HEAVIEST)(
    'the heaviest queries that are let through are written in a bounded amount of SQL: %s',
    (_, sql) => {
      for (const statement of statements(sql)) expect(statement.length).toBeLessThan(64_000);
    },
  );

  it('the heaviest queries that are let through read the number in any number of properties by one expression', () => {
    for (const statement of statements(`SELECT COUNT(*) FROM events WHERE ${paths}`)) {
      expect(count(statement, 'toDecimal256OrNull(')).toBe(1);
    }
  });

  it('the heaviest queries that are let through make a nested value ready once for any number of paths into it', () => {
    for (const statement of statements(`SELECT COUNT(*) FROM events WHERE ${paths}`)) {
      expect(count(statement, 'replaceRegexpAll(')).toBe(1);
      expect(count(statement, 'JSONExtract(')).toBe(70);
    }
  });

  it('the heaviest queries that are let through read a property once, however often it is used', () => {
    const sql = `SELECT SUM(properties.a.b) FROM events WHERE ${list(50, (i) => `properties.a.b > ${i}`, ' OR ')}`;
    for (const statement of statements(sql)) expect(count(statement, 'JSONExtract(')).toBe(1);
  });
});

it.each([
  ['conditions', `SELECT COUNT(*) FROM events WHERE ${list(76, (i) => `properties.c${i} = 1`, ' OR ')}`],
  ['quotients', `SELECT SUM(properties.a ${list(25, () => '/ properties.b', ' ')}) FROM events`],
  ['quotients by a number', `SELECT SUM(properties.a ${list(50, () => '/ 3', ' ')}) FROM events`],
  ['averages', `SELECT ${list(25, (i) => `AVG(properties.a${i})`, ' + ')} FROM events`],
  ['groups of groups', nestedAggregate('SUM', 9)],
  ['averages of averages', nestedAggregate('AVG', 8)],
])('too many %s are refused as too long', (_, sql) => {
  expect(() => readSqlMetric(sql)).toThrow(/^sql: line 1, column \d+: the query is too long$/);
});

const models = Array.from({ length: 25 }, (_, index) => `model-${index}`);

it.each([
  [
    'a price for each of 25 models',
    `SELECT SUM(CASE properties.model ${models.map((model, i) => `WHEN '${model}' THEN properties.tokens * 0.${i + 1}`).join(' ')} END) AS value FROM events`,
  ],
  [
    'a weighted mean of daily peaks by region',
    `WITH days AS (
       SELECT DATE_TRUNC('day', timestamp) AS day, properties.region AS region,
         MAX(CAST(properties.bytes AS DECIMAL)) AS peak, SUM(properties.requests) AS requests
       FROM events WHERE event_type IN ('read', 'write') AND properties.test IS NULL GROUP BY day, region)
     SELECT SUM(peak * requests) / SUM(requests) AS value, region FROM days GROUP BY region`,
  ],
  [
    'sessions above a threshold, by plan and hour',
    `WITH sessions AS (
       SELECT properties.session.id AS id, properties.plan AS plan, MIN(timestamp) AS began,
         SUM(properties.session.seconds) / 60 AS minutes FROM events GROUP BY id, plan),
     hours AS (
       SELECT plan, DATE_TRUNC('hour', began) AS hour, COUNT(*) AS sessions, AVG(minutes) AS mean
       FROM sessions WHERE minutes > 1 GROUP BY plan, hour)
     SELECT SUM(GREATEST(sessions, 10)) AS value, plan, ROUND(AVG(mean), 2) AS mean FROM hours GROUP BY plan`,
  ],
  ['totals of totals of totals', nestedAggregate('SUM', 5)],
])('an ordinary query is let through: %s', (_, sql) => {
  expect(readSqlMetric(sql).sql).toBe(sql);
});
