/** Overrides with their specifiers. */
import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { decimal } from '../core/decimal.ts';
import { freezeDeeply } from '../core/freeze-deeply.ts';
import { groupBy } from '../core/group-by.ts';
import { mapInChunks } from '../core/in-chunks.ts';
import { keptValues } from '../core/kept-values.ts';
import {
  type Override,
  type OverrideSpecifier,
  overrideTier,
  overwriteRate,
} from '../core/terms/overrides.ts';
import { objectOf, textMap } from '../core/terms/values.ts';
import type { Database, Transaction } from './database.ts';
import { stateOfRows } from './row-states.ts';
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

/**
 * The overrides of each contract, in the order of addition; unchangeable, because they may be shared. Contracts
 * without one are absent.
 *
 * A contract may have 10,000 of them, which take long to read. Those of such a contract are kept, with a version that
 * tells every state of its rows from every other (`versionsOf`). One statement reads version and rows, so they
 * belong together whatever other transactions and processes do.
 */
export async function loadOverrides(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, readonly Override[]>> {
  const loaded = new Map<string, readonly Override[]>();
  const maybeKept = contractIds.filter((id) => kept.has(id));
  if (maybeKept.length > 0) {
    for (const { contractId, version } of await db.execute<Version>(versionsOf(maybeKept))) {
      const overrides = kept.get(contractId, version);
      if (overrides !== null) loaded.set(contractId, overrides);
    }
  }
  const missing = contractIds.filter((id) => !loaded.has(id));
  for (const [id, overrides] of await readOverrides(db, missing)) loaded.set(id, overrides);
  return loaded;
}

/** A few contracts of the greatest size. */
const kept = keptValues<readonly Override[]>({
  weightMax: 50_000,
  weightOf: (overrides) => overrides.length,
});
/** Fewer are read faster than their version is asked for. */
const KEPT_FROM = 500;

interface Version extends Record<string, unknown> {
  readonly contractId: string;
  readonly version: string;
}

/** The versions of the overrides of contracts that have many. Specifiers never change. */
function versionsOf(contractIds: readonly string[]): SQL {
  return sql`
    select o.contract_id as "contractId", ${stateOfRows(sql`o`, sql`o.sequence`)} as version
    from ${overrides} o where ${ofContracts(contractIds)}
    group by o.contract_id having count(*) >= ${KEPT_FROM}`;
}

/**
 * Each override is one JSON text: the driver's work for a row of 14 columns, and for the rows of specifiers, takes
 * several times as long. Versions come before the overrides, as rows without a document.
 */
async function readOverrides(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, readonly Override[]>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db.execute<{
    document: string | null;
    contractId: string | null;
    version: string | null;
  }>(sql`
    select null as document, v."contractId", v.version, 0 as sequence from (${versionsOf(contractIds)}) v
    union all
    select json_build_object(
      'id', o.id, 'contractId', o.contract_id,
      'startingAt', ${milliseconds(sql`o.starting_at`)}, 'endingBefore', ${milliseconds(sql`o.ending_before`)},
      'entitled', o.entitled, 'type', o.type, 'multiplier', o.multiplier::text, 'priority', o.priority::text,
      'overwriteRate', o.overwrite_rate, 'tiers', o.tiers, 'productId', o.product_id,
      'applicableProductTags', o.applicable_product_tags, 'isCommitSpecific', o.is_commit_specific,
      'target', o.target, 'createdAt', ${milliseconds(sql`o.created_at`)},
      'specifiers', coalesce(s.specifiers, '[]')
    )::text, null, null, o.sequence
    from ${overrides} o left join (
      select s.override_id, json_agg(json_build_object(
        'productId', s.product_id, 'productTags', s.product_tags,
        'pricingGroupValues', s.pricing_group_values, 'presentationGroupValues', s.presentation_group_values,
        'billingFrequency', s.billing_frequency, 'commitIds', s.commit_ids,
        'recurringCommitIds', s.recurring_commit_ids, 'anyCommitOrCreditIds', s.any_commit_or_credit_ids
      ) order by s.position) as specifiers
      from ${overrideSpecifiers} s join ${overrides} o on o.id = s.override_id
      where ${ofContracts(contractIds)}
      group by s.override_id
    ) s on s.override_id = o.id
    where ${ofContracts(contractIds)}
    order by sequence`);
  const read = await mapInChunks(rows, ({ document }) =>
    document === null ? [] : [freezeDeeply(fromStored(JSON.parse(document) as StoredOverride))],
  );
  const byContract = groupBy(read.flat(), ({ contractId }) => contractId);
  for (const { contractId, version } of rows) {
    if (contractId === null || version === null) break;
    kept.put(contractId, version, Object.freeze(byContract.get(contractId) ?? []));
  }
  return byContract;
}

function ofContracts(ids: readonly string[]): SQL {
  return sql`o.contract_id in (${sql.join(
    ids.map((id) => sql`${id}::uuid`),
    sql`, `,
  )})`;
}

/** An `Instant`: the column has whole milliseconds. */
function milliseconds(column: SQL): SQL {
  return sql`(extract(epoch from ${column}) * 1000)::bigint`;
}

/** The columns as JSON: decimals are text, and the columns of JSON are not checked. */
type StoredOverride = Omit<Override, 'multiplier' | 'priority' | 'overwriteRate' | 'tiers' | 'specifiers'> & {
  readonly multiplier: string | null;
  readonly priority: string | null;
  readonly overwriteRate: unknown;
  readonly tiers: unknown;
  readonly specifiers: readonly StoredSpecifier[];
};

type StoredSpecifier = Omit<OverrideSpecifier, 'pricingGroupValues' | 'presentationGroupValues'> & {
  readonly pricingGroupValues: object;
  readonly presentationGroupValues: object;
};

const overwriteRateColumn = objectOf({ rate: overwriteRate, creditTypeId: z.string().nullable() });
const tiersColumn = z.array(overrideTier);

function toRow(override: Override): typeof overrides.$inferInsert {
  const { specifiers: _, applicableProductTags, ...rest } = override;
  return { ...rest, applicableProductTags: [...applicableProductTags] };
}

/** Changes the parsed JSON in place, which belongs to nobody else. */
function fromStored(stored: StoredOverride): Override {
  const { multiplier, priority, overwriteRate, tiers, specifiers } = stored;
  return Object.assign(stored, {
    multiplier: multiplier === null ? null : decimal(multiplier),
    priority: priority === null ? null : decimal(priority),
    overwriteRate: overwriteRate === null ? null : overwriteRateColumn.parse(overwriteRate),
    tiers: tiersColumn.parse(tiers),
    specifiers: specifiers.map(fromStoredSpecifier),
  });
}

function fromStoredSpecifier(stored: StoredSpecifier): OverrideSpecifier {
  return Object.assign(stored, {
    pricingGroupValues: textMap.parse(stored.pricingGroupValues),
    presentationGroupValues: textMap.parse(stored.presentationGroupValues),
  });
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
