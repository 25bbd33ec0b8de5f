/** Writes overrides with their specifiers. */
import { eq } from 'drizzle-orm';
import type { Override, OverrideSpecifier } from '../../core/terms/overrides.ts';
import type { Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { overrideSpecifiers, overrides } from './overrides.tables.ts';

/** Stores overrides in their order. */
export async function insertOverrides(tx: Transaction, added: readonly Override[]): Promise<void> {
  for (const chunk of rowsPerInsert(added)) {
    await tx.insert(overrides).values(chunk.map(toRow));
    const specifiers = chunk.flatMap((override) =>
      override.specifiers.map((specifier, position) => specifierToRow(override.id, position, specifier)),
    );
    for (const rows of rowsPerInsert(specifiers)) await tx.insert(overrideSpecifiers).values(rows);
  }
}

/** Writes an override that exists; its specifiers never change. */
export async function updateOverride(tx: Transaction, override: Override): Promise<void> {
  await tx.update(overrides).set(toRow(override)).where(eq(overrides.id, override.id));
}

export async function deleteOverrides(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.delete(overrides).where(isOneOf(overrides.id, ids));
}

function toRow(override: Override): typeof overrides.$inferInsert {
  const { specifiers: _, applicableProductTags, ...rest } = override;
  const tiersMode = override.tiersMode ?? null;
  return { ...rest, tiersMode, applicableProductTags: [...applicableProductTags] };
}

function specifierToRow(
  overrideId: string,
  position: number,
  specifier: OverrideSpecifier,
): typeof overrideSpecifiers.$inferInsert {
  return {
    ...specifier,
    overrideId,
    position,
    productTags: [...specifier.productTags],
    commitIds: [...specifier.commitIds],
    recurringCommitIds: [...specifier.recurringCommitIds],
    anyCommitOrCreditIds: [...specifier.anyCommitOrCreditIds],
  };
}
