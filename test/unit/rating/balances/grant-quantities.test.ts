import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal, sum, ZERO } from '../../../../src/core/decimal.ts';
import type { RecurringCommit } from '../../../../src/core/terms/recurring-commits.ts';
import type { Subscription } from '../../../../src/core/terms/subscriptions.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { quantitiesIn, quantitiesOf } from '../../../../src/rating/balances/grant-quantities.ts';
import { recurringGrants } from '../../../../src/rating/balances/recurring-grants.ts';
import { contractWith, recurringWith, subscriptionWith } from '../../core/terms/fixtures.ts';

const day = (text: string) => Date.parse(`2026-${text}T00:00:00Z`);

function quantityAt(startingAt: number, quantity: string): Subscription['quantityChanges'][number] {
  return { startingAt, quantity: decimal(quantity), quantityDelta: null };
}

function pooled(change: Partial<RecurringCommit> = {}, isProrated = false): RecurringCommit {
  return recurringWith({
    startingAt: day('01-01'),
    accessAmount: { unitPrice: decimal('31'), quantity: null, creditTypeId: 'usd' },
    subscription: { subscriptionId: 'subscription', allocation: 'POOLED', prorateSeatIncreases: isProrated },
    ...change,
  });
}

/** `start amount` of each segment of the children that January and February have. */
function granted(
  term: RecurringCommit,
  changes: Subscription['quantityChanges'],
  times: Partial<Subscription> = {},
): string[][] {
  const { contract } = contractWith({ startingAt: day('01-01') });
  const subscription = subscriptionWith({ startingAt: day('01-01'), quantityChanges: changes, ...times });
  const children = recurringGrants(term, contract, [subscription], { at: day('01-15'), after: null });
  return children.map(({ accessSchedule }) =>
    accessSchedule.segments.map(
      ({ startingAt, amount }) => `${new Date(startingAt).toISOString().slice(5, 10)} ${amount.toString()}`,
    ),
  );
}

test('a period grants the price times the quantity when it starts', () => {
  expect(granted(pooled(), [quantityAt(day('01-01'), '5'), quantityAt(day('02-01'), '2')])).toEqual([
    ['01-01 155'],
    ['02-01 62'],
  ]);
});

test.each([
  [false, '01-11 62'],
  [true, '01-11 42'],
])('an increase adds its own amount from then on; prorated: %s', (isProrated, added) => {
  const changes = [quantityAt(day('01-01'), '5'), quantityAt(day('01-11'), '7')];
  expect(granted(pooled({}, isProrated), changes)).toEqual([['01-01 155', added], ['02-01 217']]);
});

test('a prorated increase is rounded like the term, a whole one is not', () => {
  const rounding = { roundingMethod: 'FLOOR', decimalPlaces: -1 } as const;
  const changes = [quantityAt(day('01-01'), '5'), quantityAt(day('01-11'), '7')];
  expect(granted(pooled({ accessRounding: rounding }, true), changes)[0]).toEqual(['01-01 155', '01-11 40']);
  expect(granted(pooled({ accessRounding: rounding }), changes)[0]).toEqual(['01-01 155', '01-11 62']);
});

test('a decrease takes nothing back in its period, and what it took is not granted again', () => {
  const changes = [
    quantityAt(day('01-01'), '5'),
    quantityAt(day('01-05'), '2'),
    quantityAt(day('01-10'), '5'),
    quantityAt(day('01-20'), '6'),
    quantityAt(day('01-25'), '1'),
  ];
  expect(granted(pooled(), changes)).toEqual([['01-01 155', '01-20 31'], ['02-01 31']]);
});

test('before the subscription starts and after it has ended nothing is granted', () => {
  const changes = [quantityAt(day('01-01'), '5')];
  expect(granted(pooled(), changes, { endingBefore: day('01-20') })).toEqual([['01-01 155'], ['02-01 0']]);
  expect(granted(pooled(), [quantityAt(day('01-10'), '5')], { startingAt: day('01-10') })).toEqual([
    ['01-01 0', '01-10 155'],
    ['02-01 155'],
  ]);
});

test('quantities are not known without the subscription', () => {
  expect(quantitiesOf(pooled(), [])).toBe(null);
});

test('a period grants the highest quantity in it, whatever the changes', () => {
  const HOURS = 48;
  const change = fc.record({ at: fc.nat(HOURS), quantity: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), fc.nat(HOURS), fc.nat(HOURS), (changes, a, b) => {
      const hours = { start: Math.min(a, b), end: Math.max(a, b) + 1 };
      const quantityChanges = changes.map(({ at, quantity }) => quantityAt(at * HOUR_MS, String(quantity)));
      const subscription = subscriptionWith({ quantityChanges });
      const quantities = quantitiesOf(pooled(), [subscription]) ?? { steps: [], end: null };
      const period = { start: hours.start * HOUR_MS, end: hours.end * HOUR_MS };
      const { atStart, increases } = quantitiesIn(quantities, period);

      const inOrder = changes.toSorted((one, other) => one.at - other.at);
      const during = Array.from({ length: hours.end - hours.start }, (_, index) => {
        const hour = hours.start + index;
        return inOrder.findLast(({ at }) => at <= hour)?.quantity ?? 0;
      });
      expect(Number(atStart.toFixed())).toBe(during[0]);
      const granted = sum([atStart, ...increases.map(({ quantity }) => quantity)]);
      expect(Number(granted.toFixed())).toBe(Math.max(...during));
      expect(increases.every(({ quantity }) => quantity.gt(ZERO))).toBe(true);
    }),
  );
});
