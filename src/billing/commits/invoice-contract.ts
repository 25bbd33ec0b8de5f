/** The contracts named by commits of customers: where they are invoiced, and where they apply. */
import { type FieldPath, invalid, namesNothing, words } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadContracts, lockContract } from '../../store/contracts/contracts.ts';
import { holdNextFinalizations } from '../invoice-queue/finalization.ts';
import { holdScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';

/**
 * Locks contracts that invoice commits of the customer, and prevents invoices with purchases from being issued until
 * the transaction ends. Refuses (`not_found`) a contract that is not the customer's.
 */
export async function lockInvoiceContracts(
  tx: Transaction,
  customerId: string,
  contractIds: readonly string[],
): Promise<Contract[]> {
  const path = ['invoiceContractId'];
  // By start, the order in which all transactions lock contracts.
  const known = await loadContracts(tx, {
    ids: contractIds,
    customerIds: [customerId],
    includeArchived: true,
  });
  const missing = contractIds.find((id) => !known.some((contract) => contract.id === id));
  if (missing !== undefined) throw namesNothing(path, `contract ${missing} not found`);
  const locked: Contract[] = [];
  for (const { id } of known) {
    const contract = await lockContract(tx, id);
    if (contract !== null) locked.push(contract);
  }
  await holdScheduledInvoices(tx, contractIds);
  // Purchases may join a usage invoice, which must not be issued from outdated data.
  await holdNextFinalizations(
    tx,
    locked.filter((contract) => contract.scheduledChargesOnUsageInvoices),
  );
  return locked;
}

/** Refuses (`invalid`) a commit of a customer that is invoiced on no contract, or on an archived one. */
export function checkInvoiceContract(
  { type, contractId, invoiceSchedule, invoiceContractId }: Commit,
  contracts: readonly Contract[],
): void {
  const path = ['invoiceContractId'];
  if (contractId !== null) return;
  if (invoiceContractId === null) {
    if (type === 'POSTPAID') throw invalid(path, 'is required for POSTPAID commits');
    const isInvoiced = invoiceSchedule !== null && !invoiceSchedule.doNotInvoice;
    if (isInvoiced) throw invalid(path, words`is required with ${['invoiceSchedule']}`);
    return;
  }
  const contract = contracts.find(({ id }) => id === invoiceContractId);
  if (contract !== undefined && contract.archivedAt !== null) {
    throw invalid(path, `contract ${invoiceContractId} is archived`);
  }
}

/** Refuses (`not_found`, naming `path`) ids of contracts of other customers. */
export async function requireOwnContracts(
  tx: Transaction,
  customerId: string,
  ids: readonly string[],
  path: FieldPath,
): Promise<void> {
  if (ids.length === 0) return;
  const known = await loadContracts(tx, { ids, customerIds: [customerId], includeArchived: true });
  const own = new Set(known.map(({ id }) => id));
  const index = ids.findIndex((id) => !own.has(id));
  if (index >= 0) throw namesNothing([...path, index], `contract ${ids[index]} not found`);
}
