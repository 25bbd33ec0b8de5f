/**
 * Issues a credit note in Stripe (docs/explanation/credit-notes.md, "At the provider"). It may be called again after any
 * failure and any kill: an existing note is looked up before one is created, and a call without a clear answer is
 * repeated under its own idempotency key, so that there is one note even if it arrives late.
 */
import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { CreditNote, CreditNoteReason } from '../../core/credit-note.ts';
import { cutText } from '../../core/cut-text.ts';
import { ZERO } from '../../core/decimal.ts';
import { type ExternalCreditNote, unsentNote } from '../../core/external-credit-note.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { type NoteSending, type Progress, ProviderProblem } from '../provider.ts';
import { LOCKED } from './access.ts';
import { payableUnits } from './amounts.ts';
import { creditedByLine, creditNotesOf, externalOfNote, NOTE_ID, refundedBy } from './credit-notes.ts';
import type { InvoiceJob } from './deliver-invoice.ts';
import { allLines } from './equal-lines.ts';
import { INVOICE_ID, retrieveInvoice } from './find-invoice.ts';
import { type NoteLine, noteLines } from './note-lines.ts';
import { settleNote } from './settle-note.ts';
import { stripeLines } from './stripe-lines.ts';

/** A call that has timed out does not arrive after this time, which is shorter than Stripe keeps its key. */
const LATE_MAX_MS = 10 * MINUTE_MS;

const MEMO_MAX = 1_500;

/** Reasons that Stripe has too. */
const REASONS: Partial<Record<CreditNoteReason, string>> = {
  order_change: 'order_change',
  duplicate: 'duplicate',
  service_issue: 'product_unsatisfactory',
};

export async function deliverStripeNote(
  job: InvoiceJob,
  credited: CreditNote,
  { progress, sending }: { readonly progress: Progress; readonly sending: NoteSending },
): Promise<ExternalCreditNote> {
  const { access, document } = job;
  if (credited.subTotal.eq(ZERO)) return unsentNote('stripe', 'SKIPPED', null);
  const invoice = await creditableInvoice(job, progress);
  const notes = await creditNotesOf(access, invoice.id);
  const own = notes.find(({ metadata }) => metadata?.[NOTE_ID] === credited.id);
  if (own !== undefined) return externalOfNote(own, document.currency);
  const { doubtful } = sending;
  const mayArrive = doubtful !== null && Date.now() - doubtful.sentAt <= LATE_MAX_MS;
  const params = await beyondDoubtOnly(mayArrive, () => paramsOf(job, credited, invoice, notes));
  const key = mayArrive ? doubtful.key : randomUUID();
  await sending.begin(key);
  const made = await beyondDoubtOnly(mayArrive, () =>
    access.request('POST /v1/credit_notes', (client, options) =>
      client.creditNotes.create(params, { ...options, idempotencyKey: key }),
    ),
  );
  return externalOfNote(made, document.currency);
}

/**
 * While an earlier call may still arrive, nothing decides that there is no note, except a lock: Stripe answers all calls
 * with the key so, also those that arrive later.
 */
async function beyondDoubtOnly<Result>(mayArrive: boolean, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!mayArrive || !(error instanceof ProviderProblem) || error.code === LOCKED) throw error;
    const { code, retryAfterMs } = error;
    throw new ProviderProblem('unclear', error.message, { code, retryAfterMs });
  }
}

async function creditableInvoice(
  { access }: InvoiceJob,
  { method, external }: Progress,
): Promise<Stripe.Invoice> {
  const { externalId } = external;
  if (method === 'payment_intent' || externalId === null) {
    throw new ProviderProblem(
      'refused',
      `Stripe: ${externalId ?? 'the payment'} has no invoice there, so it has no credit note: refund it there`,
      { code: 'no_invoice' },
    );
  }
  const invoice = await retrieveInvoice(access, externalId);
  if (invoice?.status === 'open' || invoice?.status === 'paid') return invoice;
  throw new ProviderProblem(
    'refused',
    `Stripe: ${externalId} is ${invoice?.status ?? 'deleted'} there, and only open and paid invoices are credited`,
    { code: 'not_creditable' },
  );
}

