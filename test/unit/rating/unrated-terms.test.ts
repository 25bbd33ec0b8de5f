import { expect, test } from 'vitest';
import { unratedIn, unratedTerms } from '../../../src/rating/unrated-terms.ts';
import {
  accessWith,
  commitWith,
  contractWith,
  recurringWith,
  subscriptionWith,
} from '../core/terms/fixtures.ts';

const PERIOD = { start: 100, end: 200 };

/** Kind and ids of what is named in the period. */
function named(...given: Parameters<typeof contractWith>): Record<string, readonly string[]> {
  const { contract } = contractWith(...given);
  return Object.fromEntries(unratedIn(unratedTerms(contract), PERIOD));
}

const access = (start: number, end: number) => accessWith(['segment', '5', start, end]);

test('a contract without such terms has nothing to name', () => {
  expect(named({})).toEqual({});
});

test('balances pay for usage, and purchases and true-ups are billed, so commits and credits are not named', () => {
  const commits = [
    commitWith({ id: 'credit', type: 'CREDIT', accessSchedule: access(0, 300) }),
    commitWith({ id: 'prepaid', accessSchedule: access(0, 300) }),
    commitWith({ id: 'postpaid', type: 'POSTPAID', accessSchedule: access(0, 300) }),
  ];
  expect(named({}, { commits })).toEqual({});
});

test('subscriptions are billed, so they are not named', () => {
  expect(named({}, { subscriptions: [subscriptionWith({ id: 'open' })] })).toEqual({});
});

test('recurring terms are billed, for individual seats too, so they are not named', () => {
  const subscription = {
    subscriptionId: 'open',
    allocation: 'INDIVIDUAL',
    prorateSeatIncreases: false,
  } as const;
  const recurringCommits = [
    recurringWith({ id: 'commit', subscription }),
    recurringWith({ id: 'credit', kind: 'CREDIT', startingAt: 199, subscription }),
    recurringWith({ id: 'later', startingAt: 200, subscription }),
    recurringWith({ id: 'of its own' }),
    recurringWith({ id: 'pooled', subscription: { ...subscription, allocation: 'POOLED' } }),
  ];
  expect(named({}, { recurringCommits })).toEqual({});
});
