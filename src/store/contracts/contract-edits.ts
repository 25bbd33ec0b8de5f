/** The edit history of contracts. */
import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import { type ContractChanges, type ContractEdit, contractChanges } from '../../core/terms/contract-edits.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contractChangesDocument } from '../stored-documents/document-kinds.ts';
import { jsonbInParts } from '../stored-documents/jsonb-in-parts.ts';
import { storedOverrides } from '../stored-documents/stored-overrides.ts';
import { contractEdits } from './contract-edits.tables.ts';

/**
 * Adds to the history. Returns false, and leaves one out, if a uniqueness key has been used before. If two transactions
 * use one key, the second waits for the first and then gets false.
 */
export async function insertContractEdits(tx: Transaction, edits: readonly ContractEdit[]): Promise<boolean> {
  if (edits.length === 0) return true;
  const values = [];
  for (const edit of edits) {
    values.push({ ...edit, changes: await jsonbInParts(contractChangesDocument.write(edit.changes)) });
  }
  const rows = await tx
    .insert(contractEdits)
    .values(values)
    .onConflictDoNothing({ target: contractEdits.uniquenessKey })
    .returning({ id: contractEdits.id });
  return rows.length === edits.length;
}

/** The edit that was submitted with the uniqueness key. */
export async function editWithKey(db: Database | Transaction, uniquenessKey: string): Promise<string | null> {
  const [row] = await db
    .select({ id: contractEdits.id })
    .from(contractEdits)
    .where(eq(contractEdits.uniquenessKey, uniquenessKey));
  return row?.id ?? null;
}

/** The changes of a contract, first to last. */
export async function loadContractEdits(
  db: Database | Transaction,
  contractId: string,
): Promise<ContractEdit[]> {
  const rows = await db
    .select()
    .from(contractEdits)
    .where(eq(contractEdits.contractId, contractId))
    .orderBy(asc(contractEdits.sequence));
  return await readEdits(rows);
}

/** The amendments of each contract, first to last. Contracts without one are absent. */
export async function loadAmendments(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, ContractEdit[]>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(contractEdits)
    .where(
      and(inArray(contractEdits.contractId, [...contractIds]), isNotNull(contractEdits.amendmentStartingAt)),
    )
    .orderBy(asc(contractEdits.sequence));
  return groupBy(await readEdits(rows), (edit) => edit.contractId);
}

/** When each contract got its current billing configuration by an edit; absent if it was created with it. */
export async function loadConfigurationTimes(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, Instant>> {
  if (contractIds.length === 0) return new Map();
  const { contractId, timestamp, changes, sequence } = contractEdits;
  const added = isNotNull(sql`${changes}->>'addBillingConfigurationId'`);
  const rows = await db
    .select({ contractId, timestamp })
    .from(contractEdits)
    .where(and(inArray(contractId, [...contractIds]), added))
    .orderBy(asc(sequence));
  // The last one counts: an earlier configuration was archived.
  return new Map(rows.map((row) => [row.contractId, row.timestamp]));
}

async function readEdits(rows: readonly (typeof contractEdits.$inferSelect)[]): Promise<ContractEdit[]> {
  const edits: ContractEdit[] = [];
  for (const { sequence: _, ...row } of rows) {
    edits.push({ ...row, changes: await readChanges(row.changes) });
  }
  return edits;
}

async function readChanges(column: unknown): Promise<ContractChanges> {
  const { addOverrides, ...others } = contractChangesDocument.upgraded(column);
  const rest = contractChanges.parse({ ...others, addOverrides: [] });
  return { ...rest, addOverrides: await storedOverrides(addOverrides) };
}
