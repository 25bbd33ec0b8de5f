/**
 * What an invoice does not bill, for whoever shows it: usage that no rate covered, and usage that came too
 * late. An invoice may have as many of either as it has lines; the first ones are shown, and all are counted.
 */
import type { Invoice, InvoiceWarning } from '../../core/invoice.ts';
import type { LateUsage } from '../../rating/invoice/late-usage.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { loadInvoiceWarnings } from '../../store/invoice-warnings.ts';
import type { IssuedInvoice } from '../../store/invoices.ts';
import type { ComputedInvoice } from './compute.ts';

/** Enough to see what is wrong: the cause of a long list is one missing rate more often than a hundred. */
const SHOWN_MAX = 100;

export interface Shown<Entry> {
  readonly first: readonly Entry[];
  readonly count: number;
}

export interface InvoiceWithWarnings extends Invoice {
  readonly warnings: Shown<InvoiceWarning>;
}

export interface InvoiceWithUnbilledUsage extends InvoiceWithWarnings {
  /** Null where it is not known. Undefined for invoices that are not final: nothing is late for them. */
  readonly lateUsage: Shown<LateUsage> | null | undefined;
}

export function firstOf<Entry>(entries: readonly Entry[]): Shown<Entry> {
  return { first: entries.slice(0, SHOWN_MAX), count: entries.length };
}

export function draftWithWarnings({ invoice, warnings }: ComputedInvoice): InvoiceWithWarnings {
  return { ...invoice, warnings: firstOf(warnings) };
}

/** The same invoices in the same order, each with the warnings that were frozen with it. */
export async function issuedWithWarnings<Issued extends IssuedInvoice>(
  db: Database | Transaction,
  invoices: readonly Issued[],
): Promise<(Issued & InvoiceWithWarnings)[]> {
  const ids = invoices.filter(({ warningCount }) => warningCount > 0).map(({ id }) => id);
  const warnings = await loadInvoiceWarnings(db, ids, SHOWN_MAX);
  return invoices.map((invoice) => ({
    ...invoice,
    warnings: { first: warnings.get(invoice.id) ?? [], count: invoice.warningCount },
  }));
}
