/**
 * Reopens a renewed contract when its renewal is archived (docs/explanation/contracts.md, "Archiving"): as if it had
 * not been renewed, unless something was invoiced since.
 */
import type { Contract, ContractTerms, FullContract } from '../../core/terms/contract.ts';
import { compareText } from '../../rating/quantities/group-values.ts';
import type { Transaction } from '../../store/base/database.ts';
import { withTerms } from '../../store/contract-terms/contract-terms.ts';
import { deleteTransition, loadTransitions } from '../../store/contracts/contract-transitions.ts';
import { findVersionBeforeEnd } from '../../store/contracts/contract-versions.ts';
import { lockContract } from '../../store/contracts/contracts.ts';
import { hasInvoiceSince } from '../../store/invoices/issued-periods.ts';
import type { BillingContext } from '../billing-context.ts';
import { holdNextFinalizations } from '../invoice-queue/finalization.ts';
import { holdScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { holdGrants } from './grants/grant-jobs.ts';
import { type ChangeOrigin, settleContracts } from './settle-contract.ts';

/**
 * Locks the contract that this one renews, before the contract itself is locked, by the order of locks. Null if it
 * renews none, or was renewed itself.
 */
export async function lockRenewedBy(tx: Transaction, contractId: string): Promise<Contract | null> {
  const transitions = (await loadTransitions(tx, [contractId])).get(contractId) ?? [];
  if (transitions.some(({ fromContractId }) => fromContractId === contractId)) return null;
  const [renewal] = transitions;
  return renewal === undefined ? null : lockContract(tx, renewal.fromContractId);
}

/**
 * Reopens `from`, locked, whose `renewal` this transaction has archived. The link is removed, so that `from` can be
 * renewed again. Does nothing if either contract has a finalized invoice for the time since, or `from` is archived.
 */
export async function reopenRenewed(
  tx: Transaction,
  context: Pick<BillingContext, 'gracePeriodHours'>,
  from: Contract,
  renewalId: string,
  origin: Pick<ChangeOrigin, 'now' | 'changedBy'>,
): Promise<void> {
  const renewal = await lockContract(tx, renewalId);
  if (renewal === null || from.archivedAt !== null) return;
  const { startingAt } = renewal;
  await holdGrants(tx, [from.id]);
  await holdScheduledInvoices(tx, [from.id]);
  await holdNextFinalizations(tx, [from]);
  if (await hasInvoiceSince(tx, { renewedId: from.id, renewalId, startingAt })) return;
  await deleteTransition(tx, renewalId);
  if (from.endingBefore !== startingAt) return;
  const [present] = await withTerms(tx, [from]);
  const versions = await findVersionBeforeEnd(tx, from.id, startingAt);
  if (present === undefined || versions === null) return;
  const after = reopened(present, { ...versions, ended: versions.ended ?? present });
  const changes = { endingBefore: after.contract.endingBefore };
  await settleContracts(tx, context, [{ before: present, after, changes }], origin);
}

interface Versions {
  /** Before the renewal ended it. */
  readonly before: FullContract;
  /** After that. */
  readonly ended: FullContract;
}

/** Terms that were not changed since the end are restored to their state before it; others stay as they are. */
function reopened(present: FullContract, { before, ended }: Versions): FullContract {
  const restored = <Name extends TermList>(name: Name): ContractTerms[Name] =>
    restoredTerms<ContractTerms[Name][number]>(
      present.terms[name],
      before.terms[name],
      ended.terms[name],
    ) as ContractTerms[Name];
  return {
    contract: { ...present.contract, endingBefore: before.contract.endingBefore },
    terms: {
      ...present.terms,
      commits: restored('commits'),
      recurringCommits: restored('recurringCommits'),
      overrides: restored('overrides'),
      subscriptions: restored('subscriptions'),
      scheduledCharges: restored('scheduledCharges'),
      professionalServices: restored('professionalServices'),
    },
  };
}

type TermList =
  | 'commits'
  | 'recurringCommits'
  | 'overrides'
  | 'subscriptions'
  | 'scheduledCharges'
  | 'professionalServices';

function restoredTerms<Term extends { readonly id: string }>(
  present: readonly Term[],
  before: readonly Term[],
  ended: readonly Term[],
): readonly Term[] {
  const was = new Map(before.map((term) => [term.id, term]));
  const cut = new Map(ended.map((term) => [term.id, canonical(term)]));
  const known = new Set(present.map(({ id }) => id));
  const dropped = before.filter(({ id }) => !known.has(id) && !cut.has(id));
  const isAsCut = (term: Term) => canonical(term) === cut.get(term.id);
  return [...present.map((term) => (isAsCut(term) ? (was.get(term.id) ?? term) : term)), ...dropped];
}

/** Equal for equal terms, independent of the order of members. */
function canonical(term: object): string {
  return JSON.stringify(term, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareText(a, b)))
      : value,
  );
}
