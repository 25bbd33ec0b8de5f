/** The custom fields that issued invoices show: frozen when the invoice was. */
import { z } from 'zod';
import type { CustomFieldsById } from '../../core/custom-fields.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { invoiceCustomFields } from './invoices.tables.ts';

const fieldsColumn = z.record(z.string(), z.record(z.string(), z.string()));

/** Must run in the transaction that stores the invoices. Invoices without fields may be left out. */
export async function insertInvoiceCustomFields(
  tx: Transaction,
  frozen: ReadonlyMap<string, CustomFieldsById>,
): Promise<void> {
  const rows = [...frozen].map(([invoiceId, fields]) => ({ invoiceId, fields: Object.fromEntries(fields) }));
  for (const chunk of rowsPerInsert(rows)) await tx.insert(invoiceCustomFields).values(chunk);
}

/** Fields by invoice; invoices without fields are absent. */
export async function loadInvoiceCustomFields(
  db: Database | Transaction,
  invoiceIds: readonly string[],
): Promise<Map<string, CustomFieldsById>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceCustomFields)
    .where(isOneOf(invoiceCustomFields.invoiceId, invoiceIds));
  return new Map(rows.map((row) => [row.invoiceId, new Map(Object.entries(fieldsColumn.parse(row.fields)))]));
}
