import { expect, test } from 'vitest';
import { withEndDate } from '../../../../../src/billing/contracts/terms/truncate-terms.ts';
import { decimal } from '../../../../../src/core/decimal.ts';
import {
  chargeWith,
  commitWith,
  contractWith,
  recurringWith,
  subscriptionWith,
} from '../../../core/terms/fixtures.ts';

const ONE = decimal('1');

function item(timestamp: number) {
  return { id: `at ${timestamp}`, timestamp, unitPrice: ONE, quantity: ONE, amount: ONE };
}

function invoiceAt(...timestamps: number[]) {
  return { creditTypeId: 'usd', doNotInvoice: false, items: timestamps.map(item) };
}

function access(...segments: [number, number][]) {
  return {
    creditTypeId: 'usd',
    segments: segments.map(([startingAt, endingBefore]) => ({
      id: `${startingAt}`,
      amount: ONE,
      startingAt,
      endingBefore,
    })),
  };
}

test('an earlier end cuts segments, and drops those that would begin later', () => {
  const commit = commitWith({ accessSchedule: access([0, 50], [50, 150], [100, 200]) });
  const { terms } = withEndDate(contractWith({ endingBefore: 200 }, { commits: [commit] }), 100, 0);
  const segments = terms.commits[0]?.accessSchedule.segments ?? [];
  expect(segments.map(({ startingAt, endingBefore }) => [startingAt, endingBefore])).toEqual([
    [0, 50],
    [50, 100],
  ]);
});

test('items at the end stay, later ones go, and those that were due by now stay as well', () => {
  const charge = chargeWith({ schedule: invoiceAt(90, 100, 101, 150) });
  const full = contractWith({ endingBefore: 200 }, { scheduledCharges: [charge] });
  const left = (end: number, now: number) =>
    withEndDate(full, end, now).terms.scheduledCharges[0]?.schedule.items.map((one) => one.timestamp);
  expect(left(100, 0)).toEqual([90, 100]);
  expect(left(100, 120)).toEqual([90, 100, 101]);
});

test('a charge that was added to a usage invoice stays on the last one, which ends earlier', () => {
  const charge = chargeWith({ onUsageInvoice: true, schedule: invoiceAt(90, 150) });
  const full = contractWith({ endingBefore: 200 }, { scheduledCharges: [charge] });
  const left = (end: number, now: number) =>
    withEndDate(full, end, now).terms.scheduledCharges[0]?.schedule.items.map((one) => one.timestamp);
  expect(left(100, 0)).toEqual([90, 100]);
  expect(left(100, 120)).toEqual([90, 100]);
  expect(left(100, 160)).toEqual([90, 150]);
});

test('the true-up of a postpaid commit moves to the end; without access left it goes', () => {
  const commit = (start: number) =>
    commitWith({ type: 'POSTPAID', accessSchedule: access([start, 200]), invoiceSchedule: invoiceAt(200) });
  const full = contractWith({ endingBefore: 200 }, { commits: [commit(0), commit(150)] });
  const { commits } = withEndDate(full, 100, 0).terms;
  expect(commits.map((one) => one.invoiceSchedule?.items.map(({ timestamp }) => timestamp))).toEqual([
    [100],
    [],
  ]);
});

test('terms that have not begun are left without any time, so that no later end revives them', () => {
  const full = contractWith(
    { endingBefore: null },
    { recurringCommits: [recurringWith({ startingAt: 150 })] },
  );
  const ended = withEndDate(full, 100, 0);
  expect(ended.terms.recurringCommits[0]?.endingBefore).toBe(150);
  expect(withEndDate(ended, null, 0).terms.recurringCommits[0]?.endingBefore).toBe(150);
});

test('a later end keeps the old one for terms that had none, but not for billing in arrears', () => {
  const full = contractWith(
    { endingBefore: 100 },
    {
      recurringCommits: [recurringWith({})],
      subscriptions: [subscriptionWith({}), subscriptionWith({ collectionSchedule: 'ARREARS' })],
    },
  );
  const { contract, terms } = withEndDate(full, 300, 0);
  expect(contract.endingBefore).toBe(300);
  expect(terms.recurringCommits[0]?.endingBefore).toBe(100);
  expect(terms.subscriptions.map((one) => one.endingBefore)).toEqual([100, null]);
});
