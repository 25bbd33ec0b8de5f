/** Taking finalized invoices back. */
import { and, eq } from 'drizzle-orm';
import type { Transaction } from './database.ts';
import { invoices } from './schema/invoices.ts';

/** Voids every finalized invoice of a contract. */
export async function voidInvoicesOfContract(tx: Transaction, contractId: string): Promise<void> {
  await tx
    .update(invoices)
    .set({ status: 'VOID' })
    .where(and(eq(invoices.contractId, contractId), eq(invoices.status, 'FINALIZED')));
}
