import { sql } from 'drizzle-orm';
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { instant, microsecond } from '../base/columns.ts';

/** Who changed what, from where, and whether it succeeded. A row is written in the transaction of its change. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    /** Real time at the end of the transaction: the order of the list. */
    recordedAt: microsecond('recorded_at').notNull().default(sql`clock_timestamp()`),
    /** By the clock of the service. */
    at: instant('at').notNull(),
    actorId: text('actor_id').notNull(),
    actorName: text('actor_name').notNull(),
    /** A person’s address and roles at that time. */
    actorEmail: text('actor_email'),
    actorRole: text('actor_role'),
    requestId: text('request_id').notNull(),
    ip: text('ip'),
    userAgent: text('user_agent'),
    action: text('action').notNull(),
    resourceType: text('resource_type').notNull(),
    /** Null if the operation has no resource, or many. */
    resourceId: text('resource_id'),
    status: text('status', { enum: ['success', 'failure'] }).notNull(),
    description: text('description').notNull(),
  },
  (table) => [
    index('audit_log_recorded_at').on(table.recordedAt, table.id),
    index('audit_log_actor').on(table.actorId, table.recordedAt, table.id),
    index('audit_log_resource').on(table.resourceType, table.resourceId, table.recordedAt, table.id),
  ],
);
