/** The record of ClickHouse's parts, and of lost ones (docs/how-to/operations.md). */
import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { eventStoreLosses, eventStoreParts } from './event-store.tables.ts';

export type RecordedPart = typeof eventStoreParts.$inferSelect;
export type RecordedLoss = typeof eventStoreLosses.$inferSelect;

export async function recordedParts(db: Database): Promise<RecordedPart[]> {
  return await db.select().from(eventStoreParts);
}

/** Replaces the record. */
export async function recordParts(db: Database, parts: readonly RecordedPart[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.delete(eventStoreParts);
    for (const rows of rowsPerInsert(parts)) {
      // Another process may record at the same time.
      await tx.insert(eventStoreParts).values(rows).onConflictDoNothing();
    }
  });
}

/** Open losses, and accepted ones that are still referenced. */
export async function unsettledLosses(db: Database | Transaction): Promise<RecordedLoss[]> {
  return await db
    .select()
    .from(eventStoreLosses)
    .where(isNull(eventStoreLosses.settledAt))
    .orderBy(asc(eventStoreLosses.table), asc(eventStoreLosses.part));
}

/** Changes when rows are lost permanently, and stays the same if they were restored. */
export async function eventStoreState(db: Database): Promise<string> {
  const losses = await db.$count(eventStoreLosses);
  return `${losses} losses`;
}

export type FoundLoss = Pick<RecordedLoss, 'table' | 'part' | 'kind' | 'rows'>;

/**
 * Updates the record to the current findings: new losses are added, open ones that are no longer found were restored,
 * and accepted ones are settled. Returns the unsettled losses.
 */
export async function recordLosses(
  db: Database,
  found: readonly FoundLoss[],
  at: Instant,
): Promise<RecordedLoss[]> {
  return await db.transaction(async (tx) => {
    if (found.length > 0) {
      const rows = found.map((loss) => ({ ...loss, foundAt: at }));
      await tx.insert(eventStoreLosses).values(rows).onConflictDoNothing();
    }
    const losses = await unsettledLosses(tx);
    const keys = new Set(found.map(keyOf));
    const ids = losses.filter((loss) => !keys.has(keyOf(loss))).map(({ id }) => id);
    if (ids.length > 0) {
      const those = inArray(eventStoreLosses.id, ids);
      await tx.delete(eventStoreLosses).where(and(those, isNull(eventStoreLosses.acceptedAt)));
      await tx
        .update(eventStoreLosses)
        .set({ settledAt: at })
        .where(and(those, isNotNull(eventStoreLosses.acceptedAt)));
    }
    return losses.filter(({ id }) => !ids.includes(id));
  });
}

function keyOf({ table, part }: Pick<RecordedLoss, 'table' | 'part'>): string {
  return `${table}/${part}`;
}

/** Accepts an open loss permanently. Returns it, or null if there is no such open loss. */
export async function acceptLoss(
  db: Database | Transaction,
  { table, part }: Pick<RecordedLoss, 'table' | 'part'>,
  at: Instant,
): Promise<RecordedLoss | null> {
  const isOpen = and(isNull(eventStoreLosses.acceptedAt), isNull(eventStoreLosses.settledAt));
  const [accepted] = await db
    .update(eventStoreLosses)
    .set({ acceptedAt: at })
    .where(and(eq(eventStoreLosses.table, table), eq(eventStoreLosses.part, part), isOpen))
    .returning();
  return accepted ?? null;
}
