/**
 * Contracts with all their terms: reads them with one query per kind, and writes the differences of a
 * change. Use cases change plain values and pass the states before and after to `saveContract`.
 */
import { groupBy } from '../../core/group-by.ts';
import { eachInChunks } from '../../core/in-chunks.ts';
import type { Contract, ContractTerms, FullContract } from '../../core/terms/contract.ts';
import { insertCommits, loadCommits, updateCommit } from '../balances/commits.ts';
import {
  insertRecurringCommits,
  loadRecurringCommits,
  updateRecurringCommit,
} from '../balances/recurring-commits.ts';
import { keepUnitPrice } from '../balances/recurring-unit-prices.ts';
import type { Database, Transaction } from '../base/database.ts';
import {
  archiveSpendTrackers,
  insertSpendTrackers,
  insertUsageFilters,
  loadPrepaidBalanceThresholds,
  loadSpendThresholds,
  loadSpendTrackers,
  loadUsageFilters,
  putPrepaidBalanceThreshold,
  putSpendThreshold,
} from '../contracts/contract-settings.ts';
import { updateContract } from '../contracts/contracts.ts';
import { loadOverrides } from '../contracts/load-overrides.ts';
import { deleteOverrides, insertOverrides, updateOverride } from '../contracts/overrides.ts';
import {
  insertProfessionalServices,
  loadProfessionalServices,
  updateProfessionalService,
} from '../contracts/professional-services.ts';
import { insertSubscriptions, loadSubscriptions, updateSubscription } from '../contracts/subscriptions.ts';
import { insertScheduledCharges, loadScheduledCharges, updateScheduledCharge } from './scheduled-charges.ts';

/** The contracts in the order given, each with all its terms. A fixed number of queries for any number of them. */
export async function withTerms(
  db: Database | Transaction,
  contracts: readonly Contract[],
): Promise<FullContract[]> {
  const ids = contracts.map((contract) => contract.id);
  if (ids.length === 0) return [];
  const commits = groupBy(
    await loadCommits(db, { contractIds: ids, includeArchived: true }),
    (commit) => commit.contractId,
  );
  const recurringCommits = byContract(await loadRecurringCommits(db, ids));
  const overrides = await loadOverrides(db, ids);
  const scheduledCharges = byContract(await loadScheduledCharges(db, ids));
  const professionalServices = byContract(await loadProfessionalServices(db, ids));
  const subscriptions = byContract(await loadSubscriptions(db, ids));
  const spendTrackers = await loadSpendTrackers(db, ids);
  const spendThresholds = await loadSpendThresholds(db, ids);
  const prepaidBalanceThresholds = await loadPrepaidBalanceThresholds(db, ids);
  const usageFilters = await loadUsageFilters(db, ids);
  return contracts.map((contract) => ({
    contract,
    terms: {
      commits: commits.get(contract.id) ?? [],
      recurringCommits: recurringCommits.get(contract.id) ?? [],
      overrides: overrides.get(contract.id) ?? [],
      scheduledCharges: scheduledCharges.get(contract.id) ?? [],
      professionalServices: professionalServices.get(contract.id) ?? [],
      subscriptions: subscriptions.get(contract.id) ?? [],
      spendTrackers: spendTrackers.get(contract.id) ?? [],
      spendThreshold: spendThresholds.get(contract.id) ?? null,
      prepaidBalanceThreshold: prepaidBalanceThresholds.get(contract.id) ?? null,
      usageFilters: usageFilters.get(contract.id) ?? [],
    },
  }));
}

/** Stores the terms of a contract that is stored already. */
export async function insertTerms(tx: Transaction, contractId: string, terms: ContractTerms): Promise<void> {
  await insertSubscriptions(tx, terms.subscriptions);
  await insertRecurringCommits(tx, terms.recurringCommits);
  await insertCommits(tx, terms.commits);
  await insertOverrides(tx, terms.overrides);
  await insertScheduledCharges(tx, terms.scheduledCharges);
  await insertProfessionalServices(tx, terms.professionalServices);
  await insertSpendTrackers(tx, contractId, terms.spendTrackers);
  await insertUsageFilters(tx, contractId, terms.usageFilters);
  if (terms.spendThreshold !== null) await putSpendThreshold(tx, contractId, terms.spendThreshold);
  if (terms.prepaidBalanceThreshold !== null) {
    await putPrepaidBalanceThreshold(tx, contractId, terms.prepaidBalanceThreshold);
  }
}

