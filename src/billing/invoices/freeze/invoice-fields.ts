/**
 * The custom fields shown on invoices: of the invoice itself, its customer, its contract, and the products and the
 * sources of its lines (scheduled charges, discounts, professional services, commits, subscriptions). Drafts show the
 * current values. An issued invoice keeps the values of its finalization, even if keys or values change later.
 */
import { type CustomFieldsById, customFieldsOf } from '../../../core/custom-fields.ts';
import { type Invoice, isConversionLine } from '../../../core/invoice.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadCustomFields } from '../../../store/custom-fields/custom-fields.ts';
import {
  insertInvoiceCustomFields,
  loadInvoiceCustomFields,
} from '../../../store/invoices/invoice-custom-fields.ts';
import type { RowContext } from '../../billing-context.ts';

type InvoiceObjects = Pick<Invoice, 'id' | 'customerId' | 'contractId' | 'lines'>;

/**
 * By invoice, then by object; invoices without fields may be absent. Two queries for any number of invoices,
 * or windows of invoices.
 */
export async function customFieldsOfInvoices(
  { db }: Pick<RowContext, 'db'>,
  invoices: readonly (InvoiceObjects & Pick<Invoice, 'status'>)[],
): Promise<Map<string, CustomFieldsById>> {
  const drafts = invoices.filter(({ status }) => status === 'DRAFT');
  const live = await loadCustomFields(db, drafts.flatMap(objectIds));
  const issued = invoices.filter(({ status }) => status !== 'DRAFT');
  const frozen = await loadInvoiceCustomFields(db, [...new Set(issued.map(({ id }) => id))]);
  return new Map([...drafts.map(({ id }) => [id, live] as const), ...frozen]);
}

/** Stores the current fields with the invoices. Must run in the transaction that issues them. */
export async function freezeCustomFields(
  tx: Transaction,
  invoices: readonly InvoiceObjects[],
): Promise<void> {
  const fields = await loadCustomFields(tx, invoices.flatMap(objectIds));
  const shown = invoices.map((invoice) => {
    const ids = objectIds(invoice).filter((id) => fields.has(id));
    return [invoice.id, new Map(ids.map((id) => [id, customFieldsOf(fields, id)]))] as const;
  });
  await insertInvoiceCustomFields(tx, new Map(shown.filter(([, own]) => own.size > 0)));
}

function objectIds({ id, customerId, contractId, lines }: InvoiceObjects): string[] {
  const products = lines.flatMap((line) => (isConversionLine(line) ? [] : [line.productId]));
  const sources = lines.flatMap((line) => ('sourceId' in line ? [line.sourceId] : []));
  return [id, customerId, contractId, ...new Set([...products, ...sources])];
}
