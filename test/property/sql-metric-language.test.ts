/** Laws of random queries of the language of SQL metrics, and quantiles against a naive computation. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { readSqlMetric } from '../../src/metering/sql/read/read-metric.ts';
import { readSqlSeries } from '../../src/metering/sql/run/read-series.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import type { NaiveEvent } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
const TIMEOUT_MS = 120_000;
const PERIOD = { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 10, 1) + 4 * HOUR_MS };

interface RandomEvent {
  readonly minute: number;
  readonly type: string;
  readonly n: number | null;
  readonly user: string;
  readonly tags: readonly string[];
}

const events: fc.Arbitrary<RandomEvent[]> = fc.array(
  fc.record({
    // Few minutes, so that events are often at the same instant.
    minute: fc.integer({ min: 0, max: 7 }).map((half) => half * 30),
    type: fc.constantFrom('a', 'b'),
    n: fc.option(fc.integer({ min: -3, max: 9 })),
    user: fc.constantFrom('u1', 'u2', 'u3'),
    tags: fc.subarray(['x', 'y', 'z']),
  }),
  { maxLength: 12 },
);

const column = fc.constantFrom(
  'properties.n',
  'properties.n * properties.n',
  'ABS(properties.n)',
  'LENGTH(properties.tags)',
);
const condition = fc.constantFrom(
  "event_type = 'a'",
  'properties.n % 2 = 0',
  "properties.user LIKE 'u_' AND EXTRACT(hour FROM timestamp) < 2",
  "HAS(properties.tags, 'x')",
  "properties.user IN (SELECT properties.user FROM events WHERE event_type = 'b')",
  'properties.n > (SELECT AVG(properties.n) FROM events)',
);
const aggregate = (of: string, when: string) =>
  fc.constantFrom(
    `MEDIAN(${of})`,
    `quantile(0.9)(${of}) FILTER (WHERE ${when})`,
    `PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY ${of})`,
    `quantileExactWeighted(0.5)(${of}, 1 + ABS(${of}))`,
    `VARIANCE(${of})`,
    `STDDEV_POP(${of})`,
    `SUM(${of}) FILTER (WHERE ${when})`,
    `argMax(${of}, timestamp)`,
    `BIT_XOR(${of})`,
    `countIf(${when}) + uniqExact(properties.user)`,
  );

const query: fc.Arbitrary<string> = fc.tuple(column, condition).chain(([of, when]) =>
  fc.oneof(
    aggregate(of, when).map((call) => `SELECT ${call} AS value, properties.user FROM events GROUP BY user`),
    aggregate(of, when).map((call) => `SELECT ${call} FROM events WHERE ${when}`),
    aggregate('n', 'n > 1').map(
      (call) =>
        `SELECT ${call.replaceAll('properties.user', 'user')} AS value, tag FROM (SELECT ${of} AS n, timestamp, properties.user, properties.tags AS tags FROM events) ARRAY JOIN tags AS tag GROUP BY tag`,
    ),
    fc.constantFrom(
      `SELECT SUM(n) AS value, user FROM (SELECT properties.user, ${of} AS n FROM events WHERE ${when} ORDER BY n DESC, user LIMIT 3) GROUP BY user`,
      `SELECT MAX(n) FROM (SELECT SUM(${of}) OVER (ORDER BY timestamp) AS n FROM events)`,
      `SELECT SUM(n * r) AS value, user FROM (SELECT ${of} AS n, properties.user, ROW_NUMBER() OVER (PARTITION BY properties.user ORDER BY properties.n) AS r FROM events) GROUP BY user`,
      `SELECT SUM(d) FROM (SELECT ${of} - LAG(${of}, 1, 0) OVER (PARTITION BY properties.user ORDER BY timestamp) AS d FROM events)`,
      `SELECT SUM(a.n * b.n) FROM (SELECT properties.user, SUM(${of}) AS n FROM events GROUP BY user) a LEFT JOIN (SELECT properties.user, COUNT(*) AS n FROM events WHERE ${when} GROUP BY user) b ON a.user = b.user`,
      `SELECT COUNT(*) AS value, b.event_type AS t FROM events a JOIN events b ON a.properties.user = b.properties.user AND a.timestamp < b.timestamp GROUP BY t`,
      `SELECT SUM(n) FROM (SELECT ${of} AS n FROM events UNION ALL SELECT COUNT(*) FROM events WHERE ${when})`,
    ),
  ),
);

let customers = 0;

/** Stores the events of a new customer; returns its name. `copies` come later and say something else. */
async function stored(
  own: readonly RandomEvent[],
  { copies = false, isReversed = false } = {},
): Promise<string> {
  customers += 1;
  const customerRef = `random-${customers}`;
  const written = own.map(({ minute, type, n, user, tags }, index): NaiveEvent => {
    const properties = { user, tags: JSON.stringify(tags), ...(n === null ? {} : { n: String(n) }) };
    const at = PERIOD.start + minute * 60_000;
    return {
      transactionId: `${customerRef}-${String(index).padStart(3, '0')}`,
      ...{ customerRef, eventType: type, timestamp: at, properties, ingestedAt: PERIOD.end * 1_000 + index },
    };
  });
  const later = written.map((event) => ({
    ...event,
    properties: { ...event.properties, n: '77' },
    ingestedAt: event.ingestedAt + 1_000_000,
  }));
  const all = copies ? [...later, ...written] : written;
  await storeEvents(clickhouse, isReversed ? all.toReversed() : all);
  return customerRef;
}

