/**
 * An embedded ClickHouse whose merges wait until the service is ready. When the engine starts it resumes the merges
 * that the last process did not finish, on all cores, while the service reads the ids of known events.
 *
 * The engine remembers this in memory only: a process that is killed leaves no trace. Mutations are held too, so merges
 * must be started before waiting for a mutation.
 */
import type { ClickHouse } from './clickhouse.ts';

/** Holds back the merges of all its tables until `startMerges`, which may be called repeatedly. */
export async function withHeldMerges(clickhouse: ClickHouse): Promise<ClickHouse> {
  await clickhouse.command('SYSTEM STOP MERGES');
  return { ...clickhouse, startMerges: () => clickhouse.command('SYSTEM START MERGES') };
}
