/** Issue dates set for drafts of SCHEDULED invoices in place of the dates of their schedules. */
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { invoiceIssueDates } from './invoice-issue-dates.tables.ts';

export interface InvoiceIssueDate {
  readonly invoiceId: string;
  readonly contractId: string;
  readonly issueDate: Instant;
}

/** Replaces an earlier date of the invoice. */
export async function putInvoiceIssueDate(tx: Transaction, date: InvoiceIssueDate): Promise<void> {
  await tx
    .insert(invoiceIssueDates)
    .values(date)
    .onConflictDoUpdate({ target: invoiceIssueDates.invoiceId, set: { issueDate: date.issueDate } });
}

/** By invoice. */
export async function loadInvoiceIssueDates(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(invoiceIssueDates)
    .where(isOneOf(invoiceIssueDates.contractId, contractIds));
  return new Map(rows.map(({ invoiceId, issueDate }) => [invoiceId, issueDate]));
}
