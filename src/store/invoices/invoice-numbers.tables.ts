import { integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { invoices } from './invoices.tables.ts';

/**
 * The numbers of issued invoices. A row is written once, by a job shortly after the invoice was issued, and never
 * changes. The positions of a year are 1, 2, 3 … without a gap.
 */
export const invoiceNumbers = pgTable(
  'invoice_numbers',
  {
    invoiceId: uuid('invoice_id')
      .primaryKey()
      .references(() => invoices.id),
    /** The year of the issue date, in UTC. */
    year: integer('year').notNull(),
    position: integer('position').notNull(),
    /** The displayed number, in the pattern in force at its time. */
    number: text('number').notNull(),
  },
  (table) => [
    unique('invoice_numbers_position').on(table.year, table.position),
    unique('invoice_numbers_number').on(table.number),
  ],
);
