/** Scheduled charges with their invoice items. */
import { and, asc, eq } from 'drizzle-orm';
import type { ScheduledCharge } from '../../core/terms/scheduled-charges.ts';
import type { InvoiceItem } from '../../core/terms/schedules.ts';
import { insertInvoiceItems, loadInvoiceItems, replaceInvoiceItems } from '../balances/invoice-schedules.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { scheduledCharges } from '../contracts/scheduled-charges.tables.ts';

/** Stores charges in their order. */
export async function insertScheduledCharges(
  tx: Transaction,
  added: readonly ScheduledCharge[],
): Promise<void> {
  for (const chunk of rowsPerInsert(added)) await tx.insert(scheduledCharges).values(chunk.map(toRow));
  const items = new Map(added.map((charge) => [charge.id, charge.schedule.items]));
  await insertInvoiceItems(tx, 'scheduledChargeId', items);
}

/** Writes a charge that exists; its items are added, changed and removed by id. */
export async function updateScheduledCharge(tx: Transaction, charge: ScheduledCharge): Promise<void> {
  await tx.update(scheduledCharges).set(toRow(charge)).where(eq(scheduledCharges.id, charge.id));
  await replaceInvoiceItems(tx, 'scheduledChargeId', charge.id, charge.schedule.items);
}

/** The charges of the contracts, archived ones too, in the order of addition. */
export async function loadScheduledCharges(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<ScheduledCharge[]> {
  if (contractIds.length === 0) return [];
  const rows = await db
    .select()
    .from(scheduledCharges)
    .where(isOneOf(scheduledCharges.contractId, contractIds))
    .orderBy(asc(scheduledCharges.sequence));
  const items = await loadInvoiceItems(
    db,
    'scheduledChargeId',
    rows.map((row) => row.id),
  );
  return rows.map((row) => fromRow(row, items.get(row.id) ?? []));
}

/** The subset of the contracts with charges that join usage invoices by their own setting. */
export async function contractsWithChargesOnUsageInvoices(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Set<string>> {
  if (contractIds.length === 0) return new Set();
  const rows = await db
    .selectDistinct({ contractId: scheduledCharges.contractId })
    .from(scheduledCharges)
    .where(and(isOneOf(scheduledCharges.contractId, contractIds), eq(scheduledCharges.onUsageInvoice, true)));
  return new Set(rows.map(({ contractId }) => contractId));
}

function toRow(charge: ScheduledCharge): typeof scheduledCharges.$inferInsert {
  const { schedule, ...rest } = charge;
  return { ...rest, creditTypeId: schedule.creditTypeId };
}

function fromRow(row: typeof scheduledCharges.$inferSelect, items: readonly InvoiceItem[]): ScheduledCharge {
  const { sequence: _, creditTypeId, ...rest } = row;
  return { ...rest, schedule: { creditTypeId, doNotInvoice: false, items } };
}
