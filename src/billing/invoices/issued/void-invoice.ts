/** Voids an issued invoice (docs/explanation/invoices.md, "Void and regenerate"). */
import { assert, Refusal } from '../../../core/errors.ts';
import type { InvoiceStatus } from '../../../core/invoice.ts';
import { afterCommit } from '../../../store/base/request-unit.ts';
import { noteCustomerChanges } from '../../../store/customers/customer-changes.ts';
import { standingConsolidations } from '../../../store/invoices/invoice-constituents.ts';
import { lockInvoice } from '../../../store/invoices/invoices.ts';
import { voidInvoiceWithId } from '../../../store/invoices/voided-invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { requireEventsOfInvoice } from '../../invoice-queue/require-events.ts';
import { paymentWarning } from './former-payments.ts';
import { requireIssued } from './issued-invoice.ts';

/**
 * Refuses an unknown invoice (`not_found`), and as `invalid` one that is not finalized, whose events were removed, or
 * that is on a consolidated invoice. It cannot be undone. Returns a warning if it is paid at its provider, else null.
 */
export async function voidInvoice(context: BillingContext, id: string): Promise<string | null> {
  const refusal = (state: InvoiceStatus) =>
    new Refusal('invalid', `invoice ${id} is ${state}: only a FINALIZED invoice can be voided`);
  await requireIssued(context, id, refusal);
  const voided = await context.db.transaction(async (tx) => {
    const invoice = await lockInvoice(tx, id);
    assert(invoice !== null, 'issued invoices are not deleted');
    if (invoice.status !== 'FINALIZED') throw refusal(invoice.status);
    if (invoice.type === 'USAGE' && !invoice.isHistorical) {
      await requireEventsOfInvoice(tx, { id, countedFrom: invoice.period.countedFrom });
    }
    const [consolidated] = await standingConsolidations(tx, [id]);
    if (consolidated !== undefined) {
      throw new Refusal('invalid', `invoice ${id} is on invoice ${consolidated}: void that one first`);
    }
    await voidInvoiceWithId(tx, id, context.clock.now());
    // The amounts that it drew are available again, and those that it sold are not.
    await noteCustomerChanges(tx, [invoice.customerId]);
    return { invoice: { ...invoice, status: 'VOID' as const }, warning: await paymentWarning(tx, id) };
  });
  afterCommit(() => context.invoiceLog.voided(voided.invoice));
  return voided.warning;
}
