import { sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/**
 * Work that is due at an instant of the service's clock. A row is deleted in the transaction that does its work, so
 * that a crash leaves either the job or its result, never both and never neither.
 */
export const jobs = pgTable(
  'jobs',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    kind: text('kind').notNull(),
    /** The unique key: a job queued twice is stored once. */
    key: text('key').notNull(),
    /** The contract whose jobs run in order. Null: independent of all other jobs. */
    subject: text('subject'),
    runAt: instant('run_at').notNull(),
    payload: jsonb('payload').notNull(),
    attempts: integer('attempts').notNull().default(0),
    /** Not before this instant of real time, after a failure. */
    retryAt: instant('retry_at').notNull().default(sql`'epoch'`),
    lastError: text('last_error'),
    /** The claimant that prepares the job, until `claimed_until` in real time: others skip the job. */
    claimedBy: uuid('claimed_by'),
    claimedUntil: instant('claimed_until'),
  },
  (table) => [
    unique('jobs_kind_key').on(table.kind, table.key),
    index('jobs_kind_run_at').on(table.kind, table.runAt, table.id),
    index('jobs_subject_run_at').on(table.subject, table.runAt).where(sql`${table.subject} is not null`),
    index('jobs_failed').on(table.subject, table.runAt).where(sql`${table.attempts} > 0`),
  ],
);
