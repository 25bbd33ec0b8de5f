/** Voids an invoice in Stripe, if Stripe allows it. */
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import { type Progress, ProviderProblem } from '../provider.ts';
import { deleted, type InvoiceJob, requireCustomer } from './deliver-invoice.ts';
import { EXPANDED, externalOfInvoice } from './external-state.ts';
import { deleteDraft, findInvoices, retrieveInvoice } from './find-invoice.ts';

/** A draft is deleted. `error` of the result states why an invoice remains. */
export async function voidStripeInvoice(job: InvoiceJob, progress: Progress): Promise<ExternalInvoice> {
  const { access, document } = job;
  const ids = await idsOf(job, progress);
  if (ids.length === 0) return { ...progress.external, status: 'VOID', error: null };
  let last: ExternalInvoice = progress.external;
  for (const id of ids) {
    const invoice = await retrieveInvoice(access, id);
    if (invoice === null) {
      last = { ...deleted(progress), error: null };
    } else if (invoice.status === 'draft') {
      await deleteDraft(access, id);
      last = { ...externalOfInvoice(invoice, document.currency, null), status: 'DELETED' };
    } else {
      const { status } = externalOfInvoice(invoice, document.currency, progress.sentAt);
      // Stripe's state after the void does not show that a part was paid.
      if (invoice.amount_paid > 0) await job.note({ external: { status } });
      last = await voidFinal(job, progress, id);
    }
  }
  return last;
}

/** The recorded objects, and those that a call without an answer may have created. */
async function idsOf({ access, settings, document }: InvoiceJob, progress: Progress): Promise<string[]> {
  const { externalId } = progress.external;
  if (progress.mappedAt === null) return [];
  if (externalId !== null && !progress.isDoubtful) return [externalId];
  const found = await findInvoices(access, requireCustomer(settings), document.invoiceId, progress.mappedAt);
  return [...new Set([...found.map(({ id }) => id), ...(externalId === null ? [] : [externalId])])];
}

async function voidFinal(
  { access, document }: InvoiceJob,
  { sentAt }: Progress,
  id: string,
): Promise<ExternalInvoice> {
  try {
    const voided = await access.request('POST /v1/invoices/void', (client, options) =>
      client.invoices.voidInvoice(id, { expand: EXPANDED }, options),
    );
    return externalOfInvoice(voided, document.currency, sentAt);
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    const invoice = await retrieveInvoice(access, id);
    if (invoice === null) throw error;
    const external = externalOfInvoice(invoice, document.currency, sentAt);
    if (external.status === 'VOID') return external;
    return { ...external, error: `${id} is not voided, for it is ${external.status}. ${error.message}` };
  }
}
