/** The report of another system about an invoice that it received (docs/explanation/payments.md, "Any other system"). */
import { invalid, notFound } from '../../core/errors.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import { publishExternalStatus } from '../../notifications/invoice-messages.ts';
import { loadDeliveries, tellExternal } from '../../store/invoices/invoice-deliveries.ts';
import type { RowContext } from '../billing-context.ts';

/** Only the reported members change. Refuses an invoice that no such system has (`not_found`, `invalid`). */
export async function tellExternalStatus(
  { db, clock }: RowContext,
  invoiceId: string,
  told: Partial<ExternalInvoice>,
): Promise<ExternalInvoice> {
  return db.transaction(async (tx) => {
    const before = (await loadDeliveries(tx, [invoiceId])).get(invoiceId);
    if (before === undefined) throw notFound('delivered invoice', invoiceId);
    if (before.external.billingProvider !== 'custom') {
      throw invalid(
        ['invoiceId'],
        `is delivered to ${before.external.billingProvider}, which is asked for its status`,
      );
    }
    const after = await tellExternal(tx, invoiceId, told);
    if (after.status !== before.external.status) {
      await publishExternalStatus(
        tx,
        { invoiceId, customerId: before.customerId, external: after },
        clock.now(),
      );
    }
    return after;
  });
}
