import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, sum } from '../../../../src/core/decimal.ts';
import type { RecurringCommit } from '../../../../src/core/terms/recurring-commits.ts';
import type { SeatChange, Subscription } from '../../../../src/core/terms/subscriptions.ts';
import { recurringGrants, seatGrantsOf } from '../../../../src/rating/balances/recurring-grants.ts';
import { seatShares } from '../../../../src/rating/balances/seat-shares.ts';
import { seatAssignments } from '../../../../src/rating/quantities/seat-assignments.ts';
import { seatChangesFrom } from '../../../support/seat-changes.ts';
import { contractWith, recurringWith, subscriptionWith } from '../../core/terms/fixtures.ts';

const day = (text: string) => Date.parse(`2026-${text}T00:00:00Z`);
const text = (at: number) => (Number.isFinite(at) ? new Date(at).toISOString().slice(5, 10) : 'open');

const add = (at: string, seatId: string): SeatChange => ({
  ...{ startingAt: day(at), kind: 'ADD', seatId, count: null },
});
const remove = (at: string, seatId: string): SeatChange => ({ ...add(at, seatId), kind: 'REMOVE' });
const unassigned = (at: string, count: number): SeatChange => ({
  ...{ startingAt: day(at), kind: 'ADD_UNASSIGNED', seatId: null, count },
});

function seatsWith(seatChanges: readonly SeatChange[], change: Partial<Subscription> = {}): Subscription {
  return subscriptionWith({
    ...{ startingAt: day('01-01'), quantityManagementMode: 'SEAT_BASED', seatGroupKey: 'user' },
    ...{ seatChanges, ...change },
  });
}

function individual(change: Partial<RecurringCommit> = {}, prorateSeatIncreases = false): RecurringCommit {
  return recurringWith({
    startingAt: day('01-01'),
    accessAmount: { unitPrice: decimal('31'), quantity: null, creditTypeId: 'usd' },
    subscription: { subscriptionId: 'subscription', allocation: 'INDIVIDUAL', prorateSeatIncreases },
    ...change,
  });
}

/** The shares of January's child and of February's. */
function sharesOf(subscription: Subscription, term = individual()) {
  const { contract } = contractWith({ startingAt: day('01-01') });
  const children = recurringGrants(term, contract, [subscription], { at: day('01-15'), after: null });
  return children.map((child) => ({
    child,
    shares: seatShares(child, subscription, seatGrantsOf(child, term, contract, subscription)),
  }));
}

/** `seat amount start..end` of each share in January. */
function january(changes: readonly SeatChange[], term = individual(), times: Partial<Subscription> = {}) {
  const [first] = sharesOf(seatsWith(changes, times), term);
  return first?.shares.map(({ seatId, amount, access }) =>
    [seatId, amount.toString(), ...access.map(({ start, end }) => `${text(start)}..${text(end)}`)].join(' '),
  );
}

const [A, B] = [add('01-01', 'a'), add('01-01', 'b')];

