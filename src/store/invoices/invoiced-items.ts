/** Which items of schedules are on an issued invoice. The primary key keeps an item off a second one. */
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Decimal } from '../../core/decimal.ts';
import type { Invoice } from '../../core/invoice.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { invoicedItems, invoiceLineItems, invoices } from './invoices.tables.ts';
import type { IssuedInvoice } from './invoices.ts';

/** Marks the items on the invoices as invoiced. Violates the primary key if one is on another invoice already. */
export async function insertInvoicedItems(
  tx: Transaction,
  issued: readonly Pick<Invoice, 'id' | 'lines'>[],
): Promise<void> {
  const items = issued.flatMap(({ id, lines }) => {
    // A charge that balances partly pay has several lines.
    const ids = new Set(lines.flatMap((line) => ('scheduleItemId' in line ? line.scheduleItemId : [])));
    return [...ids].map((itemId) => ({ itemId, invoiceId: id }));
  });
  for (const chunk of rowsPerInsert(items)) await tx.insert(invoicedItems).values(chunk);
}

/** The items that are on an invoice. */
export async function invoicedItemIds(
  db: Database | Transaction,
  invoiceId: string,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .select({ itemId: invoicedItems.itemId })
    .from(invoicedItems)
    .where(eq(invoicedItems.invoiceId, invoiceId));
  return new Set(rows.map(({ itemId }) => itemId));
}

/** Removes items from an invoice, so that this transaction can put them on another one. */
export async function takeInvoicedItems(
  tx: Transaction,
  invoiceId: string,
  itemIds: readonly string[],
): Promise<void> {
  if (itemIds.length === 0) return;
  await tx
    .delete(invoicedItems)
    .where(and(eq(invoicedItems.invoiceId, invoiceId), inArray(invoicedItems.itemId, [...itemIds])));
}

/** The invoice that an item is on. */
export interface InvoicedItem {
  readonly invoiceId: string;
  readonly status: IssuedInvoice['status'];
}

/** Invoiced items by id; items that are not invoiced are absent. */
export async function loadInvoicedItems(
  db: Database | Transaction,
  itemIds: readonly string[],
): Promise<Map<string, InvoicedItem>> {
  if (itemIds.length === 0) return new Map();
  const rows = await db
    .select({ itemId: invoicedItems.itemId, invoiceId: invoicedItems.invoiceId, status: invoices.status })
    .from(invoicedItems)
    .innerJoin(invoices, eq(invoices.id, invoicedItems.invoiceId))
    // One parameter for all ids: contracts may have more items than a statement has parameters.
    .where(sql`${invoicedItems.itemId} = any(${`{${itemIds.join(',')}}`}::uuid[])`);
  return new Map(rows.map(({ itemId, ...invoice }) => [itemId, invoice]));
}

/** The amount that a finalized invoice bills for an item. */
export interface InvoicedAmount {
  readonly invoiceId: string;
  readonly contractId: string;
  readonly amount: Decimal;
  /** The date of the invoice. */
  readonly timestamp: Instant;
}

/** Amounts by item; items on no invoice and on voided ones are absent. */
export async function loadInvoicedAmounts(
  db: Database | Transaction,
  itemIds: readonly string[],
): Promise<Map<string, InvoicedAmount>> {
  if (itemIds.length === 0) return new Map();
  const { itemId, invoiceId } = invoicedItems;
  const rows = await db
    .select({
      itemId,
      invoiceId,
      contractId: invoices.contractId,
      amount: invoiceLineItems.total,
      timestamp: invoices.issuedAt,
    })
    .from(invoicedItems)
    .innerJoin(invoices, eq(invoices.id, invoiceId))
    .innerJoin(
      invoiceLineItems,
      and(eq(invoiceLineItems.invoiceId, invoiceId), eq(invoiceLineItems.scheduleItemId, itemId)),
    )
    .where(and(inArray(itemId, [...itemIds]), eq(invoices.status, 'FINALIZED')));
  return new Map(rows.map(({ itemId: id, ...amount }) => [id, amount]));
}

/** The voided invoice that an item is on. */
export interface VoidedItem {
  readonly invoiceId: string;
  readonly voidedAt: Instant;
}

/**
 * Voided items by id. Items are absent if they are on no invoice, on one that is not voided, or on one of an earlier
 * version.
 */
export async function loadVoidedItems(
  db: Database | Transaction,
  itemIds: readonly string[],
): Promise<Map<string, VoidedItem>> {
  if (itemIds.length === 0) return new Map();
  const rows = await db
    .select({ itemId: invoicedItems.itemId, invoiceId: invoicedItems.invoiceId, voidedAt: invoices.voidedAt })
    .from(invoicedItems)
    .innerJoin(invoices, eq(invoices.id, invoicedItems.invoiceId))
    .where(
      and(
        sql`${invoicedItems.itemId} = any(${`{${itemIds.join(',')}}`}::uuid[])`,
        eq(invoices.status, 'VOID'),
      ),
    );
  return new Map(
    rows.flatMap(({ itemId, invoiceId, voidedAt }) =>
      voidedAt === null ? [] : [[itemId, { invoiceId, voidedAt }]],
    ),
  );
}

/** The ids of the SCHEDULED invoices that the contracts have, voided ones included. */
export async function issuedScheduledIds(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Set<string>> {
  if (contractIds.length === 0) return new Set();
  const rows = await db
    .select({ id: invoices.id })
    .from(invoices)
    .where(and(isOneOf(invoices.contractId, contractIds), eq(invoices.type, 'SCHEDULED')));
  return new Set(rows.map(({ id }) => id));
}
