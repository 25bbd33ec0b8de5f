/** Keys of this service that all its processes share. */
import { eq } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { serviceKeys } from './service-keys.tables.ts';

/** The purpose of a key: each purpose has a separate key. */
export type KeyPurpose = 'dashboard_links';

/** The key of a purpose. `fresh` is stored where there is none yet: of two processes that start at once, one wins. */
export async function keepServiceKey(
  db: Database,
  purpose: KeyPurpose,
  fresh: Buffer,
  now: Instant,
): Promise<Buffer> {
  await db
    .insert(serviceKeys)
    .values({ purpose, secret: fresh.toString('base64'), createdAt: now })
    .onConflictDoNothing();
  const [row] = await db.select().from(serviceKeys).where(eq(serviceKeys.purpose, purpose));
  if (row === undefined) throw new Error(`the key ${purpose} is not stored`);
  return Buffer.from(row.secret, 'base64');
}
