/** Loads renewals of contracts and their rollover commits. */
import { assert } from '../../core/errors.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { Contract, FullContract, Transition } from '../../core/terms/contract.ts';
import type { RolledAmount } from '../../core/terms/ledger.ts';
import type { RecurringCommit } from '../../core/terms/recurring-commits.ts';
import { uncutGrant } from '../../rating/balances/recurring-grants.ts';
import { type Renewal, rolledAmounts, rolledOver } from '../../rating/balances/rollover.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadTransitions } from '../../store/contracts/contract-transitions.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import type { Withheld } from './withheld.ts';

/** A contract that receives rollovers. */
export interface RolloverTarget {
  readonly contract: Contract;
  /** By source. */
  readonly heirs: ReadonlyMap<string, Commit>;
}

/** The renewing contract, for each of the contracts that was renewed with rollover. */
export async function loadRolloverTargets(
  db: Database | Transaction,
  transitions: Iterable<Transition>,
): Promise<Map<string, RolloverTarget>> {
  const renewals = [...transitions].filter((one) => one.rollsOver);
  const ids = renewals.map((one) => one.toContractId);
  const contracts = await loadContracts(db, { ids, includeArchived: true });
  const commits = await loadCommits(db, { contractIds: ids, includeArchived: true });
  return new Map(
    renewals.map(({ fromContractId, toContractId }) => {
      const contract = contracts.find((one) => one.id === toContractId);
      assert(contract !== undefined, `contract ${toContractId}, which renews another, is there`);
      const heirs = commits.flatMap((commit) => {
        const source = commit.rolledOverFrom;
        const isHeir = source?.contractId === fromContractId && commit.contractId === toContractId;
        return isHeir ? [[source.commitId, commit] as const] : [];
      });
      return [fromContractId, { contract, heirs: new Map(heirs) }];
    }),
  );
}

/** The renewing contract of one contract; null if it was not renewed with rollover. */
export async function findRolloverTarget(
  tx: Transaction,
  contractId: string,
): Promise<RolloverTarget | null> {
  const transitions = (await loadTransitions(tx, [contractId])).get(contractId) ?? [];
  const renewal = transitions.filter((one) => one.fromContractId === contractId);
  return (await loadRolloverTargets(tx, renewal)).get(contractId) ?? null;
}

/** The amounts that the renewal took from the segments of `source`. */
export function amountsTaken(source: Commit, target: RolloverTarget | undefined): RolledAmount[] {
  const heir = target?.heirs.get(source.id);
  return target === undefined || heir === undefined ? [] : rolledAmounts(source, heir, target.contract);
}

/**
 * The amounts that the contract rolls over to `renewal`, in the order of the sources. `heirs`: the existing rollovers;
 * with `isOver`, when the renewal is in the past, there can be no others.
 */
export function rolloversOf(
  { contract, terms }: FullContract,
  renewal: Renewal,
  isWithheld: Withheld,
  heirs: ReadonlyMap<string, Commit> = new Map(),
  isOver = false,
): Commit[] {
  const uncut = uncutBy(contract, terms.recurringCommits);
  const ofSeats = individualTerms(terms.recurringCommits);
  return terms.commits.flatMap((commit) => {
    const earlier = heirs.get(commit.id) ?? null;
    if ((isOver && earlier === null) || ofSeats.has(commit.recurringCommitId ?? '')) return [];
    const source = { commit: uncut(commit), contract, isWithheld: isWithheld(commit) };
    return rolledOver(source, renewal, earlier) ?? [];
  });
}

/**
 * The amounts that these commits of a contract, none of which waits for a payment, roll over to `renewal` for the first
 * time.
 */
export function rolloversOfCommits(
  commits: readonly Commit[],
  { contract, recurring }: { readonly contract: Contract; readonly recurring: readonly RecurringCommit[] },
  renewal: Renewal,
): Commit[] {
  const uncut = uncutBy(contract, recurring);
  const ofSeats = individualTerms(recurring);
  const rolling = commits.filter(({ recurringCommitId }) => !ofSeats.has(recurringCommitId ?? ''));
  return rolling.flatMap(
    (commit) => rolledOver({ commit: uncut(commit), contract, isWithheld: false }, renewal, null) ?? [],
  );
}

/** Their children do not roll over: in the newer contract they would belong to no seat. */
function individualTerms(recurring: readonly RecurringCommit[]): ReadonlySet<string> {
  const individual = recurring.filter(({ subscription }) => subscription?.allocation === 'INDIVIDUAL');
  return new Set(individual.map(({ id }) => id));
}

/** The renewal may have cut the access of children of recurring terms; this restores it. */
function uncutBy(contract: Contract, recurring: readonly RecurringCommit[]): (commit: Commit) => Commit {
  const terms = new Map(recurring.map((term) => [term.id, term]));
  return (commit) => {
    const term = terms.get(commit.recurringCommitId ?? '');
    return term === undefined ? commit : uncutGrant(commit, term, contract);
  };
}

/**
 * The contract after its end at a renewal, including the segments that the end removed but that rolled over: their
 * ledger shows the rollover. They can no longer be used.
 */
export function withRolledSegments(
  ended: FullContract,
  before: FullContract,
  rollovers: readonly Commit[],
): FullContract {
  const sources = new Set(rollovers.map((one) => one.rolledOverFrom?.commitId));
  const old = new Map(before.terms.commits.map((one) => [one.id, one.accessSchedule.segments]));
  const commits = ended.terms.commits.map((commit): Commit => {
    if (!sources.has(commit.id)) return commit;
    const left = new Map(commit.accessSchedule.segments.map((one) => [one.id, one]));
    const segments = (old.get(commit.id) ?? []).map((one) => left.get(one.id) ?? one);
    return { ...commit, accessSchedule: { ...commit.accessSchedule, segments } };
  });
  return { ...ended, terms: { ...ended.terms, commits } };
}
