/** The stored sandbox clock. It only moves forward. */
import { sql } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { serviceClock } from './service-clock.tables.ts';

/** Advances the stored clock to `now` unless it is already later; returns its time then. */
export async function advanceServiceClock(db: Database | Transaction, now: Instant): Promise<Instant> {
  const rows = await db
    .insert(serviceClock)
    .values({ id: 1, now })
    .onConflictDoUpdate({
      target: serviceClock.id,
      set: { now: sql`greatest(${serviceClock.now}, excluded.now)` },
    })
    .returning({ now: serviceClock.now });
  const row = rows[0];
  if (row === undefined) throw new Error('the upsert of the service clock returned no row');
  return row.now;
}

/** The time of the stored clock; null if these data have never had one. */
export async function storedServiceClock(db: Database): Promise<Instant | null> {
  const [row] = await db.select({ now: serviceClock.now }).from(serviceClock);
  return row?.now ?? null;
}
