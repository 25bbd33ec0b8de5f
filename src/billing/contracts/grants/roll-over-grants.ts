/**
 * Rollovers of children that were created after their contract had been renewed: the renewal is in the future, and the
 * children begin before it (docs/explanation/contracts.md, "Transitions").
 */
import { groupBy } from '../../../core/group-by.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { Contract } from '../../../core/terms/contract.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import { insertCommits } from '../../../store/balances/commits.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { loadTransitions } from '../../../store/contracts/contract-transitions.ts';
import { loadContracts } from '../../../store/contracts/contracts.ts';
import { hasFinalizedInvoice } from '../../../store/invoices/issued-periods.ts';
import { rolloversOfCommits } from '../../balances/rollovers.ts';

/** New commits of one contract. */
export interface NewGrants {
  readonly contract: Contract;
  /** The terms that created them. */
  readonly recurring: readonly RecurringCommit[];
  readonly children: readonly Commit[];
}

/**
 * Creates the rollovers of the children, along the chain of renewals. Nothing is rolled over to a contract that is
 * archived or has a finalized invoice. No contract is locked: only new commits are written, which no change of the
 * newer contract refers to. Returns the rollovers.
 */
export async function rollOverGrants(tx: Transaction, created: readonly NewGrants[]): Promise<Commit[]> {
  const rolledOver: Commit[] = [];
  let sources = created.filter(({ children }) => children.length > 0);
  while (sources.length > 0) {
    sources = await nextHeirs(tx, sources);
    const children = sources.flatMap((one) => one.children);
    await insertCommits(tx, children);
    rolledOver.push(...children);
  }
  return rolledOver;
}

async function nextHeirs(tx: Transaction, sources: readonly NewGrants[]): Promise<NewGrants[]> {
  const transitions = await loadTransitions(
    tx,
    sources.map(({ contract }) => contract.id),
  );
  const renewals = [...transitions.values()].flat().filter(({ rollsOver }) => rollsOver);
  const newer = groupBy(
    await loadContracts(tx, { ids: renewals.map(({ toContractId }) => toContractId) }),
    ({ id }) => id,
  );
  const found: NewGrants[] = [];
  for (const source of sources) {
    const renewal = renewals.find(({ fromContractId }) => fromContractId === source.contract.id);
    const [contract] = newer.get(renewal?.toContractId ?? '') ?? [];
    if (contract === undefined || (await hasFinalizedInvoice(tx, contract.id))) continue;
    const children = rolloversOfCommits(source.children, source, contract);
    if (children.length > 0) found.push({ contract, recurring: [], children });
  }
  return found;
}
