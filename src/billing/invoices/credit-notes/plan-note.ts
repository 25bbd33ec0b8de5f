/** Computes a credit note, for its preview and for its issue. */
import type {
  CreditNote,
  CreditNoteEntry,
  CreditNoteLine,
  CreditNoteReason,
  SettledAmounts,
  Settlement,
} from '../../../core/credit-note.ts';
import { type Decimal, maximum, sum, ZERO } from '../../../core/decimal.ts';
import type { ExternalCreditNote } from '../../../core/external-credit-note.ts';
import type { ExternalInvoice } from '../../../core/external-invoice.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { Instant } from '../../../core/time.ts';
import {
  type CreditBook,
  givenBackOf,
  type InvoiceToCredit,
  openBook,
} from '../../../rating/credit-notes/credit-book.ts';
import {
  type CreditRequest,
  creditLines,
  moneyOf,
  type TakenBack,
} from '../../../rating/credit-notes/credit-lines.ts';
import { creditDifference } from '../../../rating/credit-notes/difference.ts';
import { type InvoicePayment, noteTax, settle } from '../../../rating/credit-notes/settlement.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadInvoiceDeductions, lockBalances } from '../../../store/invoices/balance-deductions.ts';
import { notesAtProvider } from '../../../store/invoices/credit-note-deliveries.ts';
import { standingNotes } from '../../../store/invoices/credit-notes.ts';
import { loadExternalInvoices } from '../../../store/invoices/invoice-deliveries.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { lockCreditable } from './creditable-invoice.ts';
import { buildCreditOfNote, type CreditOfNote } from './note-credit.ts';
import { entriesOfNote } from './note-entries.ts';

export interface CreditNoteInput {
  readonly invoiceId: string;
  readonly reason: CreditNoteReason;
  readonly memo: string | null;
  /** Null: the difference to the invoice computed today. */
  readonly lines: readonly CreditRequest[] | null;
  readonly settlement: Settlement | null;
  readonly credit: CreditOfNote;
  readonly uniquenessKey: string | null;
  /** Default: at once. */
  readonly deliverAfter: Instant | null;
  readonly createdBy: string;
}

/** A note without the number that its issue gives it. */
export interface PlannedNote {
  readonly invoice: IssuedInvoice;
  readonly lines: readonly CreditNoteLine[];
  readonly amounts: Pick<CreditNote, 'subTotal' | 'tax' | 'balanceAmount' | 'settled'>;
  readonly entries: readonly CreditNoteEntry[];
  /** The credit of the customer; null: none. */
  readonly credit: Commit | null;
}

/**
 * Locks the invoice and the balances that it drew on, so that a second note counts the first. Refuses (`invalid`) an invoice that cannot be credited,
 * more than it has left, a settlement that contradicts its payment, and a purchase whose access is used.
 */
export async function planNote(
  tx: Transaction,
  input: CreditNoteInput,
  today: InvoiceToCredit | null,
  { now, number }: { readonly now: Instant; readonly number: string | null },
): Promise<PlannedNote> {
  const invoice = await lockCreditable(tx, input.invoiceId);
  await lockBalances(tx, [invoice.customerId, ...(await payersOf(tx, invoice))]);
  const before = await standingNotes(tx, invoice.id);
  const book = openBook(
    invoice,
    before.flatMap((note) => note.lines),
  );
  const taken =
    today === null ? creditLines(book, input.lines ?? []) : creditDifference(book, openBook(today, []));
  const external = (await loadExternalInvoices(tx, [invoice.id])).get(invoice.id) ?? null;
  const lines = taken.map(lineOf);
  const payment = paymentOf(external, await notesAtProvider(tx, invoice.id));
  const invoiceTax = external?.tax?.amount ?? ZERO;
  const amounts = amountsOf({ book, taken, before, payment, invoiceTax, settlement: input.settlement });
  const entries = await entriesOfNote(tx, {
    ...{ invoiceId: invoice.id, taken, lines, now },
    before: before.map(({ id }) => id),
  });
  const { creditBalance } = amounts.settled;
  const credit = creditBalance.eq(ZERO)
    ? null
    : await buildCreditOfNote(tx, input.credit, {
        ...{ customerId: invoice.customerId, creditTypeId: invoice.creditTypeId, amount: creditBalance },
        ...{ number, createdAt: now, createdBy: input.createdBy },
      });
  return { invoice, lines, amounts, entries, credit };
}

/** The customers whose balances paid for the invoice: its own, or its parents. */
async function payersOf(tx: Transaction, { id }: IssuedInvoice): Promise<string[]> {
  const deductions = await loadInvoiceDeductions(tx, id);
  const ids = [...new Set(deductions.map(({ commitId }) => commitId))];
  if (ids.length === 0) return [];
  return (await loadCommits(tx, { ids, includeArchived: true })).map(({ customerId }) => customerId);
}

function lineOf({ line, amount, quantity }: TakenBack): CreditNoteLine {
  const { id, productId, payer, paidBy } = line;
  const { name, interval } = line.line;
  const givenBack = givenBackOf(line, amount);
  return { lineItemId: id, productId, name, interval, amount, quantity, paidBy, payer, givenBack };
}

interface AmountsInput {
  readonly book: CreditBook;
  readonly taken: readonly TakenBack[];
  readonly before: readonly CreditNote[];
  readonly payment: InvoicePayment;
  readonly invoiceTax: Decimal;
  readonly settlement: Settlement | null;
}

function amountsOf(input: AmountsInput): PlannedNote['amounts'] {
  const { book, taken, before, payment, invoiceTax, settlement } = input;
  const { payable, creditTypeId } = book;
  const subTotal = moneyOf(taken);
  const tax = noteTax({
    ...{ creditTypeId, payable, subTotal, tax: invoiceTax },
    creditedBefore: sum(before.map((note) => note.subTotal)),
    taxBefore: sum(before.map((note) => note.tax)),
  });
  const due = payable.plus(invoiceTax);
  const settled = settle({
    ...{ settlement, due, total: subTotal.plus(tax), payment },
    before: settledBy(before),
  });
  const all = sum(taken.map(({ amount }) => amount));
  return { subTotal, tax, balanceAmount: all.minus(subTotal), settled };
}

/**
 * An invoice that its provider skipped, or does not have, says nothing of its payment. What notes have deducted there
 * counts as paid there, and not here.
 */
function paymentOf(
  external: ExternalInvoice | null,
  notes: ReadonlyMap<string, ExternalCreditNote>,
): InvoicePayment {
  if (external === null || external.status === 'SKIPPED')
    return { isKnown: false, isPaid: false, paid: ZERO };
  const deducted = [...notes.values()].flatMap(({ status, prePayment }) =>
    status === 'VOID' || prePayment === null ? [] : [prePayment],
  );
  const paid = maximum((external.amountPaid ?? ZERO).minus(sum(deducted)), ZERO);
  return { isKnown: true, isPaid: external.status === 'PAID', paid };
}

function settledBy(notes: readonly CreditNote[]): SettledAmounts {
  const total = (of: keyof SettledAmounts) => sum(notes.map(({ settled }) => settled[of]));
  return { offset: total('offset'), refund: total('refund'), creditBalance: total('creditBalance') };
}
