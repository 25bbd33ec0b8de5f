/** Whom invoices are of, and who pays for those of hierarchies. */
import type { Invoice } from '../../../core/invoice.ts';
import { type HierarchyPayer, hierarchyPayers } from '../../../store/contracts/hierarchy-payers.ts';
import { type CustomerLabel, customerLabels } from '../../../store/customers/customers.ts';
import type { RowContext } from '../../billing-context.ts';

/** The payers of usage invoices, by contract; contracts outside of hierarchies are absent. */
export async function payersOfInvoices(
  { db }: Pick<RowContext, 'db'>,
  invoices: readonly Pick<Invoice, 'type' | 'contractId'>[],
): Promise<ReadonlyMap<string, HierarchyPayer>> {
  const usage = invoices.filter(({ type }) => type === 'USAGE');
  return hierarchyPayers(db, [...new Set(usage.map(({ contractId }) => contractId))]);
}

/** By customer, as it is called now. */
export async function customersOfInvoices(
  { db }: Pick<RowContext, 'db'>,
  invoices: readonly Pick<Invoice, 'customerId'>[],
): Promise<ReadonlyMap<string, CustomerLabel>> {
  return customerLabels(db, [...new Set(invoices.map(({ customerId }) => customerId))]);
}
