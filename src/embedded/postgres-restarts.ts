/** Restarts a PostgreSQL that has ended on its data directory: its write-ahead log has every committed transaction. */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../core/failures.ts';
import type { PostgresServer } from './postgres-server.ts';

/**
 * The wait before each attempt. The first one lets the processes of the ended server exit. Together longer than the
 * longest statement (30 s): a process of the ended server that is still in a statement prevents the next server from
 * starting.
 */
export const RESTART_WAITS_MS = [100, 1_000, 4_000, 10_000, 20_000];
/** Between attempts while the disk is full: when there is space again, it recovers soon. */
const FULL_DISK_WAIT_MS = 2_000;
/** After a server has run for this long, all attempts are available again. */
const STEADY_MS = 60_000;

/** Log messages about the ends of a server, and about the restart attempts. */
export interface RestartLog {
  error(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export interface Restarts {
  /** Resolves, with the reason, when no attempt is left. */
  readonly lost: Promise<string>;
  /** Cancels running attempts, and stops the running server. */
  stop(): Promise<void>;
}

interface RestartOptions {
  /** Throws if the server does not start, or `cancelled` is aborted before it has. */
  start(cancelled: AbortSignal): Promise<PostgresServer>;
  readonly waitsMs: readonly number[];
  readonly log: RestartLog | undefined;
  /** While the disk is full, no attempt is the last one. */
  readonly isDiskFull?: () => Promise<boolean>;
}

/** Watches `first`, and every server after it, until `stop`. */
export function restartWhenEnded(
  first: PostgresServer,
  { start, waitsMs, log, isDiskFull = async () => false }: RestartOptions,
): Restarts {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: PostgresServer | null = first;

  let attempts = 0;

  /** Resolves with the reason of the last failure, or with null after `stop`. */
  async function watch(): Promise<string | null> {
    for (let server = first; ; ) {
      const startedAt = performance.now();
      const reason = await server.ended;
      running = null;
      if (signal.aborted) return null;
      log?.error({ reason }, 'the embedded PostgreSQL has ended: it is started again');
      if (performance.now() - startedAt >= STEADY_MS) attempts = 0;
      const restarted = await restart(reason);
      if (restarted === null || 'failure' in restarted) return restarted?.failure ?? null;
      server = restarted;
      log?.info({ attempts }, 'the embedded PostgreSQL runs again');
    }
  }

  /** Tries until a server runs, or no attempt is left. Null after `stop`. */
  async function restart(ended: string): Promise<PostgresServer | { readonly failure: string } | null> {
    for (let failure = ended; ; ) {
      const waitMs = await nextWait();
      if (waitMs === undefined) return { failure };
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return null;
      failure = (await startOnce()) ?? failure;
      if (signal.aborted) {
        await running?.stop();
        return null;
      }
      if (running !== null) return running;
    }
  }

  /** Undefined if no attempt is left; a full disk uses none. */
  async function nextWait(): Promise<number | undefined> {
    if (attempts > 0 && (await isDiskFull())) return FULL_DISK_WAIT_MS;
    const waitMs = waitsMs[attempts];
    if (waitMs !== undefined) attempts += 1;
    return waitMs;
  }

  /** Returns why it failed. */
  async function startOnce(): Promise<string | null> {
    try {
      running = await start(signal);
      return null;
    } catch (error) {
      const reason = messageOf(error);
      log?.error({ reason, attempts }, 'the embedded PostgreSQL could not be started again');
      return reason;
    }
  }

  const watching = watch();
  return {
    lost: watching.then((reason) => reason ?? new Promise<never>(() => {})),
    async stop() {
      stopping.abort();
      await running?.stop();
      await watching;
    },
  };
}
