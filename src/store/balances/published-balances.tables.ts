import { sql } from 'drizzle-orm';
import { check, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { COMMIT_TYPES } from '../../core/terms/commits.ts';
import { exact, instant } from '../base/columns.ts';

/**
 * The remaining amounts of commits and credits, for clients that read them with SQL (docs/reference/sql.md, "How
 * balances get there"). A copy: the service reads nothing back from it. Without foreign keys, so that it locks no row
 * of a commit.
 */
export const publishedBalances = pgTable(
  'published_balances',
  {
    customerId: uuid('customer_id').notNull(),
    commitId: uuid('commit_id').notNull(),
    contractId: uuid('contract_id'),
    type: text('type', { enum: COMMIT_TYPES }).notNull(),
    creditTypeId: uuid('credit_type_id').notNull(),
    balance: exact('balance').notNull(),
  },
  (table) => [primaryKey({ columns: [table.customerId, table.commitId] })],
);

/** The progress of publishing balances, one row. Absent if nobody reads them. */
export const balancePublication = pgTable(
  'balance_publication',
  {
    id: integer('id').primaryKey().default(1),
    /**
     * Changes that were committed before this instant of the service's clock are published. Null: no pass has ended
     * yet.
     */
    asOf: instant('as_of'),
    /** The next `asOf`, when the current pass ends. Null: no pass is running. */
    passAsOf: instant('pass_as_of'),
    /** The last commit that the pass has published; both null: none yet. */
    afterCustomerId: uuid('after_customer_id'),
    afterCommitId: uuid('after_commit_id'),
    /** When the last pass began, in real time by the clock of PostgreSQL. */
    passBegunAt: instant('pass_begun_at'),
  },
  (table) => [check('balance_publication_one_row', sql`${table.id} = 1`)],
);
