/** Lends a fixed number of connections, one user each at a time, first come first served. */
import { Refusal } from '../core/errors.ts';

export interface ConnectionPool<Connection> {
  /** Runs `use` with a free connection. Refuses as overloaded when too many are waiting already. */
  withConnection<T>(use: (connection: Connection) => Promise<T>): Promise<T>;
  /** Takes no new users and resolves when the running and waiting ones are done. */
  drain(): Promise<void>;
}

/** More than this many waiting means minutes of delay, so further ones are refused. */
const WAITING_MAX = 1_000;

export function createConnectionPool<Connection>(
  connections: readonly Connection[],
  waitingMax: number = WAITING_MAX,
): ConnectionPool<Connection> {
  const free = [...connections];
  const waiting: Array<(connection: Connection) => void> = [];
  let draining = false;
  let drained: (() => void) | undefined;

  const giveBack = (connection: Connection) => {
    const next = waiting.shift();
    if (next !== undefined) next(connection);
    else free.push(connection);
    if (free.length === connections.length) drained?.();
  };

  const take = async (): Promise<Connection> => {
    const connection = free.pop();
    if (connection !== undefined) return connection;
    if (waiting.length >= waitingMax)
      throw new Refusal('overloaded', 'too many queries are waiting, try again later');
    return await new Promise((resolve) => {
      waiting.push(resolve);
    });
  };

  return {
    withConnection: async (use) => {
      if (draining) throw new Refusal('unavailable', 'the service is shutting down');
      const connection = await take();
      try {
        return await use(connection);
      } finally {
        giveBack(connection);
      }
    },
    drain: async () => {
      draining = true;
      if (free.length === connections.length) return;
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    },
  };
}
