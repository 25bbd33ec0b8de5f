import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';
import { customers } from './customers.ts';
import { rateCards } from './rate-cards.ts';

/**
 * The header of a contract as it is now. Its terms (commits, overrides, charges, …) have tables of their
 * own that point here.
 */
export const contracts = pgTable(
  'contracts',
  {
    id: uuid('id').primaryKey(),
    customerId: uuid('customer_id')
      .notNull()
      .references(() => customers.id),
    name: text('name'),
    /** Resolved when the contract was made, for life. Without one there are no usage lines. */
    rateCardId: uuid('rate_card_id').references(() => rateCards.id),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    statementFrequency: text('statement_frequency', {
      enum: ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'],
    }).notNull(),
    statementDay: text('statement_day', {
      enum: ['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'],
    }).notNull(),
    /** Set for CUSTOM_DATE only. */
    statementAnchor: instant('statement_anchor'),
    /** Usage invoices for periods that start before this instant are not made. */
    invoiceGenerationStartingAt: instant('invoice_generation_starting_at'),
    netPaymentTermsDays: integer('net_payment_terms_days'),
    uniquenessKey: text('uniqueness_key'),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('contracts_uniqueness_key_unique').on(table.uniquenessKey),
    index('contracts_customer').on(table.customerId, table.startingAt, table.id),
    index('contracts_rate_card').on(table.rateCardId),
    check(
      'contracts_anchor_for_custom_date',
      sql`(${table.statementDay} = 'CUSTOM_DATE') = (${table.statementAnchor} is not null)`,
    ),
    check(
      'contracts_end_after_start',
      sql`${table.endingBefore} is null or ${table.endingBefore} > ${table.startingAt}`,
    ),
  ],
);
