import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamingMetric } from '../../src/core/metric.ts';
import { HOUR_MS, type Instant } from '../../src/core/time.ts';
import { cumulativeAt, type UsageSeries } from '../../src/core/usage-series.ts';
import { inLane } from '../../src/metering/client/clickhouse-client.ts';
import { halves, keySlices } from '../../src/metering/query/key-slice.ts';
import { readSharedSeries } from '../../src/metering/query/shared-series.ts';
import { canShare } from '../../src/metering/query/shared-series-sql.ts';
import { countSeriesValues, readUsageSeries } from '../../src/metering/query/usage-series.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { naiveCumulative } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';
import { storeEvents } from '../support/usage-events.ts';
import {
  boundaries,
  groupBy,
  PERIOD,
  streamingMetric,
  type UsageScenario,
  usageScenario,
} from '../support/usage-scenarios.ts';

const clickhouse = await clickhouseForFile();

interface Question {
  readonly metric: StreamingMetric;
  readonly groupBy: readonly string[];
  readonly boundaries: 'hour' | readonly Instant[];
}

const question: fc.Arbitrary<Question> = fc.record({ metric: streamingMetric, groupBy, boundaries });

/** V at every instant that was asked for, for every line: what the series say. */
function seriesValues(
  series: readonly UsageSeries[],
  names: readonly string[],
  instants: readonly Instant[],
) {
  return instants.map((t) =>
    series
      .map((line) => [
        JSON.stringify(names.map((name) => line.groupValues[name])),
        cumulativeAt(line, t).toString(),
      ])
      .filter(([, value]) => value !== '0')
      .sort(),
  );
}

function oracleValues(
  scenario: UsageScenario,
  refs: readonly string[],
  asked: Question,
  instants: readonly Instant[],
) {
  return instants.map((t) =>
    naiveCumulative(asked.metric, scenario.events, refs, PERIOD, t, asked.groupBy)
      .map(({ group, value }) => [JSON.stringify(group), value])
      .filter(([, value]) => value !== '0')
      .sort(),
  );
}

function instantsOf(asked: Question): Instant[] {
  if (asked.boundaries !== 'hour') return [PERIOD.start, ...asked.boundaries, PERIOD.end];
  const hours = (PERIOD.end - PERIOD.start) / HOUR_MS;
  return Array.from({ length: hours + 1 }, (_, index) => PERIOD.start + index * HOUR_MS);
}

async function checkQuestion(scenario: UsageScenario, asked: Question): Promise<void> {
  const series = await readUsageSeries(clickhouse, {
    ...asked,
    period: PERIOD,
    customers: scenario.customers,
  });
  expect([...series.keys()]).toEqual(scenario.customers.map(({ customerId }) => customerId));
  const instants = instantsOf(asked);
  const [first] = scenario.customers;
  const alone = await readUsageSeries(clickhouse, {
    ...asked,
    period: PERIOD,
    customers: first ? [first] : [],
  });
  expect(alone.get(first?.customerId ?? '')).toEqual(series.get(first?.customerId ?? ''));
  for (const customer of scenario.customers) {
    const lines = series.get(customer.customerId) ?? [];
    const expected = oracleValues(scenario, customer.refs, asked, instants);
    expect(seriesValues(lines, asked.groupBy, instants)).toEqual(expected);
    for (const line of lines) expect(line.steps.every(({ at }) => instants.includes(at))).toBe(true);
  }
}

/** Slices have each line once, and the sizes are those of the series. */
async function checkSlices(scenario: UsageScenario, asked: Question): Promise<void> {
  const request = { ...asked, period: PERIOD, customers: scenario.customers };
  const series = await readUsageSeries(clickhouse, request);
  const slices = await Promise.all(
    [...keySlices(2), ...halves({ index: 1, count: 2 })].map((slice) =>
      readUsageSeries(clickhouse, { ...request, slice }),
    ),
  );
  const [even, odd, one, three] = slices;
  const sizes = await countSeriesValues(clickhouse, request);
  for (const { customerId } of scenario.customers) {
    const textsOf = (...parts: (typeof even)[]) =>
      parts
        .flatMap((part) => part?.get(customerId) ?? [])
        .map((line) => JSON.stringify(line))
        .sort();
    const whole = (series.get(customerId) ?? []).map((line) => JSON.stringify(line)).sort();
    expect(textsOf(even, odd)).toEqual(whole);
    expect(textsOf(one, three)).toEqual(textsOf(odd));
    const steps = (series.get(customerId) ?? []).flatMap((line) => line.steps).length;
    expect(sizes.get(customerId) ?? 0).toBeGreaterThanOrEqual(steps);
  }
}

