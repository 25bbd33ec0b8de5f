/** Actors use a service that is killed in between, and remember which of their requests were answered. */
import type { BillingProcess } from '../billing-process.ts';
import type { Moment } from './kills.ts';

/** The instants of a life: months follow one another. */
export interface Life {
  readonly service: BillingProcess;
  /** From 0. */
  readonly month: number;
  /** Counts a moment, at which the process may be killed. */
  strike(moment: Moment): unknown;
}

export interface Actor {
  /** Acts until the process is killed, or all is done. Requests without an answer are remembered. */
  act(life: Life): Promise<void>;
  /** Expects that what was answered is so, right after the next start. */
  expectKept(life: Life): Promise<void>;
  /** Repeats the requests without an answer. */
  repeat(life: Life): Promise<void>;
  /** Expects that everything is so, once and to the cent, after all requests have an answer. */
  expectExact(life: Life): Promise<void>;
}

/** 00:30 on the first of the month: nothing of the month before is issued yet. */
export function beginOf(month: number): string {
  return new Date(Date.UTC(2026, 10 + month, 1, 0, 30)).toISOString();
}

/** The end of the grace period of the month before. Holds of `beginOf` have not expired. */
export function issueOf(month: number): string {
  return new Date(Date.UTC(2026, 10 + month, 2, 0, 10)).toISOString();
}

/** The time of all events of the month. */
export function usedAt(month: number): string {
  return new Date(Date.UTC(2026, 10 + month, 1, 0, 10)).toISOString();
}

/** The data of an answer; null if the process was killed before it. Throws for any answer but 200. */
export async function unlessKilled<Data>(request: Promise<Data>): Promise<Data | null> {
  return await request.catch((error: unknown) => {
    if (error instanceof Error && isOfKill(error)) return null;
    throw error;
  });
}

/** The errors of `fetch` and `call` if the process has gone. */
function isOfKill({ message }: Error): boolean {
  return /fetch failed|terminated|the process has ended|other side closed|ECONNRE/.test(message);
}
