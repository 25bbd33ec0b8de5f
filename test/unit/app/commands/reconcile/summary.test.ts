import { expect, it } from 'vitest';
import { summary } from '../../../../../src/app/commands/reconcile/reconcile.ts';

const NONE = { customers: 0, invoices: 0, lines: 0, differences: 0, late: 0, unchecked: 0 };

it.each([
  [NONE, 'Reconciled 0 customers, 0 invoices, 0 lines: no differences.'],
  [
    { customers: 1, invoices: 1, lines: 1234, differences: 1, late: 1, unchecked: 1 },
    'Reconciled 1 customer, 1 invoice, 1,234 lines: 1 difference; 1 entry of late usage; 1 invoice not checked against events.',
  ],
])('the summary is one line', (counts, text) => {
  expect(summary(counts)).toBe(text);
});
