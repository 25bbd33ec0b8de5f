/**
 * The service's clock. Normally the system's; with SANDBOX_NOW one that stands still until it is moved,
 * so that a month can be closed in a test. The sandbox clock is kept in the database and never goes back:
 * a restart goes on at the later of the stored instant and SANDBOX_NOW.
 */
import { type Clock, systemClock } from '../core/clock.ts';
import { invalid } from '../core/errors.ts';
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
   * fell due is done. Refuses to go back. Throws when a job failed: the clock then stands at its instant.
   */
  advance(to: Instant, jobs: Pick<JobRunner, 'nextAt' | 'runDue'>): Promise<Instant>;
}

export async function createServiceClock(db: Database, sandboxNow: Instant | null): Promise<ServiceClock> {
  if (sandboxNow === null) return { now: systemClock.now, sandbox: null };
  let now = await advanceServiceClock(db, sandboxNow);
  let lastMove: Promise<unknown> = Promise.resolve();

  async function moveTo(at: Instant): Promise<void> {
    now = await advanceServiceClock(db, Math.max(now, at));
  }

  async function advance(to: Instant, jobs: Pick<JobRunner, 'nextAt' | 'runDue'>): Promise<Instant> {
    if (to < now) throw invalid(['now'], `must not be before the clock's ${formatInstant(now)}`);
    for (let next = await jobs.nextAt(); next !== null && next <= to; next = await jobs.nextAt()) {
      await moveTo(next);
      const run = await jobs.runDue(now);
      const stuck = run.done === 0 && (await jobs.nextAt()) === next;
      if (run.failed > 0 || stuck) throw new Error(`jobs due at ${formatInstant(next)} could not be done`);
    }
    await moveTo(to);
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
