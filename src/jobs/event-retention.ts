/**
 * Schedules the removal of old events: every ten minutes (docs/explanation/events.md, "Retention"). It is not a job of
 * the queue, because it has no due instant: months are held until their invoices are issued.
 *
 * Every process reads the start of retention every few seconds, even one that removes nothing.
 */
import type { Logger } from 'pino';
import {
  type RetentionRun,
  type RetentionSettings,
  removeOldEvents,
} from '../billing/retention/remove-old-events.ts';
import { formatInstant, type Instant, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { createPoll } from '../runtime/poll.ts';
import { findEventRetention } from '../store/erasure/event-retention.ts';

export interface RetentionTimes {
  readonly everyMs: number;
  readonly readEveryMs: number;
  /** Longer than a process needs to read it. */
  readonly announcedMs: number;
}

const TIMES: RetentionTimes = {
  everyMs: 10 * MINUTE_MS,
  readEveryMs: 10 * SECOND_MS,
  announcedMs: 2 * MINUTE_MS,
};

export interface RetentionStats {
  readonly keptFrom: Instant | null;
  readonly isHeld: boolean;
  /** Rows removed by this process since its start. */
  readonly removedRows: number;
  readonly failures: number;
}

export interface EventRetentionWork {
  /** As of the last read; null: all events are kept. */
  readonly keptFrom: () => Instant | null;
  read(): Promise<void>;
  start(): void;
  stats(): RetentionStats;
  /** Waits for the work in progress. */
  close(): Promise<void>;
}

type Options = Omit<RetentionSettings, 'announcedMs'> &
  Partial<RetentionTimes> & {
    readonly log: Logger;
    /** While true, nothing is removed. */
    isPaused(): boolean;
  };

export function createEventRetention({ log, isPaused, ...options }: Options): EventRetentionWork {
  const { everyMs, readEveryMs, announcedMs } = { ...TIMES, ...options };
  const context: RetentionSettings = { ...options, announcedMs };
  let keptFrom: Instant | null = null;
  let held = '';
  let removedRows = 0;

  async function read(): Promise<void> {
    keptFrom = (await findEventRetention(context.db))?.keptFrom ?? null;
  }

  async function remove(): Promise<void> {
    if (isPaused()) return;
    const run = await removeOldEvents(context);
    keptFrom = run.keptFrom;
    for (const { start, rows } of run.removed) {
      removedRows += rows;
      log.info({ month: formatInstant(start).slice(0, 7), rows }, 'a month of old events was removed');
    }
    tellHeld(run);
  }

  function tellHeld({ heldBy }: RetentionRun): void {
    const what = heldBy?.what ?? '';
    if (what !== held && heldBy !== null) {
      log.info({ held_by: what, needed_from: formatInstant(heldBy.from) }, 'old events are still needed');
    }
    held = what;
  }

  const onFailure = (err: unknown) =>
    log.warn({ err }, 'old events cannot be removed now: it is tried again');
  const polls = [
    createPoll({ name: 'start of kept events', intervalMs: readEveryMs, work: read, onFailure }),
    createPoll({ name: 'retention', intervalMs: everyMs, work: remove, onFailure }),
  ];
  const failures = () => polls.reduce((sum, poll) => sum + poll.figures().failures, 0);
  return {
    keptFrom: () => keptFrom,
    read,
    start: () => {
      for (const poll of polls) poll.start();
    },
    stats: () => ({ keptFrom, isHeld: held !== '', removedRows, failures: failures() }),
    async close() {
      await Promise.all(polls.map((poll) => poll.close()));
    },
  };
}
