/**
 * Creates an invoice in Stripe, step by step, each persisted before the next (docs/explanation/payments.md,
 * "Delivery"). It may be called again after any failure and any kill: existing objects are looked up before anything is
 * created, and unfinished work is completed. Nothing is finalized before its total equals ours.
 */
import type Stripe from 'stripe';
import { inMajorUnits } from '../../core/currencies.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { PaymentGate } from '../../core/terms/payment-gate.ts';
import type { Instant } from '../../core/time.ts';
import type { PaymentDocument } from '../document.ts';
import { type Note, type Progress, ProviderProblem } from '../provider.ts';
import type { StripeAccess } from './access.ts';
import { fromStripeUnits, isBelowMinimum } from './amounts.ts';
import { makeLinesEqual } from './equal-lines.ts';
import { EXPANDED, externalOfInvoice } from './external-state.ts';
import { deleteDraft, findInvoices, retrieveInvoice } from './find-invoice.ts';
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
  /** Precalculated tax, in addition to the subtotal; in the unit of the invoice. */
  readonly tax?: PaymentGate['precalculatedTax'];
  /** Whether this service triggers the payment, and Stripe does not by itself. */
  readonly isChargedHere?: boolean;
}

/** Finalizes the invoice in Stripe and sends it if configured, or leaves it as a draft if configured. */
export async function deliverInvoice(job: InvoiceJob, begun: Progress): Promise<ExternalInvoice> {
  const { document, settings } = job;
  if (begun.mappedAt === null && isSkipped(document, settings)) return skipped(begun);
  const lines = stripeLines(document, settings.layout, {
    given: job.tax ?? null,
    taxesThere: settings.automaticTax,
  });
  const { invoice: made, progress } = await theInvoice(job, begun, lines);
  if (made === null) return deleted(progress);
  return finished(job, progress, made, lines).catch((error: unknown) => deletedOrThrow(job, progress, error));
}

async function finished(
  job: InvoiceJob,
  progress: Progress,
  made: Stripe.Invoice,
  lines: StripeLines,
): Promise<ExternalInvoice> {
  const { document, settings } = job;
  let invoice = made;
  if (invoice.status === 'draft') {
    invoice = await completeDraft(job, progress, invoice, lines);
    if (settings.leaveInDraft) return externalOfInvoice(invoice, document.currency, null);
    invoice = await finalize(job, invoice);
  }
  if (invoice.status !== 'void') requireSum(document, invoice, lines);
  return send(job, progress, invoice);
}

/** The draft may have been deleted between our read and a call. Other objects may be missing too. */
async function deletedOrThrow(
  { access }: InvoiceJob,
  progress: Progress,
  error: unknown,
): Promise<ExternalInvoice> {
  const { externalId } = progress.external;
  const isMissing = error instanceof ProviderProblem && error.code === 'resource_missing';
  if (!isMissing || externalId === null) throw error;
  if ((await retrieveInvoice(access, externalId)) !== null) throw error;
  return deleted(progress);
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
  /** Null: it was deleted in Stripe. */
  readonly invoice: Stripe.Invoice | null;
  readonly progress: Progress;
}

/**
 * The only invoice in Stripe: the recorded one, or else one that is found, or else a new one. After doubt a draft is
 * discarded and created again: a call that timed out may still reach it.
 */
async function theInvoice(job: InvoiceJob, begun: Progress, lines: StripeLines): Promise<Made> {
  const { access, note, document } = job;
  const { externalId } = begun.external;
  if (externalId !== null) {
    const invoice = await retrieveInvoice(access, externalId);
    const isUsable = invoice === null || invoice.status !== 'draft' || !begun.isDoubtful;
    if (isUsable) return { invoice, progress: begun };
  }
  const customer = requireCustomer(job.settings);
  const mapped = await note({
    method: 'invoice',
    external: { billingProvider: 'stripe', externalId: null },
    ...(begun.mappedAt === null ? { mappedAt: Date.now() } : {}),
  });
  const found = begun.isDoubtful ? await finalOrNone(job, customer, begun.mappedAt ?? Date.now()) : null;
  const invoice = found ?? (await beyondDoubt(note, () => create(job, customer, lines)));
  const progress = await note({
    external: externalOfInvoice(invoice, document.currency, mapped.sentAt),
  });
  return { invoice, progress };
}

