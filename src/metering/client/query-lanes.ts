/**
 * The lanes of queries (`QueryLane`): a pool of connections each, with shares for customers, and the end of all
 * queries when the service stops. The same for the embedded engine and a server.
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
  /** Runs a query with a connection of its lane. One that is ended by `cancel` is refused as `unavailable`. */
  run<T>(
    query: BackendSelect,
    use: (pool: ConnectionPool<Connection>, customer?: string) => Promise<T>,
  ): Promise<T>;
  figures(): ReadonlyMap<QueryLane, PoolFigures>;
  /** Ends running queries, refuses waiting and later ones; resolves when none runs any more. */
  cancel(): Promise<void>;
  /** Waits for what runs and waits. */
  drain(): Promise<void>;
}

/** An analyst's slow query is ended after seconds; beyond this many waiting queries, new ones are refused. */
const ANALYSES_WAITING_MAX = 20;
/** The same of queries across customers, which may bring much along. */
const REPORTS_WAITING_MAX = 5;
/** One customer's queries take this part of a lane, but one connection in any case. */
const CUSTOMER_SHARE = 1 / 4;
/** They take more while more than this part of the lane is free, so that a draft's queries run side by side. */
const FREE_BEYOND_SHARE = 1 / 4;
/** A query that was just about to start is not there yet to be ended. */
const CANCEL_AGAIN_MS = 100;

export function createLanes<Connection>(
  connections: Readonly<Record<QueryLane, readonly Connection[]>>,
  { endQueries }: { /** Ends all queries that run at this moment. */ endQueries(): Promise<void> },
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
