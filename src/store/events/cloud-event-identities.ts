/**
 * The instant from which the identities of CloudEvents can be decoded (docs/explanation/events.md). Written by the
 * migration.
 */
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { cloudEventIdentities } from './cloud-event-identities.tables.ts';

/** Events that were accepted earlier may have an older id. Null if no earlier version has stored any. */
export async function findSlashesApartFrom(db: Database): Promise<Instant | null> {
  const [row] = await db.select().from(cloudEventIdentities);
  return row?.slashesApartFrom ?? null;
}
