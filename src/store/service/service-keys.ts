/** Keys of this service that all its processes share. */
import { eq } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { serviceKeys } from './service-keys.tables.ts';

/** The purpose of a key: each purpose has a separate key. */
export type KeyPurpose = 'dashboard_links' | 'opens_sealed_secrets';

/** The key of a purpose. `fresh` is stored if there is none yet: of two processes that start at once, one wins. */
export async function keepServiceKey(
  db: Database,
  purpose: KeyPurpose,
  fresh: Buffer,
  now: Instant,
): Promise<Buffer> {
  return Buffer.from((await keptRow(db, purpose, fresh, now)).secret, 'base64');
}

/** When the key of a purpose was first stored, in real time; it is stored now if there is none yet. */
export async function serviceKeySince(db: Database, purpose: KeyPurpose, fresh: Buffer): Promise<Instant> {
  return (await keptRow(db, purpose, fresh, Date.now())).createdAt;
}

async function keptRow(db: Database, purpose: KeyPurpose, fresh: Buffer, now: Instant) {
  await db
    .insert(serviceKeys)
    .values({ purpose, secret: fresh.toString('base64'), createdAt: now })
    .onConflictDoNothing();
  const [row] = await db.select().from(serviceKeys).where(eq(serviceKeys.purpose, purpose));
  if (row === undefined) throw new Error(`the key ${purpose} is not stored`);
  return row;
}
