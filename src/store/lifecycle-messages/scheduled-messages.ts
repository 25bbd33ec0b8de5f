/** Messages that are sent at an instant of the service's clock. */
import { and, asc, eq, gt, inArray, isNull, lte, min, type SQL, sql } from 'drizzle-orm';
import { CHUNK_ITEMS } from '../../core/in-chunks.ts';
import type { Instant } from '../../core/time.ts';
import { accessSegments, commits } from '../balances/commits.tables.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { scheduledMessages } from './scheduled-messages.tables.ts';

/** An event and its subject. */
interface LifecycleSubject {
  /** The contract, commit or segment that the event belongs to. */
  readonly subjectId: string;
  readonly customerId: string;
  /** Null for commits of a customer. */
  readonly contractId: string | null;
  readonly commitId: string | null;
  readonly segmentId: string | null;
}

export interface DatedEvent extends LifecycleSubject {
  readonly type: string;
  readonly eventAt: Instant;
}

export interface NewScheduledMessage extends DatedEvent {
  /** Null: the message of the event itself. */
  readonly offsetId: string | null;
  readonly fireAt: Instant;
}

export interface ScheduledMessage extends NewScheduledMessage {
  /** Also the id of the message. */
  readonly id: string;
}

/** Locks the settings of messages until the transaction ends: which events are enabled, and offset notifications. */
export async function holdWanted(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock_shared(${LOCKS.wantedMessages})`);
}

/** Waits for transactions that hold the settings, and prevents new holds until the transaction ends. */
export async function lockWanted(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.wantedMessages})`);
}

/** Serializes the writing of due messages, so that they are written in the order of their instants. */
export async function lockTelling(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.telling})`);
}

/** Existing rows are kept. */
export async function insertScheduled(tx: Transaction, rows: readonly NewScheduledMessage[]): Promise<void> {
  for (const chunk of rowsPerInsert(rows)) {
    await tx.insert(scheduledMessages).values(chunk).onConflictDoNothing();
  }
}

/** Removes the scheduled messages of subjects. */
export async function removeOfSubjects(tx: Transaction, subjectIds: readonly string[]): Promise<void> {
  for (let from = 0; from < subjectIds.length; from += CHUNK_ITEMS) {
    const ids = subjectIds.slice(from, from + CHUNK_ITEMS);
    await tx.delete(scheduledMessages).where(inArray(scheduledMessages.subjectId, ids));
  }
}

/** Removes the scheduled messages of events that will not occur. */
export async function removeOfEvents(tx: Transaction, events: readonly DatedEvent[]): Promise<void> {
  for (const { subjectId, type, eventAt } of events) {
    await tx
      .delete(scheduledMessages)
      .where(
        and(
          eq(scheduledMessages.subjectId, subjectId),
          eq(scheduledMessages.type, type),
          eq(scheduledMessages.eventAt, eventAt),
        ),
      );
  }
}

/** Removes the scheduled messages of an offset notification; without one, those of the events of a type themselves. */
export async function removeOfNotification(
  tx: Transaction,
  { offsetId, type }: { readonly offsetId: string | null; readonly type: string },
): Promise<void> {
  const isOfOffset =
    offsetId === null ? isNull(scheduledMessages.offsetId) : eq(scheduledMessages.offsetId, offsetId);
  await tx.delete(scheduledMessages).where(and(isOfOffset, eq(scheduledMessages.type, type)));
}

/**
 * Removes the messages after `now` of commits and credits that these contracts have not created. Due messages
 * stay.
 */
export async function removeUncreated(
  tx: Transaction,
  contracts: readonly { readonly contractId: string; readonly customerId: string }[],
  now: Instant,
): Promise<void> {
  if (contracts.length === 0) return;
  const { customerId, contractId, commitId, fireAt } = scheduledMessages;
  const customerIds = new Set(contracts.map((one) => one.customerId));
  const contractIds = contracts.map((one) => one.contractId);
  await tx
    .delete(scheduledMessages)
    .where(
      and(
        isOneOf(customerId, customerIds),
        isOneOf(contractId, contractIds),
        gt(fireAt, now),
        isUncreated(commitId),
      ),
    );
}

/** Removes the messages of an offset notification after `now` about commits and credits that are not created yet. */
export async function removeUncreatedOf(tx: Transaction, offsetId: string, now: Instant): Promise<void> {
  const { commitId, fireAt } = scheduledMessages;
  await tx
    .delete(scheduledMessages)
    .where(and(eq(scheduledMessages.offsetId, offsetId), gt(fireAt, now), isUncreated(commitId)));
}

function isUncreated(commitId: typeof scheduledMessages.commitId): SQL {
  return sql`${commitId} is not null and not exists (select from ${commits} where ${commits.id} = ${commitId})`;
}

/** The instant of the next message; null without any. */
export async function nextScheduledAt(db: Database): Promise<Instant | null> {
  const [row] = await db.select({ next: min(scheduledMessages.fireAt) }).from(scheduledMessages);
  return row?.next ?? null;
}

export function hasScheduled(now: Instant): SQL {
  return sql`exists (select from ${scheduledMessages} where ${lte(scheduledMessages.fireAt, now)})`;
}

/** Messages due at `now`, the earliest first, locked. */
export async function takeDue(tx: Transaction, now: Instant, limit: number): Promise<ScheduledMessage[]> {
  return tx
    .select()
    .from(scheduledMessages)
    .where(lte(scheduledMessages.fireAt, now))
    .orderBy(asc(scheduledMessages.fireAt), asc(scheduledMessages.sequence))
    .limit(limit)
    .for('update');
}

export async function deleteScheduled(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.delete(scheduledMessages).where(inArray(scheduledMessages.id, [...ids]));
}

/** A commit with the ids of its segments, in the order of their starts. */
export interface CommitOutline {
  readonly id: string;
  readonly type: (typeof commits.$inferSelect)['type'];
  readonly recurringCommitId: string | null;
  readonly segmentIds: readonly string[];
}

/** The commits with the given ids, by id. */
export async function loadCommitOutlines(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, CommitOutline>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select({
      id: commits.id,
      type: commits.type,
      recurringCommitId: commits.recurringCommitId,
      segmentId: accessSegments.id,
    })
    .from(commits)
    .leftJoin(accessSegments, eq(accessSegments.commitId, commits.id))
    .where(inArray(commits.id, [...ids]))
    .orderBy(asc(commits.id), asc(accessSegments.startingAt), asc(accessSegments.sequence));
  const outlines = new Map<string, CommitOutline & { readonly segmentIds: string[] }>();
  for (const { segmentId, ...commit } of rows) {
    const outline = outlines.get(commit.id) ?? { ...commit, segmentIds: [] };
    if (segmentId !== null) outline.segmentIds.push(segmentId);
    outlines.set(commit.id, outline);
  }
  return outlines;
}
