/** When usage is evaluated, as the pace of evaluations has it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEvaluationPace, type EvaluationPace } from '../../../../src/billing/pace/evaluation-pace.ts';

const WAIT_MAX_MS = 10_000;
const LEARN_WAIT_MS = 500;
const newPace = (elapsedMs = () => 0) =>
  createEvaluationPace({ waitMaxMs: WAIT_MAX_MS, learnWaitMs: LEARN_WAIT_MS, elapsedMs });
const at = (left: number, unit: string | null = null) => new Map([['line', { left, unit }]]);
/** Kinds of quantities. */
const [EVENTS, TOKENS, IMAGES] = [1, 2, 3];
const events = (count: number): Quantities => new Map([[EVENTS, count]]);
/** One event. */
const tokens = (amount: number): Quantities =>
  new Map([
    [EVENTS, 1],
    [TOKENS, amount],
  ]);

/** By kind; empty: events of unknown quantities. */
type Quantities = ReadonlyMap<number, number>;
const UNKNOWN: Quantities = new Map();

/** New usage of the customer; returns within how many milliseconds it is to be evaluated. */
function use(pace: EvaluationPace, customerId: string, used: Quantities): number {
  const meter = pace.meterOf(customerId);
  for (const [kind, amount] of used) meter.add(kind, amount);
  return meter.waitMs(used.size > 0);
}

function evaluate(pace: EvaluationPace, lines: Parameters<EvaluationPace['found']>[1], customerId = 'a') {
  pace.begin([customerId]);
  pace.found(customerId, lines);
}

/** A customer whose usage has changed `changed` in all, and who is now `left` from the line. */
function measured({
  used,
  changed,
  left,
  unit = null,
}: {
  used: Quantities;
  changed: number;
  left: number;
  unit?: string | null;
}) {
  const pace = newPace();
  pace.found('a', at(left + changed, unit));
  use(pace, 'a', used);
  evaluate(pace, at(left, unit));
  return pace;
}

test('what is held is urgent when it reaches the line, also where it was granted during the evaluation before', () => {
  const pace = newPace();
  const meter = pace.meterOf('a');
  const hold = (amount: number, unit = 'cents') => meter.held?.(unit, amount);
  const line = (left: number, leftToHold: number) =>
    new Map([['line', { left, unit: 'cents', leftByUsage: left + 50, leftToHold }]]);
  expect(hold(1)).toBe(LEARN_WAIT_MS);
  evaluate(pace, line(100, 100));
  expect(hold(60)).toBe(Number.POSITIVE_INFINITY);
  expect(hold(1_000, 'euros')).toBe(Number.POSITIVE_INFINITY);
  expect(hold(40)).toBe(0);
  pace.begin(['a']);
  expect(hold(30)).toBe(Number.POSITIVE_INFINITY);
  pace.found('a', line(30, 30));
  expect(pace.waitAgainMs('a')).toBe(0);
  evaluate(pace, line(30, Number.POSITIVE_INFINITY));
  expect(pace.waitAgainMs('a')).toBe(Number.POSITIVE_INFINITY);
  expect(hold(1_000)).toBe(Number.POSITIVE_INFINITY);
});

test('what is held is urgent when it reaches the line exactly, also where floats add up to a little less', () => {
  const pace = newPace();
  const meter = pace.meterOf('a');
  expect(0.7 + 0.1).toBeLessThan(0.8);
  evaluate(pace, new Map([['line', { left: 0.8, unit: 'cents', leftByUsage: 1, leftToHold: 0.8 }]]));
  expect(meter.held?.('cents', 0.7)).toBe(Number.POSITIVE_INFINITY);
  expect(meter.held?.('cents', 0.1)).toBe(0);
});

test('what usage has changed is learned without what holds have changed', () => {
  const pace = newPace();
  const line = (left: number, leftByUsage: number) =>
    new Map([['line', { left, unit: 'cents', leftByUsage, leftToHold: left }]]);
  // 50 are held, and become one event of 50 tokens: nothing is nearer to the line than before.
  pace.found('a', line(50, 100));
  use(pace, 'a', tokens(50));
  evaluate(pace, line(50, 50));
  expect(use(pace, 'a', tokens(25))).toBe(0);
});

