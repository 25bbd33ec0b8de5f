import { expect, test } from 'vitest';
import type { Contract } from '../../../../src/core/terms/contract.ts';
import type { Subscription } from '../../../../src/core/terms/subscriptions.ts';
import { formatInstant, type Interval } from '../../../../src/core/time.ts';
import {
  subscriptionAnchor,
  subscriptionPeriods,
} from '../../../../src/rating/periods/subscription-periods.ts';
import { contractWith, subscriptionWith } from '../../core/terms/fixtures.ts';

const at = (text: string) => Date.parse(`${text}T00:00:00Z`);
const show = (period: Interval | null) =>
  period && [period.start, period.end].map((instant) => formatInstant(instant).slice(0, 10)).join(' ');

function periods(contract: Partial<Contract>, subscription: Partial<Subscription>, now: string) {
  const { contract: header } = contractWith(contract);
  const { previous, current, next } = subscriptionPeriods(header, subscriptionWith(subscription), at(now));
  return [previous, current, next].map(show);
}

const SEPTEMBER = { startingAt: at('2026-09-15') };

test('periods of a subscription follow the contract’s usage invoices; the first may be partial', () => {
  expect(periods(SEPTEMBER, SEPTEMBER, '2026-10-20')).toEqual([
    '2026-09-15 2026-10-01',
    '2026-10-01 2026-11-01',
    '2026-11-01 2026-12-01',
  ]);
});

test('periods of a subscription of a longer frequency are full from the subscription’s start', () => {
  const annual = { startingAt: at('2026-11-20'), billingFrequency: 'ANNUAL' as const };
  expect(periods(SEPTEMBER, annual, '2027-02-01')).toEqual([
    null,
    '2026-11-20 2027-11-20',
    '2027-11-20 2028-11-20',
  ]);
});

test('periods have a separate anchor where they are given one', () => {
  const anchored = { ...SEPTEMBER, anchorDate: at('2026-09-10') };
  expect(periods(SEPTEMBER, anchored, '2026-10-20')[1]).toBe('2026-10-10 2026-11-10');
});

test.each<[string, Partial<Subscription>, string]>([
  ['the contract’s', SEPTEMBER, '2026-10-01'],
  ['its own', { ...SEPTEMBER, anchorDate: at('2026-09-10') }, '2026-09-10'],
  [
    'the start, for a longer frequency,',
    { startingAt: at('2026-11-20'), billingFrequency: 'ANNUAL' },
    '2026-11-20',
  ],
])('periods of a subscription are the same when %s anchor is given', (_, subscription, anchor) => {
  const { contract } = contractWith(SEPTEMBER);
  expect(subscriptionAnchor(contract, subscriptionWith(subscription))).toBe(at(anchor));
  expect(periods(SEPTEMBER, { ...subscription, anchorDate: at(anchor) }, '2027-02-01')).toEqual(
    periods(SEPTEMBER, subscription, '2027-02-01'),
  );
});

test('end with the subscription or the contract, whichever ends first', () => {
  const ending = { ...SEPTEMBER, endingBefore: at('2026-11-20') };
  expect(periods({ ...SEPTEMBER, endingBefore: at('2027-01-01') }, ending, '2026-11-15')).toEqual([
    '2026-10-01 2026-11-01',
    '2026-11-01 2026-11-20',
    null,
  ]);
  expect(periods({ ...SEPTEMBER, endingBefore: at('2026-10-05') }, ending, '2026-12-01')).toEqual([
    '2026-10-01 2026-10-05',
    null,
    null,
  ]);
});

test('before the start only the first one is known', () => {
  expect(periods(SEPTEMBER, SEPTEMBER, '2026-09-01')).toEqual([null, null, '2026-09-15 2026-10-01']);
});
