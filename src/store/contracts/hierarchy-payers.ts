/** Who pays for the contracts of hierarchies. */

import { and, eq, exists, isNotNull, or } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { contracts } from './contracts.tables.ts';

export interface HierarchyPayer {
  readonly contractId: string;
  readonly customerId: string;
}

const child = alias(contracts, 'child');

/**
 * For each contract, its payer: the parent if it pays for the child, else the contract itself. Contracts outside
 * hierarchies are absent.
 */
export async function hierarchyPayers(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<Map<string, HierarchyPayer>> {
  if (contractIds.length === 0) return new Map();
  const { id, customerId, parentContractId, parentCustomerId, payer } = contracts;
  const children = db.select({ id: child.id }).from(child).where(eq(child.parentContractId, id));
  const rows = await db
    .select({ id, customerId, parentContractId, parentCustomerId, payer })
    .from(contracts)
    .where(and(isOneOf(id, contractIds), or(isNotNull(parentContractId), exists(children))));
  return new Map(rows.map((row) => [row.id, payerOf(row)]));
}

interface Placed extends Pick<typeof contracts.$inferSelect, 'id' | 'customerId' | 'payer'> {
  readonly parentContractId: string | null;
  readonly parentCustomerId: string | null;
}

function payerOf({ id, customerId, parentContractId, parentCustomerId, payer }: Placed): HierarchyPayer {
  return payer === 'PARENT' && parentContractId !== null && parentCustomerId !== null
    ? { contractId: parentContractId, customerId: parentCustomerId }
    : { contractId: id, customerId };
}
