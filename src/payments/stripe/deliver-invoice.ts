/**
 * Brings an invoice to Stripe, step by step, each written down before the next (docs/payments.md, "Delivery"). It may be
 * called again after any failure and any kill: what is there is looked for before anything is made, and what was begun is
 * finished. Nothing is made final before its sum is ours.
 */
import type Stripe from 'stripe';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { PaymentDocument } from '../document.ts';
import { type Note, type Progress, ProviderProblem } from '../provider.ts';
import type { StripeAccess } from './access.ts';
import { fromStripeUnits, isBelowMinimum } from './amounts.ts';
import { makeLinesEqual } from './equal-lines.ts';
import { EXPANDED, externalOfInvoice } from './external-state.ts';
import { findInvoices, retrieveInvoice } from './find-invoice.ts';
import { invoiceParams } from './invoice-params.ts';
import type { StripeSettings } from './settings.ts';
import { type StripeLines, stripeLines } from './stripe-lines.ts';

export interface InvoiceJob {
  readonly access: StripeAccess;
  readonly settings: StripeSettings;
  readonly document: PaymentDocument;
  readonly note: Note;
  /** Further metadata of the invoice. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Ends with the invoice final there, and sent where it is to be sent; or a draft, where it is to be left as one. */
export async function deliverInvoice(job: InvoiceJob, begun: Progress): Promise<ExternalInvoice> {
  const { document, settings } = job;
  if (begun.mappedAt === null && isSkipped(document, settings)) return skipped(begun);
  const lines = stripeLines(document, settings.layout);
  const { invoice: made, progress } = await theInvoice(job, begun, lines);
  if (made === null) return deleted(progress);
  let invoice = made;
  if (invoice.status === 'draft') {
    invoice = await completeDraft(job, progress, invoice, lines);
    if (settings.leaveInDraft) return externalOfInvoice(invoice, document.currency, null);
    invoice = await finalize(job, invoice);
  }
  requireSum(document, invoice, lines);
  return send(job, progress, invoice);
}

function isSkipped({ payable, currency }: PaymentDocument, settings: StripeSettings): boolean {
  if (payable.lte('0')) return settings.skipsZero;
  return settings.skipsBelowMinimum && isBelowMinimum(payable, currency);
}

function skipped({ external }: Progress): ExternalInvoice {
  return { ...external, status: 'SKIPPED', error: null };
}

export function deleted({ external }: Progress): ExternalInvoice {
  return { ...external, status: 'DELETED', error: `Stripe: ${external.externalId} was deleted there` };
}

interface Made {
  /** Null: it was deleted there. */
  readonly invoice: Stripe.Invoice | null;
  readonly progress: Progress;
}

/** The one invoice there: the one that is written down, or else one that is found, or else a new one. */
async function theInvoice(job: InvoiceJob, begun: Progress, lines: StripeLines): Promise<Made> {
  const { access, note, document } = job;
  const { externalId } = begun.external;
  if (externalId !== null) return { invoice: await retrieveInvoice(access, externalId), progress: begun };
  const customer = requireCustomer(job.settings);
  const mapped = await note(
    begun.mappedAt === null
      ? { method: 'invoice', mappedAt: Date.now(), external: { billingProvider: 'stripe' } }
      : { isDoubtful: true },
  );
  const [found] =
    begun.mappedAt === null ? [] : await findInvoices(access, customer, document.invoiceId, begun.mappedAt);
  const invoice = found ?? (await create(job, customer, lines));
  const progress = await note({
    external: externalOfInvoice(invoice, document.currency, mapped.sentAt),
  });
  return { invoice, progress };
}

export function requireCustomer({ customerId }: StripeSettings): string {
  if (customerId !== null) return customerId;
  throw new ProviderProblem('refused', 'The billing configuration has no stripe_customer_id');
}

function create(
  { access, document, settings, metadata = {} }: InvoiceJob,
  customer: string,
  { isGrouped }: StripeLines,
): Promise<Stripe.Invoice> {
  const params = {
    ...invoiceParams(document, settings, customer, { isGrouped, metadata }),
    expand: EXPANDED,
  };
  return access.request('POST /v1/invoices', (client, options) => client.invoices.create(params, options));
}

/** The draft with our lines and our sum, and the only one. */
async function completeDraft(
  job: InvoiceJob,
  { isDoubtful, mappedAt }: Progress,
  draft: Stripe.Invoice,
  lines: StripeLines,
): Promise<Stripe.Invoice> {
  const invoice = await makeLinesEqual(job.access, draft, lines.lines);
  requireSum(job.document, invoice, lines);
  if (isDoubtful && mappedAt !== null) await removeTwins(job, invoice, mappedAt);
  // Nobody has voided it, and nobody else writes.
  await job.note({});
  return invoice;
}

function requireSum(
  document: PaymentDocument,
  { id, subtotal }: Stripe.Invoice,
  { subTotal }: StripeLines,
): void {
  if (BigInt(subtotal) === subTotal) return;
  const there = fromStripeUnits(subtotal, document.currency).toFixed();
  const ours = document.payable.toFixed();
  throw new ProviderProblem(
    'refused',
    `Stripe: the sub-total of ${id} is ${there}, that of invoice ${document.number} is ${ours}`,
    { code: 'sum_differs' },
  );
}

/** A call that was given up may have made an invoice after we looked. */
async function removeTwins(job: InvoiceJob, { id }: Stripe.Invoice, since: number): Promise<void> {
  const customer = requireCustomer(job.settings);
  const all = await findInvoices(job.access, customer, job.document.invoiceId, since);
  for (const twin of all) {
    if (twin.id === id) continue;
    if (twin.status === 'draft') {
      await job.access.request('DELETE /v1/invoices/id', (client) => client.invoices.del(twin.id));
      continue;
    }
    throw new ProviderProblem(
      'refused',
      `Stripe: ${twin.id} and ${id} are both of invoice ${job.document.number}`,
      {
        code: 'invoiced_twice',
      },
    );
  }
}

/** Stripe charges it, or reminds of it, by itself from then on. One that is final already stays as it is. */
async function finalize({ access, settings }: InvoiceJob, { id }: Stripe.Invoice): Promise<Stripe.Invoice> {
  const params = { auto_advance: settings.collectionMethod !== 'send_invoice', expand: EXPANDED };
  try {
    return await access.request('POST /v1/invoices/finalize', (client, options) =>
      client.invoices.finalizeInvoice(id, params, options),
    );
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    const invoice = await retrieveInvoice(access, id);
    if (invoice === null || invoice.status === 'draft') throw error;
    return invoice;
  }
}

async function send(job: InvoiceJob, progress: Progress, invoice: Stripe.Invoice): Promise<ExternalInvoice> {
  const { access, note, settings, document } = job;
  const external = externalOfInvoice(invoice, document.currency, progress.sentAt);
  const isToSend =
    settings.collectionMethod === 'send_invoice' && invoice.status === 'open' && progress.sentAt === null;
  if (!isToSend) return external;
  await note({ external });
  const sent = await access.request('POST /v1/invoices/send', (client, options) =>
    client.invoices.sendInvoice(invoice.id, { expand: EXPANDED }, options),
  );
  const sentAt = Date.now();
  const state = externalOfInvoice(sent, document.currency, sentAt);
  await note({ sentAt, external: state });
  return state;
}