async function paramsOf(
  job: InvoiceJob,
  credited: CreditNote,
  invoice: Stripe.Invoice,
  notes: readonly Stripe.CreditNote[],
): Promise<Stripe.CreditNoteCreateParams> {
  const { currency, invoiceId, number } = job.document;
  const lines = await linesOf(job, credited, invoice, notes);
  const units = (amount: CreditNote['tax']) => payableUnits(amount, currency);
  const { offset, refund, creditBalance } = credited.settled;
  const memo = `Credit note ${credited.number} for invoice ${number}`;
  return {
    invoice: invoice.id,
    lines,
    ...settleNote({
      planned: { offset: units(offset), refund: units(refund), creditBalance: units(creditBalance) },
      total: await totalThere(job, credited, invoice, lines),
      invoice: paymentsOf(invoice, notes),
    }),
    ...(REASONS[credited.reason] === undefined ? {} : { reason: REASONS[credited.reason] }),
    memo: cutText(credited.memo === null ? memo : `${memo}: ${credited.memo}`, MEMO_MAX),
    metadata: {
      [NOTE_ID]: credited.id,
      tallyhouse_credit_note_number: credited.number,
      [INVOICE_ID]: invoiceId,
    },
  };
}

async function linesOf(
  { access, document, settings }: InvoiceJob,
  credited: CreditNote,
  invoice: Stripe.Invoice,
  notes: readonly Stripe.CreditNote[],
): Promise<NoteLine[]> {
  const isTaxedThere = invoice.automatic_tax.enabled;
  const there = await allLines(access, invoice);
  const rate = there.flatMap(({ taxes }) => taxes ?? []).find((tax) => tax.tax_rate_details !== null);
  const units = (amount: CreditNote['tax']) => payableUnits(amount, document.currency);
  const isGiven = !isTaxedThere && rate !== undefined && credited.tax.gt(ZERO);
  return noteLines({
    credited,
    currency: document.currency,
    sent: stripeLines(document, settings.layout, { given: null, taxesThere: isTaxedThere }).lines,
    there,
    before: await creditedByLine(access, notes),
    isTaxedThere,
    given: isGiven
      ? {
          tax: units(credited.tax),
          taxable: units(credited.subTotal),
          rate: rate.tax_rate_details?.tax_rate ?? '',
        }
      : null,
  });
}

/** Stripe computes the tax of the lines if it has computed that of the invoice. */
async function totalThere(
  { access, document: { currency } }: InvoiceJob,
  { subTotal, tax }: CreditNote,
  invoice: Stripe.Invoice,
  lines: NoteLine[],
): Promise<bigint> {
  if (!invoice.automatic_tax.enabled) return payableUnits(subTotal.plus(tax), currency);
  const preview = await access.request('GET /v1/credit_notes/preview', (client) =>
    client.creditNotes.preview({ invoice: invoice.id, lines }),
  );
  return BigInt(preview.total);
}

/** The unpaid amount, the amount that Stripe has charged and not refunded, and the one paid outside of it. */
function paymentsOf(invoice: Stripe.Invoice, notes: readonly Stripe.CreditNote[]) {
  const paid = invoice.payments?.data.filter(({ status }) => status === 'paid') ?? [];
  const charged = paid
    .filter(({ payment: { type } }) => type === 'payment_intent' || type === 'charge')
    .reduce((sum, { amount_paid: amount }) => sum + BigInt(amount ?? 0), 0n);
  const elsewhere = BigInt(invoice.amount_paid) - charged;
  return {
    remaining: invoice.status === 'paid' ? 0n : BigInt(invoice.amount_remaining),
    charged: charged - refundedBy(notes),
    paidElsewhere: elsewhere > 0n ? elsewhere : 0n,
  };
}

/** Our credit notes of the invoice, by our ids. */
export async function stripeNotes(
  { access, document: { currency } }: Pick<InvoiceJob, 'access' | 'document'>,
  { method, external: { externalId } }: Progress,
): Promise<Map<string, ExternalCreditNote> | null> {
  if (method === 'payment_intent' || externalId === null) return null;
  const notes = await creditNotesOf(access, externalId);
  return new Map(
    notes.flatMap((note) => {
      const id = note.metadata?.[NOTE_ID];
      return id === undefined ? [] : [[id, externalOfNote(note, currency)] as const];
    }),
  );
}