/**
 * Writes the differences between two states of one contract. Terms are compared by id; unchanged ones are not
 * written. Overrides and schedule items may be missing from `after`, other terms with an id may not.
 */
export async function saveContract(
  tx: Transaction,
  before: FullContract,
  after: FullContract,
  at: number,
): Promise<void> {
  const { id } = after.contract;
  if (differ(before.contract, after.contract)) await updateContract(tx, after.contract);
  const subscriptions = await changesOf(before.terms.subscriptions, after.terms.subscriptions);
  await insertSubscriptions(tx, subscriptions.added);
  for (const [from, to] of subscriptions.changed) await updateSubscription(tx, from, to);
  const recurring = await changesOf(before.terms.recurringCommits, after.terms.recurringCommits);
  await insertRecurringCommits(tx, recurring.added);
  for (const [from, to] of recurring.changed) {
    await keepUnitPrice(tx, from, to, at);
    await updateRecurringCommit(tx, to);
  }
  const commits = await changesOf(before.terms.commits, after.terms.commits);
  await insertCommits(tx, commits.added);
  for (const [, to] of commits.changed) await updateCommit(tx, to);
  const overrides = await changesOf(before.terms.overrides, after.terms.overrides);
  await deleteOverrides(tx, overrides.removedIds);
  await insertOverrides(tx, overrides.added);
  for (const [, to] of overrides.changed) await updateOverride(tx, to);
  const charges = await changesOf(before.terms.scheduledCharges, after.terms.scheduledCharges);
  await insertScheduledCharges(tx, charges.added);
  for (const [, to] of charges.changed) await updateScheduledCharge(tx, to);
  const services = await changesOf(before.terms.professionalServices, after.terms.professionalServices);
  await insertProfessionalServices(tx, services.added);
  for (const [from, to] of services.changed) await updateProfessionalService(tx, from, to);
  await saveSettings(tx, id, before.terms, after.terms, at);
}

async function saveSettings(
  tx: Transaction,
  contractId: string,
  before: ContractTerms,
  after: ContractTerms,
  at: number,
): Promise<void> {
  const texts = (values: readonly object[]) => new Set(values.map((value) => JSON.stringify(value)));
  const [old, next] = [texts(before.spendTrackers), texts(after.spendTrackers)];
  const gone = before.spendTrackers.filter((tracker) => !next.has(JSON.stringify(tracker)));
  const aliases = gone.map((tracker) => tracker.alias);
  await archiveSpendTrackers(tx, contractId, aliases, at);
  await insertSpendTrackers(
    tx,
    contractId,
    after.spendTrackers.filter((tracker) => !old.has(JSON.stringify(tracker))),
  );
  const filters = texts(before.usageFilters);
  await insertUsageFilters(
    tx,
    contractId,
    after.usageFilters.filter((filter) => !filters.has(JSON.stringify(filter))),
  );
  if (differ(before.spendThreshold, after.spendThreshold)) {
    await putSpendThreshold(tx, contractId, after.spendThreshold);
  }
  if (differ(before.prepaidBalanceThreshold, after.prepaidBalanceThreshold)) {
    await putPrepaidBalanceThreshold(tx, contractId, after.prepaidBalanceThreshold);
  }
}

function byContract<Term extends { readonly contractId: string }>(
  terms: readonly Term[],
): Map<string, Term[]> {
  return groupBy(terms, (term) => term.contractId);
}

interface Changes<Term> {
  readonly added: Term[];
  /** The states before and after. */
  readonly changed: [Term, Term][];
  readonly removedIds: string[];
}

/** Other work runs between parts of many terms. */
async function changesOf<Term extends { readonly id: string }>(
  before: readonly Term[],
  after: readonly Term[],
): Promise<Changes<Term>> {
  const old = new Map(before.map((term) => [term.id, term]));
  const kept = new Set(after.map((term) => term.id));
  const added: Term[] = [];
  const changed: [Term, Term][] = [];
  await eachInChunks(after, (term) => {
    const from = old.get(term.id);
    if (from === undefined) added.push(term);
    else if (differ(from, term)) changed.push([from, term]);
  });
  return { added, changed, removedIds: [...old.keys()].filter((id) => !kept.has(id)) };
}

/** Terms are plain values whose JSON holds all of them. */
function differ(a: unknown, b: unknown): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b);
}
