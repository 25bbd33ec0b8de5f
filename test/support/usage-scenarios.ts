/** Random metrics and events for the property tests of usage. Small vocabularies make values collide. */
import fc from 'fast-check';
import type { PropertyFilter, StreamingMetric } from '../../src/core/metric.ts';
import { AGGREGATIONS } from '../../src/core/metric.ts';
import { DAY_MS, HOUR_MS, type Instant, type Interval } from '../../src/core/time.ts';
import type { NaiveEvent } from './naive/usage.ts';

/** Two days that lie in two months, and so in two partitions. */
export const PERIOD: Interval = { start: Date.UTC(2026, 6, 31), end: Date.UTC(2026, 7, 2) };

const EVENT_TYPES = ['call', 'store'];
const TEXTS = ['', 'a', 'B', 'b', "it's", 'tab\tback\\slash', 'é', '𝄞', '￿', '1', 'true'];
const NUMBERS = [
  ...[
    '0',
    '1',
    '-1',
    '2.5',
    '-2.50',
    '+3',
    '1e2',
    '1E-7',
    '007',
    '9007199254740993',
    '0.1234567890123456789012345678',
  ],
  ...[
    '123456789012345678901234567890.123456789',
    `-${'9'.repeat(36)}`,
    'many',
    '',
    'NaN',
    '1.1.1',
    ' 1',
    '0x1',
    '1e-40',
    '1e40',
  ],
];
/** Read without a second statement. Empty text is no number. */
const WHOLE_NUMBERS = ['0', '1', '-1', '+3', '007', '9223372036854775807', '-9223372036854775808', ''];
const NESTED = [
  '{"size":12345678901234567890.5,"kind":"a"}',
  '{"kind":"b 1","size":"7"}',
  '{"kind":null,"size":{"x":1}}',
  '{"kind":true,"size":-0.5,"more":{"deep":"a"}}',
  '{"more":{"deep":2.50}}',
  '[1]',
  'no json',
];

/** `nested.kind` exists as a literal name on some events and as a path on others. */
export const TEXT_NAMES = ['model', 'region', 'nested.kind', 'nested.more.deep'];
const NUMBER_NAMES = ['amount', 'nested.size'];
const NAMES = [...TEXT_NAMES, ...NUMBER_NAMES, 'model.x'];

/** Instants on, just before and just after the borders of hours, days and the period, and often the same. */
const timestamp: fc.Arbitrary<Instant> = fc
  .tuple(
    fc.oneof(fc.constantFrom(0, 1, 24, 48), fc.integer({ min: -1, max: 49 })),
    fc.constantFrom(0, 0, -1, 1, 30 * 60_000),
  )
  .map(([hour, offset]) => PERIOD.start + hour * HOUR_MS + offset);

const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const someRarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });

const propertiesWith = (numbers: readonly string[]) =>
  fc
    .record({
      model: some(fc.constantFrom(...TEXTS)),
      region: some(fc.constantFrom('a', 'b')),
      amount: some(fc.constantFrom(...numbers)),
      nested: some(fc.constantFrom(...NESTED)),
      'nested.kind': someRarely(fc.constantFrom(...TEXTS)),
      'nested.size': someRarely(fc.constantFrom(...NUMBERS)),
    })
    .map((record) => {
      const present = Object.entries(record).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      return Object.fromEntries(present);
    });

interface EventDraft {
  readonly ref: number;
  readonly eventType: string;
  readonly timestamp: Instant;
  readonly properties: Readonly<Record<string, string>>;
  /** Stored again later, as by another process that did not know the first; with other content. */
  readonly copies: number;
}

const eventDraft = (numbers: readonly string[]): fc.Arbitrary<EventDraft> =>
  fc.record({
    ref: fc.nat(2),
    eventType: fc.constantFrom(...EVENT_TYPES),
    timestamp,
    properties: propertiesWith(numbers),
    copies: fc.constantFrom(0, 0, 0, 1, 2),
  });

/**
 * Events in the order of ingestion, copies last. `refs` are the names they can come under. Three share
 * a microsecond.
 */
