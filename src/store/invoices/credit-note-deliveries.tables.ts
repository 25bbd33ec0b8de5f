import { sql } from 'drizzle-orm';
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { EXTERNAL_NOTE_STATUSES } from '../../core/external-credit-note.ts';
import { exact, instant } from '../base/columns.ts';
import { creditNotes } from './credit-notes.tables.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';

/**
 * Credit notes on their way to the provider of their invoice, and their state there. They are sent by the attempts of
 * the invoice's delivery, under its lease, once it is there. A note without a row is not delivered.
 */
export const creditNoteDeliveries = pgTable(
  'credit_note_deliveries',
  {
    creditNoteId: uuid('credit_note_id')
      .primaryKey()
      .references(() => creditNotes.id),
    invoiceId: uuid('invoice_id')
      .notNull()
      .references(() => invoiceDeliveries.invoiceId),
    status: text('status', { enum: EXTERNAL_NOTE_STATUSES }).notNull().default('QUEUED'),
    /** The idempotency key of a call that has had no clear answer; null: none is in doubt. */
    attemptKey: uuid('attempt_key'),
    /** When the last call that creates it was begun, in real time; null: no provider can have it. */
    sentAt: instant('sent_at'),
    externalId: text('external_id'),
    number: text('number'),
    /** The provider's time. */
    issuedAt: instant('issued_at'),
    pdfUrl: text('pdf_url'),
    /** In the unit of the invoice. */
    total: exact('total'),
    tax: exact('tax'),
    prePayment: exact('pre_payment_amount'),
    refund: exact('refund_amount'),
    customerBalance: exact('customer_balance_amount'),
    outOfBand: exact('out_of_band_amount'),
    error: text('error'),
  },
  (table) => [
    index('credit_note_deliveries_invoice').on(table.invoiceId),
    index('credit_note_deliveries_refused')
      .on(table.creditNoteId)
      .where(sql`${table.status} = 'INVALID_REQUEST_ERROR'`),
  ],
);
