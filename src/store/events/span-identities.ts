/** From when on spans are known by the id of the answer (docs/explanation/token-billing.md). The migration wrote it. */
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { spanIdentities } from './span-identities.tables.ts';

/** Spans that ended before are known by trace and span. 1970 where no earlier version has stored any. */
export async function findResponseIdsFrom(db: Database): Promise<Instant> {
  const [row] = await db.select().from(spanIdentities);
  return row?.responseIdsFrom ?? 0;
}
