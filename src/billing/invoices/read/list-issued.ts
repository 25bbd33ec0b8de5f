/** The issued invoices of all customers. */
import { cutPage, type Page } from '../../../core/paging.ts';
import { inSnapshot, type Transaction } from '../../../store/base/database.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { countIssuedInvoices, type InvoiceCounts } from '../../../store/invoices/invoice-counts.ts';
import {
  type InvoiceFilter,
  type InvoicePageRequest,
  listInvoiceHeads,
  sumInvoiceList,
} from '../../../store/invoices/invoice-lists.ts';
import { type AgeingSums, type InvoiceSums, sumByAge } from '../../../store/invoices/receivables.ts';
import { withLines } from '../../../store/invoices/whole-invoices.ts';
import type { BillingContext, RowContext } from '../../billing-context.ts';
import { type InvoiceWithWarnings, issuedWithWarnings } from '../drafts/unbilled-usage.ts';

/**
 * A page of them by issue date and id. Drafts are not listed: which of them a page holds is only known after all
 * contracts are read, and each is computed from usage.
 */
export async function listIssuedInvoices(
  { db }: Pick<RowContext, 'db'>,
  filter: InvoiceFilter,
  page: InvoicePageRequest,
): Promise<Page<InvoiceWithWarnings>> {
  return inSnapshot(db, async (tx) => {
    const heads = await listInvoiceHeads(tx, await withCustomer(tx, filter), {
      ...page,
      limit: page.limit + 1,
    });
    const { rows, next } = cutPage(heads, page.limit, ({ issuedAt, id }) => ({ at: issuedAt, id }));
    return { rows: await issuedWithWarnings(tx, await withLines(tx, rows)), next };
  });
}

/** The invoices of a customer have an index in the order of the list, so the customer of the contract is looked up. */
async function withCustomer(tx: Transaction, filter: InvoiceFilter): Promise<InvoiceFilter> {
  const { contractId, customerId } = filter;
  if (contractId === undefined || customerId !== undefined) return filter;
  const contract = await findContract(tx, contractId);
  return contract === null ? filter : { ...filter, customerId: contract.customerId };
}

/** How many invoices are issued, consolidated ones too. */
export async function countIssued({ db }: Pick<BillingContext, 'db'>): Promise<InvoiceCounts> {
  return await countIssuedInvoices(db);
}

/** The sums of all invoices that the filter selects, by currency. */
export async function sumIssued(
  { db }: Pick<BillingContext, 'db'>,
  filter: InvoiceFilter,
): Promise<InvoiceSums[]> {
  return await inSnapshot(db, async (tx) => sumInvoiceList(tx, await withCustomer(tx, filter)));
}

/** The unpaid invoices of all customers, by currency and age. */
export async function ageingOfInvoices({
  db,
  clock,
}: Pick<BillingContext, 'db' | 'clock'>): Promise<AgeingSums[]> {
  return await sumByAge(db, clock.now());
}
