import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PropertyFilter, StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS, type Instant, type Interval } from '../../src/core/time.ts';
import { cumulativeAt } from '../../src/core/usage-series.ts';
import { readSqlMetric } from '../../src/metering/sql/read/read-metric.ts';
import { readSqlSeries } from '../../src/metering/sql/run/read-series.ts';
import { readSqlUsage } from '../../src/metering/sql/run/read-usage.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { type NaiveEvent, naiveCumulative, naiveUsage } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { groupBy, PERIOD, range, streamingMetric, usageScenario } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();

/** Every run asks hundreds of questions; on two shards over HTTP that takes its time. */
const TIMEOUT_MS = 300_000;

const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
const list = (values: readonly string[]) => `(${values.map(text).join(', ')})`;
const property = (name: string) => `properties[${text(name)}]`;

/** The query that an analyst would write for a streaming metric. */
function queryFor(metric: StreamingMetric, groups: readonly string[]): string {
  const key = metric.aggregationKey === null ? '*' : property(metric.aggregationKey);
  const value = {
    COUNT: 'COUNT(*)',
    SUM: `SUM(${key})`,
    MAX: `max( ${key} )`,
    LATEST: `Latest(${key})`,
    UNIQUE: `COUNT(DISTINCT ${key})`,
  }[metric.aggregation];
  const columns = groups.map((name, index) => `${property(name)} AS "g${index}"`);
  const conditions = [
    ...(metric.eventTypeFilter?.inValues ? [`event_type IN ${list(metric.eventTypeFilter.inValues)}`] : []),
    ...(metric.eventTypeFilter?.notInValues
      ? [`NOT event_type IN ${list(metric.eventTypeFilter.notInValues)}`]
      : []),
    ...metric.propertyFilters.flatMap(filterConditions),
    ...presenceConditions(metric, key),
  ];
  return [
    `SELECT ${[`${value} AS value`, ...columns].join(', ')} FROM events`,
    conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    groups.length === 0 ? '' : `GROUP BY ${groups.map((_, index) => `G${index}`).join(', ')}`,
  ].join('\n');
}

/** An event without the aggregated property does not match a streaming metric; a query has to say so. */
function presenceConditions({ aggregation }: StreamingMetric, key: string): string[] {
  if (aggregation === 'COUNT') return [];
  return [aggregation === 'UNIQUE' ? `${key} IS NOT NULL` : `CAST(${key} AS DECIMAL) IS NOT NULL`];
}

function filterConditions({ name, exists, inValues, notInValues }: PropertyFilter): string[] {
  const value = property(name);
  return [
    ...(exists === true ? [`${value} IS NOT NULL`] : []),
    ...(exists === false ? [`${value} IS NULL`] : []),
    ...(inValues === null ? [] : [`${value} IN ${list(inValues)}`]),
    ...(notInValues === null ? [] : [`(${value} IS NULL OR ${value} NOT IN ${list(notInValues)})`]),
  ];
}

const hoursOf = ({ start, end }: Interval): Instant[] =>
  Array.from({ length: (end - start) / HOUR_MS }, (_, index) => start + (index + 1) * HOUR_MS);

const lineText = (group: readonly (string | null)[], value: string) => JSON.stringify([group, value]);
const isNotZero = ({ value }: { value: string }) => value !== '0';

