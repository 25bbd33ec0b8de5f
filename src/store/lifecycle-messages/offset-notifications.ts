/** Notifications some time before or after lifecycle events. */
import { and, asc, count, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { behind, keysetPage } from '../base/keyset.ts';
import { offsetNotifications } from './scheduled-messages.tables.ts';

export interface OffsetNotification {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** A signed ISO 8601 duration. */
  readonly offset: string;
  readonly uniquenessKey: string | null;
  readonly createdAt: Instant;
  readonly createdBy: string;
  /** When the offset was last set. */
  readonly changedAt: Instant;
  readonly archivedAt: Instant | null;
}

/** False if the uniqueness key was used before. If two transactions use one key, the second waits for the first. */
export async function insertOffset(tx: Transaction, offset: OffsetNotification): Promise<boolean> {
  const stored = await tx
    .insert(offsetNotifications)
    .values(offset)
    .onConflictDoNothing({ target: offsetNotifications.uniquenessKey })
    .returning({ id: offsetNotifications.id });
  return stored.length > 0;
}

/** The id of the offset notification with a uniqueness key. */
export async function offsetWithKey(tx: Transaction, key: string): Promise<string | null> {
  const [row] = await tx
    .select({ id: offsetNotifications.id })
    .from(offsetNotifications)
    .where(eq(offsetNotifications.uniquenessKey, key));
  return row?.id ?? null;
}

export async function findOffset(db: Database | Transaction, id: string): Promise<OffsetNotification | null> {
  const [row] = await db.select().from(offsetNotifications).where(eq(offsetNotifications.id, id));
  return row ?? null;
}

export async function countActiveOffsets(tx: Transaction): Promise<number> {
  const [row] = await tx
    .select({ offsets: count() })
    .from(offsetNotifications)
    .where(isNull(offsetNotifications.archivedAt));
  return row?.offsets ?? 0;
}

/** Active ones, in the order of creation. */
export async function loadActiveOffsets(tx: Transaction): Promise<OffsetNotification[]> {
  return activeOffsets(tx, {});
}

const activeOffsets = builtOnce((db) => {
  const { archivedAt, createdAt, id } = offsetNotifications;
  return db
    .select()
    .from(offsetNotifications)
    .where(isNull(archivedAt))
    .orderBy(asc(createdAt), asc(id))
    .prepare('');
});

export async function saveOffset(
  tx: Transaction,
  id: string,
  changes: Partial<Pick<OffsetNotification, 'offset' | 'changedAt' | 'archivedAt'>>,
): Promise<void> {
  await tx.update(offsetNotifications).set(changes).where(eq(offsetNotifications.id, id));
}

export type ArchiveFilter = 'ARCHIVED' | 'NOT_ARCHIVED' | 'ALL';

/** In the order of creation. */
export async function listOffsets(
  db: Database,
  filter: ArchiveFilter,
  page: PageRequest,
): Promise<Page<OffsetNotification>> {
  const { archivedAt, createdAt, id } = offsetNotifications;
  const isShown = { ALL: undefined, ARCHIVED: isNotNull(archivedAt), NOT_ARCHIVED: isNull(archivedAt) }[
    filter
  ];
  const rows = await db
    .select()
    .from(offsetNotifications)
    .where(and(isShown, behind(offsetNotifications, page.after)))
    .orderBy(asc(createdAt), asc(id))
    .limit(page.limit + 1);
  return keysetPage(rows, page.limit);
}
