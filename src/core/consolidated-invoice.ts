/**
 * Consolidated invoices: the usage invoices of a parent and of those children that it pays for, as one
 * (docs/explanation/invoices.md, "Consolidated invoices"). The invoices stay as they are; the consolidated one repeats
 * their lines, each with its origin. Pure.
 */
import { sum } from './decimal.ts';
import { derivedId } from './ids.ts';
import type { Invoice, InvoiceLine, InvoiceOwner } from './invoice.ts';
import { formatInstant, type Instant } from './time.ts';

/**
 * Derived from the parent's contract and the start of its billing period, so the draft and the issued invoice share it.
 */
export function consolidatedInvoiceId(contractId: string, periodStart: Instant): string {
  return derivedId('consolidated-invoice', contractId, formatInstant(periodStart));
}

/** A usage invoice that is part of a consolidated one. */
export type Constituent = Pick<
  Invoice,
  'id' | 'customerId' | 'contractId' | 'creditTypeId' | 'total' | 'lines'
>;

export function ownerOf({
  id,
  customerId,
  contractId,
}: Pick<Invoice, 'id' | 'customerId' | 'contractId'>): InvoiceOwner {
  return { invoiceId: id, customerId, contractId };
}

/** The lines of all constituents in their order. */
export function linesOfConstituents(constituents: readonly Constituent[]): InvoiceLine[] {
  return constituents.flatMap((constituent) => {
    const origin = ownerOf(constituent);
    return constituent.lines.map((line) => ({ ...line, origin }));
  });
}

/** The exact amount that is owed for all constituents together. They are in one currency. */
export function totalOfConstituents(constituents: readonly Pick<Constituent, 'total'>[]): Invoice['total'] {
  return sum(constituents.map(({ total }) => total));
}