describe('a query that says what a streaming metric says', () => {
  it(
    'a query that says what a streaming metric says has the cumulative values of the naive computation at every hour and at the end',
    async () => {
      await fc.assert(
        fc.asyncProperty(usageScenario, streamingMetric, groupBy, async (scenario, metric, groups) => {
          await storeEvents(clickhouse, scenario.events);
          const columns = groups.map((_, index) => `g${index}`);
          for (const evaluatedAt of ['hour', [PERIOD.end]] as const) {
            const series = await readSqlSeries(clickhouse, {
              metric: readSqlMetric(queryFor(metric, groups)),
              customers: scenario.customers,
              period: PERIOD,
              evaluatedAt,
              groupBy: columns,
            });
            for (const { customerId, refs } of scenario.customers) {
              for (const t of evaluatedAt === 'hour' ? hoursOf(PERIOD) : [PERIOD.end]) {
                const actual = (series.get(customerId) ?? []).map((line) => ({
                  group: columns.map((name) => line.groupValues[name] ?? null),
                  value: cumulativeAt(line, t).toString(),
                }));
                const expected = naiveCumulative(metric, scenario.events, refs, PERIOD, t, groups);
                const lines = (rows: typeof actual) =>
                  rows
                    .filter(isNotZero)
                    .map(({ group, value }) => lineText(group, value))
                    .sort();
                expect(lines(actual)).toEqual(
                  lines(expected.map((line) => ({ ...line, group: [...line.group] }))),
                );
              }
            }
          }
        }),
        { numRuns: runs(10) },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'a query that says what a streaming metric says has the windows of the naive computation, each on its own',
    async () => {
      const size = fc.constantFrom('HOUR', 'DAY', 'NONE');
      await fc.assert(
        fc.asyncProperty(
          usageScenario,
          streamingMetric,
          groupBy,
          range,
          size,
          async (scenario, metric, groups, asked, windowSize) => {
            await storeEvents(clickhouse, scenario.events);
            const columns = groups.map((_, index) => `g${index}`);
            for (const { refs } of scenario.customers) {
              const { rows } = await readSqlUsage(clickhouse, {
                metric: readSqlMetric(queryFor(metric, groups)),
                refs,
                range: asked,
                windowSize,
                groupKey: groups.length === 0 ? null : columns,
                groupFilters: {},
                limit: 10_000,
                cursor: null,
              });
              const actual = rows
                .filter(({ value }) => value !== null)
                .map((row) =>
                  JSON.stringify([
                    row.startingOn,
                    columns.map((name) => row.group[name] ?? null),
                    row.value?.toString(),
                  ]),
                );
              const expected = windowsOf(asked, windowSize).flatMap((window) =>
                naiveUsage(metric, scenario.events, refs, window, groups).map(({ group, value }) =>
                  JSON.stringify([window.start, group, value]),
                ),
              );
              expect(actual.sort()).toEqual(expected.sort());
            }
          },
        ),
        { numRuns: runs(10) },
      );
    },
    TIMEOUT_MS,
  );
});

function windowsOf({ start, end }: Interval, size: 'HOUR' | 'DAY' | 'NONE'): Interval[] {
  if (size === 'NONE') return [{ start, end }];
  const length = size === 'DAY' ? DAY_MS : HOUR_MS;
  const windows: Interval[] = [];
  for (let at = Math.floor(start / length) * length; at < end; at += length) {
    windows.push({ start: Math.max(at, start), end: Math.min(at + length, end) });
  }
  return windows;
}

/** Queries of every shape: nested aggregates that count, sum or do not, HAVING, DISTINCT, keys that move. */
const QUERIES: ReadonlyArray<readonly [sql: string, groups: readonly string[]]> = [
  ['SELECT COUNT(*) + 5 FROM events', []],
  [
    'SELECT AVG(properties.amount / 1000) AS value, event_type FROM events GROUP BY event_type',
    ['event_type'],
  ],
  ['SELECT COUNT(*) AS value, MAX(properties.region) AS top FROM events GROUP BY properties.model', ['top']],
  [
    "SELECT COUNT(*) AS value, LATEST(CAST(properties.region AS VARCHAR)) AS r FROM events WHERE properties.region <> 'c'",
    ['r'],
  ],
  [
    'SELECT COUNT(DISTINCT properties.model), event_type AS t FROM events GROUP BY 2 HAVING COUNT(*) > 2',
    ['t'],
  ],
  ['SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM events GROUP BY properties.region)', []],
  [
    'SELECT AVG(n) AS value FROM (SELECT event_type, COUNT(*) AS n FROM events GROUP BY 1, properties.model)',
    [],
  ],
  [
    'SELECT AVG(n) AS value, event_type FROM (SELECT event_type, COUNT(*) AS n FROM events GROUP BY 1, properties.model) GROUP BY event_type',
    ['event_type'],
  ],
  ['SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM events GROUP BY properties.model)', []],
  ['SELECT COUNT(*) FROM (SELECT DISTINCT properties.model, event_type FROM events)', []],
  [
    'SELECT COUNT(DISTINCT n) + MIN(n) AS value FROM (SELECT COUNT(*) AS n FROM events GROUP BY properties.model) WHERE n < 4',
    [],
  ],
  [
    'SELECT COUNT(*) AS value, n FROM (SELECT COUNT(*) AS n FROM events GROUP BY properties.model) GROUP BY n',
    ['n'],
  ],
  [
    'SELECT COUNT(*) AS value FROM (SELECT DISTINCT n FROM (SELECT COUNT(*) AS n FROM events GROUP BY properties.model))',
    [],
  ],
  [
    'SELECT SUM(m) AS value FROM (SELECT MAX(n) AS m FROM (SELECT COUNT(*) AS n, event_type FROM events GROUP BY event_type, properties.model) GROUP BY event_type)',
    [],
  ],
  [
    "WITH daily AS (SELECT DATE_TRUNC('hour', timestamp) AS hour, SUM(properties.region) AS s, COUNT(*) AS n FROM events GROUP BY hour) SELECT SUM(CASE WHEN n > 1 THEN n * 1.5 ELSE s END) AS value FROM daily HAVING COUNT(*) > 1",
    [],
  ],
  ['SELECT 1 AS value, properties.model FROM events WHERE properties.region IS NOT NULL', ['model']],
];

describe('values at the hours', () => {
  it(
    'values at the hours are those of the whole query over the events up to there, whatever the query',
    async () => {
      const hours = fc.uniqueArray(fc.integer({ min: 1, max: 48 }), { minLength: 2, maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(
          usageScenario,
          fc.constantFrom(...QUERIES),
          hours,
          async (scenario, [sql, groups], asked) => {
            await storeEvents(clickhouse, scenario.events);
            const base = {
              metric: readSqlMetric(sql),
              groupBy: groups,
              customers: scenario.customers.slice(0, 2),
            };
            const byHour = await readSqlSeries(clickhouse, { ...base, period: PERIOD, evaluatedAt: 'hour' });
            for (const hour of asked) {
              const period = { start: PERIOD.start, end: PERIOD.start + hour * HOUR_MS };
              const whole = await readSqlSeries(clickhouse, {
                ...base,
                period,
                evaluatedAt: [period.end],
              });
              for (const { customerId } of base.customers) {
                const valuesAt = (series: typeof whole) =>
                  (series.get(customerId) ?? [])
                    .map((line) => ({
                      group: groups.map((name) => line.groupValues[name] ?? null),
                      value: cumulativeAt(line, period.end).toString(),
                    }))
                    .filter(isNotZero)
                    .map(({ group, value }) => lineText(group, value))
                    .sort();
                expect(valuesAt(byHour)).toEqual(valuesAt(whole));
              }
            }
          },
        ),
        { numRuns: runs(24) },
      );
    },
    TIMEOUT_MS,
  );
});

const SCALE = 10n ** 30n;

/** Half away from zero. */
function dividedExactly(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n !== divisor < 0n;
  const [a, b] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const quotient = (2n * a + b) / (2n * b);
  return isNegative ? -quotient : quotient;
}

function decimalText(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(31, '0');
  const fraction = digits.slice(-30).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -30)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Numbers of every length: whole ones, short and long fractions, ones that are hard to divide by. */
const scaledNumber: fc.Arbitrary<bigint> = fc.oneof(
  fc.integer({ min: -50, max: 50 }).map((whole) => BigInt(whole) * SCALE),
  fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }).map((value) => value * 10n ** 22n),
  fc.bigInt({ min: -(10n ** 45n), max: 10n ** 45n }),
  fc.constantFrom(1n, -1n, 5n * 10n ** 29n, SCALE / 3n, 7n * 10n ** 20n),
);

describe('arithmetic', () => {
  it(
    'arithmetic is exact: sums and differences always, products and quotients to 30 places, half away from zero',
    async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(scaledNumber, scaledNumber), { minLength: 30, maxLength: 30 }),
          scaledNumber,
          async (pairs, literal) => {
            run += 1;
            const refs = [`arithmetic-${run}`];
            const events = pairs.map(([a, b], index) => numberEvent(`arithmetic-${run}`, index, a, b));
            await storeEvents(clickhouse, events);
            const x = decimalText(literal);
            const cases: ReadonlyArray<
              readonly [sql: string, value: (a: bigint, b: bigint) => bigint | null]
            > = [
              ['properties.a + properties.b', (a, b) => a + b],
              ['properties.a - properties.b * 1', (a, b) => a - b],
              ['properties.a * properties.b', (a, b) => dividedExactly(a * b, SCALE)],
              ['properties.a / properties.b', (a, b) => (b === 0n ? null : dividedExactly(a * SCALE, b))],
              [`properties.a * (${x})`, (a) => dividedExactly(a * literal, SCALE)],
              [`properties.a / (${x})`, (a) => (literal === 0n ? null : dividedExactly(a * SCALE, literal))],
              [`${x} / properties.b`, (_, b) => (b === 0n ? null : dividedExactly(literal * SCALE, b))],
              ['ROUND(properties.a, 3)', (a) => dividedExactly(a, 10n ** 27n) * 10n ** 27n],
            ];
            // Every result is a group column, so that one query shows them all.
            const columns = cases.map(([sql], index) => `${sql} AS c${index}`);
            const names = cases.map((_, index) => `c${index}`);
            const { rows } = await readSqlUsage(clickhouse, {
              metric: readSqlMetric(`SELECT 1 AS value, properties.id, ${columns.join(', ')} FROM events`),
              refs,
              range: PERIOD,
              windowSize: 'NONE',
              groupKey: ['id', ...names],
              groupFilters: {},
              limit: 100,
              cursor: null,
            });
            const groups = new Map(rows.map(({ group: { id, ...results } }) => [id, results]));
            for (const [index, [a, b]] of pairs.entries()) {
              const expected = cases.map(([, value], column) => {
                const result = value(a, b);
                return [`c${column}`, result === null ? null : decimalText(result)];
              });
              expect({ a, b, x, ...groups.get(String(index)) }).toEqual({
                a,
                b,
                x,
                ...Object.fromEntries(expected),
              });
            }
          },
        ),
        { numRuns: runs(10) },
      );
    },
    TIMEOUT_MS,
  );
});

function numberEvent(customerRef: string, index: number, a: bigint, b: bigint): NaiveEvent {
  return {
    transactionId: `${customerRef}-${index}`,
    customerRef,
    eventType: 'number',
    timestamp: PERIOD.start + index,
    properties: { id: String(index), a: decimalText(a), b: decimalText(b) },
    ingestedAt: PERIOD.end * 1000 + index,
  };
}