async function linesOf(sql: string, ref: string, evaluatedAt: 'hour' | number[]): Promise<string[]> {
  const metric = readSqlMetric(sql);
  const series = await readSqlSeries(clickhouse, {
    ...{ metric, period: PERIOD, evaluatedAt, groupBy: metric.groupColumns },
    customers: [{ customerId: 'c', refs: [ref] }],
  });
  // A line may begin with a 0 where hours are evaluated, which is no change.
  return (series.get('c') ?? [])
    .map(({ groupValues, steps }) => {
      const changes = steps.filter(({ value }, index) => index > 0 || value.toString() !== '0');
      return JSON.stringify([
        groupValues,
        changes.map(({ at, value }) => [(at - PERIOD.start) / HOUR_MS, value]),
      ]);
    })
    .filter((line) => !line.endsWith('[]]'))
    .sort();
}

const HOURS = Array.from({ length: 4 }, (_, index) => PERIOD.start + (index + 1) * HOUR_MS);

describe('a random query', () => {
  it(
    'a random query has by hours what it has over the events before each of them, whatever the order and the copies of events',
    async () => {
      await fc.assert(
        fc.asyncProperty(events, query, async (own, sql) => {
          const ref = await stored(own);
          const byHours = await linesOf(sql, ref, 'hour');
          expect(byHours).toEqual(await linesOf(sql, ref, HOURS));
          const copied = await stored(own, { copies: true, isReversed: true });
          expect(await linesOf(sql, copied, 'hour')).toEqual(byHours);
        }),
        { numRuns: runs(30) },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'a random query of quantiles has the naive ones',
    async () => {
      const level = fc.integer({ min: 0, max: 100 });
      await fc.assert(
        fc.asyncProperty(events, level, async (own, percent) => {
          const ref = await stored(own);
          const p = percent / 100;
          const values = own.flatMap(({ n }) => (n === null ? [] : [n])).sort((a, b) => a - b);
          const disc = values[Math.max(0, Math.ceil((percent * values.length) / 100) - 1)] ?? 0;
          // In hundredths, so that whole numbers decide.
          const place = percent * (values.length - 1);
          const low = values[Math.floor(place / 100)] ?? 0;
          const high = values[Math.floor(place / 100) + 1] ?? low;
          const cont = (low * 100 + (high - low) * (place % 100)) / 100;
          const sql = (call: string) =>
            `SELECT ${call}(${p}) WITHIN GROUP (ORDER BY properties.n) FROM events`;
          const of = async (call: string) => {
            const metric = readSqlMetric(sql(call));
            const asked = { metric, period: PERIOD, evaluatedAt: [PERIOD.end], groupBy: [] };
            const series = await readSqlSeries(clickhouse, {
              ...asked,
              customers: [{ customerId: 'c', refs: [ref] }],
            });
            return series.get('c')?.[0]?.steps[0]?.value.toString() ?? '0';
          };
          expect(await of('PERCENTILE_DISC')).toBe(String(disc));
          expect(await of('PERCENTILE_CONT')).toBe(String(cont));
        }),
        { numRuns: runs(15) },
      );
    },
    TIMEOUT_MS,
  );
});
