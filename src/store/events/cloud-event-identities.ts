/** From when on the identities of CloudEvents can be undone (docs/explanation/events.md). The migration wrote it. */
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { cloudEventIdentities } from './cloud-event-identities.tables.ts';

/** Events that were accepted before may have an older id. Null where no earlier version has stored any. */
export async function findSlashesApartFrom(db: Database): Promise<Instant | null> {
  const [row] = await db.select().from(cloudEventIdentities);
  return row?.slashesApartFrom ?? null;
}
