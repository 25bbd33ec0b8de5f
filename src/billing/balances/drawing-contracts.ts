/**
 * Which contracts may draw on a balance (docs/explanation/drawdown.md, "What a balance pays for" and "Shared with
 * children").
 */
import type { Commit } from '../../core/terms/commits.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { type Contract, loadContracts } from '../../store/contracts/contracts.ts';

/** Whether children may draw on it. */
export function isShared({ contractId, hierarchyAccess }: Commit): boolean {
  return contractId !== null && hierarchyAccess !== null && hierarchyAccess.type !== 'NONE';
}

/** Whether charges of the contract, which is active, may draw on the commit or credit. */
export function mayDrawOn(contract: Pick<Contract, 'id' | 'customerId' | 'parent'>, commit: Commit): boolean {
  const { customerId, contractId, applicableContractIds, hierarchyAccess } = commit;
  if (contractId === null) {
    const isOfCustomer = contract.customerId === customerId;
    return (
      isOfCustomer && (applicableContractIds.length === 0 || applicableContractIds.includes(contract.id))
    );
  }
  if (contract.id === contractId) return true;
  if (!isShared(commit) || contract.parent?.contractId !== contractId) return false;
  return hierarchyAccess?.type === 'ALL' || hierarchyAccess?.contractIds.includes(contract.id) === true;
}

/**
 * The active contracts that may draw on some of the commits and credits; for a commit of a customer, all of its
 * contracts. A fixed number of queries.
 */
export async function loadDrawingContracts(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<Contract[]> {
  const customerIds = commits.flatMap(({ customerId, contractId }) =>
    contractId === null ? customerId : [],
  );
  const ids = commits.flatMap(({ contractId }) => contractId ?? []);
  const shared = commits.filter(isShared);
  const parentIds = shared.flatMap(({ contractId }) => contractId ?? []);
  const children = await loadContracts(db, { parentIds: [...new Set(parentIds)] });
  const contracts = [
    ...(await loadContracts(db, { customerIds: [...new Set(customerIds)] })),
    ...(await loadContracts(db, { ids: [...new Set(ids)] })),
    ...children.filter((child) => shared.some((commit) => mayDrawOn(child, commit))),
  ];
  return [...new Map(contracts.map((contract) => [contract.id, contract])).values()];
}
