/** For tests of concurrent transactions. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../src/store/base/database.ts';

const WAIT_MAX_MS = 20_000;

/** How many statements on this database wait for a lock that another transaction holds. */
export async function waitingForLocks(db: Database): Promise<number> {
  const rows = await db.execute(sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
  return rows.length;
}

/** Resolves as soon as a statement on this database waits for a lock that another transaction holds. */
export async function waitForLock(db: Database): Promise<void> {
  const until = performance.now() + WAIT_MAX_MS;
  while (performance.now() < until) {
    if ((await waitingForLocks(db)) > 0) return;
  }
  throw new Error('no statement waits for a lock');
}
