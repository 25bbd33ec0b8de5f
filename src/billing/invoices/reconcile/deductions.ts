/** Checks that ledgers match the applied lines of an invoice. Pure. */
import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { type Invoice, isAppliedLine, isScheduledLine } from '../../../core/invoice.ts';
import { type Difference, differencesOf } from './difference.ts';

interface Deducted {
  readonly segmentId: string;
  readonly amount: Decimal;
}

/** For each segment, the deduction of the invoice equals the total of its applied lines. */
export function checkDeductions(
  invoice: Pick<Invoice, 'id' | 'contractId' | 'lines'>,
  deductions: readonly Deducted[],
): Difference[] {
  const difference = differencesOf(invoice);
  const applied = appliedAmounts(invoice.lines);
  const deducted = new Map<string, Decimal>();
  for (const { segmentId, amount } of deductions) {
    deducted.set(segmentId, amount.plus(deducted.get(segmentId) ?? ZERO));
  }
  return [...new Set([...applied.keys(), ...deducted.keys()])].flatMap((segmentId) => {
    const [expected = null, found = null] = [applied.get(segmentId), deducted.get(segmentId)];
    if ((expected ?? ZERO).eq(found ?? ZERO)) return [];
    const message = `the ledger of segment ${segmentId} does not have what the invoice takes from it`;
    return [difference('deduction', message, { field: 'value', expected, found })];
  });
}

/** By segment: positive. */
function appliedAmounts(lines: Invoice['lines']): Map<string, Decimal> {
  const amounts = new Map<string, Decimal>();
  for (const line of lines) {
    if (isScheduledLine(line) || line.payer === null || !isAppliedLine(line)) continue;
    const { segmentId } = line.payer;
    amounts.set(segmentId, (amounts.get(segmentId) ?? ZERO).minus(line.total));
  }
  return amounts;
}
