import { index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * Keys with which clients repeat requests safely. The answer is stored in the transaction of the change itself. Rows
 * without a status belong to requests that are running, or whose process has died.
 */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** SHA-256 of path, query and body. */
    requestHash: text('request_hash').notNull(),
    claimedBy: uuid('claimed_by').notNull(),
    /** In real time. A running request extends it. */
    claimedUntil: instant('claimed_until').notNull(),
    /** By the clock of the service. */
    createdAt: instant('created_at').notNull(),
    status: integer('status'),
    headers: jsonb('headers'),
    body: text('body'),
  },
  (table) => [
    primaryKey({ columns: [table.operation, table.key] }),
    index('idempotency_keys_created_at').on(table.createdAt),
  ],
);
