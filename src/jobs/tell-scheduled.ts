/**
 * Publishes scheduled messages when they are due, in every process (docs/explanation/notifications.md, "Starts and
 * ends").
 */
import { type Instant, SECOND_MS } from '../core/time.ts';
import type { NotificationContext } from '../notifications/notification-context.ts';
import { tellScheduled } from '../notifications/tell-scheduled.ts';
import { pollDue } from '../store/base/due-watch.ts';
import { hasScheduled, nextScheduledAt } from '../store/lifecycle-messages/scheduled-messages.ts';
import type { ClockJobs } from './service-clock.ts';

/** The longest delay of a message on an idle system. */
const POLL_INTERVAL_MS = SECOND_MS;

export interface ScheduledTelling {
  /** When the next message is due; null without any. */
  nextAt(): Promise<Instant | null>;
  /** Publishes everything due at `dueAt`. */
  runDue(dueAt: Instant): Promise<void>;
  start(): void;
  /** Waits for the work in progress. */
  close(): Promise<void>;
}

export function createScheduledTelling(context: NotificationContext): ScheduledTelling {
  const { db, clock, log } = context;
  let isClosed = false;
  const runDue = (dueAt: Instant) => tellScheduled(context, dueAt, () => isClosed);
  const poll = pollDue(context.dueWatch, {
    name: 'messages of a set time',
    intervalMs: POLL_INTERVAL_MS,
    isDue: () => hasScheduled(clock.now()),
    work: () => runDue(clock.now()),
    onFailure: (err) => log.error({ err }, 'scheduled messages cannot be sent now: they will be tried again'),
  });
  return {
    nextAt: () => nextScheduledAt(db),
    runDue,
    start: () => poll.start(),
    async close() {
      isClosed = true;
      await poll.close();
    },
  };
}

/** The jobs for a move of the sandbox clock, which stops at messages too. Messages of an instant precede its jobs. */
export function withTelling(
  jobs: ClockJobs,
  telling: Pick<ScheduledTelling, 'nextAt' | 'runDue'>,
): ClockJobs {
  return {
    retryFailed: jobs.retryFailed,
    logFailed: jobs.logFailed,
    isPaused: jobs.isPaused,
    async nextAt() {
      const next = [await jobs.nextAt(), await telling.nextAt()].filter((at) => at !== null);
      return next.length === 0 ? null : Math.min(...next);
    },
    async runDue(dueAt) {
      await telling.runDue(dueAt);
      return jobs.runDue(dueAt);
    },
  };
}
