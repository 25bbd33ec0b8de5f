/** Counts the events without a customer, for `/metrics`. Every process does, so that each of them can be scraped. */
import type { Logger } from 'pino';
import { countUnmatchedEvents, type UnmatchedTotals } from '../billing/events/unmatched-events.ts';
import { MINUTE_MS } from '../core/time.ts';
import { createPoll } from '../runtime/poll.ts';

/** After the start, and between two counts. */
const EVERY_MS = MINUTE_MS;
/** After a count, the pause is this multiple of its duration. */
const REST = 99;

type Options = Parameters<typeof countUnmatchedEvents>[0] & {
  readonly log: Logger;
  /** While true, nothing is counted. */
  isPaused(): boolean;
  readonly everyMs?: number | undefined;
};

export interface UnmatchedEventsCount {
  /** Totals over the last 35 days, as of the last count; null before the first count. */
  totals(): UnmatchedTotals | null;
  start(): void;
  close(): Promise<void>;
}

export function createUnmatchedEventsCount({
  log,
  isPaused,
  everyMs,
  ...context
}: Options): UnmatchedEventsCount {
  let totals: UnmatchedTotals | null = null;
  let restUntil = 0;
  const poll = createPoll({
    name: 'unmatched events',
    intervalMs: everyMs ?? EVERY_MS,
    async work() {
      const begun = performance.now();
      if (begun < restUntil || isPaused()) return;
      totals = await countUnmatchedEvents(context);
      const ended = performance.now();
      restUntil = ended + REST * (ended - begun);
    },
    onFailure: (err) => log.warn({ err }, 'events of nobody cannot be counted now: it is tried again'),
  });
  return { totals: () => totals, start: () => poll.start(), close: () => poll.close() };
}
