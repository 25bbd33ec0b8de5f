/** The part of an edit that changes terms. Pure; looked up data are in the context. */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type { Commit } from '../../../core/terms/commits.ts';
import type { Contract, ContractTerms } from '../../../core/terms/contract.ts';
import type { Updates } from '../../../core/terms/contract-edits.ts';
import type { RecurringCommitPatch, ScheduledChargePatch } from '../../../core/terms/patches.ts';
import type { RecurringCommit } from '../../../core/terms/recurring-commits.ts';
import type { ScheduledCharge } from '../../../core/terms/scheduled-charges.ts';
import { given } from '../../../core/terms/values.ts';
import type { Instant } from '../../../core/time.ts';
import { type LoadedContext, requireEndAfterStart, type TermsContext } from '../terms/terms-context.ts';
import { namedByUpdates } from './named-by-updates.ts';
import { patchedCommit } from './patch-commit.ts';
import { patchedItems } from './patch-schedules.ts';
import { patchedSubscription } from './patch-subscription.ts';
import { patchedPrepaidBalanceThreshold, patchedSpendThreshold } from './patch-thresholds.ts';

export interface UpdateContext {
  /** The header after the edit. */
  readonly contract: Pick<Contract, 'startingAt' | 'endingBefore' | 'multiplierPrioritization'>;
  readonly loaded: LoadedContext;
  readonly now: Instant;
}

/** Refuses (`invalid`) terms that the contract does not have or that are archived, and the first invalid field. */
export function updateTerms(terms: ContractTerms, updates: Updates, update: UpdateContext): ContractTerms {
  const context = contextOf(update, updates);
  const { updateCommits, updateCredits, updateRecurringCommits, updateRecurringCredits } = updates;
  const isCredit = (term: { readonly type?: string; readonly kind?: string }) =>
    term.type === 'CREDIT' || term.kind === 'CREDIT';
  const patchCommit: Patch<ContractTerms['commits'][number], (typeof updateCommits)[number]> = (
    commit,
    patch,
    path,
  ) => {
    refuseRollover(commit, path);
    return patchedCommit(commit, patch, path, context);
  };
  const commits = patchAll(terms.commits, updateCommits, COMMIT, patchCommit, (one) => !isCredit(one));
  const recurring = patchAll(
    terms.recurringCommits,
    updateRecurringCommits,
    RECURRING_COMMIT,
    patchedRecurringCommit,
    (one) => !isCredit(one),
  );
  return {
    ...terms,
    commits: patchAll(commits, updateCredits, CREDIT, patchCommit, isCredit),
    recurringCommits: patchAll(
      recurring,
      updateRecurringCredits,
      RECURRING_CREDIT,
      patchedRecurringCommit,
      isCredit,
    ),
    scheduledCharges: patchAll(
      terms.scheduledCharges,
      updates.updateScheduledCharges,
      SCHEDULED_CHARGE,
      patchedScheduledCharge,
      ({ kind }) => kind === 'CHARGE',
    ),
    subscriptions: patchAll(
      terms.subscriptions,
      updates.updateSubscriptions,
      SUBSCRIPTION,
      (subscription, patch, path) => patchedSubscription(subscription, patch, path, update.now),
    ),
    spendThreshold: patchedSpendThreshold(terms, updates.updateSpendThreshold, context),
    prepaidBalanceThreshold: patchedPrepaidBalanceThreshold(
      terms,
      updates.updatePrepaidBalanceThreshold,
      context,
    ),
  };
}

/** A rollover changes only with its source. */
function refuseRollover({ rolledOverFrom }: Commit, path: FieldPath): void {
  if (rolledOverFrom === null) return;
  throw invalid([...path, 'id'], 'has rolled over from another contract and cannot be edited');
}

/** Names of a kind of term: the list of patches in the request, and the noun in messages. */
interface Kind {
  readonly list: keyof Updates;
  readonly what: string;
}

const COMMIT: Kind = { list: 'updateCommits', what: 'commit' };
const CREDIT: Kind = { list: 'updateCredits', what: 'credit' };
const RECURRING_COMMIT: Kind = {
  list: 'updateRecurringCommits',
  what: 'recurring commit',
};
const RECURRING_CREDIT: Kind = {
  list: 'updateRecurringCredits',
  what: 'recurring credit',
};
const SCHEDULED_CHARGE: Kind = {
  list: 'updateScheduledCharges',
  what: 'scheduled charge',
};
const SUBSCRIPTION: Kind = { list: 'updateSubscriptions', what: 'subscription' };

