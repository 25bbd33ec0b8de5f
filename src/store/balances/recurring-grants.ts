/** The commits and credits that recurring terms have created. */
import { inArray, max } from 'drizzle-orm';
import { assert } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { commits } from './commits.tables.ts';

/** For each recurring term, when its last child was created, which is the start of the child's period. One query. */
export async function loadLastGrants(
  db: Database | Transaction,
  recurringIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (recurringIds.length === 0) return new Map();
  const { recurringCommitId, createdAt } = commits;
  const rows = await db
    .select({ recurringCommitId, last: max(createdAt) })
    .from(commits)
    .where(inArray(recurringCommitId, [...recurringIds]))
    .groupBy(recurringCommitId);
  return new Map(
    rows.map((row) => {
      assert(row.recurringCommitId !== null && row.last !== null, 'a child has a parent and a start');
      return [row.recurringCommitId, row.last];
    }),
  );
}