describe('a share', () => {
  test.each<[string, SeatChange[], string[]]>([
    ['is for each seat when the period starts', [A, B], ['a 31 01-01..02-01', 'b 31 01-01..02-01']],
    [
      'of an unassigned seat is for the seat that takes it, from then on',
      [A, unassigned('01-01', 1), add('01-10', 'b')],
      ['a 31 01-01..02-01', 'b 31 01-10..02-01'],
    ],
    ['is nobody’s while the seat is unassigned', [A, unassigned('01-01', 5)], ['a 31 01-01..02-01']],
    [
      'of a seat that raises the quantity is its own',
      [A, add('01-11', 'b')],
      ['a 31 01-01..02-01', 'b 31 01-11..02-01'],
    ],
    [
      'rests while its seat is removed, and is the same afterwards',
      [A, remove('01-05', 'a'), add('01-10', 'a')],
      ['a 31 01-01..01-05 01-10..02-01'],
    ],
    [
      'is not given again to the seat that replaces a removed one',
      [A, remove('01-05', 'a'), add('01-05', 'b')],
      ['a 31 01-01..01-05'],
    ],
    [
      'is for the seat that raises the quantity above what it was',
      [A, remove('01-05', 'a'), add('01-05', 'b'), add('01-06', 'c')],
      ['a 31 01-01..01-05', 'c 31 01-06..02-01'],
    ],
    ['ends with the seat', [A, B, remove('01-20', 'b')], ['a 31 01-01..02-01', 'b 31 01-01..01-20']],
  ])('%s', (_, changes, expected) => {
    expect(january(changes)).toEqual(expected);
  });

  test('the share of a seat of an increase is prorated and rounded for one seat', () => {
    const accessRounding = { roundingMethod: 'FLOOR', decimalPlaces: 0 } as const;
    const accessAmount = { unitPrice: decimal('10'), quantity: null, creditTypeId: 'usd' };
    const term = individual({ accessAmount, accessRounding }, true);
    // 10 × 21/31 is 6.77.
    expect(january([A, add('01-11', 'b'), add('01-11', 'c')], term)).toEqual([
      'a 10 01-01..02-01',
      ...['b 6 01-11..02-01', 'c 6 01-11..02-01'],
    ]);
  });

  test('the share of a seat ends with its subscription', () => {
    expect(january([A], individual(), { endingBefore: day('01-20') })).toEqual(['a 31 01-01..01-20']);
  });

  test('the share of a seat of an edited segment is the same part for each seat', () => {
    const subscription = seatsWith([A, B, unassigned('01-01', 1)]);
    const [first] = sharesOf(subscription);
    const segments = first?.child.accessSchedule.segments.map((one) => ({ ...one, amount: decimal('100') }));
    const child = { ...first?.child, accessSchedule: { creditTypeId: 'usd', segments } } as never;
    const { contract } = contractWith({ startingAt: day('01-01') });
    const shares = seatShares(child, subscription, seatGrantsOf(child, individual(), contract, subscription));
    expect(shares.map(({ amount }) => amount.toString())).toEqual([
      '33.33333333333333333333',
      '33.33333333333333333333',
    ]);
  });
});

test('the seats of a period are those that its start has', () => {
  const [, february] = sharesOf(seatsWith([A, B, remove('01-05', 'a'), add('01-05', 'c')]));
  expect(february?.shares.map(({ seatId }) => seatId)).toEqual(['b', 'c']);
});

test('a seat that is removed and added at one instant stays assigned', () => {
  const subscription = seatsWith([A, remove('01-05', 'a'), add('01-05', 'a')]);
  expect(seatAssignments(subscription)).toEqual([
    { seatId: 'a', interval: { start: day('01-01'), end: Number.POSITIVE_INFINITY } },
  ]);
});

const HOURS = 24 * 31;
const changes = seatChangesFrom(day('01-01'), HOURS);

test('seats never have more than their segment grants, and none is granted twice', () => {
  fc.assert(
    fc.property(changes, fc.boolean(), (seatChanges, isProrated) => {
      for (const { child, shares } of sharesOf(seatsWith(seatChanges), individual({}, isProrated))) {
        expect(new Set(shares.map(({ seatId }) => seatId)).size).toBe(shares.length);
        for (const { id, amount } of child.accessSchedule.segments) {
          const own = shares.filter(({ segment }) => segment.id === id);
          expect(sum(own.map((one) => one.amount)).lte(amount)).toBe(true);
        }
        for (const { segment, access } of shares) {
          for (const { start, end } of access) {
            expect(segment.startingAt <= start && start < end && end <= segment.endingBefore).toBe(true);
          }
        }
      }
    }),
  );
});

test('a share of an increase stays when an earlier seat is removed in the past, so that it is none any more', () => {
  const granted = seatsWith([A, B, add('01-10', 'c')]);
  const [known] = sharesOf(granted);
  if (known === undefined) throw new Error('January has no child');
  const subscription = seatsWith([A, B, add('01-10', 'c'), remove('01-05', 'b')]);
  const { contract } = contractWith({ startingAt: day('01-01') });
  const now = seatGrantsOf(known.child, individual(), contract, subscription);
  const amounts = seatShares(known.child, subscription, now).map((one) => `${one.seatId} ${one.amount}`);
  expect(amounts).toEqual(['a 31', 'b 31', 'c 31']);
});
