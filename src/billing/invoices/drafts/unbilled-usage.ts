/**
 * Unbilled usage of an invoice: usage without a rate, and late usage. Each may have as many entries as the invoice has
 * lines. The first ones are shown and all are counted.
 */
import type { Invoice, InvoiceWarning } from '../../../core/invoice.ts';
import type { LateUsage } from '../../../rating/invoices/late-usage.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { loadInvoiceWarnings } from '../../../store/invoices/invoice-warnings.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import type { ComputedDraft } from '../compute/compute.ts';
import type { WithCard } from './list-prices.ts';

/** Enough to find the cause: a long list usually has one missing rate as its cause. */
const SHOWN_MAX = 100;

export interface Shown<Entry> {
  readonly first: readonly Entry[];
  readonly count: number;
}

export interface InvoiceWithWarnings extends Invoice, WithCard {
  readonly warnings: Shown<InvoiceWarning>;
}

export interface InvoiceWithUnbilledUsage extends InvoiceWithWarnings {
  /** Null if unknown. Undefined for invoices that are not final: nothing is late for them. */
  readonly lateUsage: Shown<LateUsage> | null | undefined;
}

export function firstOf<Entry>(entries: readonly Entry[]): Shown<Entry> {
  return { first: entries.slice(0, SHOWN_MAX), count: entries.length };
}

export function draftWithWarnings({ invoice, warnings, terms }: ComputedDraft): InvoiceWithWarnings {
  return { ...invoice, warnings: firstOf(warnings), cardTerms: terms.card };
}

/** The same invoices in the same order, each with the warnings that were frozen with it. */
export async function issuedWithWarnings<Issued extends IssuedInvoice>(
  db: Database | Transaction,
  invoices: readonly Issued[],
): Promise<(Issued & InvoiceWithWarnings)[]> {
  const ids = invoices.filter(({ warningCount }) => warningCount > 0).flatMap(warnedIds);
  const warnings = await loadInvoiceWarnings(db, ids, SHOWN_MAX);
  return invoices.map((invoice) => {
    const { first } = firstOf(warnedIds(invoice).flatMap((id) => warnings.get(id) ?? []));
    return { ...invoice, warnings: { first, count: invoice.warningCount } };
  });
}

/** The invoices with the warnings of an invoice: for a consolidated one, its constituents. */
function warnedIds({ id, constituents }: Invoice): string[] {
  return constituents === undefined ? [id] : constituents.map(({ invoiceId }) => invoiceId);
}