test('usage is urgent when twice what as much has changed before could cross the line', () => {
  const pace = newPace();
  expect(use(pace, 'a', events(1))).toBe(LEARN_WAIT_MS);
  evaluate(pace, at(1_000));
  // The first usage is learned from soon, however far the line is.
  expect(use(pace, 'a', events(10))).toBe(LEARN_WAIT_MS);
  evaluate(pace, at(900));
  // 10 of each event, 900 left: 45 events could be 900 if each were twice as much.
  expect(use(pace, 'a', events(9))).toBe(8_000);
  expect(use(pace, 'a', events(35))).toBeGreaterThan(0);
  expect(use(pace, 'a', events(1))).toBe(0);
});

test('a single event a thousand times as large as those before is urgent', () => {
  const pace = newPace();
  evaluate(pace, at(10_000));
  for (let sent = 0; sent < 10; sent += 1) use(pace, 'a', tokens(10));
  evaluate(pace, at(9_900));
  expect(use(pace, 'a', tokens(10))).toBeGreaterThan(9_900);
  expect(use(pace, 'a', tokens(9_500))).toBe(0);
});

test('usage of a kind that is new for the customer is learned from soon, and estimated from other customers', () => {
  const pace = newPace();
  evaluate(pace, at(1_000, 'cents'));
  use(pace, 'a', tokens(10));
  evaluate(pace, at(990, 'cents'));
  expect(use(pace, 'a', new Map([[IMAGES, 1]]))).toBe(LEARN_WAIT_MS);
  evaluate(pace, at(890, 'cents'));
  // Up to 110 cents an image, and ten times that for others.
  evaluate(pace, at(2_200, 'cents'), 'b');
  expect(use(pace, 'b', new Map([[IMAGES, 1]]))).toBe(5_000);
  expect(use(pace, 'b', new Map([[IMAGES, 1]]))).toBe(0);
  evaluate(pace, at(2_200, 'credits'), 'c');
  expect(use(pace, 'c', new Map([[IMAGES, 1]]))).toBe(LEARN_WAIT_MS);
});

test('usage that is free for one customer is evaluated soon for another one, to learn its cost', () => {
  const pace = newPace();
  for (let found = 0; found < 3; found += 1) {
    evaluate(pace, at(1_000, 'cents'));
    use(pace, 'a', events(1));
  }
  evaluate(pace, at(1_000, 'cents'), 'b');
  expect(use(pace, 'b', events(1))).toBe(LEARN_WAIT_MS);
});

test('a hundred customers are evaluated soon to learn from them, and others when one of them is', () => {
  const pace = newPace();
  const waits = Array.from({ length: 150 }, (_, index) => {
    evaluate(pace, at(1e6), `c${index}`);
    return use(pace, `c${index}`, events(1));
  });
  expect(waits.filter((ms) => ms === LEARN_WAIT_MS)).toHaveLength(100);
  expect(waits.slice(100).every((ms) => ms === WAIT_MAX_MS)).toBe(true);
  evaluate(pace, at(1e6), 'c0');
  expect(use(pace, 'c149', events(1))).toBe(LEARN_WAIT_MS);
});

test('customers whose evaluation does not come make room for others in the end', () => {
  let now = 0;
  const pace = newPace(() => now);
  for (let index = 0; index < 100; index += 1) use(pace, `gone${index}`, events(1));
  expect(use(pace, 'a', events(1))).toBe(WAIT_MAX_MS);
  now += WAIT_MAX_MS + 1;
  expect(use(pace, 'a', events(1))).toBe(LEARN_WAIT_MS);
});

