/** Usage without a rate on issued invoices, frozen with the invoice. */
import { and, asc, inArray, lt } from 'drizzle-orm';
import { groupBy } from '../core/group-by.ts';
import type { InvoiceWarning } from '../core/invoice.ts';
import { textMap } from '../core/terms/values.ts';
import type { Database, Transaction } from './database.ts';
import { rowsPerInsert } from './rows-per-insert.ts';
import { invoiceWarnings } from './schema/invoices.ts';

/** Stores the warnings of new invoices, each under its position. */
export async function insertInvoiceWarnings(
  tx: Transaction,
  invoices: readonly { readonly id: string; readonly warnings: readonly InvoiceWarning[] }[],
): Promise<void> {
  const rows = invoices.flatMap(({ id, warnings }) =>
    warnings.map(({ interval, ...rest }, position) => ({
      ...rest,
      invoiceId: id,
      position,
      startingAt: interval.start,
      endingBefore: interval.end,
    })),
  );
  for (const chunk of rowsPerInsert(rows)) await tx.insert(invoiceWarnings).values(chunk);
}

/** Invoice id → its first `max` warnings in their order, null for all; invoices without any are absent. */
export async function loadInvoiceWarnings(
  db: Database | Transaction,
  invoiceIds: readonly string[],
  max: number | null,
): Promise<Map<string, InvoiceWarning[]>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceWarnings)
    .where(
      and(
        inArray(invoiceWarnings.invoiceId, [...invoiceIds]),
        max === null ? undefined : lt(invoiceWarnings.position, max),
      ),
    )
    .orderBy(asc(invoiceWarnings.invoiceId), asc(invoiceWarnings.position));
  const byInvoice = groupBy(rows, (row) => row.invoiceId);
  return new Map([...byInvoice].map(([id, own]) => [id, own.map(fromRow)]));
}

function fromRow(row: typeof invoiceWarnings.$inferSelect): InvoiceWarning {
  return {
    kind: row.kind,
    productId: row.productId,
    productName: row.productName,
    billableMetricId: row.billableMetricId,
    pricingGroupValues: textMap.parse(row.pricingGroupValues),
    presentationGroupValues: textMap.parse(row.presentationGroupValues),
    interval: { start: row.startingAt, end: row.endingBefore },
    quantity: row.quantity,
  };
}
