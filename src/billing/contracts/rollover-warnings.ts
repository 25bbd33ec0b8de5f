/**
 * Warnings about commits and credits with a rollover setting that has no effect, because their access ends too early.
 */
import { ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { FullContract, Transition } from '../../core/terms/contract.ts';
import type { ContractEdit } from '../../core/terms/contract-edits.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import type { Database } from '../../store/base/database.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';

/** Maximum warnings, one for each commit. */
const WARNINGS_MAX = 20;

/** The warnings for a contract created with these transitions, and for the contract that it renews. */
export async function rolloverWarnings(
  db: Database,
  created: FullContract,
  transitions: readonly Transition[],
): Promise<string[]> {
  const { contract, terms } = created;
  const own = terms.commits.filter((commit) => endsWithContract(commit, contract.endingBefore));
  return [...own.map(nothingWillRoll), ...(await ofRenewed(db, created, transitions))].slice(0, WARNINGS_MAX);
}

/**
 * The warnings for terms that an edit has added or changed; for all terms if it has changed the end of the contract.
 */
export async function rolloverWarningsOfEdit(
  db: Database,
  { contractId, changes }: Pick<ContractEdit, 'contractId' | 'changes'>,
): Promise<string[]> {
  const { addCommits, updateCommits, updateCredits } = changes;
  if (changes.endingBefore !== undefined) return rolloverWarningsOfContract(db, contractId);
  const ids = [...addCommits, ...updateCommits, ...updateCredits].map(({ id }) => id);
  return ofChanged(db, await loadCommits(db, { ids, includeArchived: false }));
}

/** The warnings for all commits and credits of a contract whose end has changed. */
export async function rolloverWarningsOfContract(db: Database, contractId: string): Promise<string[]> {
  return ofChanged(db, await loadCommits(db, { contractIds: [contractId], includeArchived: false }));
}

/** The warning for an edited commit or credit of a contract or a customer. */
export async function rolloverWarningsOfCommit(db: Database, id: string): Promise<string[]> {
  return ofChanged(db, await loadCommits(db, { ids: [id], includeArchived: false }));
}

/** Commits of a customer do not roll over. */
async function ofChanged(db: Database, commits: readonly Commit[]): Promise<string[]> {
  const ids = [...new Set(commits.flatMap(({ contractId }) => contractId ?? []))];
  const contracts = await loadContracts(db, { ids });
  const ends = new Map(contracts.map(({ id, endingBefore }) => [id, endingBefore]));
  return commits
    .filter((commit) => endsWithContract(commit, ends.get(commit.contractId ?? '') ?? null))
    .map(nothingWillRoll)
    .slice(0, WARNINGS_MAX);
}

/**
 * A renewal rolls over the segments that are open when it begins. Children of recurring terms end one after the other
 * by design.
 */
function endsWithContract(commit: Commit, end: Instant | null): boolean {
  if (end === null || !isToRoll(commit) || commit.rolledOverFrom !== null) return false;
  return commit.accessSchedule.segments.every(({ endingBefore }) => endingBefore <= end);
}

function isToRoll({ rolloverFraction, recurringCommitId, archivedAt }: Commit): boolean {
  return rolloverFraction?.gt(ZERO) === true && recurringCommitId === null && archivedAt === null;
}

async function ofRenewed(
  db: Database,
  { contract, terms }: FullContract,
  transitions: readonly Transition[],
): Promise<string[]> {
  const renewed = transitions.filter(
    ({ toContractId, rollsOver }) => toContractId === contract.id && rollsOver,
  );
  if (renewed.length === 0) return [];
  const contractIds = renewed.map(({ fromContractId }) => fromContractId);
  const commits = await loadCommits(db, { contractIds, includeArchived: false });
  const rolled = new Set(terms.commits.map(({ rolledOverFrom }) => rolledOverFrom?.commitId));
  const start = formatInstant(contract.startingAt);
  return commits
    .filter((commit) => isToRoll(commit) && !rolled.has(commit.id))
    .map(
      (commit) =>
        `${nameOf(commit)} of contract ${commit.contractId}: nothing of it rolls over, because its access does not reach beyond ${start} or a payment for it is outstanding`,
    );
}

function nothingWillRoll(commit: Commit): string {
  return `${nameOf(commit)}: its access ends when the contract ends, or before, so nothing of it will roll over: let its access end later, or set its rollover_fraction to 0`;
}

function nameOf({ id, name, type }: Commit): string {
  return `${type === 'CREDIT' ? 'credit' : 'commit'} ${id}${name === null ? '' : ` (${JSON.stringify(name)})`}`;
}
