/** Voiding finalized invoices. */
import { and, eq, type SQL } from 'drizzle-orm';
import type { Transaction } from './database.ts';
import { invoices } from './schema/invoices.ts';

/** Voids every finalized invoice of a contract. */
export async function voidInvoicesOfContract(tx: Transaction, contractId: string): Promise<void> {
  await voidInvoices(tx, eq(invoices.contractId, contractId));
}

/** Voids every finalized invoice of a customer, whichever contract it is of. */
export async function voidInvoicesOfCustomer(tx: Transaction, customerId: string): Promise<void> {
  await voidInvoices(tx, eq(invoices.customerId, customerId));
}

async function voidInvoices(tx: Transaction, which: SQL): Promise<void> {
  await tx
    .update(invoices)
    .set({ status: 'VOID' })
    .where(and(which, eq(invoices.status, 'FINALIZED')));
}
