/**
 * The state of customers who share balances (src/rating/holds/family-state.ts), under events in any order that a process
 * may send. Beside it stands a world that knows everything: the balance, all usage, and the holds that are stored.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type Decimal, decimal, ZERO } from '../../src/core/decimal.ts';
import type { AccountSeen, Hold } from '../../src/core/hold.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import type { BookedBucket } from '../../src/rating/balances/balance-book.ts';
import type { ChargeClass } from '../../src/rating/holds/charged-slot.ts';
import {
  activeHolds,
  decide,
  type FamilyEvent,
  type FamilyState,
  holdOf,
  pendingUsage,
  reduce,
  unevaluated,
} from '../../src/rating/holds/family-state.ts';
import type { Evaluation, HeldEvent } from '../../src/rating/holds/family-view.ts';
import type { HoldPart } from '../../src/rating/holds/hold-book.ts';
import { wholePeriod } from '../../src/rating/periods/billing-periods.ts';
import { runs } from '../support/shares-of-tests.ts';

type State = FamilyState<Evaluation>;
type Event = FamilyEvent<Evaluation>;

const CUSTOMER = 'customer';
const CHARGE: ChargeClass = {
  ...{ key: 'tokens', periods: [], creditTypeId: USD_CENTS.id, segmentIds: ['segment'] },
};

const partsOf = (tokens: number): HoldPart[] => [{ charge: CHARGE, amount: decimal(String(tokens)) }];
const tokensOf = (event: HeldEvent) => Number(event.properties.get('tokens'));

interface Found {
  readonly left: number;
  readonly countedUpTo: number | null;
  readonly account: AccountSeen;
  readonly holds: readonly Hold[];
  readonly hour: number;
}

function evaluationOf({ left, countedUpTo, account, holds, hour }: Found): Evaluation {
  const bucket: BookedBucket = {
    ...{ id: 'commit', recurringId: null, segmentId: 'segment', commitType: 'PREPAID', name: 'Prepaid' },
    ...{ creditTypeId: USD_CENTS.id, rateType: 'LIST_RATE', contractIds: null, source: null },
    applicability: { productIds: [], productTags: [], specifiers: [] },
    access: wholePeriod({ start: 0, end: 10 * HOUR_MS }),
    left: decimal(String(left)),
  };
  return {
    evaluated: {
      ...{ countedUpTo, holds, seen: [account], limits: [], drawn: [], buckets: [bucket] },
      ...{ validFrom: hour * HOUR_MS, validUntil: (hour + 1) * HOUR_MS },
    },
    terms: () => account.changes,
    partsOfEvent: (_, event) => partsOf(tokensOf(event)),
    partsOfHold: ({ amount }) => partsOf(Number(amount.toFixed())),
  };
}

function usageOf(id: string, tokens: number, ingestedBefore: number): Event {
  const properties = new Map([['tokens', String(tokens)]]);
  const event: HeldEvent = { eventType: 'use', timestamp: 0, properties };
  const usage = { id, customerId: CUSTOMER, event, ingestedBefore, isStored: false };
  return { kind: 'used', usage, parts: partsOf(tokens) };
}

function holdWith(id: string, tokens: number): Hold {
  return {
    ...{ id, customerId: CUSTOMER, transactionId: `of ${id}`, contentHash: '', eventType: null },
    ...{ properties: null, timestamp: 0, amount: decimal(String(tokens)), creditTypeId: USD_CENTS.id },
    ...{ remaining: null, status: 'active', settledAmount: null, createdAt: 0, expiresAt: 1, endedAt: null },
    payers: null,
  };
}

/** The room that is left; null: nothing is known, because the family has to be evaluated. */
function roomOf(state: State): string | null {
  return state.isStale ? null : (decide(state, 'asked', partsOf(0)).remaining ?? ZERO).toFixed();
}

function readingOf(state: State) {
  return {
    room: roomOf(state),
    pending: [...pendingUsage(state).values()].map(({ id, isStored }) => `${id} ${isStored}`).sort(),
    holds: [...activeHolds(state).values()].map(({ hold, isStored }) => `${hold.id} ${isStored}`).sort(),
  };
}

