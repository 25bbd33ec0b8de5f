/** Usage that is held back, against a pace that receives each event. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEvaluationPace } from '../../../../src/billing/pace/evaluation-pace.ts';
import { hashText } from '../../../../src/core/byte-hash.ts';
import type { UsageMeter, WeighedUsage } from '../../../../src/core/event-quantities.ts';
import { createQuietUsage } from '../../../../src/jobs/evaluations/quiet-usage.ts';
import type { WatchedCustomer } from '../../../../src/jobs/evaluations/watch-list.ts';
import { ALWAYS_AT_ONCE, createWatchedUsage } from '../../../../src/jobs/evaluations/watched-usage.ts';

const WAIT_MAX_MS = 10_000;
const LEARN_WAIT_MS = 500;
/** Usage that is held back is late by this share of the longest wait. */
const LATE_MS = WAIT_MAX_MS / 16 + 1e-6;
const newPace = () =>
  createEvaluationPace({ waitMaxMs: WAIT_MAX_MS, learnWaitMs: LEARN_WAIT_MS, elapsedMs: () => 0 });

/** One event of each reference, with one quantity of 1 and further ones. */
function eventOf(ref: string, ...quantities: readonly (readonly [kind: number, amount: number])[]) {
  return { ref, quantities };
}

function weighed(events: readonly ReturnType<typeof eventOf>[]): WeighedUsage {
  const quantities = events.flatMap((event) => event.quantities);
  let end = 0;
  return {
    owners: events.map(({ ref }) => hashText(ref)),
    ends: events.map((event) => {
      end += event.quantities.length;
      return end;
    }),
    kinds: quantities.map(([kind]) => kind),
    amounts: quantities.map(([, amount]) => amount),
  };
}

function customer(
  id: string,
  refs: readonly string[],
  meter: UsageMeter,
  marks: number[] = [],
): WatchedCustomer {
  return {
    id,
    refs,
    evaluators: new Set(['any']),
    meters: [meter],
    mark: (withinMs) => marks.push(withinMs),
  };
}

/** The usage that it received, by kind. */
function recorder(room = Number.POSITIVE_INFINITY) {
  const sums = new Map<number, number>();
  const meter: UsageMeter = {
    add: (kind, amount) => sums.set(kind, (sums.get(kind) ?? 0) + amount),
    waitMs: () => 1,
    room: () => room,
  };
  return { sums, meter };
}

const [KINDS, REFS] = [3, ['acme', 'acme-eu', 'acme-us']];
const amounts = fc.array(fc.nat({ max: 20 }), { minLength: KINDS, maxLength: KINDS });
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      ref: fc.nat({ max: REFS.length - 1 }),
      amounts,
      times: fc.nat({ max: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('evaluate' as const),
      /** Usage that arrives meanwhile. */
      meanwhile: fc.nat({ max: 5 }),
      filled: fc.oneof(fc.constant(0), fc.nat({ max: 1_000_000 })),
    }),
  },
);
const prices = fc.array(fc.nat({ max: 10 }), { minLength: KINDS, maxLength: KINDS });

/** A pace that receives each event, and one that receives usage that is not held back. */
function bothPaces() {
  const [naive, held] = [newPace(), newPace()];
  const marks: number[] = [];
  const watched = createWatchedUsage();
  watched.replace([], [customer('a', REFS, held.meterOf('a'), marks)]);
  let soonest = Infinity;
  const compare = (waitMs: number) => {
    soonest = Math.min(soonest, waitMs);
    const mark = Math.min(...marks);
    if (waitMs === 0) expect(mark).toBe(0);
    expect(mark).toBeLessThanOrEqual(soonest + LATE_MS);
  };
  return {
    use(ref: string, quantities: readonly (readonly [number, number])[]) {
      if (quantities.length === 0) return;
      const meter = naive.meterOf('a');
      for (const [kind, amount] of quantities) meter.add(kind, amount);
      watched.tell(weighed([eventOf(ref, ...quantities)]));
      compare(meter.waitMs(true));
    },
    begin() {
      watched.catchUp(['a']);
      for (const pace of [naive, held]) pace.begin(['a']);
      // The marks from before have led to this evaluation.
      marks.length = 0;
      soonest = Infinity;
    },
    end(left: number) {
      for (const pace of [naive, held]) pace.found('a', new Map([['line', { left, unit: 'cents' }]]));
      watched.catchUp(['a']);
      const again = naive.waitAgainMs('a');
      expect(held.waitAgainMs('a')).toBeCloseTo(again, 3);
      if (!Number.isFinite(again)) return;
      marks.push(held.waitAgainMs('a'));
      compare(again);
    },
  };
}

