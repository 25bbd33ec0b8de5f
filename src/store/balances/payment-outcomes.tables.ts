import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { PAYMENT_OUTCOMES } from '../../core/terms/payment-gate.ts';
import { instant } from '../base/columns.ts';
import { commits } from './commits.tables.ts';

/**
 * Outcomes of payments collected outside this service. Rows are added and never changed: the first outcome is
 * final.
 */
export const paymentOutcomes = pgTable('payment_outcomes', {
  /** The commit that waited for the payment; also the id of the workflow. */
  commitId: uuid('commit_id')
    .primaryKey()
    .references(() => commits.id),
  outcome: text('outcome', { enum: PAYMENT_OUTCOMES }).notNull(),
  toldAt: instant('told_at').notNull(),
  toldBy: text('told_by').notNull(),
});