/** A process beside the stores, which know everything. */
function createWorld(balance: number) {
  const stored = new Map<string, Hold>();
  let used = 0;
  let total = balance;
  let account: AccountSeen = { customerId: CUSTOMER, version: 0, usageMark: 0, changes: '0', prices: '' };
  let moment = 0;
  let hour = 0;
  const found = (of: number, isKnown = true): Found => {
    const countedUpTo = isKnown ? moment : null;
    return { left: total - used, countedUpTo, account, holds: [...stored.values()], hour: of };
  };
  let state: State = unevaluated(evaluationOf({ ...found(0), left: 0, holds: [] }));
  let running: (Event & { readonly kind: 'evaluated' }) | null = null;
  const states: { readonly state: State; readonly reading: ReturnType<typeof readingOf> }[] = [];
  const held = () => [...stored.values()].reduce((sum, { amount }) => sum + Number(amount.toFixed()), 0);
  const send = (event: Event) => {
    state = reduce(state, event);
  };
  const changeAccount = () => {
    account = { ...account, version: account.version + 1 };
  };
  const written = (holds: readonly Hold[]) =>
    send({ kind: 'written', accounts: new Map([[CUSTOMER, account]]), holds });
  const isAsSeen = () => {
    const seen = state.accounts.get(CUSTOMER);
    return seen?.version === account.version && seen.changes === account.changes;
  };
  const picked = (at: number) => [...stored.values()][at % Math.max(1, stored.size)];

  const actions: Record<string, (tokens: number, pick: number) => void> = {
    use(tokens) {
      moment += 1;
      used += tokens;
      send(usageOf(`usage ${moment}`, tokens, moment));
      // Sent twice, it counts once.
      send(usageOf(`usage ${moment}`, tokens, moment));
    },
    store() {
      send({ kind: 'stored', usageIds: [...pendingUsage(state).keys()] });
    },
    settle(tokens, pick) {
      const hold = picked(pick);
      if (hold === undefined) return;
      send({ kind: 'ended', holdId: hold.id });
      actions.use?.(tokens, pick);
      stored.delete(hold.id);
      changeAccount();
      written([]);
    },
    release(_, pick) {
      const hold = picked(pick);
      if (hold === undefined) return;
      stored.delete(hold.id);
      changeAccount();
      written([]);
      send({ kind: 'ended', holdId: hold.id });
    },
    reserve(tokens) {
      if (state.isStale) return;
      moment += 1;
      const hold = holdWith(`hold ${moment}`, tokens);
      const before = roomOf(state);
      if (decide(state, hold.id, partsOf(tokens)).reason !== null) return;
      send({ kind: 'granted', hold, parts: partsOf(tokens) });
      if (isAsSeen()) {
        stored.set(hold.id, hold);
        changeAccount();
        written([hold]);
        if (tokens > 0) expect(used + held()).toBeLessThanOrEqual(total);
        return;
      }
      // The fence has refused it: it gives back what it took.
      send({ kind: 'ended', holdId: hold.id });
      expect(roomOf(state)).toBe(before);
      send({ kind: 'overtaken' });
    },
    'another process reserves'(tokens) {
      moment += 1;
      if (used + held() + tokens > total) return;
      stored.set(`hold ${moment}`, holdWith(`hold ${moment}`, tokens));
      changeAccount();
    },
    'top up'(tokens) {
      total += tokens;
      account = { ...account, changes: `${account.changes} ${moment}` };
    },
    'begin evaluation'(_, pick) {
      const isAhead = pick % 4 === 0 && !state.isStale;
      const isKnown = isAhead || pick % 4 !== 1;
      const stores = [...pendingUsage(state).keys()];
      running = {
        ...{ kind: 'evaluated', begunAt: moment, counted: stores, isAhead },
        evaluation: evaluationOf(found(isAhead ? hour + 1 : hour, isKnown)),
      };
    },
    'end evaluation'() {
      if (running === null) return;
      send(running);
      running = null;
    },
    'next hour'() {
      hour += 1;
      running = null;
      send({ kind: 'hour begun', now: hour * HOUR_MS });
      if (hour * HOUR_MS >= state.current.evaluation.evaluated.validUntil) send({ kind: 'overtaken' });
    },
  };
  return {
    do(kind: string, tokens: number, pick: number) {
      actions[kind]?.(tokens, pick);
      states.push({ state, reading: readingOf(state) });
    },
    state: () => state,
    states,
    /** The room that is left, if nobody else has changed anything since the process has looked. */
    left: () => (isAsSeen() ? Math.max(0, total - used - held()) : null),
  };
}

const kinds = {
  ...{ use: 4, store: 1, settle: 2, release: 2, reserve: 6, 'another process reserves': 1, 'top up': 1 },
  ...{ 'begin evaluation': 4, 'end evaluation': 4, 'next hour': 1 },
};
const step = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind) })),
  ),
  tokens: fc.integer({ min: 0, max: 9 }),
  pick: fc.nat(30),
});
const steps = fc.array(step, { minLength: 1, maxLength: 60 });

