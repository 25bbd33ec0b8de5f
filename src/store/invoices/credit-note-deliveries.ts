/** Credit notes on their way to the providers of their invoices, and their state there. */
import { and, asc, eq, inArray, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { ExternalCreditNote } from '../../core/external-credit-note.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { creditNoteDeliveries } from './credit-note-deliveries.tables.ts';
import { creditNotes } from './credit-notes.tables.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';

/**
 * Queues the standing notes of an invoice that has a provider. If the invoice is there, its delivery is due with the first
 * of them; else they are sent with it. Notes that were refused are queued again; those that are there stay as they are.
 */
export async function queueNotes(tx: Transaction, invoiceId: string): Promise<void> {
  await tx.execute(sql`
    insert into credit_note_deliveries (credit_note_id, invoice_id)
    select n.id, n.invoice_id from credit_notes n
    join invoice_deliveries d on d.invoice_id = n.invoice_id and d.configuration_id is not null
      and d.status <> 'SKIPPED'
    where n.invoice_id = ${invoiceId} and n.status = 'ISSUED'
    on conflict (credit_note_id) do update set status = 'QUEUED', error = null
      where credit_note_deliveries.status in ('INVALID_REQUEST_ERROR', 'SKIPPED')
        and credit_note_deliveries.external_id is null`);
  // Another time than before, so that the end of a running attempt notices it.
  await tx.execute(sql`
    update invoice_deliveries d
    set due_at = least(d.due_at, q.first_at) - interval '1 millisecond'
    from (
      select w.invoice_id, min(n.deliver_after) as first_at
      from credit_note_deliveries w join credit_notes n on n.id = w.credit_note_id
      where w.invoice_id = ${invoiceId} and w.status = 'QUEUED'
      group by w.invoice_id
    ) q
    where d.invoice_id = q.invoice_id and d.delivered_at is not null`);
}

/** A note that is not there yet. */
export interface WaitingNote {
  readonly creditNoteId: string;
  /** By the clock of the service. */
  readonly deliverAfter: Instant;
  readonly attemptKey: string | null;
  readonly sentAt: Instant | null;
}

/** The standing notes of an invoice that wait to be sent, in the order of their numbers. */
export async function waitingNotes(db: Database, invoiceId: string): Promise<WaitingNote[]> {
  return db
    .select({
      creditNoteId: creditNoteDeliveries.creditNoteId,
      deliverAfter: creditNotes.deliverAfter,
      attemptKey: creditNoteDeliveries.attemptKey,
      sentAt: creditNoteDeliveries.sentAt,
    })
    .from(creditNoteDeliveries)
    .innerJoin(creditNotes, eq(creditNotes.id, creditNoteDeliveries.creditNoteId))
    .where(and(eq(creditNoteDeliveries.invoiceId, invoiceId), eq(creditNoteDeliveries.status, 'QUEUED')))
    .orderBy(asc(creditNotes.year), asc(creditNotes.position));
}

/**
 * Records that a call which creates the note begins under this key. False: the note was voided, or another attempt has
 * begun one since.
 */
export async function beginNote(
  db: Database,
  { creditNoteId, attemptKey }: WaitingNote,
  key: string,
  sentAt: Instant,
): Promise<boolean> {
  const rows = await db
    .update(creditNoteDeliveries)
    .set({ attemptKey: key, sentAt })
    .where(
      and(
        eq(creditNoteDeliveries.creditNoteId, creditNoteId),
        eq(creditNoteDeliveries.status, 'QUEUED'),
        attemptKey === null
          ? isNull(creditNoteDeliveries.attemptKey)
          : eq(creditNoteDeliveries.attemptKey, attemptKey),
      ),
    )
    .returning({ id: creditNoteDeliveries.creditNoteId });
  return rows.length > 0;
}

/** Records the state there, after which nothing is in doubt. */
export async function recordNote(
  db: Database,
  creditNoteId: string,
  { billingProvider: _, ...external }: ExternalCreditNote,
): Promise<void> {
  await db
    .update(creditNoteDeliveries)
    .set({ ...external, attemptKey: null })
    .where(eq(creditNoteDeliveries.creditNoteId, creditNoteId));
}

/** Records why the last attempt has failed. `isDoubtful`: the call under the recorded key may have created it. */
export async function recordNoteFailure(
  db: Database,
  creditNoteId: string,
  { error, isDoubtful }: { readonly error: string; readonly isDoubtful: boolean },
): Promise<void> {
  await db
    .update(creditNoteDeliveries)
    .set({ error, ...(isDoubtful ? {} : { attemptKey: null }) })
    .where(
      and(eq(creditNoteDeliveries.creditNoteId, creditNoteId), eq(creditNoteDeliveries.status, 'QUEUED')),
    );
}

/** Takes a note out of the queue whose provider cannot have it. False: the provider has it, or may have it. */
export async function unqueueNote(tx: Transaction, creditNoteId: string): Promise<boolean> {
  const { attemptKey, externalId } = creditNoteDeliveries;
  const [row] = await tx
    .select({ attemptKey, externalId })
    .from(creditNoteDeliveries)
    .where(eq(creditNoteDeliveries.creditNoteId, creditNoteId))
    .for('update');
  if (row === undefined) return true;
  if (row.externalId !== null || row.attemptKey !== null) return false;
  await tx.delete(creditNoteDeliveries).where(eq(creditNoteDeliveries.creditNoteId, creditNoteId));
  return true;
}

/** The state of notes at their providers; notes that are not delivered are absent. */
export async function loadExternalNotes(
  db: Database | Transaction,
  creditNoteIds: readonly string[],
): Promise<Map<string, ExternalCreditNote>> {
  if (creditNoteIds.length === 0) return new Map();
  const rows = await externalNotes(db).where(isOneOf(creditNoteDeliveries.creditNoteId, creditNoteIds));
  return new Map(rows.map((row) => [row.note.creditNoteId, externalFromRow(row)]));
}

/** The notes of an invoice that its provider has, by our ids. */
export async function notesAtProvider(
  db: Database | Transaction,
  invoiceId: string,
): Promise<Map<string, ExternalCreditNote>> {
  const rows = await externalNotes(db).where(
    and(
      eq(creditNoteDeliveries.invoiceId, invoiceId),
      inArray(creditNoteDeliveries.status, ['ISSUED', 'VOID']),
    ),
  );
  return new Map(rows.map((row) => [row.note.creditNoteId, externalFromRow(row)]));
}

function externalNotes(db: Database | Transaction) {
  return db
    .select({ note: creditNoteDeliveries, billingProvider: invoiceDeliveries.billingProvider })
    .from(creditNoteDeliveries)
    .innerJoin(invoiceDeliveries, eq(invoiceDeliveries.invoiceId, creditNoteDeliveries.invoiceId));
}

type ExternalRow = Awaited<ReturnType<typeof externalNotes>>[number];

function externalFromRow({ note, billingProvider }: ExternalRow): ExternalCreditNote {
  const { creditNoteId: _, invoiceId: __, attemptKey: ___, sentAt: ____, ...external } = note;
  return { billingProvider, ...external };
}

/** The amount that the standing notes of an invoice take from what is to be paid, and its provider has not deducted. */
export function offsetNotThere(invoiceId: SQLWrapper): SQL {
  return sql`coalesce((select sum(n.offset_amount) from credit_notes n
    left join credit_note_deliveries w on w.credit_note_id = n.id
    where n.invoice_id = ${invoiceId} and n.status = 'ISSUED' and w.pre_payment_amount is null), 0)`;
}
