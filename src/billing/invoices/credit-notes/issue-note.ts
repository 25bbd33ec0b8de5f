/** Issues credit notes, and previews them (docs/explanation/credit-notes.md). */
import type { CreditNoteEntry } from '../../../core/credit-note.ts';
import { conflict, keyUsed } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { invoiceNumber, type NumberPosition, numberYear } from '../../../core/invoice-number.ts';
import type { Instant } from '../../../core/time.ts';
import { publishCreditNote } from '../../../notifications/credit-note-messages.ts';
import type { InvoiceToCredit } from '../../../rating/credit-notes/credit-book.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import { insertManualEntry } from '../../../store/balances/manual-balance-entries.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { noteCustomerChanges } from '../../../store/customers/customer-changes.ts';
import { queueNotes } from '../../../store/invoices/credit-note-deliveries.ts';
import {
  creditNoteWithKey,
  creditNoteWithNumber,
  insertCreditNote,
  lastCreditNotePosition,
  lockCreditNoteNumbers,
} from '../../../store/invoices/credit-notes.ts';
import type { BillingContext } from '../../billing-context.ts';
import { requireIssued } from '../issued/issued-invoice.ts';
import { notFinalized } from './creditable-invoice.ts';
import { invoiceOfToday } from './invoice-of-today.ts';
import { storeCreditOfNote } from './note-credit.ts';
import { type CreditNoteInput, type PlannedNote, planNote } from './plan-note.ts';

/**
 * Returns the id. Refuses an unknown invoice, line or product (`not_found`), a uniqueness key that was used before
 * (`conflict`), and what `planNote` refuses (`invalid`).
 */
export async function createCreditNote(context: BillingContext, input: CreditNoteInput): Promise<string> {
  await requireIssued(context, input.invoiceId, (state) => notFinalized(input.invoiceId, state));
  const today = await todayOf(context, input);
  return context.db.transaction(async (tx) => {
    // The first lock, so that all transactions that take it take their locks in one order.
    await lockCreditNoteNumbers(tx);
    const same = input.uniquenessKey === null ? null : await creditNoteWithKey(tx, input.uniquenessKey);
    if (same !== null) throw keyUsed(same);
    const now = context.clock.now();
    const { place, number } = await nextNumber(tx, context, now);
    const planned = await planNote(tx, input, today, { now, number });
    const id = newId();
    await store(tx, input, planned, { id, place, number, now });
    return id;
  });
}

/** The note that `createCreditNote` would issue now. Stores nothing, and refuses what it refuses. */
export async function previewCreditNote(
  context: BillingContext,
  input: CreditNoteInput,
): Promise<PlannedNote> {
  await requireIssued(context, input.invoiceId, (state) => notFinalized(input.invoiceId, state));
  const today = await todayOf(context, input);
  return context.db.transaction((tx) =>
    planNote(tx, input, today, { now: context.clock.now(), number: null }),
  );
}

/** Usage is read without a transaction. */
async function todayOf(
  context: BillingContext,
  { lines, invoiceId }: CreditNoteInput,
): Promise<InvoiceToCredit | null> {
  return lines === null ? invoiceOfToday(context, invoiceId) : null;
}

/** Refuses (`conflict`) a number that another note has, from a former pattern. */
async function nextNumber(
  tx: Transaction,
  { creditNotePattern }: Pick<BillingContext, 'creditNotePattern'>,
  now: Instant,
): Promise<{ readonly place: NumberPosition; readonly number: string }> {
  const year = numberYear(now);
  const place = { year, position: (await lastCreditNotePosition(tx, year)) + 1 };
  const number = invoiceNumber(creditNotePattern, place);
  const other = await creditNoteWithNumber(tx, number);
  if (other === null) return { place, number };
  throw conflict(`the pattern of credit notes gives ${number}, which another note has`, [], other);
}

interface Issue {
  readonly id: string;
  readonly place: NumberPosition;
  readonly number: string;
  readonly now: Instant;
}

async function store(
  tx: Transaction,
  input: CreditNoteInput,
  { invoice, lines, amounts, entries, credit }: PlannedNote,
  { id, place, number, now }: Issue,
): Promise<void> {
  const { reason, memo, settlement, uniquenessKey, deliverAfter, createdBy } = input;
  const { id: invoiceId, customerId, contractId, creditTypeId } = invoice;
  if (credit !== null) await storeCreditOfNote(tx, credit);
  const note = {
    ...{ id, number, place, invoiceId, customerId, contractId, creditTypeId },
    ...{ reason, memo, settlement, uniquenessKey, createdBy, lines, ...amounts },
    ...{ status: 'ISSUED' as const, issuedAt: now, voidedAt: null, deliverAfter: deliverAfter ?? now },
    creditId: credit?.id ?? null,
  };
  await insertCreditNote(tx, note);
  await queueNotes(tx, invoiceId);
  const entry = {
    creditNoteId: id,
    reason: `Credit note ${number}`,
    timestamp: now,
    createdAt: now,
    createdBy,
  };
  await insertEntries(tx, entries, entry);
  await noteCustomerChanges(tx, [customerId, ...(await ownersOf(tx, entries))]);
  await publishCreditNote(tx, 'credit_note.issued', note, now);
}

/** The members that all entries of one change share. */
interface EntryOrigin {
  readonly creditNoteId: string;
  readonly reason: string;
  readonly timestamp: Instant;
  readonly createdAt: Instant;
  readonly createdBy: string;
}

export async function insertEntries(
  tx: Transaction,
  entries: readonly CreditNoteEntry[],
  origin: EntryOrigin,
): Promise<void> {
  for (const entry of entries) await insertManualEntry(tx, { id: newId(), ...entry, ...origin });
}

/** The customers of the balances. */
export async function ownersOf(tx: Transaction, entries: readonly CreditNoteEntry[]): Promise<string[]> {
  if (entries.length === 0) return [];
  const ids = [...new Set(entries.map(({ commitId }) => commitId))];
  return (await loadCommits(tx, { ids, includeArchived: true })).map(({ customerId }) => customerId);
}
