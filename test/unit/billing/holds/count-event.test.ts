/** Usage of one event ahead of its billing, for every aggregation. */
import { expect, test } from 'vitest';
import { isEstimated, matcherOf, usageOf } from '../../../../src/billing/holds/count-event.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Aggregation, StreamingMetric } from '../../../../src/core/metric.ts';
import type { UsageNeed } from '../../../../src/rating/quantities/usage-need.ts';

const EVENT = { eventType: 'use', timestamp: 0, properties: new Map([['tokens', '7']]) };
const NEED: UsageNeed = { billableMetricId: 'metric', groupKeys: [], usageFilter: null, evaluatedAt: 'hour' };

/** The usage of an event with the value 7 and of a quantity of 3, and whether either may be counted too high. */
const EXPECTED: Record<Aggregation, readonly [event: string, quantity: string, isEstimate: boolean]> = {
  COUNT: ['sum 1', 'sum 3', false],
  SUM: ['sum 7', 'sum 3', false],
  MAX: ['maximum 7', 'maximum 3', false],
  UNIQUE: ['sum 1', 'sum 3', true],
  LATEST: ['not_priceable', 'not_priceable', false],
};

function metricOf(aggregation: Aggregation): StreamingMetric {
  return {
    ...{ kind: 'streaming', id: 'metric', name: 'Metric', eventTypeFilter: null, propertyFilters: [] },
    ...{
      aggregation,
      aggregationKey: aggregation === 'COUNT' ? null : 'tokens',
      groupKeys: [],
      archivedAt: null,
    },
  };
}

test.each(Object.entries(EXPECTED) as [Aggregation, (typeof EXPECTED)[Aggregation]][])(
  'an event counts ahead by the aggregation %s as it is billed, or not at all',
  (aggregation, [event, quantity, isEstimate]) => {
    const metric = metricOf(aggregation);
    const metrics = new Map([['metric', metric]]);
    const shown = (counted: ReturnType<ReturnType<typeof matcherOf>>) =>
      counted === null || typeof counted === 'string'
        ? counted
        : `${counted.growth} ${counted.value.toFixed()}`;
    expect(shown(matcherOf(EVENT, metrics)(NEED))).toBe(event);
    expect(shown(usageOf(EVENT, metrics, decimal('3'))(NEED))).toBe(quantity);
    expect(isEstimated(metric)).toBe(isEstimate);
  },
);
