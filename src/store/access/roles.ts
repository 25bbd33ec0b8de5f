/** Roles that were created beside the built-in ones. */
import { and, asc, eq, isNull } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { roles } from './people.tables.ts';

export interface StoredRole {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly createdAt: Instant;
  readonly archivedAt: Instant | null;
}

/** At most `limit`, by name. */
export async function listStoredRoles(db: Database | Transaction, limit: number): Promise<StoredRole[]> {
  return await db.select().from(roles).orderBy(asc(roles.name)).limit(limit);
}

/** Stores a role. Returns whether its name was free. */
export async function insertRole(tx: Transaction, role: StoredRole): Promise<boolean> {
  const rows = await tx
    .insert(roles)
    .values({ ...role, permissions: [...role.permissions] })
    .onConflictDoNothing()
    .returning({ name: roles.name });
  return rows.length > 0;
}

/** Archives a role that is not yet. Returns the role as it is then; null: there is none of this name. */
export async function archiveStoredRole(
  tx: Transaction,
  name: string,
  at: Instant,
): Promise<StoredRole | null> {
  await tx
    .update(roles)
    .set({ archivedAt: at })
    .where(and(eq(roles.name, name), isNull(roles.archivedAt)));
  const rows = await tx.select().from(roles).where(eq(roles.name, name));
  return rows[0] ?? null;
}
