/** Earlier states of contracts: what each was before it was changed. */
import { and, asc, eq, gt, inArray } from 'drizzle-orm';
import type { FullContract } from '../core/terms/contract.ts';
import type { Instant } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { contractVersionDocument } from './document-kinds.ts';
import { contractVersions } from './schema/contracts.ts';

/** Keeps what contracts were until `supersededAt`. Belongs into the transaction that changes them. */
export async function insertContractVersions(
  tx: Transaction,
  versions: readonly FullContract[],
  supersededAt: Instant,
): Promise<void> {
  if (versions.length === 0) return;
  await tx.insert(contractVersions).values(
    versions.map((version) => ({
      contractId: version.contract.id,
      supersededAt,
      document: contractVersionDocument.write(version),
    })),
  );
}

/** The contracts as they were created. Those that were never changed are absent. */
export async function loadInitialVersions(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, FullContract>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([contractVersions.contractId])
    .from(contractVersions)
    .where(inArray(contractVersions.contractId, [...contractIds]))
    .orderBy(asc(contractVersions.contractId), asc(contractVersions.sequence));
  return new Map(rows.map((row) => [row.contractId, contractVersionDocument.read(row.document)]));
}

/** The contract as it stood at `at`; null where nothing has changed since. */
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
  return row === undefined ? null : contractVersionDocument.read(row.document);
}
