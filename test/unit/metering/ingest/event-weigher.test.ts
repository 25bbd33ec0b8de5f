/** The quantities of new events, against a naive count by names. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashText } from '../../../../src/core/byte-hash.ts';
import type { NewUsage } from '../../../../src/core/event-quantities.ts';
import { createEventWeigher } from '../../../../src/metering/ingest/event-weigher.ts';
import { createEventReader } from '../../../../src/metering/ingest/validate-events.ts';

const NOW = Date.UTC(2026, 10, 10);
const names = { amounts: ['tokens', 'größe', 'rank'], shapes: ['model', 'region', 'rank'] };

interface SentEvent {
  readonly customer_id: string;
  readonly event_type: string;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
}

function told(
  events: readonly SentEvent[],
  watch: { isWatching(): boolean; isWatched(owner: number): boolean },
): NewUsage {
  const sent = events.map((event, index) => ({
    transaction_id: `id-${index}`,
    timestamp: new Date(NOW).toISOString(),
    ...event,
  }));
  const read = createEventReader().read(Buffer.from(JSON.stringify(sent)), { now: NOW, windowDays: 34 });
  if (!('rows' in read)) throw new Error(read.message);
  const weigh = createEventWeigher({ ...watch, names: () => names });
  return weigh(
    read.rows,
    events.map((_, index) => index),
  );
}

function weighed(
  events: readonly SentEvent[],
  isWatched = (_owner: number) => true,
): Map<string, Map<number, number>> {
  const usage = told(events, { isWatching: () => true, isWatched });
  const sums = new Map<string, Map<number, number>>();
  let start = 0;
  usage?.owners.forEach((owner, place) => {
    const ref = refOf(owner);
    const own = sums.get(ref) ?? new Map<number, number>();
    sums.set(ref, own);
    const end = usage.ends[place] ?? Number.NaN;
    for (; start < end; start += 1) {
      const kind = usage.kinds[start] ?? Number.NaN;
      own.set(kind, (own.get(kind) ?? 0) + (usage.amounts[start] ?? Number.NaN));
    }
  });
  return sums;
}

const refOf = (owner: number) => ['acme', 'globex', 'öl'].find((ref) => hashText(ref) === owner) ?? 'nobody';

function naive(events: readonly SentEvent[]): Map<string, Map<string, number>> {
  const usage = new Map<string, Map<string, number>>();
  for (const { customer_id, event_type, properties } of events) {
    const sums = usage.get(customer_id) ?? new Map<string, number>();
    usage.set(customer_id, sums);
    const shape = JSON.stringify([
      event_type,
      names.shapes.map((name) => properties[name] ?? null).map(String),
    ]);
    const add = (kind: string, amount: number) => sums.set(kind, (sums.get(kind) ?? 0) + amount);
    add(shape, 1);
    for (const name of names.amounts) {
      const value = properties[name];
      if (value === undefined) continue;
      const amount = typeof value === 'boolean' ? 0 : Math.abs(Number(value));
      add(`${shape} ${name}`, Number.isNaN(amount) ? 0 : amount);
    }
  }
  return usage;
}

const amount = fc.oneof(
  fc.integer({ min: -1_000_000, max: 1_000_000 }),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((thousandths) => thousandths / 1_000),
  fc.constantFrom('12', '-3.5', 'many', '', true),
);
const event: fc.Arbitrary<SentEvent> = fc.record({
  customer_id: fc.constantFrom('acme', 'globex', 'öl'),
  event_type: fc.constantFrom('call', 'image'),
  properties: fc.record(
    {
      model: fc.constantFrom('small', 'large'),
      tokens: amount,
      region: fc.constantFrom('eu', 'us'),
      größe: amount,
      rank: fc.constantFrom(1, 2),
      other: fc.string({ maxLength: 5 }),
    },
    { requiredKeys: [] },
  ),
});

const sorted = (sums: Iterable<number>) =>
  [...sums].map((sum) => Math.round(sum * 1_000)).toSorted((a, b) => a - b);

test('events are counted and their amounts added up by customer, type, and what prices look at', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), (events) => {
      const expected = naive(events);
      const found = weighed(events);
      expect([...found.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
      for (const [ref, sums] of expected) {
        expect(sorted(found.get(ref)?.values() ?? [])).toEqual(sorted(sums.values()));
      }
    }),
  );
});

test('events of one customer that follow each other are added up in one place', () => {
  const of = (customer_id: string) => ({ customer_id, event_type: 'call', properties: { tokens: 5 } });
  const sent = [...Array.from({ length: 50 }, () => of('acme')), of('globex'), of('acme')];
  const usage = told(sent, { isWatching: () => true, isWatched: () => true });
  expect(usage?.owners.map(refOf)).toEqual(['acme', 'globex', 'acme']);
  expect(usage?.ends).toEqual([2, 4, 6]);
  expect(usage?.amounts).toEqual([50, 250, 1, 5, 1, 5]);
});

test('a kind is the same in every request, whatever the order of the properties', () => {
  const one = { customer_id: 'acme', event_type: 'call' };
  const kinds = (properties: SentEvent['properties']) =>
    [
      ...(weighed([{ ...one, properties }])
        .get('acme')
        ?.keys() ?? []),
    ].toSorted();
  const known = kinds({ model: 'small', region: 'eu', tokens: 5 });
  expect(kinds({ tokens: 7, region: 'eu', model: 'small' })).toEqual(known);
  expect(kinds({ model: 'large', region: 'eu', tokens: 5 })).not.toEqual(known);
  expect(kinds({ model: 'eu', region: 'small', tokens: 5 })).not.toEqual(known);
});

test('of customers that nobody watches nothing is known', () => {
  const events = ['acme', 'globex'].map((customer_id) => ({
    customer_id,
    event_type: 'call',
    properties: { tokens: 5 },
  }));
  const usage = weighed(events, (owner) => owner === hashText('acme'));
  expect([...(usage.get('acme')?.values() ?? [])].toSorted()).toEqual([1, 5]);
  expect(usage.get('globex')?.size).toBe(0);
});

test('where nobody is watched events are not looked at', () => {
  const events = [{ customer_id: 'acme', event_type: 'call', properties: { tokens: 5 } }];
  const asked: number[] = [];
  const isWatched = (owner: number) => asked.push(owner) > 0;
  expect(told(events, { isWatching: () => false, isWatched })).toBeNull();
  expect(asked).toEqual([]);
  expect(told(events, { isWatching: () => true, isWatched })?.owners).toEqual([hashText('acme')]);
});

test('an amount beyond all bounds stays finite', () => {
  const events = [{ customer_id: 'acme', event_type: 'call', properties: { tokens: '1e999' } }];
  for (const sum of weighed(events).get('acme')?.values() ?? []) expect(Number.isFinite(sum)).toBe(true);
});
