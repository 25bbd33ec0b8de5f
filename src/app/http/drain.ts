/**
 * The drain before the service stops: running requests and jobs get a fixed time, then their remaining queries are
 * cancelled. Acknowledged events are not affected: an insert is never cancelled.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerType } from '@hono/node-server';
import { createPoll, ignoreFailure } from '../../runtime/poll.ts';

export interface DrainParts {
  readonly server: ServerType;
  /** How long requests and jobs may continue. */
  readonly waitMs: number;
  /** Resolves when no request is being answered, including requests whose client has gone. */
  requestsEnded(): Promise<void>;
  /** Takes no further job and resolves when running work has ended. */
  endJobs(): Promise<void>;
  cancelQueries(): Promise<void>;
}

const POLL_MS = 50;
/** For the answers to the requests whose queries were cancelled, before their connections are closed. */
const ANSWER_WAIT_MS = 2_000;

/** Stops listening; resolves when no request is running, at the latest some seconds after `waitMs`. */
export async function drain(parts: DrainParts): Promise<void> {
  const { server, waitMs, endJobs, cancelQueries } = parts;
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // A kept-alive connection becomes idle with its last answer, and only then can be closed.
  const closeIdle = () => {
    if ('closeIdleConnections' in server) server.closeIdleConnections();
  };
  closeIdle();
  const poll = createPoll({
    name: 'idle connections',
    intervalMs: POLL_MS,
    work: closeIdle,
    onFailure: ignoreFailure,
  });
  poll.start();
  const ended = Promise.all([closed, parts.requestsEnded(), endJobs()]);
  try {
    if (await endsWithin(ended, waitMs)) return;
    await endsWithin(Promise.all([cancelQueries(), ended]), ANSWER_WAIT_MS);
    // A client that reads its answer too slowly is disconnected.
    if ('closeAllConnections' in server) server.closeAllConnections();
    await endsWithin(ended, ANSWER_WAIT_MS);
  } finally {
    await poll.close();
  }
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const limit = new AbortController();
  const timeout = delay(ms, false, { signal: limit.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    limit.abort();
  }
}
