/**
 * Asks PostgreSQL which queues have something due: all of them in one statement, instead of each queue in separate
 * statements. An idle process costs two statements a second, however many queues it has.
 */
import { type SQL, sql } from 'drizzle-orm';
import { SECOND_MS } from '../../core/time.ts';
import { createPoll, type Poll, type PollOptions } from '../../runtime/poll.ts';
import type { Database } from './database.ts';

/** The longest delay from the instant at which something is due to its start, on an idle system. */
const INTERVAL_MS = SECOND_MS / 2;
/** A watched queue is polled for the rest of its work, such as figures, after this time at the latest. */
const SELDOM_MS = 10 * SECOND_MS;

/** It holds if something may be due. It is evaluated twice a second, so an index has to answer it. */
export type DueCondition = SQL;

interface WatchedQueue {
  isDue(): DueCondition;
  wake(): void;
}

export interface DueWatch {
  add(queue: WatchedQueue): void;
  start(): void;
  close(): Promise<void>;
}

export function createDueWatch(db: Database): DueWatch {
  const queues: WatchedQueue[] = [];

  async function work(): Promise<void> {
    if (queues.length === 0) return;
    const conditions = queues.map(({ isDue }, place) => sql`${isDue()} as ${sql.identifier(String(place))}`);
    const [row] = await db.execute<Record<string, boolean>>(sql`select ${sql.join(conditions, sql`, `)}`);
    for (const [place, { wake }] of queues.entries()) {
      if (row?.[place] === true) wake();
    }
  }

  // The queues report the failure: each is woken, and cannot read either.
  const onFailure = () => {
    for (const { wake } of queues) wake();
  };
  const poll = createPoll({ name: 'what is due', intervalMs: INTERVAL_MS, work, onFailure });
  return { add: (queue) => void queues.push(queue), start: () => poll.start(), close: () => poll.close() };
}

/** A poll that runs when the watch finds something due, or without a watch in its interval. */
export function pollDue(
  watch: DueWatch | undefined,
  { isDue, ...options }: PollOptions & Pick<WatchedQueue, 'isDue'>,
): Poll {
  if (watch === undefined) return createPoll(options);
  const poll = createPoll({ ...options, intervalMs: SELDOM_MS });
  watch.add({ isDue, wake: () => poll.soon() });
  return poll;
}
