import { beforeAll, describe, expect, it } from 'vitest';
import { type Decimal, decimal } from '../../src/core/decimal.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { readSqlMetric } from '../../src/metering/sql/read/read-metric.ts';
import { readSqlSeries } from '../../src/metering/sql/run/read-series.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
const HOURS = 6;
const START = Date.UTC(2026, 10, 1);
const PERIOD = { start: START, end: START + HOURS * HOUR_MS };

/** By hour; the customer's first events are short numbers alone, which are sorted as integers. */
const NUMBERS: ReadonlyArray<readonly string[]> = [
  ['3', '-2.5', '0.000001', '10'],
  ['-0.999999', '99999999999.999999', '-99999999999'],
  ['0.0000015', '3.0000001', '3'],
  [],
  ['100000000000', '123456789012345678901234567890.5', '-4e20'],
  ['0', '-0.0000000000000000000000000001', '2.999999', '999999999999999999999999999999999999'],
];

beforeAll(async () => {
  const ofCustomer = (customerRef: string, numbers: ReadonlyArray<readonly string[]>) =>
    numbers.flatMap((values, hour) =>
      values.map((n, index) => ({
        ...{ transactionId: `${customerRef}-${hour}-${index}`, customerRef, eventType: 'call' },
        ...{ timestamp: START + hour * HOUR_MS + index, properties: { n }, ingestedAt: START * 1_000 },
      })),
    );
  await storeEvents(clickhouse, [...ofCustomer('mixed', NUMBERS), ...ofCustomer('long', NUMBERS.slice(2))]);
});

type Pick = (sorted: readonly Decimal[], percent: number) => Decimal | undefined;

const KINDS: ReadonlyArray<readonly [string, (percent: number) => string, Pick]> = [
  [
    'PERCENTILE_DISC',
    (percent) => `PERCENTILE_DISC(${percent / 100}) WITHIN GROUP (ORDER BY properties.n)`,
    (sorted, percent) => sorted[Math.max(0, Math.ceil((percent * sorted.length) / 100) - 1)],
  ],
  [
    'PERCENTILE_CONT',
    (percent) => `PERCENTILE_CONT(${percent / 100}) WITHIN GROUP (ORDER BY properties.n)`,
    (sorted, percent) => {
      const place = percent * (sorted.length - 1);
      const low = sorted[Math.floor(place / 100)];
      const high = sorted[Math.floor(place / 100) + 1] ?? low;
      return low?.plus(
        (high ?? low)
          .minus(low)
          .times(String(place % 100))
          .times('0.01'),
      );
    },
  ],
];

async function atHours(sql: string, ref: string, evaluatedAt: 'hour' | number[]): Promise<string[]> {
  const metric = readSqlMetric(sql);
  const series = await readSqlSeries(clickhouse, {
    ...{ metric, period: PERIOD, evaluatedAt, groupBy: [] },
    customers: [{ customerId: 'c', refs: [ref] }],
  });
  const steps = series.get('c')?.[0]?.steps ?? [];
  return Array.from({ length: HOURS }, (_, hour) => {
    const end = START + (hour + 1) * HOUR_MS;
    return (steps.filter(({ at }) => at <= end).at(-1)?.value ?? decimal('0')).toString();
  });
}

describe.each(KINDS)('%s of numbers of any size and length', (_, call, pick) => {
  it.each([
    ['mixed', 0],
    ['mixed', 37],
    ['mixed', 95],
    ['mixed', 100],
    ['long', 50],
  ])(
    'a quantile of numbers of any size and length is exact at every hour: %s, %i percent',
    async (ref, percent) => {
      const sql = `SELECT ${call(percent)} AS value FROM events`;
      const numbers = ref === 'mixed' ? NUMBERS : [...NUMBERS.slice(2), [], []];
      const naive = numbers.map((_hour, hour) => {
        const sorted = numbers
          .slice(0, hour + 1)
          .flat()
          .map((text) => decimal(text))
          .sort((a, b) => a.cmp(b));
        return pick(sorted, percent)?.toString();
      });
      const hours = Array.from({ length: HOURS }, (_hour, hour) => START + (hour + 1) * HOUR_MS);
      expect(await atHours(sql, ref, 'hour')).toEqual(naive);
      expect(await atHours(sql, ref, hours)).toEqual(naive);
    },
  );
});
