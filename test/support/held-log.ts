/** The real log of events, whose appends wait until they are let on, to succeed or to fail. */
import type { EventLog } from '../../src/metering/ingest/event-blocks.ts';

export interface HeldLog {
  readonly log: EventLog;
  /** Appends that wait. */
  waiting(): number;
  /** Lets the waiting append continue. */
  release(isKept: boolean): void;
  /** Nothing waits from now on. */
  open(): void;
  /** From now on appends wait. */
  hold(): void;
}

export function holdLog(log: EventLog): HeldLog {
  const waiting: ((isKept: boolean) => void)[] = [];
  let isHeld = true;
  return {
    log: {
      entries: () => log.entries(),
      removeUpTo: (number) => log.removeUpTo(number),
      close: () => log.close(),
      async append(rows, count) {
        const isKept = !isHeld || (await new Promise<boolean>((resolve) => waiting.push(resolve)));
        if (!isKept) throw new Error('the disk is full');
        return await log.append(rows, count);
      },
    },
    waiting: () => waiting.length,
    release: (isKept) => waiting.shift()?.(isKept),
    open() {
      isHeld = false;
      for (const go of waiting.splice(0)) go(true);
    },
    hold() {
      isHeld = true;
    },
  };
}
