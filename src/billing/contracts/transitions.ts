/** Renewals: a new contract replaces an older one (docs/explanation/contracts.md, "Transitions"). */
import { assert, invalid, notFound } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract, FullContract, TransitionInput } from '../../core/terms/contract.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { withTerms } from '../../store/contract-terms/contract-terms.ts';
import { insertTransition } from '../../store/contracts/contract-transitions.ts';
import { lockContract } from '../../store/contracts/contracts.ts';
import { finalizedInvoiceBeyond } from '../../store/invoices/issued-periods.ts';
import { rolloversOf, withRolledSegments } from '../balances/rollovers.ts';
import { loadWithheld } from '../balances/withheld.ts';
import { holdNextFinalizations } from '../invoice-queue/finalization.ts';
import { holdGrants, withGrantsOf } from './grants/grant-jobs.ts';
import { upcomingGrants } from './grants/granted-terms.ts';
import type { SettledChange } from './settle-contract.ts';
import { withEndDate } from './terms/truncate-terms.ts';

export interface Renewal {
  /** The amounts that the older contract rolls over to the newer one. */
  readonly rollovers: readonly Commit[];
  /** The change that ends the older contract, to be settled with the newer one; empty if it has ended by then. */
  readonly ended: readonly SettledChange[];
}

/**
 * Links a new contract, whose header is stored, to the one it renews, which ends at the start of the new one. Refuses
 * (`invalid`) one that is archived, renewed before, or starts later, and a start before the end of a finalized invoice
 * of it: both contracts would bill the same usage.
 */
export async function renewContract(
  tx: Transaction,
  contract: Contract,
  { fromContractId, rollsOver, trueup }: TransitionInput,
  now: Instant,
): Promise<Renewal> {
  const field = ['transition', 'fromContractId'];
  const from = await lockContract(tx, fromContractId);
  if (from === null || from.customerId !== contract.customerId) {
    throw notFound('contract', fromContractId, 'ContractNotFound');
  }
  if (from.archivedAt !== null) throw invalid(field, `contract ${from.id} is archived`);
  if (from.startingAt > contract.startingAt) {
    throw invalid(field, `contract ${from.id} starts after the contract that renews it`);
  }
  await holdGrants(tx, [from.id]);
  await refuseBilledTime(tx, from, contract.startingAt);
  const transition = { fromContractId: from.id, toContractId: contract.id, rollsOver, trueup };
  if (!(await insertTransition(tx, transition))) {
    throw invalid(field, `contract ${from.id} has been renewed already`);
  }
  const [before] = await withTerms(tx, [from]);
  assert(before !== undefined, `contract ${from.id} is loaded`);
  const isWithheld = await loadWithheld(tx, before.terms.commits);
  const { startingAt } = contract;
  if (from.endingBefore !== null && from.endingBefore <= startingAt) {
    return { rollovers: rollsOver ? rolloversOf(before, contract, isWithheld) : [], ended: [] };
  }
  const [change] = await withGrantsOf(tx, [{ before, after: withEndDate(before, startingAt, now) }], now);
  assert(change !== undefined, 'the end is a change');
  const source = withUpcoming(before, change.after, now);
  const rollovers = rollsOver ? rolloversOf(source, contract, isWithheld) : [];
  const after = withRolledSegments(change.after, before, rollovers);
  return { rollovers, ended: [{ before, after, changes: { endingBefore: startingAt } }] };
}

/** The contract before its end, with the amounts that the end leaves to upcoming children of recurring terms. */
function withUpcoming(before: FullContract, ended: FullContract, now: Instant): FullContract {
  const upcoming = new Map(upcomingGrants(ended, now).map((child) => [child.id, child]));
  const commits = before.terms.commits.map((commit) => upcoming.get(commit.id) ?? commit);
  return { contract: ended.contract, terms: { ...before.terms, commits } };
}

async function refuseBilledTime(tx: Transaction, from: Contract, startingAt: Instant): Promise<void> {
  await holdNextFinalizations(tx, [from]);
  const invoice = await finalizedInvoiceBeyond(tx, from.id, startingAt);
  if (invoice === null) return;
  throw invalid(
    ['startingAt'],
    `invoice ${invoice.id} of contract ${from.id} is finalized and reaches until ${formatInstant(invoice.periodEnd)}`,
  );
}
