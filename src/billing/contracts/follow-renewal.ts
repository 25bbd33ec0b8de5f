/**
 * What has rolled over follows its source (docs/contracts.md, "Transitions"): a change of a contract that
 * has been renewed computes the rollovers of the newer one again, and so on along the chain of renewals.
 */
import { invalid } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import type { Updates } from '../../core/terms/contract-edits.ts';
import type { CommitPatch } from '../../core/terms/patches.ts';
import type { Transaction } from '../../store/database.ts';
import { hasFinalizedInvoice } from '../../store/invoices.ts';
import { findRolloverTarget, rolloversOf } from '../balances/rollovers.ts';
import { loadWithheld } from '../balances/withheld.ts';
import { type ChangeOrigin, type ContractChange, changeContract } from './change-contract.ts';

type Origin = Pick<ChangeOrigin, 'now' | 'changedBy'>;

/**
 * Belongs into the transaction that has changed `source`. Until the renewal begins, whatever the source has
 * then rolls over; after it, only amounts that have rolled over change. Once the newer contract has a
 * finalized invoice, or is archived, nothing of it changes any more.
 */
export async function followRenewal(tx: Transaction, source: FullContract, origin: Origin): Promise<void> {
  const target = await findRolloverTarget(tx, source.contract.id);
  if (target === null || target.contract.archivedAt !== null) return;
  if (await hasFinalizedInvoice(tx, target.contract.id)) return;
  const isWithheld = await loadWithheld(tx, source.terms.commits);
  const isOver = target.contract.startingAt <= origin.now;
  const rollovers = rolloversOf(source, target.contract, isWithheld, target.heirs, isOver);
  const changed = rollovers.filter((heir) =>
    differs(heir, target.heirs.get(heir.rolledOverFrom?.commitId ?? '')),
  );
  if (changed.length === 0) return;
  const { customerId, id: contractId } = target.contract;
  const { now, changedBy } = origin;
  const next = await changeContract(tx, { customerId, contractId }, { now, changedBy }, (full) =>
    withRollovers(full, changed),
  );
  await followRenewal(tx, next.changed, origin);
}

function differs(heir: Commit, earlier: Commit | undefined): boolean {
  return JSON.stringify(heir) !== JSON.stringify(earlier);
}

/** The history tells of it as of an edit: commits that are added, and amounts that are changed. */
function withRollovers(full: FullContract, changed: readonly Commit[]): ContractChange {
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
 * Refuses (`invalid`) the changes of commits that their rollover rules out: of the amounts once the newer
 * contract has a finalized invoice, of the purchase once the older contract has ended. `source` is the
 * contract before the change.
 */
export async function refuseLateUpdates(
  tx: Transaction,
  source: FullContract,
  { updateCommits, updateCredits }: Pick<Updates, 'updateCommits' | 'updateCredits'>,
  { now }: Origin,
): Promise<void> {
  if (updateCommits.length + updateCredits.length === 0) return;
  const target = await findRolloverTarget(tx, source.contract.id);
  if (target === null || target.heirs.size === 0) return;
  const isInvoiced = await hasFinalizedInvoice(tx, target.contract.id);
  const { endingBefore } = source.contract;
  const check = (patches: readonly CommitPatch[], list: keyof Updates) => {
    for (const [index, patch] of patches.entries()) {
      if (!target.heirs.has(patch.id)) continue;
      const path = ['updates', list, index];
      if (isInvoiced && patch.accessSchedule !== undefined)
        throw invalid([...path, 'accessSchedule'], INVOICED);
      if (isInvoiced && patch.rolloverFraction !== undefined) {
        throw invalid([...path, 'rolloverFraction'], INVOICED);
      }
      if (patch.invoiceSchedule !== undefined && endingBefore !== null && endingBefore <= now) {
        throw invalid([...path, 'invoiceSchedule'], 'has rolled over, and its contract has ended');
      }
    }
  };
  check(updateCommits, 'updateCommits');
  check(updateCredits, 'updateCredits');
}
