/** Renewals of one contract by another. */
import { asc, eq, inArray, or } from 'drizzle-orm';
import { groupBy } from '../../core/group-by.ts';
import type { Transition } from '../../core/terms/contract.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contractTransitions } from './contracts.tables.ts';

/** Stores a renewal. Returns false, and stores nothing, where the older contract has been renewed before. */
export async function insertTransition(tx: Transaction, transition: Transition): Promise<boolean> {
  const rows = await tx
    .insert(contractTransitions)
    .values(transition)
    .onConflictDoNothing({ target: contractTransitions.fromContractId })
    .returning({ id: contractTransitions.toContractId });
  return rows.length > 0;
}

/** Removes the renewal by this contract: the older one can be renewed again. */
export async function deleteTransition(tx: Transaction, toContractId: string): Promise<void> {
  await tx.delete(contractTransitions).where(eq(contractTransitions.toContractId, toContractId));
}

/** For each contract the renewals that involve it, on either side. Contracts without one are absent. */
export async function loadTransitions(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, Transition[]>> {
  if (contractIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(contractTransitions)
    .where(
      or(
        inArray(contractTransitions.fromContractId, [...contractIds]),
        inArray(contractTransitions.toContractId, [...contractIds]),
      ),
    )
    .orderBy(asc(contractTransitions.fromContractId));
  const sides = rows.flatMap((row) => [
    { id: row.toContractId, row },
    { id: row.fromContractId, row },
  ]);
  const transitions = new Map<string, Transition[]>();
  for (const [id, group] of groupBy(sides, (side) => side.id)) {
    transitions.set(
      id,
      group.map(({ row }) => row),
    );
  }
  return transitions;
}