test('usage that is held back is urgent with the event with which it would be, and hardly later otherwise', () => {
  fc.assert(
    fc.property(
      prices,
      fc.nat({ max: 100_000 }),
      fc.array(step, { maxLength: 40 }),
      (prices, start, steps) => {
        const paces = bothPaces();
        let left = start;
        const use = (ref: string, used: readonly number[]) => {
          const quantities = used.flatMap((amount, kind) =>
            amount === 0 ? [] : [[kind + 1, amount] as const],
          );
          for (const [kind, amount] of quantities) left -= amount * (prices[kind - 1] ?? 0);
          paces.use(ref, quantities);
        };
        for (const one of steps) {
          if (one.do === 'use') {
            for (let sent = 0; sent < one.times; sent += 1) use(REFS[one.ref] ?? '', one.amounts);
            continue;
          }
          left += one.filled;
          const found = left;
          paces.begin();
          for (let sent = 0; sent < one.meanwhile; sent += 1) use('acme', [1, 1, 1]);
          paces.end(found);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('usage whose worth only other customers tell is held back, and urgent where they would have crossed the line', () => {
  const TOKENS = 1;
  const pace = newPace();
  const at = (left: number) => new Map([['line', { left, unit: 'cents' }]]);
  pace.found('known', at(1_000));
  pace.meterOf('known').add(TOKENS, 10);
  pace.begin(['known']);
  // A cent for each token, and ten times that is expected of others.
  pace.found('known', at(990));
  pace.found('new', at(1_000_000));
  const marks: number[] = [];
  let told = 0;
  const meter = pace.meterOf('new');
  const counted: UsageMeter = {
    add: (kind, amount) => {
      told += 1;
      meter.add(kind, amount);
    },
    waitMs: (isKnown) => meter.waitMs(isKnown),
    room: (kind) => meter.room(kind),
  };
  const watched = createWatchedUsage();
  watched.replace([], [customer('new', ['new'], counted, marks)]);
  for (let sent = 1; sent < 1_000; sent += 1) watched.tell(weighed([eventOf('new', [TOKENS, 100])]));
  expect(Math.min(...marks)).toBeGreaterThan(0);
  watched.tell(weighed([eventOf('new', [TOKENS, 100])]));
  expect(Math.min(...marks)).toBe(0);
  expect(told).toBeLessThan(100);
});

test('all held-back usage is reported once, whatever the number of customers and kinds', () => {
  const use = fc.record({
    customer: fc.nat({ max: 400 }),
    kind: fc.nat({ max: 8 }),
    amount: fc.nat({ max: 10 }),
    told: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(use, { maxLength: 3_000, size: 'max' }), (uses) => {
      const sums = new Map<string, number>();
      const add = (id: string, kind: number, amount: number) =>
        sums.set(`${id} ${kind}`, (sums.get(`${id} ${kind}`) ?? 0) + amount);
      const quiet = createQuietUsage(add);
      const expected = new Map<string, number>();
      for (const { customer: owner, kind, amount, told } of uses) {
        const id = `customer-${owner}`;
        expected.set(`${id} ${kind}`, (expected.get(`${id} ${kind}`) ?? 0) + amount);
        if (!quiet.hold(owner, kind, amount)) {
          quiet.flushKind(id, kind);
          add(id, kind, amount);
          quiet.allow(id, { owner, kind }, 25);
        }
        if (told) quiet.flush(id);
      }
      quiet.flushAll();
      expect(sums).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

test('nothing is held back beyond its room, or after its customer was reported', () => {
  const told: number[] = [];
  const quiet = createQuietUsage((_id, _kind, amount) => told.push(amount));
  expect(quiet.hold(1, 1, 1)).toBe(false);
  quiet.allow('a', { owner: 1, kind: 1 }, 10);
  expect([quiet.hold(1, 1, 6), quiet.hold(1, 2, 1), quiet.hold(2, 1, 1), quiet.hold(1, 1, 4)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(quiet.hold(1, 1, 3)).toBe(true);
  quiet.flush('a');
  expect(told).toEqual([9]);
  expect(quiet.hold(1, 1, 1)).toBe(false);
});

test('two customers whose references have one hash both receive the usage of either, at once', () => {
  const [one, other] = referencesWithOneHash();
  const [first, second] = [recorder(), recorder()];
  const watched = createWatchedUsage();
  watched.replace([], [customer('a', [one], first.meter), customer('b', [other], second.meter)]);
  for (const ref of [one, other]) watched.tell(weighed([eventOf(ref, [1, 5])]));
  expect([first.sums.get(1), second.sums.get(1)]).toEqual([10, 10]);
  watched.replace(['a'], []);
  watched.tell(weighed([eventOf(one, [1, 5])]));
  expect([first.sums.get(1), second.sums.get(1)]).toEqual([10, 15]);
});

/** About a hundred thousand texts have two with one hash of 32 bits. */
function referencesWithOneHash(): readonly [string, string] {
  const refs = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const ref = `customer-${number}`;
    const other = refs.get(hashText(ref));
    if (other !== undefined) return [other, ref];
    refs.set(hashText(ref), ref);
  }
}

test('held-back usage of an alias stays with the customer that had it, and later usage is of the other', () => {
  const [first, second] = [recorder(), recorder()];
  const watched = createWatchedUsage();
  watched.replace([], [customer('a', ['a', 'alias'], first.meter), customer('b', ['b'], second.meter)]);
  const use = () => watched.tell(weighed([eventOf('alias', [1, 5])]));
  use();
  use();
  expect(first.sums.get(1)).toBe(5);
  watched.replace(['b'], [customer('b', ['b', 'alias'], second.meter)]);
  expect(first.sums.get(1)).toBe(10);
  use();
  use();
  watched.catchUp(['a', 'b']);
  expect([first.sums.get(1), second.sums.get(1)]).toEqual([10, 10]);
});

test('when all are replaced, those that have not changed continue, and the others are reported and forgotten', async () => {
  const [first, second, third] = [recorder(), recorder(), recorder()];
  const [a, b] = [customer('a', ['a', 'a-eu'], first.meter), customer('b', ['b'], second.meter)];
  const watched = createWatchedUsage();
  await watched.replaceAll([a, b]);
  const use = () => watched.tell(weighed(['a', 'a-eu', 'b', 'c'].map((ref) => eventOf(ref, [1, 5]))));
  use();
  use();
  const sums = () => [first, second, third].map((one) => one.sums.get(1));
  // Usage under one reference after the other is reported.
  expect(sums()).toEqual([20, 5, undefined]);
  const changed = customer('a', ['a'], first.meter);
  await watched.replaceAll([changed, customer('c', ['c'], third.meter)]);
  expect([...watched.list.customerIds()].toSorted()).toEqual(['a', 'c']);
  expect(watched.list.get('a')).toBe(changed);
  expect(sums()).toEqual([20, 10, undefined]);
  use();
  await watched.replaceAll([customer('a', ['a'], first.meter), customer('c', ['c'], third.meter)]);
  expect(watched.list.get('a')).toBe(changed);
  expect(sums()).toEqual([25, 10, 5]);
});

test('a customer that came to be watched after its events were looked at is marked, and others are not', () => {
  const marks: number[] = [];
  const watched = createWatchedUsage();
  watched.replace([], [customer('a', ['a'], ALWAYS_AT_ONCE, marks)]);
  watched.tell(weighed([eventOf('a'), eventOf('nobody'), eventOf('b', [1, 5])]));
  expect(marks).toEqual([0]);
});

test('usage that may change anything is marked with each event', () => {
  const marks: number[] = [];
  const watched = createWatchedUsage();
  watched.replace([], [customer('a', ['a'], ALWAYS_AT_ONCE, marks)]);
  for (let sent = 0; sent < 3; sent += 1) watched.tell(weighed([eventOf('a', [1, 1])]));
  expect(marks).toEqual([0, 0, 0]);
});
