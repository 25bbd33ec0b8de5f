/**
 * A queue of requests that arrive while no more rows can be queued for writing. Each waits for room in the order of
 * arrival, instead of being refused: a refused client sends its whole body again, which costs more than keeping it.
 * They are taken one after the other, some milliseconds in one turn of the event loop.
 */
import { Refusal } from '../../core/errors.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { createPoll, ignoreFailure } from '../../runtime/poll.ts';

export interface TurnOptions {
  /** Whether rows can be added now. */
  hasRoom(): boolean;
  /** Maximum waiting requests; further ones are refused. */
  readonly waitingMax: number;
  /** The maximum wait of a request. */
  readonly waitMs: number;
}

export interface Turns {
  /** Refuses as `overloaded` if the queue is full. */
  checkLength(): void;
  /**
   * Null if there is room and nobody waits. Otherwise resolves when it is the turn of the request, which then adds its
   * rows without awaiting anything, and calls `leave` in any case. Rejects as `overloaded` after the maximum wait.
   */
  enter(): Promise<void> | null;
  leave(): void;
  /** Called when there may be room again. */
  wake(): void;
  /** Refuses waiting requests as `unavailable`. */
  close(): void;
}

interface Waiting {
  readonly queuedMs: number;
  resolve(): void;
  reject(refusal: Refusal): void;
}

/** Work in one turn of the event loop, in milliseconds. */
const SLICE_MS = 10;
const LOOK_MS = 500;
/** While nobody waits. */
const IDLE_LOOK_MS = MINUTE_MS;

export function createTurns({ hasRoom, waitingMax, waitMs }: TurnOptions): Turns {
  /** In the order of arrival. */
  const waiting = new Set<Waiting>();
  let isTaken = false;
  let isResting = false;
  let sliceEnd = 0;
  const intervalMs = () => (waiting.size > 0 ? LOOK_MS : IDLE_LOOK_MS);
  const name = 'requests that wait for room';
  const look = createPoll({ name, intervalMs, work: refuseLate, onFailure: ignoreFailure });
  look.start();

  function next(): void {
    if (isTaken || isResting || !hasRoom()) return;
    const [first] = waiting;
    if (first === undefined) return;
    waiting.delete(first);
    isTaken = true;
    first.resolve();
  }

  function rest(): void {
    isResting = true;
    setImmediate(() => {
      isResting = false;
      sliceEnd = performance.now() + SLICE_MS;
      next();
    });
  }

  function refuseLate(): void {
    const oldest = performance.now() - waitMs;
    for (const one of waiting) {
      if (one.queuedMs > oldest) return;
      waiting.delete(one);
      one.reject(overloaded());
    }
  }

  function checkLength(): void {
    if (waiting.size >= waitingMax) throw overloaded();
  }

  return {
    checkLength,
    enter() {
      if (!isTaken && waiting.size === 0 && hasRoom()) return null;
      checkLength();
      return new Promise((resolve, reject) => {
        waiting.add({ queuedMs: performance.now(), resolve, reject });
        look.soon(LOOK_MS);
        next();
      });
    },
    leave() {
      isTaken = false;
      if (performance.now() < sliceEnd) next();
      else if (!isResting) rest();
    },
    wake() {
      if (waiting.size > 0 && !isTaken && !isResting) rest();
    },
    close() {
      void look.close();
      for (const { reject } of waiting) {
        reject(new Refusal('unavailable', 'the service is shutting down, send the events again'));
      }
      waiting.clear();
    },
  };
}

function overloaded(): Refusal {
  return new Refusal('overloaded', 'too many events are waiting to be written, try again in a moment');
}
