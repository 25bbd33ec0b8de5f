/** Overrides with their specifiers. */
import { asc, eq, getTableColumns, inArray } from 'drizzle-orm';
import { z } from 'zod';
import { groupBy } from '../core/group-by.ts';
import {
  type Override,
  type OverrideSpecifier,
  overrideTier,
  overwriteRate,
} from '../core/terms/overrides.ts';
import { objectOf, textMap } from '../core/terms/values.ts';
import type { Database, Transaction } from './database.ts';
import { rowsPerInsert } from './rows-per-insert.ts';
import { overrideSpecifiers, overrides } from './schema/overrides.ts';

/** Stores overrides in their order. */
export async function insertOverrides(tx: Transaction, added: readonly Override[]): Promise<void> {
  for (const chunk of rowsPerInsert(added)) await tx.insert(overrides).values(chunk.map(toRow));
  const specifiers = added.flatMap((override) =>
    override.specifiers.map((specifier, position) => specifierToRow(override.id, position, specifier)),
  );
  for (const chunk of rowsPerInsert(specifiers)) await tx.insert(overrideSpecifiers).values(chunk);
}

/** Writes an override that exists; its specifiers never change. */
export async function updateOverride(tx: Transaction, override: Override): Promise<void> {
  await tx.update(overrides).set(toRow(override)).where(eq(overrides.id, override.id));
}

export async function deleteOverrides(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.delete(overrides).where(inArray(overrides.id, [...ids]));
}

/** The overrides of the contracts, in the order of addition. */
export async function loadOverrides(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Override[]> {
  if (contractIds.length === 0) return [];
  const ofContracts = inArray(overrides.contractId, [...contractIds]);
  const [rows, specifierRows] = await Promise.all([
    db.select().from(overrides).where(ofContracts).orderBy(asc(overrides.sequence)),
    db
      .select(getTableColumns(overrideSpecifiers))
      .from(overrideSpecifiers)
      .innerJoin(overrides, eq(overrides.id, overrideSpecifiers.overrideId))
      .where(ofContracts)
      .orderBy(asc(overrideSpecifiers.position)),
  ]);
  const byOverride = groupBy(specifierRows, (row) => row.overrideId);
  return rows.map((row) => fromRow(row, (byOverride.get(row.id) ?? []).map(specifierFromRow)));
}

const overwriteRateColumn = objectOf({ rate: overwriteRate, creditTypeId: z.string().nullable() });
const tiersColumn = z.array(overrideTier);

function toRow(override: Override): typeof overrides.$inferInsert {
  const { specifiers: _, applicableProductTags, ...rest } = override;
  return { ...rest, applicableProductTags: [...applicableProductTags] };
}

function fromRow(row: typeof overrides.$inferSelect, specifiers: readonly OverrideSpecifier[]): Override {
  const { sequence: _, ...rest } = row;
  return {
    ...rest,
    overwriteRate: row.overwriteRate === null ? null : overwriteRateColumn.parse(row.overwriteRate),
    tiers: tiersColumn.parse(row.tiers),
    specifiers,
  };
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

function specifierFromRow(row: typeof overrideSpecifiers.$inferSelect): OverrideSpecifier {
  const { overrideId: _, position: __, ...rest } = row;
  return {
    ...rest,
    pricingGroupValues: textMap.parse(row.pricingGroupValues),
    presentationGroupValues: textMap.parse(row.presentationGroupValues),
  };
}
