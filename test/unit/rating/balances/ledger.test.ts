/** Ledgers of single commits, case by case. The laws are in test/property/ledger.test.ts. */
import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Commit } from '../../../../src/core/terms/commits.ts';
import { ledgerEntryType } from '../../../../src/core/terms/ledger.ts';
import { balanceOf, type LedgerFacts } from '../../../../src/rating/balances/ledger.ts';
import { accessWith, commitWith } from '../../core/terms/fixtures.ts';

/** Of one time, entries are in this order. */
const TWO_SEGMENTS = { accessSchedule: accessWith(['b', '20.5', 10, 30], ['a', '10', 0, 20]) };

function read(commit: Partial<Commit>, now: number, facts: Partial<LedgerFacts> = {}) {
  const known = { now, contractEnd: null, isWithheld: false, rolledOver: [], ...facts };
  const { balance, ledger } = balanceOf(commitWith(commit), known);
  return {
    balance: balance.toString(),
    ledger: ledger.map(({ kind, segmentId, amount, timestamp }) =>
      [kind, segmentId, amount.toString(), `@${timestamp}`].join(' '),
    ),
  };
}

test.each<[number, number | null, string]>([
  [-1, null, '0'],
  [0, null, '10'],
  [15, null, '30.5'],
  [20, null, '20.5'],
  [30, null, '0'],
  [15, 15, '0'],
  [15, 16, '30.5'],
])('at %d, in a contract that ends at %s, %s can be used', (now, contractEnd, balance) => {
  expect(read(TWO_SEGMENTS, now, { contractEnd }).balance).toBe(balance);
});

test('every segment is on record from the beginning, also in the future, and expires when it has ended', () => {
  expect(read(TWO_SEGMENTS, -1).ledger).toEqual(['SEGMENT_START a 10 @0', 'SEGMENT_START b 20.5 @10']);
  expect(read(TWO_SEGMENTS, 30).ledger).toEqual([
    'SEGMENT_START a 10 @0',
    'SEGMENT_START b 20.5 @10',
    'EXPIRATION a -10 @20',
    'EXPIRATION b -20.5 @30',
  ]);
});

test('a segment that ends where another begins is told after it', () => {
  const accessSchedule = accessWith(['a', '1', 0, 10], ['b', '2', 10, 20]);
  expect(read({ accessSchedule }, 10)).toEqual({
    balance: '2',
    ledger: ['SEGMENT_START a 1 @0', 'SEGMENT_START b 2 @10', 'EXPIRATION a -1 @10'],
  });
});

test('access is cut at the end of the contract, and what is left expires there', () => {
  expect(read(TWO_SEGMENTS, 15, { contractEnd: 15 })).toEqual({
    balance: '0',
    ledger: [
      'SEGMENT_START a 10 @0',
      'SEGMENT_START b 20.5 @10',
      'EXPIRATION b -20.5 @15',
      'EXPIRATION a -10 @15',
    ],
  });
});

test('archiving keeps what was granted and lets it expire, each segment where it is or would begin', () => {
  const archived = { ...TWO_SEGMENTS, archivedAt: 5 };
  const ledger = [
    'SEGMENT_START a 10 @0',
    'EXPIRATION a -10 @5',
    'SEGMENT_START b 20.5 @10',
    'EXPIRATION b -20.5 @10',
  ];
  expect(read(archived, 5)).toEqual({ balance: '0', ledger });
  expect(read(archived, 40)).toEqual({ balance: '0', ledger });
});

test('a segment that has expired before its commit was archived keeps the date', () => {
  expect(read({ ...TWO_SEGMENTS, archivedAt: 25 }, 25).ledger.slice(2)).toEqual([
    'EXPIRATION a -10 @20',
    'EXPIRATION b -20.5 @25',
  ]);
});

test('what has rolled over leaves at the renewal, and only the rest expires', () => {
  const rolledOver = [
    { segmentId: 'a', amount: decimal('4'), newContractId: 'next', rolledAt: 15 },
    { segmentId: 'b', amount: decimal('20.5'), newContractId: 'next', rolledAt: 15 },
  ];
  const before = read(TWO_SEGMENTS, 14, { rolledOver, contractEnd: 15 });
  expect(before).toEqual({ balance: '30.5', ledger: ['SEGMENT_START a 10 @0', 'SEGMENT_START b 20.5 @10'] });
  expect(read(TWO_SEGMENTS, 15, { rolledOver, contractEnd: 15 })).toEqual({
    balance: '0',
    ledger: [
      'SEGMENT_START a 10 @0',
      'SEGMENT_START b 20.5 @10',
      'ROLLOVER b -20.5 @15',
      'ROLLOVER a -4 @15',
      'EXPIRATION a -6 @15',
    ],
  });
});

test('a segment that would have begun after the renewal leaves where it would have begun', () => {
  const accessSchedule = accessWith(['later', '8', 20, 30]);
  const rolledOver = [{ segmentId: 'later', amount: decimal('2'), newContractId: 'next', rolledAt: 15 }];
  expect(read({ accessSchedule }, 16, { rolledOver, contractEnd: 15 })).toEqual({
    balance: '0',
    ledger: ['SEGMENT_START later 8 @20', 'ROLLOVER later -2 @20', 'EXPIRATION later -6 @20'],
  });
});

test('a commit that waits for its payment has no ledger and no balance', () => {
  expect(read(TWO_SEGMENTS, 15, { isWithheld: true })).toEqual({ balance: '0', ledger: [] });
});

test('a postpaid commit begins with its initial balance', () => {
  const postpaid = { type: 'POSTPAID', accessSchedule: accessWith(['a', '10', 0, 20]) } as const;
  expect(read(postpaid, 5)).toEqual({ balance: '10', ledger: ['INITIAL_BALANCE a 10 @0'] });
});

test('an amount of 0 does not expire', () => {
  expect(read({ accessSchedule: accessWith(['a', '0', 0, 20]) }, 20).ledger).toEqual([
    'SEGMENT_START a 0 @0',
  ]);
});

test('the types of entries carry the type of the commit', () => {
  expect(ledgerEntryType('PREPAID', 'EXPIRATION')).toBe('PREPAID_COMMIT_EXPIRATION');
  expect(ledgerEntryType('POSTPAID', 'TRUEUP')).toBe('POSTPAID_COMMIT_TRUEUP');
  expect(ledgerEntryType('CREDIT', 'MANUAL')).toBe('CREDIT_MANUAL');
});