/** An invoice that was finalized by a lost call. Drafts for the same invoice are deleted. */
async function finalOrNone(
  { access, document }: InvoiceJob,
  customer: string,
  since: Instant,
): Promise<Stripe.Invoice | null> {
  const [first = null, ...others] = await findInvoices(access, customer, document.invoiceId, since);
  const final = first?.status === 'draft' ? null : first;
  for (const { id, status } of final === null && first !== null ? [first, ...others] : others) {
    if (status === 'draft') await deleteDraft(access, id);
  }
  return final;
}

/**
 * Creates the object that was not found. If the request is refused, the object does not exist, and the doubt is
 * resolved.
 */
export async function beyondDoubt<Made>(note: Note, make: () => Promise<Made>): Promise<Made> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ProviderProblem && error.kind === 'refused') await note({ isDoubtful: false });
    throw error;
  }
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

/** The only draft, with our lines and our total. */
async function completeDraft(
  job: InvoiceJob,
  { isDoubtful, mappedAt }: Progress,
  draft: Stripe.Invoice,
  lines: StripeLines,
): Promise<Stripe.Invoice> {
  let latest = draft;
  if (isDoubtful && mappedAt !== null) {
    await removeTwins(job, draft, mappedAt);
    // The last check is just before finalization: the draft may have been changed since.
    latest = await draftAgain(job.access, draft.id);
  }
  if (latest.status !== 'draft') return latest;
  const invoice = await makeLinesEqual(job.access, latest, lines.lines);
  requireSum(job.document, invoice, lines);
  return invoice;
}

async function draftAgain(access: StripeAccess, id: string): Promise<Stripe.Invoice> {
  const invoice = await retrieveInvoice(access, id);
  if (invoice !== null) return invoice;
  throw new ProviderProblem('refused', `Stripe: ${id} was deleted there`, { code: 'resource_missing' });
}

function requireSum(
  document: PaymentDocument,
  { id, subtotal, total }: Stripe.Invoice,
  { subTotal, tax }: StripeLines,
): void {
  const isGivenTax = tax === null || BigInt(total) === subTotal + tax.units;
  if (BigInt(subtotal) === subTotal && isGivenTax) return;
  const { code } = document.currency;
  const amount = (units: number | bigint) =>
    `${inMajorUnits(fromStripeUnits(units, document.currency), document.currency).toFixed()} ${code}`;
  const [what, there, ours] =
    BigInt(subtotal) === subTotal
      ? ['total', total, subTotal + (tax?.units ?? 0n)]
      : ['sub-total', subtotal, subTotal];
  throw new ProviderProblem(
    'refused',
    `Stripe: the ${what} of ${id} is ${amount(there)}, that of invoice ${document.number} is ${amount(ours)}`,
    { code: 'sum_differs' },
  );
}

/** A call that timed out may have created an invoice after the check. */
export async function removeTwins(job: InvoiceJob, { id }: Stripe.Invoice, since: number): Promise<void> {
  const customer = requireCustomer(job.settings);
  const all = await findInvoices(job.access, customer, job.document.invoiceId, since);
  for (const twin of all) {
    if (twin.id === id) continue;
    if (twin.status === 'draft') {
      await deleteDraft(job.access, twin.id);
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

/** From then on Stripe charges it, sends reminders and matches bank transfers. A finalized invoice stays as it is. */
async function finalize(
  { access, isChargedHere = false }: InvoiceJob,
  { id }: Stripe.Invoice,
): Promise<Stripe.Invoice> {
  const params = { auto_advance: !isChargedHere, expand: EXPANDED };
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
