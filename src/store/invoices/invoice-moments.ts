/** The last event that issued invoices count. */
import { eq, sql } from 'drizzle-orm';
import type { Database, Transaction } from '../base/database.ts';
import { invoices } from './invoices.tables.ts';

/**
 * The ingestion time of the last event that the invoice can count, in epoch microseconds. Null: there was no event, or
 * an earlier version issued it.
 */
export async function loadCountedUpTo(db: Database | Transaction, invoiceId: string): Promise<string | null> {
  const [row] = await db
    .select({
      micros: sql<string | null>`(extract(epoch from ${invoices.countedUpTo}) * 1000000)::bigint::text`,
    })
    .from(invoices)
    .where(eq(invoices.id, invoiceId));
  return row?.micros ?? null;
}
