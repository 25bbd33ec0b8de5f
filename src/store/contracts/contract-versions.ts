/** Earlier states of contracts, as they were before each change. */
import { and, asc, desc, eq, gt, inArray, type SQLWrapper, sql } from 'drizzle-orm';
import { z } from 'zod';
import { CHUNK_ITEMS } from '../../core/in-chunks.ts';
import { keptValues } from '../../core/kept-values.ts';
import { type FullContract, fullContract } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { stateOfRow } from '../base/row-states.ts';
import { contractVersionDocument } from '../stored-documents/document-kinds.ts';
import { jsonbInParts } from '../stored-documents/jsonb-in-parts.ts';
import { storedOverrides } from '../stored-documents/stored-overrides.ts';
import { contractVersions } from './contracts.tables.ts';

/**
 * Stores the states of contracts that were current until `supersededAt`. Must run in the transaction that changes them.
 */
export async function insertContractVersions(
  tx: Transaction,
  versions: readonly FullContract[],
  supersededAt: Instant,
): Promise<void> {
  if (versions.length === 0) return;
  const rows = [];
  for (const version of versions) {
    const document = await jsonbInParts(contractVersionDocument.write(version));
    rows.push({ contractId: version.contract.id, supersededAt, document });
  }
  await tx.insert(contractVersions).values(rows);
}

/**
 * The contracts as they were created. Contracts that were never changed are absent. States with many overrides are
 * cached: a row never changes.
 */
export async function loadInitialVersions(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, FullContract>> {
  const loaded = new Map<string, FullContract>();
  const maybeKept = contractIds.filter((id) => kept.has(id));
  if (maybeKept.length > 0) {
    for (const { contractId, row } of await firstRows(db, maybeKept)) {
      const version = kept.get(contractId, row);
      if (version !== null) loaded.set(contractId, version);
    }
  }
  const missing = contractIds.filter((id) => !loaded.has(id));
  if (missing.length === 0) return loaded;
  for (const { contractId, row, document } of await firstRows(db, missing, contractVersions.document)) {
    const version = await readVersion(document);
    if (version.terms.overrides.length > CHUNK_ITEMS) kept.put(contractId, row, version);
    loaded.set(contractId, version);
  }
  return loaded;
}

/** Fits a few contracts of the greatest size. */
const kept = keptValues<FullContract>({
  weightMax: 50_000,
  weightOf: ({ terms }) => terms.overrides.length,
});

/** The first version of each contract: its row id, without the document. */
async function firstRows(
  db: Database | Transaction,
  contractIds: readonly string[],
  document: SQLWrapper = sql`null`,
) {
  return await db
    .selectDistinctOn([contractVersions.contractId], {
      contractId: contractVersions.contractId,
      row: stateOfRow(sql`contract_versions`),
      document: sql<unknown>`${document}`,
    })
    .from(contractVersions)
    .where(inArray(contractVersions.contractId, [...contractIds]))
    .orderBy(asc(contractVersions.contractId), asc(contractVersions.sequence));
}

/** Other work runs between parts of many overrides. */
async function readVersion(column: unknown): Promise<FullContract> {
  const { terms, ...document } = contractVersionDocument.upgraded(column);
  const { overrides, ...others } = documentTerms.parse(terms);
  const rest = fullContract.parse({ ...document, terms: { ...others, overrides: [] } });
  return { ...rest, terms: { ...rest.terms, overrides: await storedOverrides(overrides) } };
}

const documentTerms = z.looseObject({ overrides: z.unknown() });

/** The contract as it stood at `at`; null if nothing has changed since. */
export async function findVersionAsOf(
  db: Database | Transaction,
  contractId: string,
  at: Instant,
): Promise<FullContract | null> {
  const [row] = await db
    .select()
    .from(contractVersions)
    .where(and(eq(contractVersions.contractId, contractId), gt(contractVersions.supersededAt, at)))
    .orderBy(asc(contractVersions.sequence))
    .limit(1);
  return row === undefined ? null : readVersion(row.document);
}

/**
 * The contract before it got this end, and after that (null: as it is now); null if it has had the end from the
 * beginning. Every version of the document has the end in the same place.
 */
export async function findVersionBeforeEnd(
  tx: Transaction,
  contractId: string,
  end: Instant,
): Promise<{ readonly before: FullContract; readonly ended: FullContract | null } | null> {
  const own = eq(contractVersions.contractId, contractId);
  const endOf = sql`(${contractVersions.document} #>> '{contract,endingBefore}')::bigint`;
  const [before] = await tx
    .select()
    .from(contractVersions)
    .where(and(own, sql`(${endOf} is null or ${endOf} <> ${end})`))
    .orderBy(desc(contractVersions.sequence))
    .limit(1);
  if (before === undefined) return null;
  const [ended] = await tx
    .select()
    .from(contractVersions)
    .where(and(own, gt(contractVersions.sequence, before.sequence)))
    .orderBy(asc(contractVersions.sequence))
    .limit(1);
  return {
    before: await readVersion(before.document),
    ended: ended === undefined ? null : await readVersion(ended.document),
  };
}
