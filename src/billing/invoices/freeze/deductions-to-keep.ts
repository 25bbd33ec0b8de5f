/** The stored amounts that an issued invoice took from balances. */
import type { Invoice } from '../../../core/invoice.ts';
import type { Deduction } from '../../../rating/balances/balance-book.ts';
import type { NewDeduction } from '../../../store/invoices/balance-deductions.ts';

export function deductionsToKeep({
  invoice,
  deductions,
}: {
  readonly invoice: Pick<Invoice, 'id' | 'period'>;
  readonly deductions: readonly Deduction[];
}): NewDeduction[] {
  return deductions.map(({ bucket: { id: commitId, segmentId, access }, amount }) => ({
    invoiceId: invoice.id,
    commitId,
    segmentId,
    amount,
    timestamp: Math.min(invoice.period.end, access.end),
  }));
}
