import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { CREDIT_NOTE_REASONS, SETTLEMENTS } from '../../core/credit-note.ts';
import { COMMIT_TYPES } from '../../core/terms/commits.ts';
import { commits } from '../balances/commits.tables.ts';
import { exact, instant } from '../base/columns.ts';
import { invoices } from './invoices.tables.ts';

/**
 * Credit notes of issued invoices. A row is written once and keeps its number; only the status changes, to VOID. The
 * positions of a year are 1, 2, 3 … without a gap, for all currencies.
 */
export const creditNotes = pgTable(
  'credit_notes',
  {
    id: uuid('id').primaryKey(),
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoices.id),
    customerId: uuid('customer_id').notNull(),
    contractId: uuid('contract_id').notNull(),
    /** The year of the issue date, in UTC. */
    year: integer('year').notNull(),
    position: integer('position').notNull(),
    /** The displayed number, in the pattern in force at its time. */
    number: text('number').notNull(),
    status: text('status', { enum: ['ISSUED', 'VOID'] })
      .notNull()
      .default('ISSUED'),
    reason: text('reason', { enum: CREDIT_NOTE_REASONS }).notNull(),
    memo: text('memo'),
    settlement: text('settlement', { enum: SETTLEMENTS }),
    issuedAt: instant('issued_at').notNull(),
    /** From then on it may be delivered, by the clock of the service. */
    deliverAfter: instant('deliver_after').notNull(),
    voidedAt: instant('voided_at'),
    creditTypeId: uuid('credit_type_id').notNull(),
    /** Amounts are in the unit of the invoice; this one is the money without tax. */
    subTotal: exact('sub_total').notNull(),
    tax: exact('tax').notNull(),
    balanceAmount: exact('balance_amount').notNull(),
    offset: exact('offset_amount').notNull(),
    refund: exact('refund_amount').notNull(),
    creditBalance: exact('credit_balance_amount').notNull(),
    /** The credit of the customer that it has created. */
    creditId: uuid('credit_id').references(() => commits.id),
    uniquenessKey: text('uniqueness_key'),
    createdBy: text('created_by').notNull(),
  },
  (table) => [
    unique('credit_notes_position').on(table.year, table.position),
    unique('credit_notes_number').on(table.number),
    unique('credit_notes_uniqueness_key').on(table.uniquenessKey),
    index('credit_notes_invoice').on(table.invoiceId),
    index('credit_notes_customer_issued').on(table.customerId, table.issuedAt, table.id),
    index('credit_notes_issued').on(table.issuedAt, table.id),
    check(
      'credit_notes_settled',
      sql`${table.subTotal} + ${table.tax} = ${table.offset} + ${table.refund} + ${table.creditBalance}`,
    ),
  ],
);

/** The lines of credit notes. Written once, with the note. */
export const creditNoteLines = pgTable(
  'credit_note_lines',
  {
    creditNoteId: uuid('credit_note_id')
      .notNull()
      .references(() => creditNotes.id),
    /** From 0, in the order of the invoice. */
    position: integer('position').notNull(),
    /** The id of the line on the invoice, which is derived from it. */
    lineItemId: uuid('line_item_id').notNull(),
    productId: uuid('product_id'),
    name: text('name').notNull(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before').notNull(),
    amount: exact('amount').notNull(),
    quantity: exact('quantity'),
    paidBy: text('paid_by', { enum: ['money', 'balance'] }).notNull(),
    payerCommitId: uuid('payer_commit_id'),
    payerSegmentId: uuid('payer_segment_id'),
    payerType: text('payer_type', { enum: COMMIT_TYPES }),
    givenBack: exact('given_back').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.creditNoteId, table.position] }),
    check('credit_note_lines_positive', sql`${table.amount} > 0 and ${table.givenBack} >= 0`),
  ],
);
