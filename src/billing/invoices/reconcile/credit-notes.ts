/** Whether credit notes agree with their lines, their invoices and the ledgers of balances. */
import type { CreditNote } from '../../../core/credit-note.ts';
import { type Decimal, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import { openBook } from '../../../rating/credit-notes/credit-book.ts';
import { loadEntriesOfNotes } from '../../../store/balances/manual-balance-entries.ts';
import type { Database } from '../../../store/base/database.ts';
import { listCreditNotes } from '../../../store/invoices/credit-notes.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { type Difference, differencesOf } from './difference.ts';

/** More notes than an invoice has. */
const NOTES_MAX = 10_000;

/**
 * For the notes of an invoice: lines add up to the note; standing notes take back no more than a line and the invoice
 * have; a voided one has left nothing in balances; the invoice of a standing one is not voided.
 */
export async function checkCreditNotes(db: Database, invoice: IssuedInvoice): Promise<Difference[]> {
  const filter = { invoiceId: invoice.id };
  const notes = await listCreditNotes(db, filter, { after: null, limit: NOTES_MAX, order: 'ascending' });
  if (notes.length === 0) return [];
  const entries = groupBy(
    await loadEntriesOfNotes(
      db,
      notes.map(({ id }) => id),
    ),
    ({ creditNoteId }) => creditNoteId ?? '',
  );
  const differs = differencesOf(invoice);
  const compare = (message: string, expected: Decimal, found: Decimal) =>
    expected.eq(found) ? [] : [differs('credit_note', message, { field: 'value', expected, found })];
  const standing = notes.filter(({ status }) => status === 'ISSUED');
  const ofNotes = notes.flatMap((note) => {
    // The credit that a note has created has no entry of its issue, and a cut purchase gives nothing back.
    const own = (entries.get(note.id) ?? []).filter(({ commitId }) => commitId !== note.creditId);
    const counted = note.status === 'VOID' ? own : own.filter(({ amount }) => amount.gt(ZERO));
    const inBalances = sum(counted.map(({ amount }) => amount));
    return [
      ...compare(`the lines of ${note.number} do not add up to it`, note.subTotal, moneyOf(note)),
      ...compare(`the ledgers differ from ${note.number}`, givenBack(note), inBalances),
    ];
  });
  return [...ofNotes, ...overdrawn(invoice, standing, compare)];
}

function moneyOf({ lines }: CreditNote): Decimal {
  return sum(lines.flatMap(({ amount, paidBy }) => (paidBy === 'money' ? [amount] : [])));
}

function givenBack({ lines, status }: CreditNote): Decimal {
  return status === 'VOID' ? ZERO : sum(lines.map((line) => line.givenBack));
}

function overdrawn(
  invoice: IssuedInvoice,
  standing: readonly CreditNote[],
  compare: (message: string, expected: Decimal, found: Decimal) => Difference[],
): Difference[] {
  if (standing.length === 0) return [];
  const { lines, money } = openBook(
    invoice,
    standing.flatMap((note) => note.lines),
  );
  const over = lines.filter(({ left }) => left.lt(ZERO));
  return [
    ...over.flatMap(({ line, amount, left }) =>
      compare(
        `credit notes take back more of ${JSON.stringify(line.name)} than it has`,
        amount,
        amount.minus(left),
      ),
    ),
    ...(money.lt(ZERO) ? compare('credit notes take back more than the invoice has', ZERO, money) : []),
    ...(invoice.status === 'VOID'
      ? compare('a voided invoice has credit notes that are not voided', ZERO, sum(standing.map(moneyOf)))
      : []),
  ];
}
