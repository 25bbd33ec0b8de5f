/**
 * The instant from which spans are identified by the id of the answer (docs/explanation/token-billing.md). Written by
 * the migration.
 */
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { spanIdentities } from './span-identities.tables.ts';

/** Spans that ended earlier are identified by trace and span. 1970 if no earlier version has stored any. */
export async function findResponseIdsFrom(db: Database): Promise<Instant> {
  const [row] = await db.select().from(spanIdentities);
  return row?.responseIdsFrom ?? 0;
}
