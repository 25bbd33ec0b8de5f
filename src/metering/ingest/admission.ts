/**
 * Lets requests wait for room before their bodies are read: a request that waits costs nothing, one that is refused comes
 * again at once, and each refusal takes time from those that could be taken. In the order in which they came, and not too
 * many in one turn of the event loop, so that a full batch can be written meanwhile.
 */
import { Refusal } from '../../core/errors.ts';

/** Then a client is told to come again: its own patience is not known. */
const WAIT_MS_MAX = 1_000;
/** More than connections are taken, so that this limit is a last one. */
const WAITING_MAX = 10_000;
/** A hundred events each: about 10 ms of work. */
const ADMITTED_PER_TURN = 32;

export interface Admission {
  /**
   * Resolves when there is room; null where there is some now and nobody waits. Refuses as `overloaded` where there is none
   * for long.
   */
  enter(): Promise<void> | null;
  /** To be called when there may be room again. */
  goOn(): void;
}

interface Waiting {
  readonly admit: () => void;
  readonly timer: NodeJS.Timeout;
}

export function createAdmission(hasRoom: () => boolean): Admission {
  const waiting = new Set<Waiting>();
  let isGoingOn = false;

  function admitSome(): void {
    isGoingOn = false;
    let admitted = 0;
    for (const each of waiting) {
      if (admitted === ADMITTED_PER_TURN || !hasRoom()) break;
      waiting.delete(each);
      clearTimeout(each.timer);
      each.admit();
      admitted += 1;
    }
    // What was admitted takes its room before the next ones are.
    if (waiting.size > 0 && hasRoom()) goOn();
  }

  function goOn(): void {
    if (isGoingOn || waiting.size === 0) return;
    isGoingOn = true;
    setImmediate(admitSome);
  }

  return {
    goOn,
    enter() {
      if (waiting.size === 0 && hasRoom()) return null;
      if (waiting.size >= WAITING_MAX) throw full();
      return new Promise((admit, refuse) => {
        const timer = setTimeout(() => {
          waiting.delete(own);
          refuse(full());
        }, WAIT_MS_MAX);
        const own: Waiting = { admit, timer };
        waiting.add(own);
        if (hasRoom()) goOn();
      });
    },
  };
}

function full(): Refusal {
  return new Refusal('overloaded', 'too many events are waiting to be written, try again in a moment');
}
