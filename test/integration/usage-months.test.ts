import { expect, inject, it } from 'vitest';
import { z } from 'zod';
import { eraseProperties } from '../../src/metering/events/erase-events.ts';
import { dropMonth, readMonthsBefore } from '../../src/metering/events/old-months.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();
const cluster = inject('clickhouse')?.cluster;

it('months of events go as a whole, on every shard, and nothing of the next one', async () => {
  const times = [
    '2026-06-30T23:59:59.999Z',
    '2026-07-01T00:00:00.000Z',
    '2026-07-31T23:59:59.999Z',
    '2026-08-01Z',
  ];
  const events = times.flatMap((time, index) =>
    Array.from({ length: 4 }, (_, copy) => ({
      transactionId: `${time} ${copy}`,
      customerRef: 'ada',
      eventType: 'call',
      timestamp: Date.parse(time),
      properties: {},
      ingestedAt: (Date.UTC(2026, 7, 2) + index) * 1000,
    })),
  );
  await storeEvents(clickhouse, events);
  const monthsOf = async () => {
    const months = await readMonthsBefore(clickhouse, Date.UTC(2026, 11, 1));
    return months.map(({ start, rows }) => `${new Date(start).toISOString()} ${rows}`);
  };
  const [june, july, august] = await readMonthsBefore(clickhouse, Date.UTC(2026, 11, 1));
  expect([june?.rows, july?.rows, august?.rows]).toEqual([4, 8, 4]);
  expect(july?.lastAcceptedAt).toBe(Date.UTC(2026, 7, 2) + 2);
  await dropMonth(clickhouse, cluster, july?.start ?? 0);
  await dropMonth(clickhouse, cluster, july?.start ?? 0);
  expect(await monthsOf()).toEqual(['2026-06-01T00:00:00.000Z 4', '2026-08-01T00:00:00.000Z 4']);
  expect(await readMonthsBefore(clickhouse, Date.UTC(2026, 5, 1))).toEqual([]);
});

it('properties of events are erased on every shard, but for those that are kept in their time', async () => {
  const times = [
    '2026-09-30T23:59:59.999Z',
    '2026-10-01T00:00:00.000Z',
    '2026-10-31T23:59:59.999Z',
    '2026-11-01Z',
  ];
  const events = ["o'hara", 'bob'].flatMap((customerRef) =>
    times.map((time, index) => ({
      transactionId: `${customerRef} ${time}`,
      customerRef,
      eventType: 'call',
      timestamp: Date.parse(time),
      properties: { tokens: '5', "it's": 'private' },
      ingestedAt: (Date.UTC(2026, 10, 2) + index) * 1000,
    })),
  );
  await storeEvents(clickhouse, events);
  const propertiesOf = async (ref: string) => {
    const rows = await clickhouse.query({
      sql: 'SELECT toJSONString(properties) AS text FROM usage_events FINAL WHERE customer_ref = {ref:String} ORDER BY timestamp',
      params: { ref },
      schema: z.object({ text: z.string() }),
    });
    return rows.map(({ text }) => text);
  };
  const before = await propertiesOf('bob');
  const october = { start: Date.UTC(2026, 9, 1), end: Date.UTC(2026, 10, 1) };
  await eraseProperties(clickhouse, cluster, ["o'hara"], [{ within: october, names: ['tokens', "o'"] }]);
  expect(await propertiesOf("o'hara")).toEqual(['{}', '{"tokens":"5"}', '{"tokens":"5"}', '{}']);
  await eraseProperties(clickhouse, cluster, ["o'hara"], [{ within: october, names: null }]);
  expect(await propertiesOf("o'hara")).toEqual(['{}', '{"tokens":"5"}', '{"tokens":"5"}', '{}']);
  await eraseProperties(clickhouse, cluster, ["o'hara"], [{ within: october, names: [] }]);
  await eraseProperties(clickhouse, cluster, ["o'hara"], []);
  expect(await propertiesOf("o'hara")).toEqual(['{}', '{}', '{}', '{}']);
  expect(await propertiesOf('bob')).toEqual(before);
});
