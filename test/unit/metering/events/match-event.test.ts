import { describe, expect, it } from 'vitest';
import type { PropertyFilter, StreamingMetric } from '../../../../src/core/metric.ts';
import { mismatchReason } from '../../../../src/metering/events/match-event.ts';
import type { StoredEvent } from '../../../../src/metering/events/stored-event.ts';

const EVENT: StoredEvent = {
  transactionId: 't',
  customerRef: 'c',
  eventType: 'call',
  timestamp: 0,
  properties: new Map([
    ['model', 'large'],
    ['tokens', '5'],
  ]),
  receivedAt: 0,
  ingestedAt: '0',
  tick: '0',
};

function filter(name: string, change: Partial<PropertyFilter>): PropertyFilter {
  return { name, exists: null, inValues: null, notInValues: null, ...change };
}

function reason(change: Partial<StreamingMetric>, event: StoredEvent = EVENT): string | null {
  const metric: StreamingMetric = {
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
  return mismatchReason(metric, event, ({ properties }, name) => properties.get(name) ?? null);
}

const inModel = (...inValues: string[]) => ({ propertyFilters: [filter('model', { inValues })] });

describe('the reason against an event', () => {
  it('the reason against an event is none where it passes every rule', () => {
    expect(reason({})).toBeNull();
    expect(
      reason({
        eventTypeFilter: { inValues: ['call'], notInValues: ['other'] },
        propertyFilters: [
          filter('model', { exists: true, inValues: ['large'], notInValues: ['small'] }),
          filter('region', { notInValues: ['eu'] }),
          filter('test', { exists: false }),
        ],
        aggregation: 'SUM',
        aggregationKey: 'tokens',
      }),
    ).toBeNull();
  });

  it.each<[Partial<StreamingMetric>, string]>([
    [
      { eventTypeFilter: { inValues: ['a', 'b'], notInValues: null } },
      'event_type is "call", event_type_filter.in_values has "a", "b"',
    ],
    [
      { eventTypeFilter: { inValues: null, notInValues: ['call'] } },
      'event_type is "call", which event_type_filter.not_in_values has',
    ],
    [
      { propertyFilters: [filter('region', { exists: true })] },
      'property "region" is missing, its filter has exists true',
    ],
    [
      { propertyFilters: [filter('model', { exists: false })] },
      'property "model" is "large", its filter has exists false',
    ],
    [
      { propertyFilters: [filter('region', { inValues: ['eu'] })] },
      'property "region" is missing, its filter has in_values "eu"',
    ],
    [inModel('a'), 'property "model" is "large", its filter has in_values "a"'],
    [
      inModel('1', '2', '3', '4', '5', '6', '7'),
      'property "model" is "large", its filter has in_values "1", "2", "3", "4", "5" and 2 more',
    ],
    [
      { propertyFilters: [filter('model', { notInValues: ['large'] })] },
      'property "model" is "large", which its filter has in not_in_values',
    ],
    [
      { aggregation: 'UNIQUE', aggregationKey: 'user' },
      'property "user" is missing, it is the aggregation_key',
    ],
    [
      { aggregation: 'MAX', aggregationKey: 'model' },
      'property "model" is "large", which MAX cannot count: it takes decimal numbers with at most 36 digits before and 30 after the point',
    ],
  ])('the reason against an event names the rule: %o', (metric, expected) => {
    expect(reason(metric)).toBe(expected);
  });

  it('the reason against an event is the first one only', () => {
    const eventTypeFilter = { inValues: ['a'], notInValues: null };
    expect(reason({ ...inModel('b'), eventTypeFilter, aggregation: 'SUM', aggregationKey: 'x' })).toMatch(
      /^event_type /,
    );
    expect(reason({ ...inModel('b'), aggregation: 'SUM', aggregationKey: 'x' })).toMatch(/^property "model"/);
  });

  it('the reason against an event stays a sentence whatever the event holds', () => {
    const properties = new Map([['model', '𝄞'.repeat(10_000)]]);
    expect(reason(inModel('a'), { ...EVENT, properties })?.length).toBeLessThan(300);
  });
});
