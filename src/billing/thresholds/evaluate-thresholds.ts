/**
 * Evaluates the thresholds of customers (docs/explanation/thresholds.md). The balances and the spend of many customers
 * are computed together; due amounts are then charged contract by contract.
 */

import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { newId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import type { SpendThreshold } from '../../core/terms/thresholds.ts';
import type { Instant } from '../../core/time.ts';
import { rechargeLine } from '../../rating/thresholds/recharge.ts';
import { candidateCommit } from '../../rating/thresholds/threshold-commit.ts';
import { mapConcurrently } from '../../runtime/concurrently.ts';
import { inSnapshot } from '../../store/base/database.ts';
import type { OutstandingHold } from '../../store/holds/outstanding-holds.ts';
import { loadThresholdCharges } from '../../store/thresholds/threshold-charges.ts';
import { customersWithThresholds } from '../../store/thresholds/threshold-contracts.ts';
import { balancesWithDrafts, withOwners } from '../balance-queries/balances.ts';
import type { BillingContext, SnapshotContext } from '../billing-context.ts';
import type { PlannedInvoices } from '../invoices/compute/plan-invoices.ts';
import { draftDeductions, planDrafts } from '../invoices/drafts/deductions.ts';
import type { EvaluationPace, LineDistance } from '../pace/evaluation-pace.ts';
import { chargeThreshold } from './charge-threshold.ts';
import { countedCommits } from './counted-balances.ts';
import { type CountedBalance, heldOfBalances } from './held-of-balances.ts';
import { spendInput, type ThresholdReference } from './prepare-charge.ts';
import { settlePayments } from './settle-payment.ts';
import { loadThresholdContracts, type ThresholdContract } from './threshold-contracts.ts';

/** Charges of different customers. Each takes a connection to PostgreSQL; changes and jobs need most of these. */
const CHARGES_AT_ONCE = 3;

/** The customers with an enabled threshold, among these or, if null, among all. */
export function watchedCustomers(
  { db }: Pick<BillingContext, 'db'>,
  customerIds: readonly string[] | null,
): Promise<string[]> {
  return customersWithThresholds(db, customerIds);
}

/**
 * Settles payments, and creates the charges that are due: at most one for each contract, for its balance before its
 * spend. Returns the customers whose state has changed, which are to be evaluated again. `pace` receives their
 * distances to their thresholds.
 */
export async function evaluateThresholds(
  context: BillingContext,
  customerIds: readonly string[],
  pace?: EvaluationPace,
): Promise<readonly string[]> {
  await settlePayments(context, customerIds);
  pace?.begin(customerIds);
  const standings = await loadStandings(context, customerIds);
  const ofCustomers = groupBy(standings, ({ reference }) => reference.customerId);
  for (const id of customerIds) pace?.found(id, linesOf(ofCustomers.get(id) ?? []));
  const due = standings.flatMap(({ reference, isDue }) => (isDue ? [reference] : []));
  const charged = await mapConcurrently(
    [...groupBy(due, ({ customerId }) => customerId)],
    CHARGES_AT_ONCE,
    async ([customerId, references]) => ((await chargeAll(context, references)) ? [customerId] : []),
  );
  return charged.flat();
}

/** One after the other, as they lock the same balances. Whether anything was charged or overtaken. */
async function chargeAll(
  context: BillingContext,
  references: readonly ThresholdReference[],
): Promise<boolean> {
  const charged = new Set<string>();
  let isChanged = false;
  for (const reference of references) {
    if (charged.has(reference.contractId)) continue;
    const outcome = await chargeThreshold(context, reference);
    if (outcome === 'charged') charged.add(reference.contractId);
    if (outcome !== 'not_due') isChanged = true;
  }
  return isChanged;
}

interface WatchedSpend extends ThresholdContract {
  readonly spend: SpendThreshold;
  /** The balances that would pay for the spend. */
  readonly candidate: Commit;
}

/** The state of many contracts at one moment in PostgreSQL. */
interface Readings {
  readonly balances: readonly CountedBalance[];
  readonly spends: readonly WatchedSpend[];
  /** With the candidates after all other balances, from which they take nothing. */
  readonly plan: PlannedInvoices;
}

/** The level of a balance or a spend, in the unit of the threshold. */
interface Standing {
  readonly reference: ThresholdReference;
  readonly isDue: boolean;
  /** The amount that usage may still take until it is due. */
  readonly left: Decimal;
  /** The rest without holds. */
  readonly leftByUsage: Decimal;
  /** The amount that may still be held until it is due; null: holds do not make it due. */
  readonly leftToHold: Decimal | null;
  readonly unit: string;
}

/** Contracts without a charge in flight; balances before spend. */
async function loadStandings(context: BillingContext, customerIds: readonly string[]): Promise<Standing[]> {
  const now = context.clock.now();
  const { balances, spends, plan } = await inSnapshot(context.db, (db) =>
    readThresholds({ ...context, db }, customerIds, now),
  );
  const deductions = await draftDeductions(context, plan);
  const leftOf = await balancesLeft(
    context,
    balances.flatMap(({ counted }) => counted),
    deductions,
    now,
  );
  const holdsOf = await heldOfBalances(context, balances, now);
  const ofBalances = balances.map((one) =>
    standingOf(one, sum(one.counted.map(({ id }) => leftOf.get(id) ?? ZERO)), holdsOf.get(one.contract.id)),
  );
  const ofSpends = spends.map(({ contract, spend, candidate, fiatCreditTypeId }): Standing => {
    const drawn = deductions.filter(({ commitId }) => commitId === candidate.id);
    const left = spend.thresholdAmount.minus(sum(drawn.map(({ amount }) => amount)));
    return {
      ...{ reference: referenceTo(contract, 'SPEND'), isDue: left.lte(ZERO), unit: fiatCreditTypeId },
      ...{ left, leftByUsage: left, leftToHold: null },
    };
  });
  return [...ofBalances, ...ofSpends];
}

/** `holds`: undefined where it does not count them. */
function standingOf(
  { contract, prepaidBalance, fiatCreditTypeId }: CountedBalance,
  balance: Decimal,
  holds: readonly OutstandingHold[] | undefined,
): Standing {
  const line = rechargeLine(prepaidBalance, sum((holds ?? []).map(({ amount }) => amount)));
  const left = balance.minus(line.at);
  return {
    reference: referenceTo(contract, 'PREPAID_BALANCE'),
    isDue: left.lte(ZERO),
    left,
    leftByUsage: balance.minus(prepaidBalance.thresholdAmount),
    leftToHold: holds === undefined || balance.gt(line.highest) ? null : left,
    unit: prepaidBalance.customCreditTypeId ?? fiatCreditTypeId,
  };
}

/** In floating point, which is enough to say when to look again. */
function linesOf(standings: readonly Standing[]): Map<string, LineDistance> {
  return new Map(
    standings.map(({ reference: { contractId, kind }, left, leftByUsage, leftToHold, unit }) => [
      `${kind} ${contractId}`,
      {
        left: Number(left.toFixed()),
        leftByUsage: Number(leftByUsage.toFixed()),
        leftToHold: leftToHold === null ? Number.POSITIVE_INFINITY : Number(leftToHold.toFixed()),
        unit,
      },
    ]),
  );
}

function referenceTo(
  { id: contractId, customerId }: ThresholdContract['contract'],
  kind: ThresholdReference['kind'],
): ThresholdReference {
  return { customerId, contractId, kind };
}

async function readThresholds(
  context: SnapshotContext,
  customerIds: readonly string[],
  now: Instant,
): Promise<Readings> {
  const all = await loadThresholdContracts(context.db, customerIds, now);
  const charges = await loadThresholdCharges(
    context.db,
    all.map(({ contract }) => contract.id),
  );
  const busy = new Set(charges.filter(({ isInFlight }) => isInFlight).map(({ contractId }) => contractId));
  const free = all.filter(({ contract }) => !busy.has(contract.id));
  const watched = free.flatMap(({ prepaidBalance, ...of }) =>
    prepaidBalance === null ? [] : [{ ...of, prepaidBalance }],
  );
  const counted = await countedCommits(context.db, watched, now);
  const balances = watched.map((one) => ({ ...one, counted: counted.get(one.contract.id) ?? [] }));
  const spends = free.flatMap(({ spend, ...of }): WatchedSpend[] => {
    if (spend === null) return [];
    const ids = { commit: newId(), segment: newId(), item: newId() };
    const input = spendInput({ ...of, spend }, spend, { productName: '', now, ids });
    return input === null ? [] : [{ ...of, spend, candidate: candidateCommit(input) }];
  });
  const candidates = spends.map(({ candidate: commit }) => ({ commit, isLast: true }));
  const drawing = [...balances.flatMap((one) => one.counted), ...candidates.map(({ commit }) => commit)];
  return { balances, spends, plan: await planDrafts(context, drawing, candidates) };
}

async function balancesLeft(
  { db }: BillingContext,
  commits: readonly Commit[],
  draftDeductions: readonly BalanceDeduction[],
  now: Instant,
): Promise<Map<string, Decimal>> {
  const unique = [...new Map(commits.map((commit) => [commit.id, commit])).values()];
  const balances = await balancesWithDrafts({ db, draftDeductions }, await withOwners(db, unique), now);
  return new Map([...balances].map(([id, { balance }]) => [id, balance]));
}