test('a state leaves exactly the room that all usage and holds leave, and no grant takes more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), steps, (balance, asked) => {
      const world = createWorld(balance);
      for (const { kind, tokens, pick } of [
        { kind: 'begin evaluation', tokens: 0, pick: 2 },
        { kind: 'end evaluation', tokens: 0, pick: 2 },
        ...asked,
      ]) {
        world.do(kind, tokens, pick);
        const left = world.left();
        if (left !== null && !world.state().isStale) expect(roomOf(world.state())).toBe(String(left));
      }
    }),
    { numRuns: runs(1_000) },
  );
});

test('a state reads the same after every later event, in whatever order states are read', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 }),
      steps,
      fc.infiniteStream(fc.nat(100)),
      (balance, asked, at) => {
        const world = createWorld(balance);
        world.do('begin evaluation', 0, 2);
        world.do('end evaluation', 0, 2);
        for (const { kind, tokens, pick } of asked) world.do(kind, tokens, pick);
        for (const place of at.take(30)) {
          const one = world.states[place % world.states.length];
          if (one !== undefined) expect(readingOf(one.state)).toEqual(one.reading);
        }
      },
    ),
    { numRuns: runs(300) },
  );
});

/** An evaluation of 1,000 tokens, up to the fifth event. */
const EVALUATED: Event = {
  ...{ kind: 'evaluated', begunAt: 1, counted: [], isAhead: false },
  evaluation: evaluationOf({
    ...{ left: 1_000, countedUpTo: 5, holds: [], hour: 0 },
    account: { customerId: CUSTOMER, version: 0, usageMark: 0, changes: '', prices: '' },
  }),
};

test('usage, grants and ends of different events lead to one state in every order', () => {
  const usage = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 8 });
  const holds = fc.array(fc.record({ tokens: fc.integer({ min: 0, max: 9 }), ends: fc.boolean() }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(
      usage,
      holds,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (used, held, order) => {
        const events = used.map((tokens, index) => usageOf(`usage ${index}`, tokens, index + 6));
        const granted = held.map(({ tokens }, index): Event => {
          return { kind: 'granted', hold: holdWith(`hold ${index}`, tokens), parts: partsOf(tokens) };
        });
        const mixed = [...events, ...granted, EVALUATED]
          .map((event) => ({ event, place: order.next().value ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ event }) => event);
        const ends = held.flatMap(({ ends: hasEnded }, index): Event[] =>
          hasEnded ? [{ kind: 'ended', holdId: `hold ${index}` }] : [],
        );
        const begin = reduce(unevaluated(EVALUATED.evaluation), EVALUATED);
        const straight = [...events, ...granted, EVALUATED, ...ends].reduce(reduce<Evaluation>, begin);
        const other = [...mixed, ...ends.reverse()].reduce(reduce<Evaluation>, begin);
        expect(readingOf(other).room).toBe(readingOf(straight).room);
        expect(readingOf(other).holds).toEqual(readingOf(straight).holds);
      },
    ),
    { numRuns: runs(300) },
  );
});

test('an evaluation that ends again, or was overtaken by usage, counts no usage twice', () => {
  const begin = reduce(unevaluated(EVALUATED.evaluation), EVALUATED);
  const usageAt = (moment: number) => usageOf(`usage ${moment}`, 10, moment);
  const events: Event[] = [usageAt(5), usageAt(6), EVALUATED, EVALUATED, usageAt(6)];
  const state = events.reduce(reduce<Evaluation>, begin);
  expect(roomOf(state)).toBe('990');
  expect([...pendingUsage(state).keys()]).toEqual(['usage 6']);
  expect(holdOf(state, 'of hold 1')).toBeNull();
});

const sumOf = (amounts: readonly Decimal[]) => amounts.reduce((total, one) => total.plus(one), ZERO);

test('an ended hold gives back exactly what it took, and ends once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 9 }), (asked) => {
      let state = reduce(unevaluated(EVALUATED.evaluation), EVALUATED);
      const granted: Hold[] = [];
      for (const [index, tokens] of asked.entries()) {
        const hold = holdWith(`hold ${index}`, tokens);
        if (!decide(state, hold.id, partsOf(tokens)).granted) continue;
        state = reduce(state, { kind: 'granted', hold, parts: partsOf(tokens) });
        granted.push(hold);
      }
      expect(roomOf(state)).toBe(
        decimal('1000')
          .minus(sumOf(granted.map(({ amount }) => amount)))
          .toFixed(),
      );
      for (const { id } of [...granted, ...granted]) state = reduce(state, { kind: 'ended', holdId: id });
      expect(roomOf(state)).toBe('1000');
    }),
    { numRuns: runs(200) },
  );
});