test('usage that arrives while a customer is evaluated for the first time is judged by what is found', () => {
  const pace = measured({ used: events(10), changed: 100, left: 1e6, unit: 'cents' });
  expect(pace.waitAgainMs('a')).toBe(Infinity);
  for (const [customer, left, waitMs] of [
    ['far', 1e6, 9_999],
    ['near', 50, 0],
  ] as const) {
    pace.begin([customer]);
    expect(use(pace, customer, events(1))).toBe(LEARN_WAIT_MS);
    pace.found(customer, at(left, 'cents'));
    expect(pace.waitAgainMs(customer)).toBeCloseTo(waitMs);
  }
});

test('events of unknown quantities are learned from soon', () => {
  const pace = measured({ used: events(10), changed: 100, left: 1e6 });
  expect(use(pace, 'a', UNKNOWN)).toBe(LEARN_WAIT_MS);
});

test('events during an evaluation count for the next', () => {
  const pace = newPace();
  pace.found('a', at(1_000));
  use(pace, 'a', events(10));
  pace.begin(['a']);
  use(pace, 'a', events(40));
  pace.found('a', at(900));
  expect(use(pace, 'a', events(5))).toBe(0);
});

test('usage that changes nothing, or that no line is of, waits as long as usage may', () => {
  const pace = newPace();
  pace.found('a', at(1_000));
  for (let found = 0; found < 2; found += 1) {
    use(pace, 'a', events(10));
    evaluate(pace, at(1_000));
  }
  expect(use(pace, 'a', events(1_000_000))).toBe(WAIT_MAX_MS);
  pace.found('b', at(Number.POSITIVE_INFINITY));
  expect(use(pace, 'b', events(1_000_000))).toBe(WAIT_MAX_MS);
  pace.found('c', new Map());
  expect(use(pace, 'c', events(1_000_000))).toBe(WAIT_MAX_MS);
});

test('usage that the evaluation before has already seen does not make the next usage calm', () => {
  const pace = newPace();
  // The evaluation sees an event that is counted after it has begun.
  evaluate(pace, at(900));
  use(pace, 'a', events(10));
  evaluate(pace, at(900));
  expect(use(pace, 'a', events(1))).toBe(LEARN_WAIT_MS);
});

test('a balance that is filled up does not make the events that follow smaller', () => {
  const pace = measured({ used: events(10), changed: 100, left: 50 });
  use(pace, 'a', events(1));
  evaluate(pace, at(900));
  expect(use(pace, 'a', events(44))).toBeGreaterThan(0);
  expect(use(pace, 'a', events(1))).toBe(0);
});

test('prices that rise count from the first evaluation that finds them', () => {
  const pace = measured({ used: events(1_000), changed: 100, left: 1e6 });
  use(pace, 'a', events(10));
  evaluate(pace, at(1e6 - 1_000));
  expect(use(pace, 'a', events(5_000))).toBe(0);
});

test('of several lines the one that usage reaches first decides, and one that is gone does not', () => {
  const pace = newPace();
  const both = (near: number, far: number) => new Map([...at(near), ['slow', { left: far, unit: null }]]);
  for (const [near, far] of [
    [1_000, 100],
    [900, 99],
  ]) {
    use(pace, 'a', events(10));
    evaluate(pace, both(near ?? 0, far ?? 0));
  }
  expect(use(pace, 'a', events(45))).toBe(0);
  evaluate(pace, new Map([['slow', { left: 99, unit: null }]]));
  expect(use(pace, 'a', events(45))).toBeGreaterThan(0);
});

test('a line that is new is learned of, and then decides as others do', () => {
  const pace = measured({ used: events(10), changed: 100, left: 1e6 });
  const both = (far: number, near: number) => new Map([...at(far), ['new', { left: near, unit: null }]]);
  evaluate(pace, both(1e6, 500));
  expect(use(pace, 'a', events(1))).toBe(LEARN_WAIT_MS);
  evaluate(pace, both(1e6 - 10, 490));
  expect(use(pace, 'a', events(24))).toBeGreaterThan(0);
  expect(use(pace, 'a', events(1))).toBe(0);
});

