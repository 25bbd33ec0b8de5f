/**
 * Lends a fixed number of connections, each to one user at a time. Users wait in the order of arrival, except that one
 * customer's work has a limited share: the others do not wait for a customer with slow queries. Beyond its share a
 * customer gets a connection only if enough others are free.
 */
import { Refusal } from '../../core/errors.ts';

export interface PoolFigures {
  readonly running: number;
  readonly waiting: number;
}

export interface ConnectionPool<Connection> {
  /**
   * Runs `use` with a free connection. Work for the same `customer` takes that customer's share of the connections, and
   * more only while enough others are free. Refuses as overloaded if too many are waiting already.
   */
  withConnection<T>(use: (connection: Connection) => Promise<T>, customer?: string): Promise<T>;
  /** Refuses waiting and all later users. Running work continues. */
  refuse(): void;
  /** Accepts no new users and resolves when the running and waiting ones are done. */
  drain(): Promise<void>;
  figures(): PoolFigures;
}

export interface PoolLimits {
  /** Default: 1,000. A longer queue means minutes of delay, so further users are refused. */
  readonly waitingMax?: number;
  /** The maximum connections of one customer, even if others are free. Default: all. */
  readonly customerMax?: number;
  /** A customer beyond its share leaves this many connections free. Default: all, so that it never exceeds it. */
  readonly freeBeyondShare?: number;
}

interface Waiting<Connection> {
  readonly customer: string | undefined;
  resolve(connection: Connection): void;
  reject(reason: Refusal): void;
}

const WAITING_MAX = 1_000;

export function createConnectionPool<Connection>(
  connections: readonly Connection[],
  limits: PoolLimits = {},
): ConnectionPool<Connection> {
  const loans = createLoans(connections, limits);
  let draining = false;
  const drained: Array<() => void> = [];
  return {
    withConnection: async (use, customer) => {
      if (draining) throw shuttingDown();
      const connection = await loans.take(customer);
      try {
        return await use(connection);
      } finally {
        loans.giveBack(connection, customer);
        if (loans.isIdle()) for (const resolve of drained.splice(0)) resolve();
      }
    },
    refuse: () => {
      draining = true;
      loans.refuseWaiting();
    },
    drain: async () => {
      draining = true;
      if (loans.isIdle()) return;
      await new Promise<void>((resolve) => {
        drained.push(resolve);
      });
    },
    figures: loans.figures,
  };
}

/** The lent connections, and the queries that wait for one. */
function createLoans<Connection>(
  connections: readonly Connection[],
  {
    waitingMax = WAITING_MAX,
    customerMax = connections.length,
    freeBeyondShare = connections.length,
  }: PoolLimits,
) {
  const free = [...connections];
  const waiting: Array<Waiting<Connection>> = [];
  const shares = createShares(customerMax);
  const hasRoom = (customer: string | undefined) => shares.hasRoom(customer) || free.length > freeBeyondShare;

  /** Lends to waiting users, in their order, while connections are available to them. */
  function lendToWaiting(): void {
    for (let connection = free.at(-1); connection !== undefined; connection = free.at(-1)) {
      const index = waiting.findIndex((each) => hasRoom(each.customer));
      const [next] = index < 0 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      free.pop();
      shares.count(next.customer, 1);
      next.resolve(connection);
    }
  }

  return {
    isIdle: () => free.length === connections.length,
    figures: () => ({ running: connections.length - free.length, waiting: waiting.length }),
    async take(customer: string | undefined): Promise<Connection> {
      const connection = hasRoom(customer) ? free.pop() : undefined;
      if (connection !== undefined) {
        shares.count(customer, 1);
        return connection;
      }
      // At most half of the queue, so that it has room for others.
      const ofCustomer = waiting.filter((each) => customer !== undefined && each.customer === customer);
      if (waiting.length >= waitingMax || ofCustomer.length >= Math.ceil(waitingMax / 2))
        throw new Refusal('overloaded', 'too many queries are waiting, try again later');
      return await new Promise((resolve, reject) => void waiting.push({ customer, resolve, reject }));
    },
    giveBack(connection: Connection, customer: string | undefined) {
      shares.count(customer, -1);
      free.push(connection);
      lendToWaiting();
    },
    refuseWaiting() {
      for (const each of waiting.splice(0)) each.reject(shuttingDown());
    },
  };
}

/** The number of connections of each customer. */
function createShares(customerMax: number) {
  const running = new Map<string, number>();
  return {
    hasRoom: (customer: string | undefined) =>
      customer === undefined || (running.get(customer) ?? 0) < customerMax,
    count(customer: string | undefined, change: 1 | -1) {
      if (customer === undefined) return;
      const left = (running.get(customer) ?? 0) + change;
      if (left > 0) running.set(customer, left);
      else running.delete(customer);
    },
  };
}

export function shuttingDown(): Refusal {
  return new Refusal('unavailable', 'the service is shutting down');
}