describe('usage series', () => {
  it('usage series give V(t) as the naive aggregate does, at every boundary, for every line and customer', async () => {
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        fc.array(question, { minLength: 4, maxLength: 4 }),
        async (scenario, questions) => {
          await storeEvents(clickhouse, scenario.events);
          await Promise.all(questions.map((asked) => checkQuestion(scenario, asked)));
        },
      ),
      { numRuns: runs(20) },
    );
  });

  it('usage series are the same read in slices of their lines', async () => {
    await fc.assert(
      fc.asyncProperty(usageScenario, question, async (scenario, asked) => {
        await storeEvents(clickhouse, scenario.events);
        await checkSlices(scenario, asked);
      }),
      { numRuns: runs(10) },
    );
  });

  it('usage series are the same for requests and for evaluations, whose engine filters before it merges copies', async () => {
    await fc.assert(
      fc.asyncProperty(usageScenario, question, fc.nat(), async (scenario, asked, place) => {
        await storeEvents(clickhouse, scenario.events);
        const last = scenario.events[place % Math.max(1, scenario.events.length)];
        const ingestedUpTo = last === undefined ? null : String(last.ingestedAt);
        const request = { ...asked, period: PERIOD, customers: scenario.customers, ingestedUpTo };
        const evaluated = await readUsageSeries(inLane(clickhouse, 'evaluation'), request);
        expect(evaluated).toEqual(await readUsageSeries(clickhouse, request));
      }),
      { numRuns: runs(20) },
    );
  });

  it('usage series are the same for several metrics that one statement reads', async () => {
    const filter = fc.option(fc.constant({ property: 'model', values: ['a', ''] }));
    const metrics = fc.array(streamingMetric, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        usageScenario,
        metrics,
        question,
        filter,
        async (scenario, all, asked, usageFilter) => {
          const sharing = all.filter(canShare);
          const { customers, events } = scenario;
          fc.pre(sharing.length > 0);
          await storeEvents(clickhouse, events);
          const ingestedUpTo = String(events.at(-1)?.ingestedAt ?? 0);
          const request = { ...asked, period: PERIOD, customers, usageFilter, ingestedUpTo, rowsMax: 10_000 };
          const shared = await readSharedSeries(clickhouse, { ...request, metrics: sharing });
          const alone = sharing.map((metric) => readUsageSeries(clickhouse, { ...request, metric }));
          const unpacked = shared.map((own) => new Map([...own].map(([id, one]) => [id, one.unpack()])));
          expect(unpacked).toEqual(await Promise.all(alone));
        },
      ),
      { numRuns: runs(30) },
    );
  });

  it('usage series have hours that sum to the days and days that sum to the period, for every aggregation', async () => {
    await fc.assert(
      fc.asyncProperty(usageScenario, streamingMetric, groupBy, async (scenario, metric, names) => {
        await storeEvents(clickhouse, scenario.events);
        const request = { metric, groupBy: names, period: PERIOD, customers: scenario.customers };
        const [whole, byHour, byDay] = await Promise.all([
          readUsageSeries(clickhouse, { ...request, boundaries: [] }),
          readUsageSeries(clickhouse, { ...request, boundaries: 'hour' }),
          readUsageSeries(clickhouse, { ...request, boundaries: [PERIOD.start + 24 * HOUR_MS] }),
        ]);
        const ends = [PERIOD.end];
        const noon = [PERIOD.start + 24 * HOUR_MS, PERIOD.end];
        for (const { customerId } of scenario.customers) {
          const [total, hours, days] = [whole, byHour, byDay].map((series) => series.get(customerId) ?? []);
          expect(seriesValues(hours ?? [], names, ends)).toEqual(seriesValues(total ?? [], names, ends));
          expect(seriesValues(hours ?? [], names, noon)).toEqual(seriesValues(days ?? [], names, noon));
          expect(seriesValues(days ?? [], names, ends)).toEqual(seriesValues(total ?? [], names, ends));
        }
      }),
      { numRuns: runs(20) },
    );
  });
});
