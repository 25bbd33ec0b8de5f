/** How many invoices are issued, by status. */
import { count } from 'drizzle-orm';
import type { Database } from '../base/database.ts';
import { invoices } from './invoices.tables.ts';

export interface InvoiceCounts {
  readonly finalized: number;
  readonly void: number;
}

export async function countIssuedInvoices(db: Database): Promise<InvoiceCounts> {
  const rows = await db
    .select({ status: invoices.status, count: count() })
    .from(invoices)
    .groupBy(invoices.status);
  const counts = new Map(rows.map((row) => [row.status, row.count]));
  return { finalized: counts.get('FINALIZED') ?? 0, void: counts.get('VOID') ?? 0 };
}
