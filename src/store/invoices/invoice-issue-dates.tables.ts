import { index, pgTable, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';
import { contracts } from '../contracts/contracts.tables.ts';

/** Drafts of SCHEDULED invoices whose issue date differs from that of their schedule. */
export const invoiceIssueDates = pgTable(
  'invoice_issue_dates',
  {
    /** The id of the invoice, which the draft already has. */
    invoiceId: uuid('invoice_id').primaryKey(),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    issueDate: instant('issue_date').notNull(),
  },
  (table) => [index('invoice_issue_dates_contract').on(table.contractId)],
);
