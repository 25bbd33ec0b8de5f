/** Credit notes of an invoice in Stripe, and their state. */
import type Stripe from 'stripe';
import type { Currency } from '../../core/currencies.ts';
import type { ExternalCreditNote } from '../../core/external-credit-note.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { StripeAccess } from './access.ts';
import { fromStripeUnits } from './amounts.ts';
import { eachPage } from './find-invoice.ts';

/** The metadata key of a credit note in Stripe with the id of ours. */
export const NOTE_ID = 'tallyhouse_credit_note_id';

const PAGE_MAX = 100;

/** All credit notes of the invoice, voided ones and those of others too, with all their lines. */
export async function creditNotesOf(access: StripeAccess, invoice: string): Promise<Stripe.CreditNote[]> {
  const found: Stripe.CreditNote[] = [];
  await eachPage((after) =>
    access.request('GET /v1/credit_notes', async (client) => {
      const page = await client.creditNotes.list({ invoice, limit: PAGE_MAX, ...after });
      found.push(...page.data);
      return page;
    }),
  );
  return found;
}

/** By invoice line, the amounts that standing credit notes have taken of it, in Stripe's unit. */
export async function creditedByLine(
  access: StripeAccess,
  notes: readonly Stripe.CreditNote[],
): Promise<Map<string, bigint>> {
  const credited = new Map<string, bigint>();
  for (const note of notes) {
    if (note.status === 'void') continue;
    for (const { invoice_line_item: line, amount } of await linesOf(access, note)) {
      if (line !== undefined) credited.set(line, (credited.get(line) ?? 0n) + BigInt(amount));
    }
  }
  return credited;
}

async function linesOf(
  access: StripeAccess,
  { id, lines }: Stripe.CreditNote,
): Promise<Stripe.CreditNoteLineItem[]> {
  if (!lines.has_more) return lines.data;
  const all: Stripe.CreditNoteLineItem[] = [];
  await eachPage((after) =>
    access.request('GET /v1/credit_notes/lines', async (client) => {
      const page = await client.creditNotes.listLineItems(id, { limit: PAGE_MAX, ...after });
      all.push(...page.data);
      return page;
    }),
  );
  return all;
}

/** Money of the invoice that its credit notes have refunded, in Stripe's unit. */
export function refundedBy(notes: readonly Stripe.CreditNote[]): bigint {
  return notes.filter(({ status }) => status !== 'void').reduce((sum, note) => sum + refundOf(note), 0n);
}

function refundOf({ refunds }: Stripe.CreditNote): bigint {
  return refunds.reduce((sum, { amount_refunded: amount }) => sum + BigInt(amount), 0n);
}

export function externalOfNote(note: Stripe.CreditNote, currency: Currency): ExternalCreditNote {
  const amount = (units: number | bigint) => fromStripeUnits(units, currency);
  const { post_payment_amount: post, out_of_band_amount: outOfBand } = note;
  const refund = refundOf(note);
  return {
    billingProvider: 'stripe',
    status: note.status === 'void' ? 'VOID' : 'ISSUED',
    externalId: note.id,
    number: note.number,
    issuedAt: note.created * SECOND_MS,
    pdfUrl: note.pdf,
    total: amount(note.total),
    tax: amount((note.total_taxes ?? []).reduce((sum, { amount: tax }) => sum + BigInt(tax), 0n)),
    prePayment: amount(note.pre_payment_amount),
    refund: amount(refund),
    customerBalance: amount(BigInt(post) - refund - BigInt(outOfBand ?? 0)),
    outOfBand: amount(outOfBand ?? 0),
    error: null,
  };
}
