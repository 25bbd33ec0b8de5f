/** Words of finance in the console. */
import { expect, it } from 'vitest';
import { countText, deliveryCountText, deliveryText, entryText } from '../../../console/src/format/words.ts';
import { balanceName, countsInTotal, isRounded } from '../../../console/src/parts/billed-lines.ts';
import { USD_CENTS } from '../../../src/core/credit-types.ts';

it('counts in the console are of one or of several', () => {
  expect([0, 1, 2, 1_234].map((count) => countText(count, 'invoice'))).toEqual([
    '0 invoices',
    '1 invoice',
    '2 invoices',
    '1,234 invoices',
  ]);
  expect(countText(1, 'entry', 'entries')).toBe('1 entry');
  expect(deliveryCountText('INVALID_REQUEST_ERROR', 1)).toBe('1 invoice was refused by its billing provider');
  expect(deliveryCountText('SENT', 2)).toBe('2 invoices are sent');
  expect(deliveryText('INVALID_REQUEST_ERROR')).toBe('refused there');
});

it.each([
  ['PREPAID_COMMIT_SEGMENT_START', false, 'Granted'],
  ['PREPAID_COMMIT_SEGMENT_START', true, 'Rolled over from the contract before'],
  ['CREDIT_ROLLOVER', false, 'Rolled over to the next contract'],
  ['POSTPAID_COMMIT_INITIAL_BALANCE', false, 'Minimum agreed'],
  ['POSTPAID_COMMIT_AUTOMATED_INVOICE_DEDUCTION', false, 'Counted towards it'],
  ['CREDIT_AUTOMATED_INVOICE_DEDUCTION', false, 'Used'],
  ['CREDIT_SOMETHING_NEW', false, 'Something new'],
])('the ledger entry %s (rolled over: %s) is called %s', (type, isRolledOver, expected) => {
  expect(entryText(type, isRolledOver)).toBe(expected);
});

it('lines of the console that a postpaid commit counts are not deducted, and rounded figures are known', () => {
  const line = { name: 'Minimum applied', type: 'applied_commit_or_credit', credit_type: USD_CENTS };
  expect(countsInTotal({ ...line, commit_type: 'PostpaidCommit' })).toBe(false);
  expect(countsInTotal({ ...line, commit_type: 'PrepaidCommit' })).toBe(true);
  expect(countsInTotal({ type: 'usage', commit_type: 'PostpaidCommit' })).toBe(true);
  expect(balanceName(line)).toBe('Minimum');
  const rounded = (total: string, quantity: string) =>
    isRounded({ ...line, total: total as never, quantity: quantity as never });
  // Four places of a dollar are two of a cent.
  expect([rounded('1.25', '1.0001'), rounded('1.255', '1'), rounded('1', '1.00001')]).toEqual([
    false,
    true,
    true,
  ]);
});
