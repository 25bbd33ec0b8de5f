/** Changes of a contract by operations of their own: end date, usage filter, archiving. */
import type { Clock } from '../../core/clock.ts';
import { invalid, Refusal } from '../../core/errors.ts';
import type { FullContract, UsageFilter } from '../../core/terms/contract.ts';
import type { ContractChanges } from '../../core/terms/contract-edits.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { lastIssuedPeriodEnds } from '../../store/invoices.ts';
import { voidInvoicesOfContract } from '../../store/voided-invoices.ts';
import { type ContractHook, type ContractReference, changeContract } from './change-contract.ts';
import { withEndDate } from './truncate-terms.ts';
import { checkUsageFilter } from './usage-filters.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
}

export interface UpdateEndDateInput extends ContractReference {
  readonly changedBy: string;
  /** Null: the contract has no end any more. */
  readonly endingBefore: Instant | null;
  /** Whether the end may lie before the end of invoices that are finalized; they stay as they are. */
  readonly allowEndingBeforeFinalizedInvoice: boolean;
}

/**
 * Sets, moves or removes the end. Refuses (`invalid`) an end that is not after the start, one before a
 * finalized invoice where that is not allowed, and an archived contract.
 */
export async function updateEndDate(
  deps: Deps & { readonly onEndChanged: ContractHook },
  input: UpdateEndDateInput,
): Promise<void> {
  const now = deps.clock.now();
  await deps.db.transaction(async (tx) => {
    const { changed } = await changeContract(tx, input, { ...input, now }, async (full) => {
      requireNotArchived(full);
      await checkEndDate(tx, full, input, 'ending_before');
      const { endingBefore } = input;
      return { after: withEndDate(full, endingBefore, now), changes: { endingBefore } };
    });
    await deps.onEndChanged(tx, changed.contract);
  });
}

/** Refuses (`invalid`, naming `field`) an end date that the contract cannot have. */
export async function checkEndDate(
  tx: Transaction,
  { contract }: FullContract,
  {
    endingBefore,
    allowEndingBeforeFinalizedInvoice,
  }: Pick<UpdateEndDateInput, 'endingBefore' | 'allowEndingBeforeFinalizedInvoice'>,
  field: string,
): Promise<void> {
  if (endingBefore === null) return;
  if (endingBefore <= contract.startingAt) throw invalid(field, 'must be after the contract starts');
  if (allowEndingBeforeFinalizedInvoice) return;
  const issuedUntil = (await lastIssuedPeriodEnds(tx, [contract.id])).get(contract.id);
  if (issuedUntil !== undefined && endingBefore < issuedUntil) {
    throw invalid(field, `a finalized invoice reaches until ${formatInstant(issuedUntil)}`);
  }
}

export interface SetUsageFilterInput extends ContractReference {
  readonly changedBy: string;
  readonly filter: UsageFilter;
}

/** Sets the filter from its start on. Refuses (`invalid`) a start outside the contract and an unknown key. */
export async function setUsageFilter(deps: Deps, input: SetUsageFilterInput): Promise<void> {
  const { filter, changedBy } = input;
  await deps.db.transaction(async (tx) => {
    await changeContract(tx, input, { now: deps.clock.now(), changedBy }, async (full) => {
      requireNotArchived(full);
      await checkUsageFilter(tx, full.contract, filter, '');
      return { after: withUsageFilter(full, filter), changes: { addUsageFilters: [filter] } };
    });
  });
}

/** Of two filters with one start the one set last holds. */
export function withUsageFilter(full: FullContract, filter: UsageFilter): FullContract {
  const others = full.terms.usageFilters.filter((one) => one.startingAt !== filter.startingAt);
  const usageFilters = [...others, filter].toSorted((a, b) => a.startingAt - b.startingAt);
  return { ...full, terms: { ...full.terms, usageFilters } };
}

export interface ArchiveContractInput extends ContractReference {
  readonly changedBy: string;
  /** Whether finalized invoices are voided too. */
  readonly voidInvoices: boolean;
}

/**
 * Archives the contract with its commits, credits and charges: drafts are gone and nothing is invoiced any
 * more. Cannot be undone. Refuses (`invalid`) a contract that is archived already.
 */
export async function archiveContract(deps: Deps, input: ArchiveContractInput): Promise<void> {
  await deps.db.transaction((tx) => archiveContractIn(tx, input, deps.clock.now()));
}

/** `archiveContract` as a part of a larger transaction. */
export async function archiveContractIn(
  tx: Transaction,
  input: ArchiveContractInput,
  now: Instant,
): Promise<void> {
  await changeContract(tx, input, { now, changedBy: input.changedBy }, (full) => {
    requireNotArchived(full);
    return { after: archived(full, now), changes: archivals(full, now) };
  });
  if (input.voidInvoices) await voidInvoicesOfContract(tx, input.contractId);
}

function archived({ contract, terms }: FullContract, now: Instant): FullContract {
  const archive = <Term extends { readonly archivedAt: Instant | null }>(term: Term): Term => ({
    ...term,
    archivedAt: term.archivedAt ?? now,
  });
  return {
    contract: archive(contract),
    terms: {
      ...terms,
      commits: terms.commits.map(archive),
      scheduledCharges: terms.scheduledCharges.map(archive),
    },
  };
}

/** What the history tells of it: the contract, and what of its terms was not archived before. */
function archivals({ terms }: FullContract, now: Instant): Partial<ContractChanges> {
  const active = terms.commits.filter((commit) => commit.archivedAt === null);
  return {
    archivedAt: now,
    archiveCommits: active.filter(({ type }) => type !== 'CREDIT').map(({ id }) => id),
    archiveCredits: active.filter(({ type }) => type === 'CREDIT').map(({ id }) => id),
    archiveScheduledCharges: terms.scheduledCharges
      .filter((charge) => charge.archivedAt === null)
      .map(({ id }) => id),
  };
}

/** Refuses (`invalid`) a contract that is archived: it cannot be changed any more. */
export function requireNotArchived({ contract }: FullContract): void {
  if (contract.archivedAt !== null) {
    throw new Refusal('invalid', `contract ${contract.id} is archived`);
  }
}
