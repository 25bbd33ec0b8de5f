/**
 * Every request that changes something, and events, pass this gate. While the stores are moved to servers it is closed:
 * such requests are refused, and nothing of them is stored. Read-only requests are not affected.
 */
import { Refusal } from '../../core/errors.ts';

export interface WriteGate {
  /** Returns the function that ends the request. Throws a refusal (`unavailable`) while the gate is closed. */
  enter(): () => void;
  isClosed(): boolean;
  /** Resolves when no earlier request is running; rejects if that takes too long. */
  close(): Promise<void>;
  open(): void;
}

/** Longer than a client may take to send its request. */
const WAIT_MS_MAX = 90_000;

const WORDS =
  'the stores of this service are being moved, which takes some minutes: nothing is changed meanwhile. Send it again later';

export function createWriteGate(waitMsMax: number = WAIT_MS_MAX): WriteGate {
  let isClosed = false;
  let running = 0;
  let onQuiet: (() => void) | null = null;
  const leave = () => {
    running -= 1;
    if (running === 0) onQuiet?.();
  };
  return {
    enter() {
      if (isClosed) throw new Refusal('unavailable', WORDS);
      running += 1;
      return leave;
    },
    isClosed: () => isClosed,
    async close() {
      isClosed = true;
      if (running === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve, reject) => {
        onQuiet = resolve;
        timer = setTimeout(() => reject(new Error('requests that change something do not end')), waitMsMax);
      }).finally(() => {
        onQuiet = null;
        clearTimeout(timer);
      });
    },
    open() {
      isClosed = false;
    },
  };
}
