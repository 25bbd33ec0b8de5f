/** Computes an issued usage invoice again, with the current usage and terms. Nothing is stored. */
import { Refusal } from '../../../core/errors.ts';
import type { InvoiceToCredit } from '../../../rating/credit-notes/credit-book.ts';
import { loadEntriesOfNotes } from '../../../store/balances/manual-balance-entries.ts';
import { inSnapshot, type Transaction } from '../../../store/base/database.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { standingNotes } from '../../../store/invoices/credit-notes.ts';
import { findInvoiceHead } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { requireEventsOfInvoice } from '../../invoice-queue/require-events.ts';
import { beginRun, computeRun } from '../compute/compute-run.ts';
import type { PlannedInvoices } from '../compute/plan-invoices.ts';
import { planOfOriginal } from '../issued/regenerated-usage.ts';

/**
 * It draws on the balances as if the issued one had not. Refuses (`invalid`) all but usage invoices, one whose events
 * were removed, and one whose notes have given balances something back: that would pay for it again.
 */
export async function invoiceOfToday(context: BillingContext, id: string): Promise<InvoiceToCredit> {
  const plan = await inSnapshot(context.db, (tx) => planToday(context, tx, id));
  for await (const { invoice, problems } of computeRun(await beginRun(context, plan), 'day')) {
    const [problem] = problems;
    if (problem !== undefined) throw problem;
    return { ...invoice, id };
  }
  throw new Error('a planned invoice was not computed');
}

async function planToday(context: BillingContext, tx: Transaction, id: string): Promise<PlannedInvoices> {
  const invoice = await findInvoiceHead(tx, id);
  const contract = invoice === null ? null : await findContract(tx, invoice.contractId);
  if (invoice === null || contract === null) throw refused(`invoice ${id} is not issued`);
  if (invoice.type !== 'USAGE' || invoice.isHistorical) throw refused('is for usage invoices');
  await requireEventsOfInvoice(tx, { id, countedFrom: invoice.period.countedFrom });
  const notes = await standingNotes(tx, id);
  const entries = await loadEntriesOfNotes(
    tx,
    notes.map((note) => note.id),
  );
  if (entries.length > 0)
    throw refused('is for invoices whose credit notes have changed no balance: name the lines');
  return planOfOriginal(context, tx, { invoice, contract }, { invoices: [id] });
}

function refused(problem: string): Refusal {
  return new Refusal('invalid', problem, { path: ['differenceToRegenerated'] });
}
