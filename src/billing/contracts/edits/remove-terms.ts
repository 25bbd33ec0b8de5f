/** The part of an edit that archives and removes terms. Pure. */
import { invalid } from '../../../core/errors.ts';
import type { ContractTerms } from '../../../core/terms/contract.ts';
import type { Removals } from '../../../core/terms/contract-edits.ts';
import type { Instant } from '../../../core/time.ts';

/** Refuses (`invalid`) terms that the contract does not have or that are archived already. */
export function removeTerms(terms: ContractTerms, removals: Removals, now: Instant): ContractTerms {
  const commits = terms.commits.filter(({ type }) => type !== 'CREDIT');
  const credits = terms.commits.filter(({ type }) => type === 'CREDIT');
  const archivedCommits = new Set([
    ...requireActive(commits, removals, 'archiveCommits', 'commit'),
    ...requireActive(credits, removals, 'archiveCredits', 'credit'),
  ]);
  const archivedCharges = requireActive(
    terms.scheduledCharges.filter(({ kind }) => kind === 'CHARGE'),
    removals,
    'archiveScheduledCharges',
    'scheduled charge',
  );
  const archive = <Term extends { readonly id: string }>(list: readonly Term[], ids: ReadonlySet<string>) =>
    list.map((term) => (ids.has(term.id) ? { ...term, archivedAt: now } : term));
  return {
    ...terms,
    commits: archive(terms.commits, archivedCommits),
    scheduledCharges: archive(terms.scheduledCharges, archivedCharges),
    overrides: withoutOverrides(terms.overrides, removals.removeOverrides),
    spendTrackers: withoutTrackers(terms.spendTrackers, removals.archiveSpendTrackers),
  };
}

function requireActive(
  terms: readonly { readonly id: string; readonly archivedAt: Instant | null }[],
  removals: Removals,
  list: 'archiveCommits' | 'archiveCredits' | 'archiveScheduledCharges',
  what: string,
): Set<string> {
  const wanted = new Set<string>();
  for (const [index, id] of removals[list].entries()) {
    const path = ['removals', list, index, 'id'];
    const term = terms.find((one) => one.id === id);
    if (term === undefined) throw invalid(path, `the contract has no ${what} ${id}`);
    if (term.archivedAt !== null || wanted.has(id)) throw invalid(path, `${what} ${id} is already archived`);
    wanted.add(id);
  }
  return wanted;
}

function withoutOverrides(
  overrides: ContractTerms['overrides'],
  ids: readonly string[],
): ContractTerms['overrides'] {
  const left = new Map(overrides.map((one) => [one.id, one]));
  for (const [index, id] of ids.entries()) {
    if (!left.delete(id))
      throw invalid(['removals', 'removeOverrides', index, 'id'], `the contract has no override ${id}`);
  }
  return [...left.values()];
}

function withoutTrackers(
  trackers: ContractTerms['spendTrackers'],
  aliases: readonly string[],
): ContractTerms['spendTrackers'] {
  const left = new Map(trackers.map((one) => [one.alias, one]));
  for (const [index, alias] of aliases.entries()) {
    if (left.delete(alias)) continue;
    const text = `the contract has no spend tracker ${JSON.stringify(alias)}`;
    throw invalid(['removals', 'archiveSpendTrackers', index], text);
  }
  return [...left.values()];
}

/** Refuses (`invalid`) to archive a tracker that a discount of the contract still uses after the edit. */
export function requireUsedTrackers(terms: ContractTerms, { archiveSpendTrackers }: Removals): void {
  const { spendThreshold, prepaidBalanceThreshold, spendTrackers } = terms;
  const known = new Set(spendTrackers.map((one) => one.alias));
  for (const threshold of [spendThreshold, prepaidBalanceThreshold]) {
    const alias = threshold?.discount?.cap?.spendTrackerAlias;
    if (alias === undefined || known.has(alias)) continue;
    const index = archiveSpendTrackers.indexOf(alias);
    throw invalid(['removals', 'archiveSpendTrackers', index], 'is what the cap of a discount is counted by');
  }
}
