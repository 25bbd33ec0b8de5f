import { sql } from 'drizzle-orm';
import { boolean, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { THRESHOLD_KINDS } from '../../core/terms/thresholds.ts';
import { commits } from '../balances/commits.tables.ts';
import { exact } from '../base/columns.ts';
import { contracts } from '../contracts/contracts.tables.ts';

/** The commits that thresholds have bought. */
export const thresholdCharges = pgTable(
  'threshold_charges',
  {
    commitId: uuid('commit_id')
      .primaryKey()
      .references(() => commits.id),
    contractId: uuid('contract_id')
      .notNull()
      .references(() => contracts.id),
    kind: text('kind', { enum: THRESHOLD_KINDS }).notNull(),
    /** The part of the invoiced amount at the discounted price. */
    discountedAmount: exact('discounted_amount').notNull(),
    /** Whether the outcome of its payment is pending, or not yet processed. */
    isInFlight: boolean('is_in_flight').notNull(),
  },
  (table) => [
    index('threshold_charges_contract').on(table.contractId),
    /** For every caller: one payment of a contract at a time. */
    uniqueIndex('threshold_charges_one_in_flight').on(table.contractId).where(sql`${table.isInFlight}`),
  ],
);
