import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/core/errors.ts';
import type { StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import { cumulativeAt } from '../../src/core/usage-series.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createParameters } from '../../src/metering/query/parameters.ts';
import { readSharedSeries } from '../../src/metering/query/shared-series.ts';
import { canShare } from '../../src/metering/query/shared-series-sql.ts';
import { readUsageGroups, type UsageGroupsRequest } from '../../src/metering/query/usage-groups.ts';
import { queryUsageBytes } from '../../src/metering/query/usage-relation.ts';
import { countSeriesValues, readUsageSeries } from '../../src/metering/query/usage-series.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import type { NaiveEvent } from '../support/naive/usage.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();

const START = Date.UTC(2026, 7, 1);
const RANGE = { start: START, end: START + DAY_MS };

let customers = 0;
let events = 0;

function newCustomer(): string {
  customers += 1;
  return `customer-${customers}`;
}

function event(
  customerRef: string,
  properties: Readonly<Record<string, string>>,
  change: Partial<NaiveEvent> = {},
): NaiveEvent {
  events += 1;
  const identity = {
    transactionId: `event-${String(events).padStart(6, '0')}`,
    customerRef,
    eventType: 'call',
  };
  return {
    ...identity,
    timestamp: START + HOUR_MS,
    properties,
    ingestedAt: START * 1000 + events,
    ...change,
  };
}

function metric(change: Partial<StreamingMetric> = {}): StreamingMetric {
  return {
    kind: 'streaming',
    id: 'metric',
    name: 'Calls',
    eventTypeFilter: null,
    propertyFilters: [],
    aggregation: 'COUNT',
    aggregationKey: null,
    groupKeys: [],
    archivedAt: null,
    ...change,
  };
}

const latest = metric({ aggregation: 'LATEST', aggregationKey: 'seats' });

/** V at the end of the period, per group values. */
async function totals(asked: StreamingMetric, refs: readonly string[], groupBy: readonly string[] = []) {
  const customer = { customerId: 'asked', refs };
  const request = { metric: asked, customers: [customer], period: RANGE, boundaries: [], groupBy };
  const series = (await readUsageSeries(clickhouse, request)).get('asked') ?? [];
  return series.map((line) => [line.groupValues, cumulativeAt(line, RANGE.end).toString()]);
}

const WHOLE_RANGE = {
  range: RANGE,
  windowSize: 'NONE',
  groupKey: null,
  groupFilters: {},
  limit: 100,
  cursor: null,
} as const;

async function windows(change: Partial<UsageGroupsRequest>) {
  const request: UsageGroupsRequest = { metric: metric(), refs: [], ...WHOLE_RANGE, ...change };
  const { rows } = await readUsageGroups(clickhouse, request);
  return rows.map(({ group, value }) => [group, value?.toString() ?? null]);
}

describe('LATEST', () => {
  it('LATEST takes the last ingested of several events at one time, whatever their ids', async () => {
    const customer = newCustomer();
    await storeEvents(clickhouse, [
      event(customer, { seats: '1' }, { transactionId: 'z', ingestedAt: START * 1000 }),
      event(customer, { seats: '2' }, { transactionId: 'a', ingestedAt: START * 1000 + 1 }),
      event(customer, { seats: '9' }, { timestamp: START, ingestedAt: START * 1000 + 2 }),
    ]);
    expect(await totals(latest, [customer])).toEqual([[{}, '2']]);
  });

  it('LATEST takes the greatest transaction id where the time of ingestion is the same too', async () => {
    const customer = newCustomer();
    const ingestedAt = START * 1000;
    await storeEvents(clickhouse, [
      event(customer, { seats: '1' }, { transactionId: 'a', ingestedAt }),
      event(customer, { seats: '2' }, { transactionId: 'z', ingestedAt }),
      event(customer, { seats: '3' }, { transactionId: 'm', ingestedAt }),
    ]);
    expect(await totals(latest, [customer])).toEqual([[{}, '2']]);
  });

  it('LATEST runs across the aliases of a customer', async () => {
    const [customer, alias] = [newCustomer(), newCustomer()];
    await storeEvents(clickhouse, [
      event(customer, { seats: '5' }),
      event(alias, { seats: '6' }, { timestamp: START + 2 * HOUR_MS }),
    ]);
    expect(await totals(latest, [customer, alias])).toEqual([[{}, '6']]);
  });
});

describe('exactness', () => {
  it('usage of exact numbers sums the largest numbers without overflow and keeps the last digit', async () => {
    const customer = newCustomer();
    const largest = `${'9'.repeat(36)}.${'9'.repeat(30)}`;
    await storeEvents(clickhouse, [
      ...Array.from({ length: 1_000 }, () => event(customer, { amount: largest })),
      event(customer, { amount: `0.${'0'.repeat(26)}1` }),
    ]);
    const sum = metric({ aggregation: 'SUM', aggregationKey: 'amount' });
    // 1000 × (10^36 − 10^-30) + 10^-27 = 10^39.
    expect(await totals(sum, [customer])).toEqual([[{}, `1${'0'.repeat(39)}`]]);
  });

  it('usage of exact numbers leaves out events whose value is no number instead of counting them as zero', async () => {
    const customer = newCustomer();
    await storeEvents(clickhouse, [
      event(customer, { amount: '-3' }),
      event(customer, { amount: 'many' }),
      event(customer, { amount: '1e-40' }),
      event(customer, {}),
    ]);
    const maximum = metric({ aggregation: 'MAX', aggregationKey: 'amount' });
    expect(await totals(maximum, [customer])).toEqual([[{}, '-3']]);
  });
});

describe('whole numbers', () => {
  const sizes = (id: string) =>
    metric({
      id,
      eventTypeFilter: { inValues: ['call'], notInValues: null },
      aggregation: 'SUM',
      aggregationKey: 'size',
    });

  function countingStatements() {
    const counting = {
      statements: 0,
      clickhouse: {
        ...clickhouse,
        query: (query) => {
          counting.statements += 1;
          return clickhouse.query(query);
        },
        queryBytes: (query) => {
          counting.statements += 1;
          return clickhouse.queryBytes(query);
        },
      } satisfies ClickHouse,
    };
    return counting;
  }

  /** The sum, and how many statements it took. */
  async function sumOf(asked: StreamingMetric, customer: string) {
    const counting = countingStatements();
    const request = { ...WHOLE_RANGE, metric: asked, refs: [customer] };
    const { rows } = await readUsageGroups(counting.clickhouse, request);
    return [rows[0]?.value?.toString() ?? null, counting.statements];
  }

  /** The last value of each metric that the customer has usage of, and how many statements they took together. */
  async function sharedOf(metrics: readonly StreamingMetric[], customer: string) {
    const counting = countingStatements();
    const read = await readSharedSeries(counting.clickhouse, {
      metrics: metrics.filter(canShare),
      customers: [customer, newCustomer()].map((customerId) => ({ customerId, refs: [customerId] })),
      period: RANGE,
      boundaries: 'hour',
      groupBy: [],
      rowsMax: 10,
    });
    const values = read.map((own) => own.get(customer)?.unpack()[0]?.steps.at(-1)?.value.toString() ?? null);
    return [values, counting.statements];
  }

  it('whole numbers take one statement, whatever the events that do not match have, and add up beyond 64 bits', async () => {
    const customer = newCustomer();
    await storeEvents(clickhouse, [
      ...['9223372036854775807', '9223372036854775807', '+9223372036854775807', '-1', '', '007'].map((size) =>
        event(customer, { size }),
      ),
      event(customer, {}),
      event(customer, { size: '0.5' }, { eventType: 'other' }),
    ]);
    expect(await sumOf(sizes('whole'), customer)).toEqual(['27670116110564327427', 1]);
  });

  it('whole numbers beside another text take a second statement, once for each metric', async () => {
    const [whole, others] = [newCustomer(), newCustomer()];
    await storeEvents(clickhouse, [
      event(whole, { size: '2' }),
      ...['2', '0.5', 'many', '9223372036854775808', '1e2'].map((size) => event(others, { size })),
    ]);
    expect(await sumOf(sizes('others'), whole)).toEqual(['2', 1]);
    expect(await sumOf(sizes('others'), others)).toEqual(['9223372036854775910.5', 2]);
    expect(await sumOf(sizes('others'), others)).toEqual(['9223372036854775910.5', 1]);
    expect(await sumOf(sizes('others'), whole)).toEqual(['2', 1]);
  });

  it('whole numbers of metrics that share a statement take one, whatever the events that do not match have', async () => {
    const customer = newCustomer();
    const others = { eventTypeFilter: { inValues: ['other'], notInValues: null } };
    const large = metric({ ...others, id: 'large', aggregation: 'MAX', aggregationKey: 'weight' });
    const count = metric({ ...others, id: 'count' });
    await storeEvents(clickhouse, [
      ...['9223372036854775807', '9223372036854775807', '-1', '', '007'].map((size) =>
        event(customer, { size, weight: '0.5' }),
      ),
      event(customer, { size: '0.5', weight: '-7' }, { eventType: 'other' }),
      event(customer, { size: 'many' }, { eventType: 'other' }),
    ]);
    const asked = [sizes('shared whole'), large, count];
    expect(await sharedOf(asked, customer)).toEqual([['18446744073709551620', '-7', '2'], 1]);
  });

  it('whole numbers beside another text of a metric take a second statement for all that share it, once', async () => {
    const [whole, others] = [newCustomer(), newCustomer()];
    await storeEvents(clickhouse, [
      event(whole, { size: '2', weight: '3' }),
      ...['2', '0.5', 'many', '9223372036854775808', '1e2'].map((size) =>
        event(others, { size, weight: '3' }),
      ),
    ]);
    const weights = metric({ id: 'weights', aggregation: 'SUM', aggregationKey: 'weight' });
    const asked = [weights, sizes('shared others')];
    expect(await sharedOf(asked, whole)).toEqual([['3', '2'], 1]);
    expect(await sharedOf(asked, others)).toEqual([['15', '9223372036854775910.5'], 2]);
    expect(await sharedOf(asked, others)).toEqual([['15', '9223372036854775910.5'], 1]);
    // Which of them has other texts is not known.
    expect(await sumOf(weights, others)).toEqual(['15', 1]);
    expect(await sumOf(sizes('shared others'), others)).toEqual(['9223372036854775910.5', 2]);
    expect(await sharedOf([weights, weights, sizes('shared others')], others)).toMatchObject({ 1: 1 });
  });

  it('whole numbers are what is counted, and no other text', async () => {
    const customer = newCustomer();
    await storeEvents(
      clickhouse,
      ['2', 'many', '', '0.5'].map((size) => event(customer, { size })),
    );
    const request = {
      metric: sizes('counted'),
      customers: [{ customerId: 'asked', refs: [customer] }],
      period: RANGE,
      boundaries: 'hour' as const,
      groupBy: ['size'],
    };
    expect(await countSeriesValues(clickhouse, request)).toEqual(new Map([['asked', 2]]));
    const counted = await readUsageSeries(clickhouse, { ...request, countsEvents: true });
    expect(counted.get('asked')?.map(({ groupValues }) => groupValues)).toEqual([
      { size: '0.5' },
      { size: '2' },
    ]);
  });
});

describe('names and values', () => {
  it('names and values are compared as they are, quotes, backslashes and placeholders included', async () => {
    const customer = newCustomer();
    const names = [
      "it's",
      'back\\slash',
      '{refs:Array(String)}',
      "') OR 1=1 --",
      'tab\tnew\nline',
      'é𝄞',
      '%_',
    ];
    await storeEvents(
      clickhouse,
      names.map((name) => event(customer, { [name]: name })),
    );
    for (const name of names) {
      const filter = { name, exists: null, inValues: [name], notInValues: null };
      expect(await totals(metric({ propertyFilters: [filter] }), [customer], [name])).toEqual([
        [{ [name]: name }, '1'],
      ]);
      const absent = { ...filter, inValues: null, exists: false };
      expect(await totals(metric({ propertyFilters: [absent] }), [customer])).toEqual([
        [{}, String(names.length - 1)],
      ]);
    }
  });
});

describe('events without a group property', () => {
  it('events without a group property belong to no line of an invoice, and to the group null in usage', async () => {
    const customer = newCustomer();
    await storeEvents(clickhouse, [
      event(customer, { model: 'b' }),
      event(customer, { model: '' }),
      event(customer, { model: 'a' }),
      event(customer, {}),
    ]);
    expect(await totals(metric(), [customer], ['model'])).toEqual([
      [{ model: '' }, '1'],
      [{ model: 'a' }, '1'],
      [{ model: 'b' }, '1'],
    ]);
    expect(await windows({ refs: [customer], groupKey: ['model'] })).toEqual([
      [{ model: '' }, '1'],
      [{ model: 'a' }, '1'],
      [{ model: 'b' }, '1'],
      [{ model: null }, '1'],
    ]);
  });
});

describe('usage of nothing', () => {
  it('usage of nothing is null in every window without groups, and no row with them', async () => {
    const refs = [newCustomer()];
    expect(await windows({ refs })).toEqual([[{}, null]]);
    expect(await windows({ refs: [] })).toEqual([[{}, null]]);
    expect(await windows({ refs, windowSize: 'HOUR' })).toEqual(Array.from({ length: 24 }, () => [{}, null]));
    expect(await windows({ refs, groupKey: ['model'] })).toEqual([]);
    expect(await windows({ refs: [], groupKey: ['model'] })).toEqual([]);
    expect(await totals(metric(), refs)).toEqual([]);
    expect(await totals(metric(), [])).toEqual([]);
  });
});

describe('limits', () => {
  it('a usage query refuses a result with too many values in plain words', async () => {
    const customer = newCustomer();
    await storeEvents(clickhouse, [event(customer, { model: 'a' }), event(customer, { model: 'b' })]);
    const request = {
      metric: metric(),
      customers: [{ customerId: customer, refs: [customer] }],
      period: RANGE,
      boundaries: 'hour' as const,
      groupBy: ['model'],
    };
    await expect(readUsageSeries(clickhouse, { ...request, rowsMax: 1 })).rejects.toMatchObject({
      kind: 'too_large',
      message: 'usage of metric "Calls" has more than 1 values; ask for a shorter time or fewer groups',
    });
    const series = await readUsageSeries(clickhouse, { ...request, rowsMax: 2 });
    expect(series.get(customer)).toHaveLength(2);
  });

  it('a usage query refuses too many values of several metrics that one statement reads', async () => {
    const [one, other] = [newCustomer(), newCustomer()];
    await storeEvents(clickhouse, [event(one, { model: 'a' }), event(one, { model: 'b' })]);
    const request = {
      metrics: [
        metric(),
        metric({ name: 'Few', eventTypeFilter: { inValues: ['none'], notInValues: null } }),
      ].filter(canShare),
      customers: [one, other].map((customerId) => ({ customerId, refs: [customerId] })),
      period: RANGE,
      boundaries: 'hour' as const,
      groupBy: ['model'],
    };
    await expect(readSharedSeries(clickhouse, { ...request, rowsMax: 1 })).rejects.toMatchObject({
      kind: 'too_large',
    });
    const read = await readSharedSeries(clickhouse, { ...request, rowsMax: 2 });
    const counts = read.map((own) => [one, other].map((customerId) => own.get(customerId)?.valueCount));
    expect(counts).toEqual([
      [2, 0],
      [0, 0],
    ]);
  });

  it('a usage query refuses an answer of too many bytes like one of too many values', async () => {
    const query = {
      sql: 'SELECT toString(number) AS value FROM numbers(1000)',
      format: 'Native' as const,
      parameters: createParameters(),
      eventsOf: [],
    };
    expect((await queryUsageBytes(clickhouse, metric(), query)).length).toBeGreaterThan(1_000);
    const refused = queryUsageBytes(clickhouse, metric(), { ...query, bytesMax: 500 });
    await expect(refused).rejects.toMatchObject({ kind: 'too_large' });
  });

  it('a usage query refuses a cursor that belongs to another request', async () => {
    const fitting = { windowStart: START, group: ['a'], ingestedUpTo: '1' };
    const cursors = [
      { ...fitting, group: [] },
      { ...fitting, group: ['a', 'b'] },
      { ...fitting, windowStart: START + 1 },
      { ...fitting, windowStart: START - DAY_MS },
      { ...fitting, windowStart: RANGE.end },
    ];
    for (const cursor of cursors) {
      const page = windows({ refs: ['any'], windowSize: 'DAY', groupKey: ['model'], cursor });
      await expect(page).rejects.toThrow(Refusal);
      await expect(page).rejects.toThrow('cursor: does not belong to this request');
    }
    expect(await windows({ refs: ['any'], windowSize: 'DAY', groupKey: ['model'], cursor: fitting })).toEqual(
      [],
    );
  });
});
