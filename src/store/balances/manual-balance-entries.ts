/** Adjustments of balances by hand and by credit notes. */
import { asc } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import type { ManualEntry } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { manualBalanceEntries } from './commits.tables.ts';

export async function insertManualEntry(
  tx: Transaction,
  entry: ManualEntry & { readonly commitId: string; readonly createdAt: Instant; readonly createdBy: string },
): Promise<void> {
  await tx.insert(manualBalanceEntries).values(entry);
}

/** By commit, each list in the order of addition; commits without any are absent. */
export async function loadManualEntries(
  db: Database | Transaction,
  commitIds: readonly string[],
): Promise<Map<string, ManualEntry[]>> {
  if (commitIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(manualBalanceEntries)
    .where(isOneOf(manualBalanceEntries.commitId, commitIds))
    .orderBy(asc(manualBalanceEntries.sequence));
  const entries = new Map<string, ManualEntry[]>();
  for (const [commitId, group] of groupBy(rows, (row) => row.commitId)) {
    entries.set(
      commitId,
      group.map(({ id, segmentId, amount, reason, timestamp, creditNoteId }) => ({
        id,
        creditNoteId,
        segmentId,
        amount,
        reason,
        timestamp,
      })),
    );
  }
  return entries;
}

/** The entries of these credit notes. */
export async function loadEntriesOfNotes(
  db: Database | Transaction,
  creditNoteIds: readonly string[],
): Promise<(ManualEntry & { readonly commitId: string })[]> {
  if (creditNoteIds.length === 0) return [];
  const { id, commitId, segmentId, creditNoteId, amount, reason, timestamp, sequence } = manualBalanceEntries;
  return db
    .select({ id, commitId, segmentId, creditNoteId, amount, reason, timestamp })
    .from(manualBalanceEntries)
    .where(isOneOf(creditNoteId, creditNoteIds))
    .orderBy(asc(sequence));
}
