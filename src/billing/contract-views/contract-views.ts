/**
 * Loads contracts with all objects that their terms refer to, in a fixed number of queries for any number of contracts.
 */
import type { Decimal } from '../../core/decimal.ts';
import type { Contract, FullContract, Transition } from '../../core/terms/contract.ts';
import { addedTerms, type ContractEdit } from '../../core/terms/contract-edits.ts';
import type { Balance } from '../../core/terms/ledger.ts';
import type { Instant } from '../../core/time.ts';
import { periodContaining } from '../../rating/periods/billing-periods.ts';
import type { Database } from '../../store/base/database.ts';
import { sentTogether } from '../../store/base/sent-together.ts';
import { withTerms } from '../../store/contract-terms/contract-terms.ts';
import { loadAmendments, loadConfigurationTimes } from '../../store/contracts/contract-edits.ts';
import { loadTransitions } from '../../store/contracts/contract-transitions.ts';
import { loadInitialVersions } from '../../store/contracts/contract-versions.ts';
import { loadContracts } from '../../store/contracts/contracts.ts';
import { loadBillingConfigurations } from '../../store/customers/billing-configurations.ts';
import { loadRateCards } from '../../store/rate-cards/rate-cards.ts';
import { type ShownBalances, shownBalances, withRollovers } from '../balance-queries/balances.ts';
import { costBasesOf } from '../balance-queries/cost-bases.ts';
import type { BillingContext } from '../billing-context.ts';
import {
  type BillingConfigurationView,
  billingConfigurationViews,
} from '../billing-providers/configurations.ts';
import { loadNames, type TermNames } from '../contracts/term-names.ts';
import { periodTerms } from '../invoice-queue/usage-periods.ts';
import { type AccumulatedSpend, accumulatedSpends } from '../thresholds/spend-trackers.ts';

export interface ContractView {
  readonly current: FullContract;
  /** The state at creation; the current state if the history was not requested. */
  readonly initial: FullContract;
  readonly transitions: readonly Transition[];
  /** In order; empty if the history was not requested. */
  readonly amendments: readonly ContractEdit[];
  /** Active children. */
  readonly children: readonly Contract[];
  readonly billingConfiguration: BillingConfigurationView | null;
  /** The start of its use: the contract's start, or that of the period in which an edit added it. */
  readonly configuredFrom: Instant;
  readonly names: TermNames;
  /** The currency of its rate card. */
  readonly fiatCreditTypeId: string | null;
  /** By commit or credit. */
  readonly balances: ReadonlyMap<string, Balance>;
  /** By commit; absent if unknown. */
  readonly costBases: ReadonlyMap<string, Decimal>;
  /** The spend counted by its spend trackers, by alias. */
  readonly spends: ReadonlyMap<string, AccumulatedSpend>;
  /** The time as of which the view is computed. */
  readonly now: Instant;
}

export interface ViewOptions {
  /** Whether the initial state and the amendments are read. They may be as large as the current state. */
  readonly withHistory: boolean;
  /** Whether balances and ledgers are computed. That requires the drafts of the contracts. */
  readonly withBalances: boolean;
  /** Whether rolled over amounts are those of issued invoices: no usage is read. */
  readonly finalizedOnly?: boolean;
}

/** The views of the contracts in the order given. */
export async function contractViews(
  context: BillingContext,
  contracts: readonly Contract[],
  now: Instant,
  options: ViewOptions,
): Promise<ContractView[]> {
  return viewsOf(context, await withTerms(context.db, contracts), now, options);
}

/** The views of given states of contracts, which may be former ones. */
export async function viewsOf(
  context: BillingContext,
  states: readonly FullContract[],
  now: Instant,
  { withHistory, ...shown }: ViewOptions,
): Promise<ContractView[]> {
  const { db } = context;
  const contracts = states.map((full) => full.contract);
  const ids = contracts.map((contract) => contract.id);
  const [initials, amendments] = await sentTogether(
    () => loadInitialVersions(db, withHistory ? ids : []),
    () => loadAmendments(db, withHistory ? ids : []),
  );
  const amended = states.flatMap(({ contract }) =>
    (amendments.get(contract.id) ?? []).map(({ changes }) => ({ contract, terms: addedTerms(changes) })),
  );
  const [names, transitions, children, cards, configurations, configured] = await sentTogether(
    () => loadNames(db, [...states, ...initials.values(), ...amended], now),
    () => loadTransitions(db, ids),
    () => loadContracts(db, { parentIds: ids }),
    () => loadRateCards(db, [...new Set(contracts.flatMap((one) => one.rateCardId ?? []))]),
    () => loadConfigurations(db, contracts),
    () =>
      loadConfigurationTimes(
        db,
        contracts.flatMap(({ id, billingConfigurationId }) => (billingConfigurationId === null ? [] : id)),
      ),
  );
  const owned = states.flatMap(({ contract, terms }) =>
    terms.commits.map((commit) => ({ commit, contract, rateCardId: contract.rateCardId })),
  );
  const { balances, rollovers } = await shownBalances(context, owned, now, shown);
  const costBases = await costBasesOf(db, owned, cards);
  const spends = await accumulatedSpends(
    db,
    states.map(({ contract, terms }) => ({ contract, spendTrackers: terms.spendTrackers })),
    now,
  );
  return states.map((current): ContractView => {
    const { contract } = current;
    const card = cards.get(contract.rateCardId ?? '') ?? null;
    const initial = initials.get(contract.id) ?? current;
    return {
      current: shownState(current, rollovers),
      initial: shownState(initial, rollovers),
      transitions: transitions.get(contract.id) ?? [],
      amendments: amendments.get(contract.id) ?? [],
      children: children.filter((child) => child.parent?.contractId === contract.id),
      billingConfiguration: configurations.get(contract.billingConfigurationId ?? '') ?? null,
      configuredFrom: configuredFrom(contract, configured.get(contract.id)),
      names,
      fiatCreditTypeId: card?.fiatCreditTypeId ?? null,
      balances,
      costBases,
      spends: spends.get(contract.id) ?? new Map(),
      now,
    };
  });
}

function shownState(full: FullContract, rollovers: ShownBalances['rollovers']): FullContract {
  return { ...full, terms: { ...full.terms, commits: withRollovers(full.terms.commits, rollovers) } };
}

function configuredFrom(contract: Contract, editedAt: Instant | undefined): Instant {
  if (editedAt === undefined) return contract.startingAt;
  return periodContaining(periodTerms(contract), editedAt)?.start ?? contract.startingAt;
}

async function loadConfigurations(
  db: Database,
  contracts: readonly Contract[],
): Promise<Map<string, BillingConfigurationView>> {
  const ids = new Set(contracts.flatMap((contract) => contract.billingConfigurationId ?? []));
  const configurations = await loadBillingConfigurations(db, [...ids]);
  const views = await billingConfigurationViews(db, [...configurations.values()]);
  return new Map(views.map((view) => [view.id, view]));
}
