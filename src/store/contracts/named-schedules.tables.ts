import { pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { SCHEDULE_SUBJECTS } from '../../core/named-schedules.ts';
import { instant } from '../base/columns.ts';

/** The segments of named schedules. The segments of one schedule do not overlap. */
export const namedScheduleSegments = pgTable(
  'named_schedule_segments',
  {
    subject: text('subject', { enum: SCHEDULE_SUBJECTS }).notNull(),
    /** The id of the customer, contract or rate card. */
    subjectId: uuid('subject_id').notNull(),
    name: text('name').notNull(),
    /** JSON with members in order: the name and the properties together identify a schedule. */
    properties: text('properties').notNull(),
    startingAt: instant('starting_at').notNull(),
    endingBefore: instant('ending_before'),
    /** The JSON text as it was sent: a column of type `jsonb` would change it. */
    value: text('value').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'named_schedule_segments_pkey',
      columns: [table.subjectId, table.name, table.properties, table.startingAt],
    }),
  ],
);
