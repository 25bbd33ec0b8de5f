/** Voiding finalized invoices. The voided invoices are returned, without their lines. */
import { and, eq, inArray, type SQL } from 'drizzle-orm';
import { conflict } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { creditDeductions } from './balance-deductions.ts';
import { firstCredited } from './credit-notes.ts';
import { standingConsolidations } from './invoice-constituents.ts';
import { wantVoid } from './invoice-deliveries.ts';
import { invoicedItems, invoices } from './invoices.tables.ts';
import { type IssuedHead, invoiceFromRow } from './invoices.ts';

/** Voids every finalized invoice of a contract. */
export async function voidInvoicesOfContract(
  tx: Transaction,
  contractId: string,
  now: Instant,
): Promise<IssuedHead[]> {
  return voidInvoices(tx, eq(invoices.contractId, contractId), now);
}

/** Voids one invoice, if it is finalized. */
export async function voidInvoiceWithId(tx: Transaction, id: string, now: Instant): Promise<void> {
  await voidInvoices(tx, eq(invoices.id, id), now);
}

/** Voids every finalized invoice of a customer, of any contract. */
export async function voidInvoicesOfCustomer(
  tx: Transaction,
  customerId: string,
  now: Instant,
): Promise<IssuedHead[]> {
  return voidInvoices(tx, eq(invoices.customerId, customerId), now);
}

/** Voids the finalized invoices that contain these items of schedules. */
export async function voidInvoicesOfItems(
  tx: Transaction,
  itemIds: readonly string[],
  now: Instant,
): Promise<IssuedHead[]> {
  if (itemIds.length === 0) return [];
  const ids = tx
    .select({ id: invoicedItems.invoiceId })
    .from(invoicedItems)
    .where(inArray(invoicedItems.itemId, [...itemIds]));
  return voidInvoices(tx, inArray(invoices.id, ids), now);
}

/**
 * Gives back the amounts that they took from balances, and queues the void of their copies at a billing provider.
 * Consolidated invoices that contain them are voided with them. Refuses (`conflict`) one with a standing credit note.
 */
async function voidInvoices(tx: Transaction, which: SQL | undefined, now: Instant): Promise<IssuedHead[]> {
  const voided = await tx
    .update(invoices)
    .set({ status: 'VOID', voidedAt: now })
    .where(and(which, eq(invoices.status, 'FINALIZED')))
    .returning();
  const credited = await firstCredited(
    tx,
    voided.map(({ id }) => id),
  );
  if (credited !== null) {
    throw conflict(`invoice ${credited.invoiceId} has the credit note ${credited.number}: void that first`);
  }
  await wantVoid(
    tx,
    voided.map(({ id }) => id),
    now,
  );
  await creditDeductions(
    tx,
    voided.map(({ id }) => id),
    now,
  );
  const consolidated = await standingConsolidations(
    tx,
    voided.map(({ id }) => id),
  );
  const heads = voided.map(invoiceFromRow);
  if (consolidated.length === 0) return heads;
  return [...heads, ...(await voidInvoices(tx, isOneOf(invoices.id, consolidated), now))];
}
