/** Issued invoices with their lines. */
import { and, eq } from 'drizzle-orm';
import { linesOfConstituents, ownerOf } from '../../core/consolidated-invoice.ts';
import type { Database, Transaction } from '../base/database.ts';
import { loadConstituents } from './invoice-constituents.ts';
import { loadInvoiceLines } from './invoice-lines.ts';
import { invoices } from './invoices.tables.ts';
import { type IssuedHead, type IssuedInvoice, invoiceFromRow } from './invoices.ts';

/** One issued invoice of a customer with its lines, or null. */
export async function findInvoice(
  db: Database | Transaction,
  customerId: string,
  invoiceId: string,
): Promise<IssuedInvoice | null> {
  const rows = await db
    .select()
    .from(invoices)
    .where(and(eq(invoices.id, invoiceId), eq(invoices.customerId, customerId)));
  const row = rows[0];
  if (row === undefined) return null;
  return (await withLines(db, [invoiceFromRow(row)]))[0] ?? null;
}

/**
 * The same invoices in the same order, each with its lines in their order. A consolidated one has those of its
 * constituents.
 */
export async function withLines(
  db: Database | Transaction,
  heads: readonly IssuedHead[],
): Promise<IssuedInvoice[]> {
  const consolidated = await loadConstituents(
    db,
    heads.flatMap(({ id, type }) => (type === 'USAGE_CONSOLIDATED' ? [id] : [])),
  );
  const owned = [...consolidated.values()].flat();
  const lines = await loadInvoiceLines(
    db,
    [...heads, ...owned].map(({ id }) => id),
  );
  return heads.map((head) => {
    if (head.type !== 'USAGE_CONSOLIDATED') return { ...head, lines: lines.get(head.id) ?? [] };
    const own = (consolidated.get(head.id) ?? []).map((one) => ({ ...one, lines: lines.get(one.id) ?? [] }));
    const constituents = own.map(ownerOf);
    const parts = own.map(({ id, frozen }) => ({ id, frozen }));
    return { ...head, constituents, parts, lines: linesOfConstituents(own) };
  });
}
