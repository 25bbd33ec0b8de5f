/**
 * An embedded ClickHouse whose merges wait until the service is ready. When the engine starts it takes up the merges
 * that the last process did not finish, on all cores, while a start reads the ids of known events.
 *
 * The engine remembers this in memory only: a process that is killed meanwhile leaves no trace. Mutations wait as
 * well, so whoever waits for one has to start the merges before.
 */
import type { ClickHouse } from './clickhouse.ts';

/** Holds back the merges of all its tables until `startMerges`, which may be called any number of times. */
export async function withHeldMerges(clickhouse: ClickHouse): Promise<ClickHouse> {
  await clickhouse.command('SYSTEM STOP MERGES');
  return { ...clickhouse, startMerges: () => clickhouse.command('SYSTEM START MERGES') };
}
