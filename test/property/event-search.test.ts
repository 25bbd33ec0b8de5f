import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamingMetric } from '../../src/core/metric.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { mismatchReason, propertiesToMatch } from '../../src/metering/events/match-event.ts';
import { readProperties } from '../../src/metering/events/nested-properties.ts';
import type { StoredEvent } from '../../src/metering/events/stored-event.ts';
import { readUsageGroups } from '../../src/metering/query/usage-groups.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { deduplicated, type NaiveEvent, naiveMatches } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import { PERIOD, streamingMetric, usageScenario } from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();

/** The event as a search finds it. */
function found(event: NaiveEvent): StoredEvent {
  return {
    transactionId: event.transactionId,
    customerRef: event.customerRef,
    eventType: event.eventType,
    timestamp: event.timestamp,
    properties: new Map(Object.entries(event.properties)),
    receivedAt: Math.floor(event.ingestedAt / 1000),
    ingestedAt: String(event.ingestedAt),
    tick: String(event.ingestedAt),
  };
}

/** Whether the metric has any usage of the customer: a window that nothing matched has no value. */
async function hasUsage(metric: StreamingMetric, customerRef: string): Promise<boolean> {
  const { rows } = await readUsageGroups(clickhouse, {
    metric,
    refs: [customerRef],
    range: { start: PERIOD.start - DAY_MS, end: PERIOD.end + DAY_MS },
    windowSize: 'NONE',
    groupKey: null,
    groupFilters: {},
    limit: 1,
    cursor: null,
  });
  return rows[0]?.value != null;
}

describe('the metrics that a search names for an event', () => {
  it('the metrics that a search names for an event are those that the naive rules name, and each other one has a reason', async () => {
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        fc.array(streamingMetric, { minLength: 20, maxLength: 20 }),
        async (scenario, metrics) => {
          const events = deduplicated(scenario.events);
          const stored = events.map(found);
          const propertyOf = await readProperties(clickhouse, stored, metrics.flatMap(propertiesToMatch));
          const unlike: unknown[] = [];
          for (const [index, event] of events.entries()) {
            for (const metric of metrics) {
              const reason = mismatchReason(metric, stored[index] ?? found(event), propertyOf);
              const isExpected = naiveMatches(metric, event)
                ? reason === null
                : /^(event_type|property ")/.test(reason ?? '');
              if (!isExpected) unlike.push({ event, metric, reason });
            }
          }
          expect(unlike).toEqual([]);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('the metrics that a search names for an event are those whose usage counts the event', async () => {
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        fc.array(streamingMetric, { minLength: 6, maxLength: 6 }),
        async (scenario, metrics) => {
          // Every event gets a separate customer, so that usage is found only where it counts.
          const events = deduplicated(scenario.events)
            .slice(0, 8)
            .map((event, index) => ({ ...event, customerRef: `${event.customerRef}-alone-${index}` }));
          await storeEvents(clickhouse, events);
          const stored = events.map(found);
          const propertyOf = await readProperties(clickhouse, stored, metrics.flatMap(propertiesToMatch));
          for (const metric of metrics) {
            await Promise.all(
              stored.map(async (event) => {
                const isCounted = await hasUsage(metric, event.customerRef);
                const reason = mismatchReason(metric, event, propertyOf);
                expect([event, metric, reason === null]).toEqual([event, metric, isCounted]);
              }),
            );
          }
        },
      ),
      { numRuns: runs(12) },
    );
  });
});
