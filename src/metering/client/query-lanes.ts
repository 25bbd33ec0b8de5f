/**
 * The lanes of queries (`QueryLane`): a pool of connections each, with shares for customers, and the cancellation of
 * all queries when the service stops. Shared by the embedded engine and a server.
 */
import type { QueryLane } from './clickhouse.ts';
import type { BackendSelect } from './clickhouse-client.ts';
import {
  type ConnectionPool,
  createConnectionPool,
  type PoolFigures,
  type PoolLimits,
  shuttingDown,
} from './connection-pool.ts';

export interface QueryLanes<Connection> {
  /** Runs a query with a connection of its lane. A query cancelled by `cancel` is refused as `unavailable`. */
  run<T>(
    query: BackendSelect,
    use: (pool: ConnectionPool<Connection>, customer?: string) => Promise<T>,
  ): Promise<T>;
  figures(): ReadonlyMap<QueryLane, PoolFigures>;
  /** Cancels running queries, refuses waiting and later ones; resolves when none is running. */
  cancel(): Promise<void>;
  /** Waits for running and waiting queries. */
  drain(): Promise<void>;
}

/** An analyst's slow query is cancelled after seconds; with more waiting queries, new ones are refused. */
const ANALYSES_WAITING_MAX = 20;
/** The limit for queries across customers, which may carry large tables. */
const REPORTS_WAITING_MAX = 5;
/** The share of a lane for one customer's queries, at least one connection. */
const CUSTOMER_SHARE = 1 / 4;
/** A customer gets more while more than this share of the lane is free, so that a draft's queries run concurrently. */
const FREE_BEYOND_SHARE = 1 / 4;
/** A query that is about to start cannot be cancelled yet. */
const CANCEL_AGAIN_MS = 100;

export function createLanes<Connection>(
  connections: Readonly<Record<QueryLane, readonly Connection[]>>,
  { endQueries }: { /** Cancels all queries that are running now. */ endQueries(): Promise<void> },
): QueryLanes<Connection> {
  const poolOf = (lane: QueryLane, limits: PoolLimits = {}) => {
    const own = connections[lane];
    const customerMax = Math.max(1, Math.floor(own.length * CUSTOMER_SHARE));
    const freeBeyondShare = Math.ceil(own.length * FREE_BEYOND_SHARE);
    return createConnectionPool(own, { customerMax, freeBeyondShare, ...limits });
  };
  const pools: Readonly<Record<QueryLane, ConnectionPool<Connection>>> = {
    requests: poolOf('requests'),
    finalization: poolOf('finalization'),
    evaluation: poolOf('evaluation'),
    analysis: poolOf('analysis', { waitingMax: ANALYSES_WAITING_MAX }),
    reports: poolOf('reports', { waitingMax: REPORTS_WAITING_MAX }),
    verification: poolOf('verification'),
    ingest: poolOf('ingest'),
  };
  const all = Object.values(pools);
  let isCancelled = false;
  return {
    run: async ({ lane, customer }, use) => {
      try {
        return await use(pools[lane], customer);
      } catch (error) {
        throw isCancelled ? shuttingDown() : error;
      }
    },
    figures: () => new Map(Object.entries(pools).map(([lane, pool]) => [lane as QueryLane, pool.figures()])),
    cancel: async () => {
      isCancelled = true;
      for (const pool of all) pool.refuse();
      let isIdle = false;
      const idle = Promise.all(all.map((pool) => pool.drain())).then(() => {
        isIdle = true;
      });
      while (!isIdle) {
        await endQueries();
        await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, CANCEL_AGAIN_MS))]);
      }
    },
    drain: async () => {
      await Promise.all(all.map((pool) => pool.drain()));
    },
  };
}
