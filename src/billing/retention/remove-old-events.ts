/**
 * Removes whole months of events that are older than EVENT_RETENTION_MONTHS and that nothing needs
 * (docs/explanation/events.md, "Retention").
 *
 * Two steps, so that a process that is killed in between leaves nothing undecided: first PostgreSQL records the start
 * of the kept events, which every process reads within seconds and refuses earlier usage; a moment later ClickHouse
 * drops the months before. Each step is repeated until it is done, by any process.
 */
import { formatInstant, type Instant } from '../../core/time.ts';
import { dropMonth, type EventMonth, readMonthsBefore } from '../../metering/events/old-months.ts';
import { recordSystemChanges, type SystemActor } from '../../store/access/system-changes.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  type EventRetention,
  findEventRetention,
  lockEventRetention,
  moveEventRetention,
} from '../../store/erasure/event-retention.ts';
import type { BillingContext } from '../billing-context.ts';
import { endOfRemovable, isForgotten, keptFromBy, type Need, oldestNeed } from './needed-events.ts';

export interface RetentionSettings
  extends Pick<BillingContext, 'db' | 'clickhouse' | 'clock' | 'windowDays' | 'cluster'> {
  /** Null: nothing more is removed, except months that were announced. */
  readonly months: number | null;
  /** The time in which every process has to read the start of the kept events, before the others are removed. */
  readonly announcedMs: number;
}

export interface RetentionRun {
  /** Null: all events are kept. */
  readonly keptFrom: Instant | null;
  readonly removed: readonly EventMonth[];
  /** The work that keeps months that are old enough to be removed; null if none does. */
  readonly heldBy: Need | null;
}

const ACTOR: SystemActor = { kind: 'job', name: 'remove_old_events' };

export async function removeOldEvents(context: RetentionSettings): Promise<RetentionRun> {
  const heldBy = context.months === null ? null : await announce(context, context.months);
  const retention = await findEventRetention(context.db);
  if (retention === null) return { keptFrom: null, removed: [], heldBy };
  return { keptFrom: retention.keptFrom, removed: await removeAnnounced(context, retention), heldBy };
}

async function announce(context: RetentionSettings, months: number): Promise<Need | null> {
  const { clock, windowDays, db } = context;
  const now = clock.now();
  const rule = { months, windowDays };
  // Read without the lock: later events are not dated into these months.
  const old = await readMonthsBefore(context.clickhouse, keptFromBy(rule, now, null));
  if (old.length === 0) return null;
  return db.transaction(async (tx) => {
    const before = await lockEventRetention(tx);
    const need = await oldestNeed(tx);
    const limit = keptFromBy(rule, now, need);
    const end = endOfRemovable(
      old.filter(({ start }) => start < limit),
      windowDays,
      now,
    );
    if (end !== null && end > (before?.keptFrom ?? Number.NEGATIVE_INFINITY)) {
      await moveEventRetention(tx, { keptFrom: end, announcedAt: Date.now() });
      await recordMove(tx, end, now);
    }
    return old.some(({ start }) => start >= limit) ? need : null;
  });
}

async function recordMove(tx: Transaction, keptFrom: Instant, now: Instant): Promise<void> {
  const from = formatInstant(keptFrom);
  const change = { action: 'removeOldEvents', resourceType: 'usage_events', resourceId: from };
  await recordSystemChanges(tx, ACTOR, now, [{ ...change, description: `Remove all events before ${from}` }]);
}

async function removeAnnounced(
  { clickhouse, cluster, clock, windowDays, announcedMs }: RetentionSettings,
  { keptFrom, announcedAt }: EventRetention,
): Promise<EventMonth[]> {
  if (Date.now() < announcedAt + announcedMs) return [];
  const now = clock.now();
  // A backfill may have restored some, whose ids are remembered for the window.
  const gone = (await readMonthsBefore(clickhouse, keptFrom)).filter((month) =>
    isForgotten(month, windowDays, now),
  );
  for (const { start } of gone) await dropMonth(clickhouse, cluster, start);
  return gone;
}
