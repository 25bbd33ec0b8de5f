/**
 * The service's clock. By default it is the system clock. With SANDBOX_NOW it stands still until it is
 * advanced, for example to close a month in a test. The sandbox clock is stored in the database and never
 * goes back: a restart continues at the later of the stored instant and SANDBOX_NOW.
 */
import { CLOCK_BOUNDS, type Clock, isWithinClockBounds, systemClock } from '../core/clock.ts';
import { invalid, Refusal } from '../core/errors.ts';
import { formatInstant, type Instant, SECOND_MS } from '../core/time.ts';
import { retry } from '../runtime/retry.ts';
import { createSerialQueue } from '../runtime/serial-queue.ts';
import type { Database } from '../store/base/database.ts';
import { advanceServiceClock, storedServiceClock } from '../store/service/service-clock.ts';
import type { JobRunner } from './job-runner.ts';

export interface ServiceClock extends Clock {
  /** Null with the system clock. */
  readonly sandbox: SandboxClock | null;
}

export interface SandboxClock {
  /**
   * Advances the clock to `to`, stopping at every due time of a job, and resolves when all due jobs have run. Failed
   * jobs are retried first. A job that fails delays its own subject, not the clock, and is logged. A lost connection
   * delays the clock; after half a minute without progress the last error is thrown. Refuses to go back, or beyond 2100
   * (`invalid`). Refuses with `unavailable` if another process works on due jobs for minutes, and at the first due job
   * while jobs do not run.
   */
  advance(to: Instant, jobs: ClockJobs): Promise<Instant>;
}

export type ClockJobs = Pick<JobRunner, 'nextAt' | 'runDue' | 'retryFailed' | 'logFailed' | 'isPaused'>;

/** Each wait takes some seconds, together longer than any batch of jobs or request. */
const WAITS_MAX = 120;
/** A store that restarts is available by then. */
const FAILING_MAX_MS = 30 * SECOND_MS;
const FAILED_PAUSE_MS = 500;

/**
 * A line for the operator if these data have a sandbox clock and the service runs by the system clock; otherwise null.
 * Work that becomes due by the system clock is done at once, including invoices.
 */
export async function leftSandboxLine(db: Database, clock: ServiceClock): Promise<string | null> {
  const stored = clock.sandbox === null ? await storedServiceClock(db) : null;
  if (stored === null) return null;
  return `these are sandbox data, whose clock shows ${formatInstant(stored)}; without SANDBOX_NOW the system clock counts`;
}

/** `failingMaxMs`: how long a move may fail without progress. */
export async function createServiceClock(
  db: Database,
  sandboxNow: Instant | null,
  failingMaxMs = FAILING_MAX_MS,
): Promise<ServiceClock> {
  if (sandboxNow === null) return { now: systemClock.now, sandbox: null };
  let now = await advanceServiceClock(db, sandboxNow);
  const moves = createSerialQueue('moves of the clock');

  async function moveTo(at: Instant): Promise<void> {
    now = await advanceServiceClock(db, Math.max(now, at));
  }

  async function advance(to: Instant, jobs: ClockJobs): Promise<Instant> {
    if (to < now) throw invalid(['now'], `must not be before the clock's ${formatInstant(now)}`);
    if (!isWithinClockBounds(to)) throw invalid(['now'], `must be before ${formatInstant(CLOCK_BOUNDS.end)}`);
    let lastSuccess = performance.now();
    const onSuccess = () => {
      lastSuccess = performance.now();
    };
    return await retry(() => goOnTo(to, jobs, onSuccess), {
      name: 'moves of the clock',
      isTransient: () => performance.now() - lastSuccess <= failingMaxMs && !jobs.isPaused(),
      pauseMs: () => FAILED_PAUSE_MS,
    });
  }

  /** Work before a failure stays done, so this may be repeated. */
  async function goOnTo(to: Instant, jobs: ClockJobs, onSuccess: () => void): Promise<Instant> {
    await jobs.retryFailed(now);
    let waits = 0;
    for (let next = await jobs.nextAt(); next !== null && next <= to; next = await jobs.nextAt()) {
      if (jobs.isPaused()) throw new Refusal('unavailable', 'jobs do not run now: /readyz says why');
      await moveTo(next);
      const { isComplete } = await jobs.runDue(now);
      waits += isComplete ? 0 : 1;
      if (waits > WAITS_MAX) {
        throw new Refusal('unavailable', `what is due at ${formatInstant(next)} is in use: try again later`);
      }
      onSuccess();
    }
    await moveTo(to);
    await jobs.logFailed(now);
    return now;
  }

  return {
    now: () => now,
    sandbox: {
      advance: (to, jobs) => moves.run(() => advance(to, jobs)),
    },
  };
}
