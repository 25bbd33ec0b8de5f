/** Loads the facts that ledgers need beyond the terms, and computes the balances of commits and credits. */
import { ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Balance, BalanceDeduction } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import { balanceOf, type LedgerFacts } from '../../rating/balances/ledger.ts';
import { limitedByArrival, withArrivedAmounts } from '../../rating/balances/rollover.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadManualEntries } from '../../store/balances/manual-balance-entries.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadTransitions } from '../../store/contracts/contract-transitions.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { loadCanceledPurchases } from '../balances/canceled-purchases.ts';
import { loadFinalDeductions } from '../balances/final-deductions.ts';
import { amountsTaken, loadRolloverTargets } from '../balances/rollovers.ts';
import { loadDividedCommits } from '../balances/seat-shares.ts';
import { loadWithheld } from '../balances/withheld.ts';
import type { BillingContext } from '../billing-context.ts';
import { loadDeductions } from '../invoices/drafts/deductions.ts';
import { loadTrueUps } from './true-ups.ts';

/** A commit or credit with its contract; null: it belongs to the customer. */
export interface OwnedCommit {
  readonly commit: Commit;
  readonly contract: Contract | null;
}

export interface BalanceOptions {
  /** Whether the deductions of drafts are left out. */
  readonly finalizedOnly?: boolean;
}

/** The amounts that drafts take, computed earlier: only PostgreSQL is read. */
interface KnownDrafts {
  readonly db: Database | Transaction;
  readonly draftDeductions: readonly BalanceDeduction[];
}

type BalanceSource = (BillingContext & { readonly finalizedOnly: boolean }) | KnownDrafts;

/** By commit or credit. */
export async function balancesOf(
  context: BillingContext,
  owned: readonly OwnedCommit[],
  now: Instant,
  { finalizedOnly = false }: BalanceOptions = {},
): Promise<Map<string, Balance>> {
  return balancesFrom({ ...context, finalizedOnly }, owned, now);
}

/** `balancesOf` with drafts that are computed already; may be used within a transaction. */
export async function balancesWithDrafts(
  source: KnownDrafts,
  owned: readonly OwnedCommit[],
  now: Instant,
): Promise<Map<string, Balance>> {
  return balancesFrom(source, owned, now);
}

export interface ShownBalances {
  /** By commit or credit; empty if they were not asked for. */
  readonly balances: ReadonlyMap<string, Balance>;
  /**
   * Rollovers by id, with the amounts that have rolled over into them; null: nothing has, so it is hidden. Archived
   * ones are absent.
   */
  readonly rollovers: ReadonlyMap<string, Commit | null>;
}

/**
 * For answers that show the terms of commits and credits, with or without their balances. Without balances, and after
 * the last invoice of the older contracts, no usage is read.
 */
export async function shownBalances(
  context: BillingContext,
  owned: readonly OwnedCommit[],
  now: Instant,
  { withBalances, finalizedOnly = false }: BalanceOptions & { readonly withBalances: boolean },
): Promise<ShownBalances> {
  const rollovers = owned.filter(({ commit }) => isRollover(commit));
  const asked = withBalances ? owned : rollovers;
  if (asked.length === 0) return { balances: new Map(), rollovers: new Map() };
  const { asItIs, balanceAt } = await presentStates({ ...context, finalizedOnly }, asked, now, {
    onlyOfSources: !withBalances,
  });
  const shown = (one: OwnedCommit) => {
    const { commit } = asItIs(one);
    return isNothing(one.commit, commit, balanceAt(one, now)) ? null : commit;
  };
  return {
    balances: new Map(withBalances ? owned.map((one) => [one.commit.id, balanceAt(one, now)]) : []),
    rollovers: new Map(rollovers.map((one) => [one.commit.id, shown(one)])),
  };
}

export function isRollover({ rolledOverFrom, archivedAt }: Commit): boolean {
  return rolledOverFrom !== null && archivedAt === null;
}

/**
 * Whether nothing has rolled over and no entry was ever added. A rollover whose limits are all 0 had an amount that was
 * removed by a change of its source: it is kept.
 */
function isNothing(limits: Commit, arrived: Commit, { ledger }: Balance): boolean {
  const isEmpty = ({ accessSchedule }: Commit) =>
    accessSchedule.segments.every(({ amount }) => amount.eq(ZERO));
  return isEmpty(arrived) && !isEmpty(limits) && ledger.every(({ amount }) => amount.eq(ZERO));
}

/** Sets amounts to those that have rolled over; empty rollovers are dropped. */
export function withRollovers(
  commits: readonly Commit[],
  rollovers: ShownBalances['rollovers'],
): readonly Commit[] {
  if (rollovers.size === 0) return commits;
  return commits.flatMap((commit) => {
    const shown = rollovers.get(commit.id);
    return shown === undefined ? [commit] : (shown ?? []);
  });
}

async function balancesFrom(
  source: BalanceSource,
  owned: readonly OwnedCommit[],
  now: Instant,
): Promise<Map<string, Balance>> {
  const { balanceAt } = await presentStates(source, owned, now);
  return new Map(owned.map((one) => [one.commit.id, balanceAt(one, now)]));
}

