/**
 * The service's clock. Normally the system's; with SANDBOX_NOW one that stands still until it is moved,
 * so that a month can be closed in a test. The sandbox clock is kept in the database and never goes back:
 * a restart goes on at the later of the stored instant and SANDBOX_NOW.
 */
import { type Clock, systemClock } from '../core/clock.ts';
import { invalid, Refusal } from '../core/errors.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { Database } from '../store/database.ts';
import { advanceServiceClock } from '../store/service-clock.ts';
import type { JobRunner } from './job-runner.ts';

export interface ServiceClock extends Clock {
  /** Null where the system's clock is used. */
  readonly sandbox: SandboxClock | null;
}

export interface SandboxClock {
  /**
   * Moves the clock to `to`, stopping at every instant at which work falls due, and answers when all that
   * fell due is done. Jobs that have failed are tried again first; those that fail hold up their subjects
   * and not the clock, and the log says so. Refuses to go back (`invalid`), and gives up (`unavailable`)
   * where another transaction holds what is due for minutes.
   */
  advance(to: Instant, jobs: ClockJobs): Promise<Instant>;
}

export type ClockJobs = Pick<JobRunner, 'nextAt' | 'runDue' | 'retryFailed' | 'logFailed'>;

/** Each waits for some seconds: a process that does a batch of jobs, or a request, lets go of them by then. */
const WAITS_MAX = 120;

export async function createServiceClock(db: Database, sandboxNow: Instant | null): Promise<ServiceClock> {
  if (sandboxNow === null) return { now: systemClock.now, sandbox: null };
  let now = await advanceServiceClock(db, sandboxNow);
  let lastMove: Promise<unknown> = Promise.resolve();

  async function moveTo(at: Instant): Promise<void> {
    now = await advanceServiceClock(db, Math.max(now, at));
  }

  async function advance(to: Instant, jobs: ClockJobs): Promise<Instant> {
    if (to < now) throw invalid(['now'], `must not be before the clock's ${formatInstant(now)}`);
    await jobs.retryFailed(now);
    let waits = 0;
    for (let next = await jobs.nextAt(); next !== null && next <= to; next = await jobs.nextAt()) {
      await moveTo(next);
      const { isComplete } = await jobs.runDue(now);
      waits += isComplete ? 0 : 1;
      if (waits > WAITS_MAX) {
        throw new Refusal('unavailable', `what is due at ${formatInstant(next)} is in use: try again later`);
      }
    }
    await moveTo(to);
    await jobs.logFailed(now);
    return now;
  }

  return {
    now: () => now,
    sandbox: {
      advance(to, jobs) {
        const move = lastMove.then(() => advance(to, jobs));
        lastMove = move.catch(() => undefined);
        return move;
      },
    },
  };
}