function ingested(drafts: readonly EventDraft[], refs: readonly string[]): NaiveEvent[] {
  const firsts = drafts.map(({ copies: _, ref, ...draft }, index) => ({
    ...draft,
    transactionId: `t-${index}`,
    customerRef: refs[ref] ?? '',
    ingestedAt: PERIOD.end * 1000 + Math.floor(index / 3),
  }));
  const copies = drafts.flatMap(({ copies: count }, index) => {
    const first = firsts[index];
    if (first === undefined) return [];
    return Array.from({ length: count }, (_, copy) => ({
      ...first,
      properties: { ...first.properties, model: 'a', amount: '77' },
      ingestedAt: first.ingestedAt + drafts.length + copy,
    }));
  });
  return [...firsts, ...copies];
}

let scenarios = 0;

/** Every scenario has its own names, so that they share a table without meeting. */
export interface UsageScenario {
  readonly events: readonly NaiveEvent[];
  /** `first` has two names, `second` one, `third` no events. */
  readonly customers: readonly { readonly customerId: string; readonly refs: readonly string[] }[];
}

export const usageScenario: fc.Arbitrary<UsageScenario> = fc
  .constantFrom(NUMBERS, WHOLE_NUMBERS)
  .chain((numbers) => fc.array(eventDraft(numbers), { minLength: 1, maxLength: 60 }))
  .map((drafts) => {
    scenarios += 1;
    const refs = ['alias', 'first', 'second'].map((name) => `${name}-${scenarios}`);
    const [alias = '', first = '', second = ''] = refs;
    return {
      events: ingested(drafts, refs),
      customers: [
        { customerId: first, refs: [first, alias] },
        { customerId: second, refs: [second] },
        { customerId: `third-${scenarios}`, refs: [`third-${scenarios}`] },
      ],
    };
  });

/** Often with the empty text, which an absent property must not be taken for. */
const valueList = fc.uniqueArray(fc.constantFrom('', '', ...TEXTS), { minLength: 1, maxLength: 5 });

const propertyFilter: fc.Arbitrary<PropertyFilter> = fc.record({
  name: fc.constantFrom(...NAMES),
  exists: fc.constantFrom(null, null, null, true, false),
  inValues: fc.option(valueList, { freq: 1 }),
  notInValues: fc.option(valueList, { freq: 2 }),
});

const typeList = fc.uniqueArray(fc.constantFrom(...EVENT_TYPES, 'other'), { minLength: 1, maxLength: 2 });

let metrics = 0;

/** Every metric has its own id: what is known of the numbers of one does not meet another. */
export const streamingMetric: fc.Arbitrary<StreamingMetric> = fc
  .record({
    aggregation: fc.constantFrom(...AGGREGATIONS),
    numberName: fc.constantFrom(...NUMBER_NAMES),
    uniqueName: fc.constantFrom(...NAMES),
    eventTypeFilter: fc.option(
      fc.record({ inValues: fc.option(typeList), notInValues: fc.option(typeList, { freq: 1 }) }),
      { freq: 1 },
    ),
    propertyFilters: fc.oneof(fc.constant([]), fc.array(propertyFilter, { minLength: 1, maxLength: 2 })),
  })
  .map(({ aggregation, numberName, uniqueName, eventTypeFilter, propertyFilters }) => {
    metrics += 1;
    const key = aggregation === 'UNIQUE' ? uniqueName : numberName;
    const aggregationKey = aggregation === 'COUNT' ? null : key;
    const identity = {
      kind: 'streaming' as const,
      id: `metric-${metrics}`,
      name: 'Metric',
      archivedAt: null,
      groupKeys: [],
    };
    return { ...identity, aggregation, aggregationKey, eventTypeFilter, propertyFilters };
  });

export const groupBy: fc.Arbitrary<string[]> = fc.uniqueArray(fc.constantFrom(...TEXT_NAMES, 'amount'), {
  maxLength: 2,
});

/** Hour-aligned, sometimes in the middle of a day. */
export const range: fc.Arbitrary<Interval> = fc
  .tuple(fc.constantFrom(0, 0, 1, 23, 24), fc.constantFrom(48, 48, 47, 25, 24))
  .filter(([start, end]) => start < end)
  .map(([start, end]) => ({ start: PERIOD.start + start * HOUR_MS, end: PERIOD.start + end * HOUR_MS }));

export const boundaries: fc.Arbitrary<'hour' | readonly Instant[]> = fc.oneof(
  fc.constant('hour' as const),
  fc.constant([PERIOD.start + DAY_MS, PERIOD.end]),
  fc
    .uniqueArray(fc.integer({ min: 0, max: 48 }), { maxLength: 6 })
    .map((hours) => hours.map((hour) => PERIOD.start + hour * HOUR_MS)),
);
