/** Items of invoice schedules, which belong to a commit or to a scheduled charge. */
import { and, asc, inArray, notInArray } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import type { InvoiceItem } from '../../core/terms/schedules.ts';
import type { Database, Transaction } from '../base/database.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { invoiceScheduleItems } from './commits.tables.ts';

export type ScheduleOwner = 'commitId' | 'scheduledChargeId';

/** The items by owner, each list by timestamp and then by order of addition. Owners without items are absent. */
export async function loadInvoiceItems(
  db: Database | Transaction,
  owner: ScheduleOwner,
  ownerIds: readonly string[],
): Promise<Map<string, InvoiceItem[]>> {
  if (ownerIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceScheduleItems)
    .where(inArray(invoiceScheduleItems[owner], [...ownerIds]))
    .orderBy(asc(invoiceScheduleItems.timestamp), asc(invoiceScheduleItems.sequence));
  const items = new Map<string, InvoiceItem[]>();
  for (const [ownerId, group] of groupBy(rows, (row) => row[owner])) {
    if (ownerId !== null) items.set(ownerId, group.map(fromRow));
  }
  return items;
}

export async function insertInvoiceItems(
  tx: Transaction,
  owner: ScheduleOwner,
  schedules: ReadonlyMap<string, readonly InvoiceItem[]>,
): Promise<void> {
  const rows = [...schedules].flatMap(([ownerId, items]) => items.map((item) => toRow(owner, ownerId, item)));
  for (const chunk of rowsPerInsert(rows)) await tx.insert(invoiceScheduleItems).values(chunk);
}

/** Replaces the items of one owner by `items`: existing ones are updated, missing ones added, others removed. */
export async function replaceInvoiceItems(
  tx: Transaction,
  owner: ScheduleOwner,
  ownerId: string,
  items: readonly InvoiceItem[],
): Promise<void> {
  await tx.delete(invoiceScheduleItems).where(
    and(
      inArray(invoiceScheduleItems[owner], [ownerId]),
      notInArray(
        invoiceScheduleItems.id,
        items.map((item) => item.id),
      ),
    ),
  );
  for (const item of items) {
    const { timestamp, unitPrice, quantity, amount } = item;
    await tx
      .insert(invoiceScheduleItems)
      .values(toRow(owner, ownerId, item))
      .onConflictDoUpdate({
        target: invoiceScheduleItems.id,
        set: { timestamp, unitPrice, quantity, amount },
      });
  }
}

function toRow(
  owner: ScheduleOwner,
  ownerId: string,
  item: InvoiceItem,
): typeof invoiceScheduleItems.$inferInsert {
  return { ...item, [owner]: ownerId };
}

function fromRow(row: typeof invoiceScheduleItems.$inferSelect): InvoiceItem {
  const { id, timestamp, unitPrice, quantity, amount } = row;
  return { id, timestamp, unitPrice, quantity, amount };
}
