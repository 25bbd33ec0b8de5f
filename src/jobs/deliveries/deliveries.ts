/**
 * Schedules the delivery attempts of queued invoices (docs/explanation/payments.md, "Delivery"), in every process. It
 * has its own workers, beside the jobs, so that nothing else waits for a provider. The attempts themselves are in
 * billing/payments/.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  DELIVERY_LEASE_MS,
  type DeliveryOutcome,
  deliverLeased,
} from '../../billing/payments/deliver-leased.ts';
import { forgetOldEvents } from '../../billing/payments/provider-events.ts';
import { HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Poll } from '../../runtime/poll.ts';
import { pollDue } from '../../store/base/due-watch.ts';
import {
  type DeliveryFigures,
  hasDueDelivery,
  hasUnattempted,
  leaseDeliveries,
  loadDeliveryFigures,
} from '../../store/invoices/delivery-work.ts';
import type { Delivery } from '../../store/invoices/invoice-deliveries.ts';
import type { JobsContext } from '../jobs-context.ts';

const POLL_INTERVAL_MS = 500;
/** Concurrent attempts of one process: enough for the rate limits of a provider that answers within a second. */
const ATTEMPTS_MAX = 32;
const FIGURES_INTERVAL_MS = 10 * SECOND_MS;
/** The maximum time that a move of the clock waits for first attempts. */
const SETTLED_MAX_MS = MINUTE_MS;
const SETTLED_PAUSE_MS = 20;

export interface DeliveryStats extends DeliveryFigures {
  /** Since the start of this process. */
  readonly attempts: Readonly<Record<DeliveryOutcome, number>>;
}

export interface Deliveries {
  start(): void;
  /** Resolves when every due delivery has had its first attempt, or after a minute. */
  caughtUp(): Promise<void>;
  /** Counts of the store are as of the last read, a few seconds ago. */
  stats(): DeliveryStats;
  /** Attempts stop after their current step, and are resumed after the next start. */
  close(): Promise<void>;
}

/** For tests. */
export interface DeliveryHooks {
  readonly leaseMs?: number;
  /** Called between two steps; tests throw here to simulate a kill. */
  betweenSteps?(): void;
}

export function createDeliveries(context: JobsContext, hooks: DeliveryHooks = {}): Deliveries {
  const { db, log, clock, tracer } = context;
  const { leaseMs = DELIVERY_LEASE_MS } = hooks;
  const running = new Set<Promise<void>>();
  const attempts = { done: 0, waiting: 0, refused: 0, failed: 0 };
  const upkeep = createUpkeep(db);
  let isClosed = false;
  let isFailing = false;

  /** Once the stores have moved, another process has the deliveries. */
  const hasToEnd = () => isClosed || context.isPaused();

  const poll = pollDue(context.dueWatch, {
    name: 'deliveries of invoices',
    intervalMs: POLL_INTERVAL_MS,
    isDue: () => hasDueDelivery(clock.now()),
    async work() {
      if (hasToEnd()) return;
      await takeDue();
      isFailing = false;
    },
    onFailure: reportFailure,
  });

  async function takeDue(): Promise<void> {
    const limit = ATTEMPTS_MAX - running.size;
    // A new owner for each attempt, so that an attempt whose lease has ended is not confused with the one that follows
    // it, even in the same process.
    const owner = randomUUID();
    const due = limit <= 0 ? [] : await leaseDeliveries(db, { owner, leaseMs, dueAt: clock.now(), limit });
    for (const delivery of due) attempt(delivery, owner);
    await upkeep.run(Date.now());
  }

  function attempt(delivery: Delivery, owner: string): void {
    const facts = { 'tallyhouse.invoice': delivery.invoiceId };
    const work = tracer
      .trace('deliver an invoice', { kind: 'client', facts }, () =>
        deliverLeased(context, delivery, {
          ...{ owner, leaseMs, hasToEnd },
          betweenSteps: () => hooks.betweenSteps?.(),
        }),
      )
      .then((outcome) => {
        running.delete(work);
        if (outcome !== null) attempts[outcome] += 1;
        // The next poll handles waiting deliveries.
        if (outcome !== 'waiting') poll.soon();
      })
      .catch((error: unknown) => {
        running.delete(work);
        reportFailure(error);
      });
    running.add(work);
  }

  function reportFailure(error: unknown): void {
    if (!isFailing) log.error({ err: error }, 'invoices cannot be delivered now: they will be tried again');
    isFailing = true;
  }

  return {
    start: poll.start,
    caughtUp: () => untilAttempted(context, poll, () => isClosed),
    stats: () => ({ ...upkeep.figures(), attempts }),
    async close() {
      isClosed = true;
      await poll.close();
      await Promise.all(running);
    },
  };
}

/** Reads the figures and deletes old events, each at its interval. */
function createUpkeep(db: JobsContext['db']) {
  let figures: DeliveryFigures = { byStatus: new Map(), oldestUndeliveredAt: null };
  let figuresAt: Instant = 0;
  let cleanedAt: Instant = 0;
  return {
    figures: () => figures,
    async run(now: Instant) {
      if (now - figuresAt >= FIGURES_INTERVAL_MS) {
        figuresAt = now;
        figures = await loadDeliveryFigures(db);
      }
      if (now - cleanedAt < HOUR_MS) return;
      cleanedAt = now;
      await forgetOldEvents(db, now);
    },
  };
}

async function untilAttempted(
  { db, clock }: Pick<JobsContext, 'db' | 'clock'>,
  poll: Pick<Poll, 'soon'>,
  isClosed: () => boolean,
): Promise<void> {
  const until = performance.now() + SETTLED_MAX_MS;
  while (!isClosed() && performance.now() < until && (await hasUnattempted(db, clock.now()))) {
    poll.soon();
    await pause(SETTLED_PAUSE_MS);
  }
}