/** `path` is the place of the patch in the request. */
type Patch<Term, Change> = (term: Term, change: Change, path: FieldPath) => Term;

/** Applies the patches in their order to the terms that they may change. */
function patchAll<
  Term extends { readonly id: string; readonly archivedAt?: Instant | null },
  Change extends { readonly id: string },
>(
  terms: readonly Term[],
  changes: readonly Change[],
  { list, what }: Kind,
  patch: Patch<Term, Change>,
  mayBeFor: (term: Term) => boolean = () => true,
): readonly Term[] {
  const byId = new Map(terms.map((term) => [term.id, term]));
  for (const [index, change] of changes.entries()) {
    const path = ['updates', list, index];
    const term = byId.get(change.id);
    if (term === undefined || !mayBeFor(term)) {
      throw invalid([...path, 'id'], `the contract has no ${what} ${change.id}`);
    }
    if (term.archivedAt != null) throw invalid([...path, 'id'], `${what} ${change.id} is archived`);
    byId.set(term.id, patch(term, change, path));
  }
  return [...byId.values()];
}

/** Only products named by the edit itself must be active: terms keep their product. */
function contextOf({ contract, loaded }: UpdateContext, updates: Updates): TermsContext {
  const named = new Set(namedByUpdates(updates).productIds);
  const nothing = new Map<string, string>();
  return {
    ...loaded,
    products: new Map(
      [...loaded.products].map(([id, product]) => [
        id,
        named.has(id) ? product : { ...product, archivedAt: null },
      ]),
    ),
    contract,
    multiplierPrioritization: contract.multiplierPrioritization,
    subscriptions: new Map(),
    commitIds: nothing,
    recurringCommitIds: nothing,
    balanceIds: nothing,
  };
}

/** Refuses (`invalid`) the first invalid field; `path` is the place of the patch in the request. */
function patchedScheduledCharge(
  charge: ScheduledCharge,
  { invoiceSchedule, ...plain }: ScheduledChargePatch,
  path: FieldPath,
): ScheduledCharge {
  const { schedule } = charge;
  return {
    ...charge,
    ...given(plain),
    schedule:
      invoiceSchedule === undefined
        ? schedule
        : { ...schedule, items: patchedItems(schedule.items, invoiceSchedule, [...path, 'invoiceSchedule']) },
  };
}

/**
 * The changes apply to commits created from now on. Refuses (`invalid`) the first invalid field; `path` is the place of
 * the patch in the request.
 */
function patchedRecurringCommit(
  term: RecurringCommit,
  patch: RecurringCommitPatch,
  path: FieldPath,
): RecurringCommit {
  const { accessAmount: _, invoiceAmount: __, prorationRounding, ...plain } = patch;
  const { endingBefore } = plain;
  if (endingBefore !== undefined) {
    requireEndAfterStart({ startingAt: term.startingAt, endingBefore }, path);
  }
  const roundings = prorationRounding === null ? { access: null, invoice: null } : (prorationRounding ?? {});
  return {
    ...term,
    ...given(plain),
    accessAmount: patchedAccessAmount(term, patch, [...path, 'accessAmount']),
    invoiceAmount: patchedInvoiceAmount(term, patch, [...path, 'invoiceAmount']),
    accessRounding: roundings.access === undefined ? term.accessRounding : roundings.access,
    invoiceRounding: roundings.invoice === undefined ? term.invoiceRounding : roundings.invoice,
  };
}

function patchedAccessAmount(
  { accessAmount, subscription }: RecurringCommit,
  { accessAmount: patch }: RecurringCommitPatch,
  field: FieldPath,
): RecurringCommit['accessAmount'] {
  if (patch?.quantity !== undefined && subscription !== null) {
    throw invalid([...field, 'quantity'], 'is that of the subscription');
  }
  return {
    ...accessAmount,
    ...given(patch ?? {}),
  };
}

function patchedInvoiceAmount(
  { invoiceAmount }: RecurringCommit,
  { invoiceAmount: patch }: RecurringCommitPatch,
  field: FieldPath,
): RecurringCommit['invoiceAmount'] {
  if (patch === undefined) return invoiceAmount;
  if (invoiceAmount === null) throw invalid(field, 'the recurring commit is not invoiced');
  return { ...invoiceAmount, ...given(patch) };
}
