/** Parents and children among contracts (docs/explanation/contracts.md, "Hierarchies"). */
import { type FieldPath, invalid } from '../../core/errors.ts';
import type { Contract, HierarchyInput } from '../../core/terms/contract.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadContracts, lockContract } from '../../store/contracts/contracts.ts';

/** Maximum size of a hierarchy: the parent and its children. */
const NODES_MAX = 10;

/**
 * The hierarchy of a new contract. Locks the parent, so that concurrent requests cannot exceed the limit
 * together. Refuses (`invalid`) an unknown, archived or full parent, and one that is itself a child.
 */
export async function resolveHierarchy(
  tx: Transaction,
  input: HierarchyInput | null,
): Promise<Pick<Contract, 'parent' | 'invoiceConsolidationType'>> {
  if (input === null) return { parent: null, invoiceConsolidationType: null };
  const path = ['hierarchy'];
  const { parent, payer, usageStatementBehavior, invoiceConsolidationType } = input;
  if (parent === null) {
    if (payer !== null) throw invalid([...path, 'payer'], 'is for children, and there is no parent');
    if (usageStatementBehavior !== null) {
      throw invalid([...path, 'usageStatementBehavior'], 'is for children, and there is no parent');
    }
    return { parent: null, invoiceConsolidationType };
  }
  if (invoiceConsolidationType !== null) {
    throw invalid([...path, 'invoiceConsolidationType'], 'is for parents: a child cannot be one');
  }
  if (usageStatementBehavior === 'CONSOLIDATE' && payer !== 'PARENT') {
    throw invalid([...path, 'usageStatementBehavior'], 'CONSOLIDATE needs payer PARENT');
  }
  await requireParent(tx, parent, [...path, 'parent', 'contractId']);
  return { parent: { ...parent, payer, usageStatementBehavior }, invoiceConsolidationType: null };
}

async function requireParent(
  tx: Transaction,
  { contractId, customerId }: { readonly contractId: string; readonly customerId: string },
  field: FieldPath,
): Promise<void> {
  const parent = await lockContract(tx, contractId);
  if (parent === null || parent.customerId !== customerId) {
    throw invalid(field, `contract ${contractId} of customer ${customerId} not found`);
  }
  if (parent.archivedAt !== null) throw invalid(field, `contract ${contractId} is archived`);
  if (parent.parent !== null) {
    throw invalid(field, `contract ${contractId} is a child itself: a hierarchy has one level`);
  }
  const children = await loadContracts(tx, { parentIds: [contractId] });
  if (children.length + 2 > NODES_MAX) {
    throw invalid(
      field,
      `contract ${contractId} has ${children.length} children: a hierarchy has at most ${NODES_MAX} contracts`,
    );
  }
}
