/**
 * The memory of all answers that are under way, of whatever form. Who finds no room waits in turn, and is refused where
 * that takes too long.
 */
import { Refusal } from '../../core/errors.ts';

export interface BudgetLimits {
  /** For all answers together. */
  readonly bytes: number;
  /** Answers that wait for room. */
  readonly waiting: number;
  readonly waitMs: number;
}

/** The part of the budget that one answer has. */
export interface MemoryShare {
  bytes(): number;
  /** Takes more, without waiting. False: there is no room, and nothing changes. */
  grow(bytes: number): boolean;
  /** Releases the part above this size. */
  shrink(bytes: number): void;
  /** Gives everything back. May be called more than once. */
  release(): void;
}

export interface MemoryBudget {
  readonly bytes: number;
  /**
   * Part of the budget, or all of it, once there is room. Refuses with `overloaded`. `signal`: the client has
   * disconnected.
   */
  enter(bytes: number, signal: AbortSignal): Promise<MemoryShare>;
  /** A share without bytes. */
  empty(): MemoryShare;
}

interface Waiting {
  readonly bytes: number;
  readonly take: () => void;
}

export function createMemoryBudget(limits: BudgetLimits): MemoryBudget {
  let free = limits.bytes;
  const queue: Waiting[] = [];

  /** The longest waiting requests are first, even if a smaller one after them would fit. */
  function giveBack(bytes: number): void {
    free += bytes;
    for (let next = queue[0]; next !== undefined && next.bytes <= free; next = queue[0]) {
      queue.shift();
      free -= next.bytes;
      next.take();
    }
  }

  function turn(bytes: number, signal: AbortSignal): Promise<void> {
    if (queue.length >= limits.waiting) throw tooMany(limits);
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', leave);
        end();
      };
      const waiting = { bytes, take: () => settle(resolve) };
      const leave = () => {
        queue.splice(queue.indexOf(waiting), 1);
        settle(() => reject(tooMany(limits)));
        // A later one may fit.
        giveBack(0);
      };
      const timeout = setTimeout(leave, limits.waitMs);
      signal.addEventListener('abort', leave);
      queue.push(waiting);
    });
  }

  function shareOf(taken: number): MemoryShare {
    let held = taken;
    const shrink = (bytes: number) => {
      const back = Math.max(0, held - bytes);
      held -= back;
      giveBack(back);
    };
    return {
      bytes: () => held,
      grow: (bytes) => {
        if (bytes > free) return false;
        free -= bytes;
        held += bytes;
        return true;
      },
      shrink,
      release: () => shrink(0),
    };
  }

  return {
    bytes: limits.bytes,
    async enter(wanted, signal) {
      const bytes = Math.min(wanted, limits.bytes);
      if (queue.length === 0 && bytes <= free) free -= bytes;
      else await turn(bytes, signal);
      return shareOf(bytes);
    },
    empty: () => shareOf(0),
  };
}

/** Names the limit. */
export function tooMany({ bytes }: Pick<BudgetLimits, 'bytes'>): Refusal {
  const megabytes = Math.round(bytes / 1024 ** 2);
  return new Refusal(
    'overloaded',
    `the ${megabytes} MB of memory for answers are in use by other requests, try again later`,
  );
}
