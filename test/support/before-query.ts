/** A ClickHouse with something done before one of its queries, for tests of what changes while an answer is computed. */
import { around } from '../../src/metering/client/around.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';

export interface WatchedClickHouse {
  readonly clickhouse: ClickHouse;
  /** Queries so far. */
  queries(): number;
}

/** `then` is done once, before the query with the number `at`, counted from 0. */
export function beforeQuery(real: ClickHouse, at: number, then: () => Promise<unknown>): WatchedClickHouse {
  let queries = 0;
  let done: Promise<unknown> = Promise.resolve();
  const arrive = (): Promise<unknown> => {
    if (queries === at) done = then();
    queries += 1;
    return done;
  };
  return {
    clickhouse: around(real, {
      async run(call, work) {
        if (call.kind === 'select') await arrive();
        return await work();
      },
    }),
    queries: () => queries,
  };
}
