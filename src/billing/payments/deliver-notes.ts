/**
 * Sends the credit notes of an invoice that its provider has, in the attempts of its delivery and under its lease. Each
 * note is there once: what is in doubt is looked up, or repeated under the same key.
 */
import { assert } from '../../core/errors.ts';
import { type ExternalCreditNote, unsentNote } from '../../core/external-credit-note.ts';
import type { ExternalStatus } from '../../core/external-invoice.ts';
import type { Instant } from '../../core/time.ts';
import type { PaymentDocument } from '../../payments/document.ts';
import { type Note, type PaymentsProvider, type Progress, ProviderProblem } from '../../payments/provider.ts';
import {
  beginNote,
  notesAtProvider,
  recordNote,
  recordNoteFailure,
  type WaitingNote,
  waitingNotes,
} from '../../store/invoices/credit-note-deliveries.ts';
import { findCreditNote } from '../../store/invoices/credit-notes.ts';
import type { BillingContext } from '../billing-context.ts';

interface Delivered {
  readonly document: PaymentDocument;
  /** With the state of the invoice there. */
  readonly progress: Progress;
  readonly note: Note;
}

interface NotesEnd {
  /** Why the notes are not sent, so that they are tried again; null: nothing failed. */
  readonly problem: ProviderProblem | null;
  /** When the next note may be sent; null: none waits for a time. */
  readonly nextAt: Instant | null;
  /** Whether a note was sent, so that the state of the invoice has changed. */
  readonly areSent: boolean;
}

/** States of an invoice that is not issued at its provider yet, or has nothing there. */
const NOT_THERE: readonly ExternalStatus[] = [
  'QUEUED',
  'DRAFT',
  'DELETED',
  'SKIPPED',
  'INVALID_REQUEST_ERROR',
];

/** Sends the notes that are due, in the order of their numbers. A refused one waits for a person, the others go on. */
export async function deliverNotes(
  context: BillingContext,
  provider: PaymentsProvider,
  delivered: Delivered,
): Promise<NotesEnd> {
  const { db, clock } = context;
  const { invoiceId, external } = delivered.progress;
  if (external.status === 'SKIPPED') await skipNotes(context, delivered);
  if (NOT_THERE.includes(external.status)) return { problem: null, nextAt: null, areSent: false };
  await readNotes(context, provider, delivered);
  const waiting = await waitingNotes(db, invoiceId);
  const now = clock.now();
  const due = waiting.filter(({ deliverAfter }) => deliverAfter <= now);
  const nextAt = firstOf(waiting.filter(({ deliverAfter }) => deliverAfter > now));
  let areSent = false;
  for (const one of due) {
    const problem = await sendNote(context, provider, delivered, one);
    if (problem !== null) return { problem, nextAt, areSent };
    areSent = true;
  }
  return { problem: null, nextAt, areSent };
}

/** When the first of the notes of an invoice that wait may be sent; null: none waits. */
export async function firstNoteAt({ db }: BillingContext, invoiceId: string): Promise<Instant | null> {
  return firstOf(await waitingNotes(db, invoiceId));
}

function firstOf(waiting: readonly WaitingNote[]): Instant | null {
  if (waiting.length === 0) return null;
  return Math.min(...waiting.map(({ deliverAfter }) => deliverAfter));
}

/** Null: it is there, it was refused, or it was voided in the meantime. */
async function sendNote(
  { db, log }: BillingContext,
  provider: PaymentsProvider,
  { document, progress, note }: Delivered,
  waiting: WaitingNote,
): Promise<ProviderProblem | null> {
  const { creditNoteId, attemptKey, sentAt } = waiting;
  const credited = await findCreditNote(db, creditNoteId);
  assert(credited !== null, 'credit notes are not deleted');
  const doubtful = attemptKey === null || sentAt === null ? null : { key: attemptKey, sentAt };
  let isBegun = false;
  const begin = async (key: string) => {
    await note({});
    if (!(await beginNote(db, waiting, key, Date.now()))) throw new VoidedMeanwhile();
    isBegun = true;
  };
  try {
    const sending = { doubtful, begin };
    await recordNote(
      db,
      creditNoteId,
      await provider.deliverNote(document, credited, { progress, sending }, note),
    );
    return null;
  } catch (error) {
    if (error instanceof VoidedMeanwhile) return null;
    if (!(error instanceof ProviderProblem)) throw error;
    const { kind, code, message } = error;
    if (kind === 'refused') {
      await recordNote(
        db,
        creditNoteId,
        unsentNote(progress.external.billingProvider, 'INVALID_REQUEST_ERROR', message),
      );
      log.warn({ creditNote: creditNoteId, kind, code, error: message }, 'a credit note was not delivered');
      return null;
    }
    const isDoubtful = kind === 'unclear' && (doubtful !== null || isBegun);
    await recordNoteFailure(db, creditNoteId, { error: message, isDoubtful });
    return error;
  }
}

/** The note was voided after it was read, or another attempt has begun to send it. */
class VoidedMeanwhile extends Error {
  override readonly name = 'VoidedMeanwhile';
}

async function skipNotes({ db }: BillingContext, { progress }: Delivered): Promise<void> {
  const { billingProvider } = progress.external;
  for (const { creditNoteId } of await waitingNotes(db, progress.invoiceId)) {
    await recordNote(db, creditNoteId, unsentNote(billingProvider, 'SKIPPED', null));
  }
}

/** Reads the state of the notes that the provider has. */
async function readNotes(
  { db }: BillingContext,
  provider: PaymentsProvider,
  { document, progress }: Delivered,
): Promise<void> {
  const known = await notesAtProvider(db, progress.invoiceId);
  if (known.size === 0) return;
  const there = (await provider.notesThere(document, progress)) ?? new Map<string, ExternalCreditNote>();
  for (const [id, { status }] of known) {
    const found = there.get(id);
    if (found !== undefined && found.status !== status) await recordNote(db, id, found);
  }
}
