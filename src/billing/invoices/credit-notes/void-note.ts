/** Voids a credit note that nobody has yet (docs/explanation/credit-notes.md, "Void"). */
import type { CreditNote, CreditNoteEntry } from '../../../core/credit-note.ts';
import { ZERO } from '../../../core/decimal.ts';
import { conflict, notFound, Refusal } from '../../../core/errors.ts';
import { addMonths, floorToMonth, type Instant } from '../../../core/time.ts';
import { publishCreditNote } from '../../../notifications/credit-note-messages.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import { loadEntriesOfNotes } from '../../../store/balances/manual-balance-entries.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { noteCustomerChanges } from '../../../store/customers/customer-changes.ts';
import { lockBalances } from '../../../store/invoices/balance-deductions.ts';
import { unqueueNote } from '../../../store/invoices/credit-note-deliveries.ts';
import { findCreditNote, setCreditNoteVoid } from '../../../store/invoices/credit-notes.ts';
import { lockInvoice } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { insertEntries, ownersOf } from './issue-note.ts';
import { segmentRests } from './segment-rests.ts';

/**
 * It keeps its number. Refuses an unknown note (`not_found`), and as `conflict` one that is voided, delivered, of a
 * month that is over, or whose amounts are used.
 */
export async function voidCreditNote(
  { db, clock }: Pick<BillingContext, 'db' | 'clock'>,
  id: string,
  voidedBy: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const head = await findCreditNote(tx, id);
    if (head === null) throw notFound('credit note', id);
    await lockInvoice(tx, head.invoiceId);
    const note = await findCreditNote(tx, id);
    if (note === null || note.status === 'VOID') throw conflict(`credit note ${id} is voided already`);
    const now = clock.now();
    requireOpenMonth(note, now);
    if (!(await unqueueNote(tx, id))) {
      throw conflict(`credit note ${id} is sent to the billing provider: correct it by a charge`);
    }
    const entries = await reversedEntries(tx, note);
    await requireUnused(tx, entries);
    await setCreditNoteVoid(tx, id, now);
    const origin = { creditNoteId: id, reason: `Credit note ${note.number} voided` };
    await insertEntries(tx, entries, { ...origin, timestamp: now, createdAt: now, createdBy: voidedBy });
    await noteCustomerChanges(tx, [note.customerId, ...(await ownersOf(tx, entries))]);
    await publishCreditNote(tx, 'credit_note.voided', { ...note, status: 'VOID', voidedAt: now }, now);
  });
}

function requireOpenMonth({ id, issuedAt }: CreditNote, now: Instant): void {
  if (now < addMonths(floorToMonth(issuedAt), 1)) return;
  throw conflict(`credit note ${id} is of a month that is over`);
}

/** Everything that the note has added to balances and taken from them, with the credit that it has created. */
async function reversedEntries(
  tx: Transaction,
  { id, creditId, settled }: CreditNote,
): Promise<CreditNoteEntry[]> {
  const entries = await loadEntriesOfNotes(tx, [id]);
  const [credit] = creditId === null ? [] : await loadCommits(tx, { ids: [creditId], includeArchived: true });
  const owners = await ownersOf(tx, [
    ...entries,
    ...(credit === undefined ? [] : [{ commitId: credit.id, segmentId: '', amount: ZERO }]),
  ]);
  await lockBalances(tx, owners);
  const back = entries.map(({ commitId, segmentId, amount }) => ({
    ...{ commitId, segmentId },
    amount: ZERO.minus(amount),
  }));
  const own = (credit?.accessSchedule.segments ?? []).map((segment) => ({
    ...{ commitId: credit?.id ?? '', segmentId: segment.id },
    amount: ZERO.minus(settled.creditBalance),
  }));
  return [...back, ...own];
}

async function requireUnused(tx: Transaction, entries: readonly CreditNoteEntry[]): Promise<void> {
  const taken = entries.filter(({ amount }) => amount.lt(ZERO));
  if (taken.length === 0) return;
  const ids = [...new Set(taken.map(({ commitId }) => commitId))];
  const commits = await loadCommits(tx, { ids, includeArchived: true });
  const restsOf = await segmentRests(tx, commits);
  const lefts = new Map(commits.flatMap(restsOf).map(({ segmentId, left }) => [segmentId, left]));
  const used = taken.find(({ segmentId, amount }) => (lefts.get(segmentId) ?? ZERO).plus(amount).lt(ZERO));
  if (used === undefined) return;
  throw new Refusal('conflict', `commit or credit ${used.commitId} has used what the note gave it`);
}