/** With `onlyOfSources`, drafts count only for commits that have rolled over. */
async function presentStates(
  source: BalanceSource,
  owned: readonly OwnedCommit[],
  now: Instant,
  { onlyOfSources = false } = {},
) {
  const all = await withSources(source.db, owned);
  const sources = new Set(all.map(({ commit }) => commit.rolledOverFrom?.commitId));
  const isDrawn = ({ id }: Commit) => !onlyOfSources || sources.has(id);
  const factsOf = await loadFacts(source, all, now, isDrawn);
  const byId = new Map(all.map((one) => [one.commit.id, one]));
  const present = new Map<string, OwnedCommit>();
  /** With the amounts that have actually rolled over into it. */
  const asItIs = (one: OwnedCommit): OwnedCommit => {
    const { commit } = one;
    const known = present.get(commit.id);
    if (known !== undefined) return known;
    const source = byId.get(commit.rolledOverFrom?.commitId ?? '');
    const result =
      source === undefined
        ? one
        : { ...one, commit: withArrivedAmounts(commit, ledgerAt(source, Math.max(now, commit.createdAt))) };
    present.set(commit.id, result);
    return result;
  };
  const balanceAt = (one: OwnedCommit, at: Instant): Balance => {
    const { commit } = asItIs(one);
    const facts = { ...factsOf(one), now: at };
    const hasRolledOver = commit.rolledOverFrom !== null;
    const rolledOver = hasRolledOver ? limitedByArrival(commit, facts.rolledOver) : facts.rolledOver;
    return balanceOf(commit, { ...facts, rolledOver });
  };
  const ledgerAt = (one: OwnedCommit, at: Instant) => balanceAt(one, at).ledger;
  return { asItIs, balanceAt };
}

/** The commits with the sources of rollovers, along the whole chain of renewals. */
async function withSources(
  db: Database | Transaction,
  owned: readonly OwnedCommit[],
): Promise<OwnedCommit[]> {
  const all = new Map(owned.map((one) => [one.commit.id, one]));
  let heirs: readonly OwnedCommit[] = owned;
  for (;;) {
    const wanted = heirs.flatMap(({ commit }) => commit.rolledOverFrom?.commitId ?? []);
    const ids = [...new Set(wanted)].filter((id) => !all.has(id));
    if (ids.length === 0) return [...all.values()];
    heirs = await withOwners(db, await loadCommits(db, { ids, includeArchived: true }));
    for (const one of heirs) all.set(one.commit.id, one);
  }
}

/** The commits with their contracts, in the same order. */
export async function withOwners(
  db: Database | Transaction,
  commits: readonly Commit[],
): Promise<OwnedCommit[]> {
  const ids = [...new Set(commits.flatMap(({ contractId }) => contractId ?? []))];
  const contracts = await loadContracts(db, { ids, includeArchived: true });
  const byId = new Map(contracts.map((contract) => [contract.id, contract]));
  return commits.map((commit) => ({ commit, contract: byId.get(commit.contractId ?? '') ?? null }));
}

/** The input of ledgers of the commits and credits, with the deductions of drafts; without rollovers. */
export async function ledgerFactsOf(
  context: BillingContext,
  owned: readonly OwnedCommit[],
  now: Instant,
): Promise<(one: OwnedCommit) => LedgerFacts> {
  return loadFacts({ ...context, finalizedOnly: false }, owned, now);
}

/** Drafts count for commits for which `isDrawn` holds. */
async function loadFacts(
  source: BalanceSource,
  owned: readonly OwnedCommit[],
  now: Instant,
  isDrawn: (commit: Commit) => boolean = () => true,
): Promise<(one: OwnedCommit) => LedgerFacts> {
  const { db } = source;
  const commits = owned.map(({ commit }) => commit);
  const contractIds = [...new Set(owned.flatMap(({ contract }) => contract?.id ?? []))];
  const transitions = await loadTransitions(db, contractIds);
  const renewals = contractIds.flatMap((id) =>
    (transitions.get(id) ?? []).filter((one) => one.fromContractId === id),
  );
  const targets = await loadRolloverTargets(db, renewals);
  const isWithheld = await loadWithheld(db, commits);
  const deductions = await deductionsFrom(source, commits, isDrawn);
  const deductionsOf = groupBy(deductions, ({ commitId }) => commitId);
  const trueUps = new Map(
    (await loadTrueUps(db, commits, deductions, now)).map((one) => [one.commitId, one]),
  );
  const canceled = await loadCanceledPurchases(db, commits);
  const ids = commits.map(({ id }) => id);
  const manualEntries = await loadManualEntries(db, ids);
  const divided = manualEntries.size === 0 ? () => null : await loadDividedCommits(db, commits);
  const byHand = (commit: Commit) => {
    const own = manualEntries.get(commit.id) ?? [];
    return own.length === 0 ? own : (divided(commit)?.bySegment(own) ?? own);
  };
  return ({ commit, contract }) => ({
    now,
    contractEnd: contract?.endingBefore ?? null,
    contractArchivedAt: contract?.archivedAt ?? null,
    isWithheld: isWithheld(commit),
    rolledOver: amountsTaken(commit, targets.get(contract?.id ?? '')),
    deductions: deductionsOf.get(commit.id) ?? [],
    manualEntries: byHand(commit),
    trueUp: trueUps.get(commit.id) ?? null,
    canceledPurchase: canceled.get(commit.id) ?? null,
  });
}

async function deductionsFrom(
  source: BalanceSource,
  commits: readonly Commit[],
  isDrawn: (commit: Commit) => boolean,
): Promise<BalanceDeduction[]> {
  if ('draftDeductions' in source) {
    return [...(await loadFinalDeductions(source.db, commits)), ...source.draftDeductions];
  }
  if (source.finalizedOnly) return loadFinalDeductions(source.db, commits);
  const others = commits.filter((commit) => !isDrawn(commit));
  return [
    ...(await loadFinalDeductions(source.db, others)),
    ...(await loadDeductions(source, commits.filter(isDrawn))),
  ];
}
