/** Times from which events are identified in another way. Migrations wrote them. */
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { cloudEventIdentities, spanIdentities } from './identities.tables.ts';

/**
 * From then on the identities of CloudEvents can be undone (docs/explanation/events.md). Events that were accepted before
 * may have an older id. Null if no earlier version has stored any.
 */
export async function findSlashesApartFrom(db: Database): Promise<Instant | null> {
  const [row] = await db.select().from(cloudEventIdentities);
  return row?.slashesApartFrom ?? null;
}

/**
 * From then on spans are known by the id of the answer (docs/explanation/token-billing.md). Spans that ended before are
 * known by trace and span. 1970 if no earlier version has stored any.
 */
export async function findResponseIdsFrom(db: Database): Promise<Instant> {
  const [row] = await db.select().from(spanIdentities);
  return row?.responseIdsFrom ?? 0;
}
