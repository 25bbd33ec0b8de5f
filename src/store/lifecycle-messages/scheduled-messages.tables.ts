import { bigint, index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant } from '../base/columns.ts';

/** Notifications some time before or after the events of a type. */
export const offsetNotifications = pgTable(
  'offset_notifications',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** The type of the events. It never changes. */
    type: text('type').notNull(),
    /** A signed ISO 8601 duration, as it was given. */
    offset: text('offset').notNull(),
    uniquenessKey: text('uniqueness_key'),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    /** When the offset was last set: messages that were due earlier are not sent. */
    changedAt: instant('changed_at').notNull(),
    archivedAt: instant('archived_at'),
  },
  (table) => [
    unique('offset_notifications_uniqueness_key_unique').on(table.uniquenessKey),
    index('offset_notifications_created').on(table.createdAt, table.id),
  ],
);

/**
 * Messages about lifecycle events that are sent at an instant of the service's clock. A row is deleted in the
 * transaction that writes its message, so that a crash leaves either of them.
 */
export const scheduledMessages = pgTable(
  'scheduled_messages',
  {
    /** Also the id of the message. */
    id: uuid('id').primaryKey().defaultRandom(),
    sequence: bigint('sequence', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    type: text('type').notNull(),
    /** Null: the event itself. */
    offsetId: uuid('offset_id').references(() => offsetNotifications.id),
    /** The contract, commit or segment that the event belongs to. */
    subjectId: uuid('subject_id').notNull(),
    customerId: uuid('customer_id').notNull(),
    contractId: uuid('contract_id'),
    commitId: uuid('commit_id'),
    segmentId: uuid('segment_id'),
    /** The instant of the event. */
    eventAt: instant('event_at').notNull(),
    /** When the message is sent. */
    fireAt: instant('fire_at').notNull(),
  },
  (table) => [
    unique('scheduled_messages_once')
      .on(table.subjectId, table.type, table.offsetId, table.eventAt)
      .nullsNotDistinct(),
    index('scheduled_messages_due').on(table.fireAt, table.sequence),
    index('scheduled_messages_of_offset').on(table.offsetId),
    index('scheduled_messages_of_customer').on(table.customerId),
  ],
);
