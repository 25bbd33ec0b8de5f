import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import { costBasis, grantEntries, ledgerEntryType, openAmount } from '../../../../src/core/terms/balance.ts';
import { commitWith } from './fixtures.ts';

function segment(id: string, amount: string, startingAt: number, endingBefore: number) {
  return { id, amount: decimal(amount), startingAt, endingBefore };
}

const TWO_SEGMENTS = {
  accessSchedule: {
    creditTypeId: 'usd',
    segments: [segment('b', '20.5', 10, 30), segment('a', '10', 0, 20)],
  },
};

function invoiced(creditTypeId: string, ...amounts: string[]) {
  const items = amounts.map((text, index) => {
    const amount = decimal(text);
    return { id: `i${index}`, timestamp: 0, unitPrice: amount, quantity: decimal('1'), amount };
  });
  return { invoiceSchedule: { creditTypeId, doNotInvoice: false, items } };
}

test.each<[number, number | null, string]>([
  [-1, null, '0'],
  [0, null, '10'],
  [15, null, '30.5'],
  [20, null, '20.5'],
  [30, null, '0'],
  [15, 15, '0'],
  [15, 16, '30.5'],
])('at %d, in a contract that ends at %s, %s is open', (at, contractEnd, amount) => {
  expect(openAmount(commitWith(TWO_SEGMENTS), at, contractEnd).toString()).toBe(amount);
});

test('an archived commit has nothing open and grants nothing', () => {
  const commit = commitWith({ ...TWO_SEGMENTS, archivedAt: 1 });
  expect(openAmount(commit, 15, null).toString()).toBe('0');
  expect(grantEntries(commit)).toEqual([]);
});

test('the ledger begins with what the segments grant, by time', () => {
  const entries = grantEntries(commitWith(TWO_SEGMENTS));
  expect(entries.map(({ kind, timestamp, segmentId }) => [kind, timestamp, segmentId])).toEqual([
    ['SEGMENT_START', 0, 'a'],
    ['SEGMENT_START', 10, 'b'],
  ]);
  expect(grantEntries(commitWith({ ...TWO_SEGMENTS, type: 'POSTPAID' }))[0]?.kind).toBe('INITIAL_BALANCE');
});

test.each<[string, Parameters<typeof commitWith>[0], string | null, string | null]>([
  ['nothing is invoiced', {}, null, '0'],
  ['both amounts are in one unit', invoiced('usd', '3', '3.1'), null, '0.2'],
  ['the units differ and one converts', invoiced('eur', '6.1'), '0.5', '0.4'],
  ['the units differ and nothing converts', invoiced('eur', '6.1'), null, null],
])('the cost basis where %s', (_, invoice, fiatPerAccessUnit, expected) => {
  const rate = fiatPerAccessUnit === null ? null : decimal(fiatPerAccessUnit);
  expect(costBasis(commitWith({ ...TWO_SEGMENTS, ...invoice }), rate)?.toString() ?? null).toBe(expected);
});

test('the types of entries carry the type of the commit', () => {
  expect(ledgerEntryType('PREPAID', 'EXPIRATION')).toBe('PREPAID_COMMIT_EXPIRATION');
  expect(ledgerEntryType('POSTPAID', 'TRUEUP')).toBe('POSTPAID_COMMIT_TRUEUP');
  expect(ledgerEntryType('CREDIT', 'MANUAL')).toBe('CREDIT_MANUAL');
});
