/** Ledgers of single commits, case by case. The laws are in test/property/ledger.test.ts. */
import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Commit } from '../../../../src/core/terms/commits.ts';
import { type BalanceDeduction, ledgerEntryType } from '../../../../src/core/terms/ledger.ts';
import { balanceOf, type LedgerFacts } from '../../../../src/rating/balances/ledger.ts';
import { accessWith, commitWith } from '../../core/terms/fixtures.ts';

/** Entries of one time are in this order. */
const TWO_SEGMENTS = { accessSchedule: accessWith(['b', '20.5', 10, 30], ['a', '10', 0, 20]) };

const NOTHING: Omit<LedgerFacts, 'now'> = {
  contractEnd: null,
  contractArchivedAt: null,
  canceledPurchase: null,
  isWithheld: false,
  rolledOver: [],
  deductions: [],
  manualEntries: [],
  trueUp: null,
};

function read(commit: Partial<Commit>, now: number, facts: Partial<LedgerFacts> = {}) {
  const known = { now, ...NOTHING, ...facts };
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

test('a segment that ends where another begins is listed after it', () => {
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

test('archiving cancels what is left, of each segment where it is or would begin', () => {
  const archived = { ...TWO_SEGMENTS, archivedAt: 5 };
  const ledger = [
    'SEGMENT_START a 10 @0',
    'CANCELED a -10 @5',
    'SEGMENT_START b 20.5 @10',
    'CANCELED b -20.5 @10',
  ];
  expect(read(archived, 5)).toEqual({ balance: '0', ledger });
  expect(read(archived, 40)).toEqual({ balance: '0', ledger });
});

test('the amount left when the contract is archived expires', () => {
  const archived = { ...TWO_SEGMENTS, archivedAt: 5 };
  expect(read(archived, 40, { contractArchivedAt: 5 }).ledger).toEqual([
    'SEGMENT_START a 10 @0',
    'EXPIRATION a -10 @5',
    'SEGMENT_START b 20.5 @10',
    'EXPIRATION b -20.5 @10',
  ]);
  expect(read(archived, 40, { contractArchivedAt: 6 }).ledger).toContain('CANCELED a -10 @5');
});

test('a voided invoice of the purchase cancels what is left then, unless the contract was archived with it', () => {
  const canceledPurchase = { at: 5, invoiceId: 'purchase' };
  const rolledOver = [{ segmentId: 'b', amount: decimal('20.5'), newContractId: 'next', rolledAt: 15 }];
  expect(read(TWO_SEGMENTS, 40, { canceledPurchase, rolledOver })).toEqual({
    balance: '0',
    ledger: [
      'SEGMENT_START a 10 @0',
      'CANCELED a -10 @5',
      'SEGMENT_START b 20.5 @10',
      'CANCELED b -20.5 @10',
    ],
  });
  expect(read(TWO_SEGMENTS, 4, { canceledPurchase }).balance).toBe('10');
  const archived = { ...TWO_SEGMENTS, archivedAt: 5 };
  expect(read(archived, 5, { contractArchivedAt: 5, canceledPurchase }).ledger[1]).toBe(
    'EXPIRATION a -10 @5',
  );
  expect(read({ ...archived, archivedAt: 7 }, 40, { canceledPurchase }).ledger[1]).toBe('CANCELED a -10 @5');
});

test('clients know no CANCELED of postpaid commits: what is left of them expires', () => {
  const archived = { ...TWO_SEGMENTS, type: 'POSTPAID', archivedAt: 15 } as const;
  expect(read(archived, 15).ledger.slice(2)).toEqual(['EXPIRATION b -20.5 @15', 'EXPIRATION a -10 @15']);
});

test('a segment that has expired before its commit was archived keeps the date', () => {
  expect(read({ ...TWO_SEGMENTS, archivedAt: 25 }, 25).ledger.slice(2)).toEqual([
    'EXPIRATION a -10 @20',
    'CANCELED b -20.5 @25',
  ]);
});

test('the rolled-over amount leaves at the renewal, and only the rest expires', () => {
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

function deduction(
  segmentId: string,
  invoiceId: string,
  amount: string,
  change: Partial<BalanceDeduction> = {},
) {
  const facts = {
    commitId: 'commit',
    contractId: 'contract',
    timestamp: 15,
    isFinal: true,
    creditedAt: null,
  };
  return { ...facts, segmentId, invoiceId, amount: decimal(amount), ...change };
}

function manual(id: string, segmentId: string, amount: string, timestamp: number) {
  return { id, segmentId, amount: decimal(amount), timestamp, reason: `because of ${id}` };
}

test('invoices take from their segment, also by a draft that ends later, and only the rest expires', () => {
  const deductions = [
    deduction('a', 'i1', '4'),
    deduction('b', 'i2', '0.5', { timestamp: 18, isFinal: false }),
  ];
  expect(read(TWO_SEGMENTS, 12, { deductions })).toEqual({
    balance: '26',
    ledger: [
      'SEGMENT_START a 10 @0',
      'SEGMENT_START b 20.5 @10',
      'AUTOMATED_INVOICE_DEDUCTION a -4 @15',
      'AUTOMATED_INVOICE_DEDUCTION b -0.5 @18',
    ],
  });
  expect(read(TWO_SEGMENTS, 30, { deductions }).ledger.slice(4)).toEqual([
    'EXPIRATION a -6 @20',
    'EXPIRATION b -20 @30',
  ]);
});

test('a deduction tells its invoice and its contract', () => {
  const { ledger } = balanceOf(commitWith(TWO_SEGMENTS), {
    ...NOTHING,
    now: 12,
    deductions: [deduction('a', 'i1', '4', { contractId: 'other' })],
  });
  expect(ledger[2]).toMatchObject({ invoiceId: 'i1', contractId: 'other', segmentId: 'a' });
});

test('a voided invoice gives back what it took, and regenerated it takes again', () => {
  const voided = deduction('a', 'i1', '4', { creditedAt: 16 });
  const deductions = [voided, deduction('a', 'i0', '3')];
  const { balance, ledger } = read({ accessSchedule: accessWith(['a', '10', 0, 20]) }, 18, { deductions });
  expect(balance).toBe('7');
  expect(ledger).toEqual([
    'SEGMENT_START a 10 @0',
    'AUTOMATED_INVOICE_DEDUCTION a -3 @15',
    'AUTOMATED_INVOICE_DEDUCTION a -4 @15',
    'CREDITED a 4 @16',
  ]);
});

test('an amount given back after the segment has ended expires at its end', () => {
  const deductions = [deduction('a', 'i1', '10', { creditedAt: 50 })];
  const { balance, ledger } = read({ accessSchedule: accessWith(['a', '10', 0, 20]) }, 60, { deductions });
  expect(balance).toBe('0');
  expect(ledger.slice(2)).toEqual(['EXPIRATION a -10 @20', 'CREDITED a 10 @50']);
});

const POSTPAID = { type: 'POSTPAID', accessSchedule: accessWith(['a', '10', 0, 20]) } as const;

test('a voided invoice gives back to a postpaid commit as a deduction with the other sign', () => {
  const { ledger } = read(POSTPAID, 18, { deductions: [deduction('a', 'i1', '4', { creditedAt: 16 })] });
  expect(ledger.slice(1)).toEqual([
    'AUTOMATED_INVOICE_DEDUCTION a -4 @15',
    'AUTOMATED_INVOICE_DEDUCTION a 4 @16',
  ]);
});

test('entries by hand count at once, whatever their date, and at one time before deductions', () => {
  const manualEntries = [manual('m2', 'a', '2.5', 15), manual('m1', 'a', '-1', 40)];
  const facts = { manualEntries, deductions: [deduction('a', 'i', '3')] };
  expect(read({ accessSchedule: accessWith(['a', '10', 0, 20]) }, 5, facts)).toEqual({
    balance: '8.5',
    ledger: [
      'SEGMENT_START a 10 @0',
      'MANUAL a 2.5 @15',
      'AUTOMATED_INVOICE_DEDUCTION a -3 @15',
      'MANUAL a -1 @40',
    ],
  });
});

test('entries by hand below what is there leave a balance of 0, and nothing that could expire', () => {
  const facts = { manualEntries: [manual('m', 'a', '-12', 1)] };
  const negative = { accessSchedule: accessWith(['a', '10', 0, 20], ['b', '1', 0, 20]) };
  expect(read(negative, 5, facts).balance).toBe('1');
  expect(read(negative, 20, facts).ledger.slice(3)).toEqual(['EXPIRATION b -1 @20']);
});

test('an entry by hand tells its reason', () => {
  const facts = { ...NOTHING, now: 1, manualEntries: [manual('m', 'a', '1', 0)] };
  expect(balanceOf(commitWith(TWO_SEGMENTS), facts).ledger[1]).toMatchObject({ reason: 'because of m' });
});

test('no more rolls over than what usage has left', () => {
  const rolledOver = [
    { segmentId: 'a', amount: decimal('4'), newContractId: 'next', rolledAt: 15 },
    { segmentId: 'b', amount: decimal('20.5'), newContractId: 'next', rolledAt: 15 },
  ];
  const deductions = [deduction('a', 'i', '7'), deduction('b', 'i', '0.5')];
  expect(read(TWO_SEGMENTS, 15, { rolledOver, deductions, contractEnd: 15 }).ledger.slice(2)).toEqual([
    'AUTOMATED_INVOICE_DEDUCTION b -0.5 @15',
    'AUTOMATED_INVOICE_DEDUCTION a -7 @15',
    'ROLLOVER b -20 @15',
    'ROLLOVER a -3 @15',
  ]);
});

function trueUp(amount: string, timestamp: number) {
  const facts = { commitId: 'commit', segmentId: 'a', invoiceId: 'true-up', contractId: 'contract' };
  return { ...facts, amount: decimal(amount), timestamp };
}

test('a true-up takes the shortfall on its date, and until then nothing of it expires', () => {
  const facts = { deductions: [deduction('a', 'i', '4')], trueUp: trueUp('6', 25) };
  expect(read(POSTPAID, 19, facts).balance).toBe('6');
  const pending = ['INITIAL_BALANCE a 10 @0', 'AUTOMATED_INVOICE_DEDUCTION a -4 @15'];
  expect(read(POSTPAID, 22, facts)).toEqual({ balance: '0', ledger: pending });
  expect(read(POSTPAID, 25, facts)).toEqual({ balance: '0', ledger: [...pending, 'TRUEUP a -6 @25'] });
});

test('without a true-up the rest of a postpaid commit expires', () => {
  expect(read(POSTPAID, 20, { deductions: [deduction('a', 'i', '4')] }).ledger.slice(2)).toEqual([
    'EXPIRATION a -6 @20',
  ]);
});
