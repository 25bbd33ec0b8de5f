/**
 * Through here goes every request that changes something, and events. While the stores are moved to servers it is closed:
 * such a request is refused, and nothing of it is stored. Requests that only read are not concerned.
 */
import { Refusal } from '../../core/errors.ts';

export interface WriteGate {
  /** Returns the function that ends the request. Throws a refusal (`unavailable`) while the gate is closed. */
  enter(): () => void;
  isClosed(): boolean;
  /** Resolves when no request that came before is being carried out; rejects where that takes too long. */
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
