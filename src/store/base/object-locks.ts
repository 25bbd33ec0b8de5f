/** Locks on objects of any kind, for requests that compare the version of one before they change it. */
import { sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import { LOCK_FAMILIES } from './lock-numbers.ts';

/** Waits for others, and holds the lock until the transaction of the request ends. */
export async function lockObject(db: Database, kind: string, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(
      sql`select pg_advisory_xact_lock(${LOCK_FAMILIES.versions}, hashtext(${`${kind} ${id}`}))`,
    );
  });
}
