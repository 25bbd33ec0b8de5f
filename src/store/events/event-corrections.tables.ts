import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { CORRECTION_ACTIONS, CORRECTION_STATUSES } from '../../core/event-correction.ts';
import { instant } from '../base/columns.ts';

/**
 * Sets of corrections of stored events. The status decides for every process which rows of `corrected_events` in
 * ClickHouse count: those of the attempts of applied sets.
 */
export const eventCorrections = pgTable(
  'event_corrections',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    reason: text('reason').notNull(),
    status: text('status', { enum: CORRECTION_STATUSES }).notNull().default('open'),
    createdAt: instant('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    /** Each application has its own, under which its rows are written to ClickHouse before. */
    attempt: uuid('attempt'),
    appliedAt: instant('applied_at'),
    appliedBy: text('applied_by'),
    /** Ingestion times in epoch microseconds: readers that count up to this one or later see the set. */
    appliedTick: bigint('applied_tick', { mode: 'number' }),
    revertedAt: instant('reverted_at'),
    revertedBy: text('reverted_by'),
    revertedTick: bigint('reverted_tick', { mode: 'number' }),
    droppedAt: instant('dropped_at'),
    droppedBy: text('dropped_by'),
    /** Increases with every addition. */
    changes: integer('changes').notNull().default(0),
    voided: integer('voided').notNull().default(0),
    amended: integer('amended').notNull().default(0),
    notFound: integer('not_found').notNull().default(0),
  },
  (table) => [
    unique('event_corrections_attempt').on(table.attempt),
    unique('event_corrections_applied_tick').on(table.appliedTick),
    index('event_corrections_created').on(table.createdAt, table.id),
    check(
      'event_corrections_applied',
      sql`(${table.status} in ('applied', 'reverted')) = (${table.appliedTick} is not null and ${table.attempt} is not null)`,
    ),
    check(
      'event_corrections_reverted',
      sql`(${table.status} = 'reverted') = (${table.revertedTick} is not null)`,
    ),
  ],
);

/** The events of sets. The new members of an amended event are here only while the set is open. */
export const eventCorrectionEntries = pgTable(
  'event_correction_entries',
  {
    correctionId: uuid('correction_id')
      .notNull()
      .references(() => eventCorrections.id),
    transactionId: text('transaction_id').notNull(),
    action: text('action', { enum: CORRECTION_ACTIONS }).notNull(),
    customerRef: text('customer_ref'),
    eventType: text('event_type'),
    timestamp: instant('timestamp'),
    /** JSON object of the texts of the values, as text: its members keep their order. */
    propertiesJson: text('properties_json'),
    /** Whose event it was when the entry was added; null: no event was found. */
    foundRef: text('found_ref'),
  },
  (table) => [
    primaryKey({ columns: [table.correctionId, table.transactionId] }),
    index('event_correction_entries_transaction').on(table.transactionId),
  ],
);
