/**
 * Updates rollovers after a change of their source (docs/explanation/contracts.md, "Transitions"): when a renewed
 * contract changes, the rollovers of the newer one are recomputed, and so on along the chain of renewals.
 */
import { assert, type FieldPath, invalid } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { FullContract, Transition } from '../../core/terms/contract.ts';
import type { ContractChanges, Updates } from '../../core/terms/contract-edits.ts';
import type { CommitPatch } from '../../core/terms/patches.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { withTerms } from '../../store/contract-terms/contract-terms.ts';
import { loadTransitions } from '../../store/contracts/contract-transitions.ts';
import { lockContract } from '../../store/contracts/contracts.ts';
import { hasFinalizedInvoice } from '../../store/invoices/issued-periods.ts';
import { findRolloverTarget, loadRolloverTargets, rolloversOf } from '../balances/rollovers.ts';
import { loadWithheld } from '../balances/withheld.ts';

/** The change of a contract that results from a change of the contract it renews. */
export interface FollowedRenewal {
  readonly before: FullContract;
  readonly after: FullContract;
  /** In the form of an edit: added commits and changed amounts. */
  readonly changes: Partial<ContractChanges>;
}

/**
 * The changes of renewing contracts that result from the current `sources`. Locks the renewing contracts. Before a
 * renewal starts, all commits of its source roll over; afterwards only amounts of existing rollovers change. Nothing
 * changes once the newer contract has a finalized invoice or is archived.
 */
export async function renewalsThatFollow(
  tx: Transaction,
  sources: readonly FullContract[],
  now: Instant,
): Promise<FollowedRenewal[]> {
  const transitions = await loadTransitions(
    tx,
    sources.map(({ contract }) => contract.id),
  );
  const followed: FollowedRenewal[] = [];
  for (const source of sources) {
    const { id } = source.contract;
    const renewal = transitions.get(id)?.find((one) => one.fromContractId === id && one.rollsOver);
    const change = renewal === undefined ? null : await renewalThatFollows(tx, source, renewal, now);
    if (change !== null) followed.push(change);
  }
  return followed;
}

async function renewalThatFollows(
  tx: Transaction,
  source: FullContract,
  renewal: Transition,
  now: Instant,
): Promise<FollowedRenewal | null> {
  const contract = await lockContract(tx, renewal.toContractId);
  assert(contract !== null, `contract ${renewal.toContractId}, which renews another, is there`);
  if (contract.archivedAt !== null || (await hasFinalizedInvoice(tx, contract.id))) return null;
  const target = (await loadRolloverTargets(tx, [renewal])).get(source.contract.id);
  const heirs = target?.heirs ?? new Map<string, Commit>();
  const isWithheld = await loadWithheld(tx, source.terms.commits);
  const rollovers = rolloversOf(source, contract, isWithheld, heirs, contract.startingAt <= now);
  const changed = rollovers.filter((heir) => differs(heir, heirs.get(heir.rolledOverFrom?.commitId ?? '')));
  if (changed.length === 0) return null;
  const [before] = await withTerms(tx, [contract]);
  assert(before !== undefined, `contract ${contract.id} is loaded`);
  return { before, ...withRollovers(before, changed) };
}

function differs(heir: Commit, earlier: Commit | undefined): boolean {
  return JSON.stringify(heir) !== JSON.stringify(earlier);
}

function withRollovers(full: FullContract, changed: readonly Commit[]): Omit<FollowedRenewal, 'before'> {
  const next = new Map(changed.map((heir) => [heir.id, heir]));
  const known = new Map(full.terms.commits.map((commit) => [commit.id, commit]));
  const added = changed.filter((heir) => !known.has(heir.id));
  const patches = changed.flatMap((heir) => {
    const earlier = known.get(heir.id);
    return earlier === undefined ? [] : [{ type: heir.type, patch: amountsPatch(earlier, heir) }];
  });
  const commits = [...full.terms.commits.map((commit) => next.get(commit.id) ?? commit), ...added];
  return {
    after: { ...full, terms: { ...full.terms, commits } },
    changes: {
      addCommits: added,
      updateCommits: patches.filter(({ type }) => type !== 'CREDIT').map(({ patch }) => patch),
      updateCredits: patches.filter(({ type }) => type === 'CREDIT').map(({ patch }) => patch),
    },
  };
}

function amountsPatch(earlier: Commit, heir: Commit): CommitPatch {
  const known = new Map(earlier.accessSchedule.segments.map((one) => [one.id, one]));
  const { segments } = heir.accessSchedule;
  return {
    id: heir.id,
    accessSchedule: {
      add: segments.filter(({ id }) => !known.has(id)).map(({ id: _, ...segment }) => segment),
      update: segments
        .filter(({ id, amount }) => known.get(id)?.amount.eq(amount) === false)
        .map(({ id, amount }) => ({ id, amount })),
      remove: [],
    },
  };
}

const INVOICED = 'has rolled over to a contract that has a finalized invoice';

/**
 * Refuses (`invalid`) changes of commits that their rollover forbids: of amounts once the newer contract has a
 * finalized invoice, of the purchase once the older contract has ended. `source`: the contract before the change.
 */
export async function refuseLateUpdates(
  tx: Transaction,
  source: FullContract,
  { updateCommits, updateCredits }: Pick<Updates, 'updateCommits' | 'updateCredits'>,
  now: Instant,
): Promise<void> {
  if (updateCommits.length + updateCredits.length === 0) return;
  const target = await findRolloverTarget(tx, source.contract.id);
  if (target === null || target.heirs.size === 0) return;
  const isInvoiced = await hasFinalizedInvoice(tx, target.contract.id);
  const { endingBefore } = source.contract;
  const hasEnded = endingBefore !== null && endingBefore <= now;
  const check = (patches: readonly CommitPatch[], list: keyof Updates) => {
    for (const [index, patch] of patches.entries()) {
      if (target.heirs.has(patch.id)) refuseLate(patch, ['updates', list, index], { isInvoiced, hasEnded });
    }
  };
  check(updateCommits, 'updateCommits');
  check(updateCredits, 'updateCredits');
}

function refuseLate(
  { accessSchedule, rolloverFraction, invoiceSchedule }: CommitPatch,
  path: FieldPath,
  { isInvoiced, hasEnded }: { readonly isInvoiced: boolean; readonly hasEnded: boolean },
): void {
  if (isInvoiced && accessSchedule !== undefined) throw invalid([...path, 'accessSchedule'], INVOICED);
  if (isInvoiced && rolloverFraction !== undefined) throw invalid([...path, 'rolloverFraction'], INVOICED);
  if (hasEnded && invoiceSchedule !== undefined) {
    throw invalid([...path, 'invoiceSchedule'], 'has rolled over, and its contract has ended');
  }
}
