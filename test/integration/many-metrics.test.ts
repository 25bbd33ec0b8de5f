/** Many metrics of one customer are read together, and give the series that each has alone. */
import { expect, test } from 'vitest';
import { readThatFit } from '../../src/billing/invoices/usage/usage-reading.ts';
import type { StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { factsWithoutIngest } from '../../src/metering/ingest/event-facts.ts';
import { type MetricSeriesRequest, readPackedUsage } from '../../src/metering/usage/metric-usage.ts';
import { createUsageSource } from '../../src/metering/usage/usage-source.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { storeEvents } from '../support/usage-events.ts';

const clickhouse = await clickhouseForFile();

const START = Date.UTC(2026, 7, 1);
const TYPES = 7;
const AGGREGATIONS = ['SUM', 'COUNT', 'MAX', 'UNIQUE', 'LATEST'] as const;

/** Whole numbers and others, in several types of events, of which one has a group that the others lack. */
const EVENTS = Array.from({ length: 300 }, (_, index) => ({
  transactionId: `event-${index}`,
  customerRef: 'ada',
  eventType: `type-${index % TYPES}`,
  timestamp: START + (index % 50) * HOUR_MS,
  properties: {
    size: index % TYPES === 3 ? `${index}.25` : String(index % 11),
    model: index % 2 === 0 ? 'small' : 'large',
  },
  ingestedAt: START * 1000 + index,
}));

function metricOf(index: number): StreamingMetric {
  const aggregation = AGGREGATIONS[index % AGGREGATIONS.length] ?? 'COUNT';
  return {
    kind: 'streaming',
    id: `metric-${index}`,
    name: `Metric ${index}`,
    // Some types have no event at all.
    eventTypeFilter: { inValues: [`type-${index % (TYPES + 2)}`], notInValues: null },
    propertyFilters: [],
    aggregation,
    aggregationKey: aggregation === 'COUNT' ? null : 'size',
    groupKeys: [['model']],
    archivedAt: null,
  };
}

function requestOf(index: number, groupBy: readonly string[]): MetricSeriesRequest {
  return {
    metric: metricOf(index),
    evaluatedAt: 'hour',
    customers: [{ customerId: 'Ada', refs: ['ada'] }],
    period: { start: START, end: START + 3 * DAY_MS },
    groupBy,
    usageFilter: null,
    ingestedUpTo: null,
    rowsMax: 10_000,
  };
}

function counting(): { readonly clickhouse: ClickHouse; readonly statements: () => number } {
  let statements = 0;
  const counted = {
    ...clickhouse,
    query: ((query) => {
      statements += 1;
      return clickhouse.query(query);
    }) as ClickHouse['query'],
    queryBytes: ((query) => {
      statements += 1;
      return clickhouse.queryBytes(query);
    }) as ClickHouse['queryBytes'],
  };
  return { clickhouse: counted, statements: () => statements };
}

test.each([[[]], [['model']]])('100 metrics of lines by %j', async (groupBy) => {
  await storeEvents(clickhouse, EVENTS);
  const requests = new Map(Array.from({ length: 100 }, (_, index) => [index, requestOf(index, groupBy)]));
  const own = counting();
  const together = await readThatFit(createUsageSource(own.clickhouse, factsWithoutIngest()), requests);
  for (const [index, request] of requests) {
    const alone = (await readPackedUsage(clickhouse, request)).get('Ada')?.unpack();
    expect(together.get(index)?.get('Ada')?.unpack(), `metric ${index}`).toEqual(alone);
  }
  // Those of UNIQUE and LATEST alone, the others in three statements, which may be asked again for exact numbers.
  expect(own.statements()).toBeLessThanOrEqual(2 * (40 + 3));
});