const count = fc.integer({ min: 1, max: 10_000 });
const distance = fc.double({ min: 0, max: 1e9, noNaN: true });
const quantities: fc.Arbitrary<Quantities> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 80 }), fc.nat({ max: 1_000 })), { maxLength: 5 })
  .map((entries) => new Map(entries));
const histories = fc.array(fc.record({ used: quantities, left: fc.oneof(distance, fc.constant(Infinity)) }), {
  maxLength: 8,
});

function lived(history: readonly { readonly used: Quantities; readonly left: number }[]): EvaluationPace {
  const pace = newPace();
  pace.found('a', new Map());
  for (const { used, left } of history) {
    use(pace, 'a', used);
    evaluate(pace, at(left, 'cents'));
  }
  return pace;
}

test('usage never waits longer than the limit, whatever was found before', () => {
  fc.assert(
    fc.property(histories, quantities, (history, used) => {
      const waitMs = use(lived(history), 'a', used);
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThanOrEqual(WAIT_MAX_MS);
    }),
  );
});

test('a line that is reached makes all usage urgent, whatever was found before', () => {
  fc.assert(
    fc.property(
      histories,
      fc.double({ min: -1e9, max: 0, noNaN: true }),
      quantities,
      (history, left, used) => {
        const pace = lived(history);
        pace.found('a', at(left));
        expect(use(pace, 'a', used)).toBe(0);
      },
    ),
  );
});

test('the nearer the line, and the more usage, the sooner the evaluation', () => {
  fc.assert(
    fc.property(count, count, distance, distance, count, count, (used, changed, one, other, first, more) => {
      const [near, far] = [Math.min(one, other), Math.max(one, other)];
      const wait = (left: number, now: number) =>
        use(measured({ used: events(used), changed, left }), 'a', events(now));
      expect(wait(near, first)).toBeLessThanOrEqual(wait(far, first));
      expect(wait(far, first + more)).toBeLessThanOrEqual(wait(far, first));
    }),
  );
});

/** Up to eight kinds of quantities, each at a separate price; the price may rise, and double at most. */
const KINDS = 8;
const prices = fc.array(fc.nat({ max: 1_000 }), { minLength: KINDS, maxLength: KINDS });
const rise = fc.double({ min: 1, max: 1.9, noNaN: true });
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      amounts: fc.array(fc.nat({ max: 100_000 }), { minLength: KINDS, maxLength: KINDS }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('evaluate' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fill' as const), amount: fc.nat({ max: 1e9 }) }) },
);

test('usage that has crossed a line is evaluated at once where prices are linear, and where a kind is new soon', () => {
  fc.assert(
    fc.property(
      prices,
      rise,
      fc.array(step, { maxLength: 30 }),
      fc.nat({ max: 1e9 }),
      (prices, rise, steps, start) => {
        const pace = newPace();
        const seen = new Set<number>();
        let left = start + 1;
        let evaluatedAt = left;
        let pending = new Set<number>();
        let price = 1;
        evaluate(pace, at(left));
        for (const one of steps) {
          if (one.do === 'use') {
            const used = new Map(
              one.amounts.flatMap((amount, kind) => (amount === 0 ? [] : [[kind + 1, amount]])),
            );
            if (used.size === 0) continue;
            for (const [kind, amount] of used) {
              left -= amount * (prices[kind - 1] ?? 0) * price;
              pending.add(kind);
            }
            const wait = use(pace, 'a', used);
            const isNew = [...pending].some((kind) => !seen.has(kind));
            if (left <= 0) expect(wait).toBeLessThanOrEqual(isNew ? LEARN_WAIT_MS : 0);
          } else {
            const hasFallen = left < evaluatedAt;
            evaluate(pace, at(left));
            if (hasFallen) for (const kind of pending) seen.add(kind);
            pending = new Set();
            if (one.do === 'fill') {
              left += one.amount;
              price = rise;
              evaluate(pace, at(left));
            }
            evaluatedAt = left;
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});
