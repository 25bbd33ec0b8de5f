/** The changes of jobs to invoices, for the audit log. */
import type { Invoice } from '../../core/invoice.ts';
import type { SystemChange } from '../../store/access/system-changes.ts';
import type { AssignedNumber } from '../../store/invoices/invoice-numbers.ts';

/** An invoice whose payment failed at once is issued as VOID. */
export function issueChange({ id, type, status }: Pick<Invoice, 'id' | 'type' | 'status'>): SystemChange {
  const description =
    status === 'VOID'
      ? `Issue a ${type} invoice: void, because its payment has failed`
      : `Issue a ${type} invoice`;
  return { action: 'issueInvoice', resourceType: 'invoice', resourceId: id, description };
}

export function numberingChange({ invoiceId, number }: AssignedNumber): SystemChange {
  const description = `Number an invoice: ${number}`;
  return { action: 'numberInvoice', resourceType: 'invoice', resourceId: invoiceId, description };
}
