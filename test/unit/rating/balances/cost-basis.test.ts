import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import { costBasis } from '../../../../src/rating/balances/cost-basis.ts';
import { accessWith, commitWith } from '../../core/terms/fixtures.ts';

const TWO_SEGMENTS = { accessSchedule: accessWith(['b', '20.5', 10, 30], ['a', '10', 0, 20]) };

function invoiced(creditTypeId: string, ...amounts: string[]) {
  const items = amounts.map((text, index) => {
    const amount = decimal(text);
    return { id: `i${index}`, timestamp: 0, unitPrice: amount, quantity: decimal('1'), amount };
  });
  return { invoiceSchedule: { creditTypeId, doNotInvoice: false, items } };
}

test.each<[string, Parameters<typeof commitWith>[0], string | null, string | null]>([
  ['nothing is invoiced', {}, null, '0'],
  ['both amounts are in one unit', invoiced('usd', '3', '3.1'), null, '0.2'],
  ['the units differ and one converts', invoiced('eur', '6.1'), '0.5', '0.4'],
  ['the units differ and nothing converts', invoiced('eur', '6.1'), null, null],
])('the cost basis where %s', (_, invoice, fiatPerAccessUnit, expected) => {
  const rate = fiatPerAccessUnit === null ? null : decimal(fiatPerAccessUnit);
  expect(costBasis(commitWith({ ...TWO_SEGMENTS, ...invoice }), rate)?.toString() ?? null).toBe(expected);
});
