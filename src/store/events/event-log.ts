/** The state of the log of events in PostgreSQL (docs/how-to/operations.md, "Damaged data"). */
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { eventLog } from './event-log.tables.ts';

export type EventLogRecord = Omit<typeof eventLog.$inferSelect, 'id' | 'recordedAt'>;

/** Null if no log was ever opened. */
export async function findEventLogRecord(db: Database): Promise<EventLogRecord | null> {
  const [row] = await db.select().from(eventLog);
  if (row === undefined) return null;
  const { id: _, recordedAt: __, ...record } = row;
  return record;
}

export async function recordEventLog(
  db: Database,
  record: EventLogRecord,
  recordedAt: Instant,
): Promise<void> {
  const row = { ...record, recordedAt };
  await db.insert(eventLog).values(row).onConflictDoUpdate({ target: eventLog.id, set: row });
}
