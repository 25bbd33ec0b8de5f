/** Named schedules. A writer must hold the lock of the customer, contract or rate card. */
import { and, asc, count, eq, inArray, ne, or } from 'drizzle-orm';
import type { ScheduleSegment, ScheduleSubject } from '../../core/named-schedules.ts';
import type { Database, Transaction } from '../base/database.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { canonicalJson } from '../billing-providers/billing-connections.ts';
import { contracts } from './contracts.tables.ts';
import { namedScheduleSegments } from './named-schedules.tables.ts';

/** Identifies a schedule: properties distinguish schedules with the same name. */
export interface ScheduleKey {
  readonly subject: ScheduleSubject;
  readonly subjectId: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
}

function isOf({ subjectId, name, properties }: ScheduleKey) {
  return and(
    eq(namedScheduleSegments.subjectId, subjectId),
    eq(namedScheduleSegments.name, name),
    eq(namedScheduleSegments.properties, canonicalJson(properties)),
  );
}

/** Segments by start; empty if there is no such schedule. */
export async function loadSchedule(db: Database | Transaction, key: ScheduleKey): Promise<ScheduleSegment[]> {
  const { startingAt, endingBefore, value } = namedScheduleSegments;
  return await db
    .select({ startingAt, endingBefore, value })
    .from(namedScheduleSegments)
    .where(isOf(key))
    .orderBy(asc(startingAt));
}

/** The number of segments of all other schedules of the same subject. */
export async function countOtherSegments(tx: Transaction, key: ScheduleKey): Promise<number> {
  const { subjectId, name, properties } = namedScheduleSegments;
  const other = or(ne(name, key.name), ne(properties, canonicalJson(key.properties)));
  const [row] = await tx
    .select({ segments: count() })
    .from(namedScheduleSegments)
    .where(and(eq(subjectId, key.subjectId), other));
  return row?.segments ?? 0;
}

export async function replaceSchedule(
  tx: Transaction,
  key: ScheduleKey,
  segments: readonly ScheduleSegment[],
): Promise<void> {
  await tx.delete(namedScheduleSegments).where(isOf(key));
  const { subject, subjectId, name } = key;
  const properties = canonicalJson(key.properties);
  const rows = segments.map((segment) => ({ subject, subjectId, name, properties, ...segment }));
  for (const chunk of rowsPerInsert(rows)) await tx.insert(namedScheduleSegments).values(chunk);
}

/** Removes the schedules of a customer and of its contracts. */
export async function eraseSchedules(tx: Transaction, customerId: string): Promise<void> {
  const ofContracts = tx
    .select({ id: contracts.id })
    .from(contracts)
    .where(eq(contracts.customerId, customerId));
  const { subjectId } = namedScheduleSegments;
  await tx
    .delete(namedScheduleSegments)
    .where(or(eq(subjectId, customerId), inArray(subjectId, ofContracts)));
}
