/** Schedules messages for existing contracts, commits and credits when a notification is added. */
import { type SQL, sql } from 'drizzle-orm';
import { CLOCK_BOUNDS } from '../../core/clock.ts';
import type { SignedDuration } from '../../core/signed-duration.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { accessSegments, commits } from '../balances/commits.tables.ts';
import type { Transaction } from '../base/database.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { scheduledMessages } from './scheduled-messages.tables.ts';

/** The messages for an event: without `offsetId` those at the event itself. */
export interface Notification {
  readonly type: string;
  readonly offsetId: string | null;
  readonly offset: SignedDuration;
}

/**
 * Schedules the messages that are due after `now`, for all events of the type whose instants are stored. The time of an
 * edit is not stored: an edit is reported by notifications that existed before it.
 */
export async function scheduleExisting(
  tx: Transaction,
  { type, offsetId, offset }: Notification,
  now: Instant,
): Promise<void> {
  const events = eventsOf(type);
  if (events === null) return;
  await tx.execute(sql`
    insert into ${scheduledMessages}
      (type, offset_id, subject_id, customer_id, contract_id, commit_id, segment_id, event_at, fire_at)
    select ${type}, ${offsetId}::uuid, subject_id, customer_id, contract_id, commit_id, segment_id, event_at, fire_at
    from (select *, ${shifted(sql`event_at`, offset)} as fire_at from (${events}) as events) as due
    where fire_at > ${formatInstant(now)}::timestamptz and fire_at < ${formatInstant(CLOCK_BOUNDS.end)}::timestamptz
    order by fire_at, event_at, subject_id
    on conflict do nothing`);
}

/** Moves scheduled messages to another offset, and drops those that would have been due by `now`. */
export async function moveScheduled(
  tx: Transaction,
  { offsetId, offset }: Notification,
  now: Instant,
): Promise<void> {
  const { eventAt, fireAt } = scheduledMessages;
  const isIts = sql`${scheduledMessages.offsetId} = ${offsetId}::uuid`;
  await tx
    .update(scheduledMessages)
    .set({ fireAt: shifted(sql`${eventAt}`, offset) })
    .where(isIts);
  await tx.delete(scheduledMessages).where(sql`${isIts} and ${fireAt} <= ${formatInstant(now)}::timestamptz`);
}

/** Like `addDuration`: months are clamped to the length of the month, then the rest is added. */
function shifted(at: SQL, { months, milliseconds }: SignedDuration): SQL {
  return sql`${at} + make_interval(months => ${months}::int) + ${milliseconds}::bigint * interval '1 millisecond'`;
}

function eventsOf(type: string): SQL | null {
  const [subject = '', ...verb] = type.split('.');
  const event = verb.join('.');
  if (subject === 'contract') return contractEvents(event);
  const isKind = subject === 'credit' ? sql`k.type = 'CREDIT'` : sql`k.type <> 'CREDIT'`;
  return event.startsWith('segment.') ? segmentEvents(event, isKind) : commitEvents(event, isKind);
}

/** An archived object has no further events. */
const LIVES: Readonly<Record<string, { readonly at: string; readonly isArchived: boolean }>> = {
  start: { at: 'starting_at', isArchived: false },
  end: { at: 'ending_before', isArchived: false },
  create: { at: 'created_at', isArchived: false },
  archive: { at: 'archived_at', isArchived: true },
  'segment.start': { at: 'starting_at', isArchived: false },
  'segment.end': { at: 'ending_before', isArchived: false },
};

function contractEvents(event: string): SQL | null {
  const life = LIVES[event];
  if (life === undefined) return null;
  const at = sql.raw(`c.${life.at}`);
  return sql`
    select c.id as subject_id, c.customer_id, c.id as contract_id, null::uuid as commit_id,
      null::uuid as segment_id, ${at} as event_at
    from ${contracts} c where (c.archived_at is not null) = ${life.isArchived} and ${at} is not null`;
}

function commitEvents(event: string, isKind: SQL): SQL | null {
  const life = LIVES[event];
  if (life === undefined) return null;
  return sql`
    select k.id as subject_id, k.customer_id, k.contract_id, k.id as commit_id, null::uuid as segment_id,
      ${sql.raw(`k.${life.at}`)} as event_at
    from ${commits} k where (k.archived_at is not null) = ${life.isArchived} and ${isKind}`;
}

function segmentEvents(event: string, isKind: SQL): SQL | null {
  const life = LIVES[event];
  if (life === undefined) return null;
  return sql`
    select s.id as subject_id, k.customer_id, k.contract_id, k.id as commit_id, s.id as segment_id,
      ${sql.raw(`s.${life.at}`)} as event_at
    from ${accessSegments} s join ${commits} k on k.id = s.commit_id
    where k.archived_at is null and ${isKind}`;
}
