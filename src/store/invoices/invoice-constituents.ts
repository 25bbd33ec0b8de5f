/** The usage invoices that consolidated invoices consist of. Written once with the consolidated invoice. */
import { and, asc, eq } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { groupBy } from '../../core/group-by.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { invoiceConstituents, invoices } from './invoices.tables.ts';
import { type IssuedHead, invoiceFromRow } from './invoices.ts';

/** Stores constituents in the order of `constituentIds`. */
export async function insertConstituents(
  tx: Transaction,
  invoiceId: string,
  constituentIds: readonly string[],
): Promise<void> {
  await tx
    .insert(invoiceConstituents)
    .values(constituentIds.map((constituentId, position) => ({ invoiceId, position, constituentId })));
}

/** By consolidated invoice, in their order and without their lines. */
export async function loadConstituents(
  db: Database | Transaction,
  consolidatedIds: readonly string[],
): Promise<Map<string, IssuedHead[]>> {
  if (consolidatedIds.length === 0) return new Map();
  const rows = await db
    .select({ consolidatedId: invoiceConstituents.invoiceId, head: invoices })
    .from(invoiceConstituents)
    .innerJoin(invoices, eq(invoices.id, invoiceConstituents.constituentId))
    .where(isOneOf(invoiceConstituents.invoiceId, consolidatedIds))
    .orderBy(asc(invoiceConstituents.invoiceId), asc(invoiceConstituents.position));
  const byInvoice = groupBy(rows, ({ consolidatedId }) => consolidatedId);
  return new Map([...byInvoice].map(([id, own]) => [id, own.map(({ head }) => invoiceFromRow(head))]));
}

const consolidated = alias(invoices, 'consolidated');

/** The consolidated invoices that contain these invoices and are not voided. */
export async function standingConsolidations(
  db: Database | Transaction,
  constituentIds: readonly string[],
): Promise<string[]> {
  if (constituentIds.length === 0) return [];
  const rows = await db
    .selectDistinct({ id: consolidated.id })
    .from(invoiceConstituents)
    .innerJoin(consolidated, eq(consolidated.id, invoiceConstituents.invoiceId))
    .where(
      and(isOneOf(invoiceConstituents.constituentId, constituentIds), eq(consolidated.status, 'FINALIZED')),
    );
  return rows.map(({ id }) => id);
}

/** Invoices in the order of `ids`; their status cannot change until the transaction ends. */
export async function lockConstituents(tx: Transaction, ids: readonly string[]): Promise<IssuedHead[]> {
  const rows = await tx
    .select()
    .from(invoices)
    .where(isOneOf(invoices.id, ids))
    .orderBy(asc(invoices.id))
    .for('share');
  const heads = new Map(rows.map((row) => [row.id, invoiceFromRow(row)]));
  return ids.flatMap((id) => heads.get(id) ?? []);
}
