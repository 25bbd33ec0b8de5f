/**
 * Listens to a channel of PostgreSQL (`LISTEN`), on a separate connection, for as long as the process runs.
 *
 * Announcements while the connection is lost are missed: `onConnected` is called after every connection, for the
 * listener to forget what it can no longer trust.
 */
import { createPoll, ignoreFailure } from '../../runtime/poll.ts';
import { connectPostgres, type PostgresConnection } from '../postgres-driver/connect-postgres.ts';

interface Subscription {
  close(): Promise<void>;
}

interface Listener {
  onMessage(payload: string): void;
  onConnected(): void;
}

const RETRY_MS = 500;
const CLOSE_TIMEOUT_SECONDS = 1;

export type Listen = (channel: string, listener: Listener) => Subscription;

/** Returns at once; the connection is opened, and reopened, in the background. */
export function listenTo(connection: PostgresConnection, channel: string, listener: Listener): Subscription {
  const closing = new AbortController();
  const work = () => listenOnce(connection, channel, listener, closing.signal);
  const poll = createPoll({
    name: 'notifications of PostgreSQL',
    intervalMs: RETRY_MS,
    work,
    onFailure: ignoreFailure,
  });
  poll.start({ now: true });
  return {
    async close() {
      closing.abort();
      await poll.close();
    },
  };
}

/** Resolves when the connection is lost, cannot be opened, or is no longer needed. */
async function listenOnce(
  connection: PostgresConnection,
  channel: string,
  listener: Listener,
  closing: AbortSignal,
): Promise<void> {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  closing.addEventListener('abort', end, { once: true });
  const client = connectPostgres(connection, {
    max: 1,
    max_lifetime: null,
    connection: { application_name: 'tallyhouse notifications' },
    onclose: () => end(),
    ...{ onnotify: (_channel: string, payload: string) => listener.onMessage(payload) },
  });
  try {
    const started = client.unsafe(`listen "${channel}"`).then(() => listener.onConnected());
    await Promise.race([started.catch(end), ended]);
    await ended;
  } finally {
    closing.removeEventListener('abort', end);
    await client.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => undefined);
  }
}
