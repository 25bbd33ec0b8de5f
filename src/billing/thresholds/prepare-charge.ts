/**
 * Computes the charge of a threshold from the same drafts and balances as invoices and ledgers. Usage is read without a
 * lock; `charge-threshold.ts` checks under locks that everything else is unchanged.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { BalanceDeduction } from '../../core/terms/ledger.ts';
import type { PrepaidBalanceThreshold, SpendThreshold, ThresholdKind } from '../../core/terms/thresholds.ts';
import { floorToHour, type Instant } from '../../core/time.ts';
import { periodContaining } from '../../rating/periods/billing-periods.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { rechargeAmount, rechargeLine } from '../../rating/thresholds/recharge.ts';
import {
  candidateCommit,
  priorityBehind,
  type ThresholdCommitInput,
} from '../../rating/thresholds/threshold-commit.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { type Database, inSnapshot, type Transaction } from '../../store/base/database.ts';
import type { OutstandingHold } from '../../store/holds/outstanding-holds.ts';
import { loadProducts } from '../../store/products/products.ts';
import { balancesWithDrafts, withOwners } from '../balance-queries/balances.ts';
import { stillHeld } from '../balance-queries/outstanding-holds.ts';
import { mayDrawOn } from '../balances/drawing-contracts.ts';
import type { BillingContext, SnapshotContext } from '../billing-context.ts';
import { periodTerms } from '../invoice-queue/usage-periods.ts';
import { inputFingerprints } from '../invoices/compute/input-fingerprints.ts';
import type { PlannedInvoices } from '../invoices/compute/plan-invoices.ts';
import { draftDeductions, planDrafts } from '../invoices/drafts/deductions.ts';
import { countedCommits, unitOf } from './counted-balances.ts';
import { heldOfBalances } from './held-of-balances.ts';
import { loadThresholdContracts, type ThresholdContract } from './threshold-contracts.ts';

/** A threshold of a contract. */
export interface ThresholdReference {
  readonly customerId: string;
  readonly contractId: string;
  readonly kind: ThresholdKind;
}

/** Everything that is read of a threshold at one moment in PostgreSQL. */
interface Reading {
  readonly of: ThresholdContract;
  readonly threshold: PrepaidBalanceThreshold | SpendThreshold;
  /** The balances that count; of a spend threshold none. */
  readonly counted: readonly Commit[];
  readonly input: ThresholdCommitInput;
  /** The drafts as they are. The drafts in their current state. Null for a spend threshold. */
  readonly without: PlannedInvoices | null;
  /** The drafts as they would be, if they could draw on the candidate. */
  readonly with: PlannedInvoices;
}

export interface PreparedCharge extends ThresholdReference {
  readonly now: Instant;
  readonly reading: Reading;
  /** The amounts that drafts take from balances as they are, and with the candidate. */
  readonly deductions: {
    readonly without: readonly BalanceDeduction[];
    readonly with: readonly BalanceDeduction[];
  };
  /** The holds that count as used. */
  readonly holds: readonly OutstandingHold[];
}

/** Null where the contract has no such threshold now. */
export async function prepareCharge(
  context: BillingContext,
  reference: ThresholdReference,
): Promise<PreparedCharge | null> {
  const now = context.clock.now();
  const ids = { commit: newId(), segment: newId(), item: newId() };
  const reading = await inSnapshot(context.db, (tx) =>
    readThreshold({ ...context, db: tx }, reference, now, ids),
  );
  if (reading === null) return null;
  const without = reading.without === null ? [] : await draftDeductions(context, reading.without);
  const deductions = { without, with: await draftDeductions(context, reading.with) };
  return { ...reference, now, reading, deductions, holds: await holdsOf(context, reading, now) };
}

async function holdsOf(
  context: BillingContext,
  { of, threshold, counted }: Reading,
  now: Instant,
): Promise<readonly OutstandingHold[]> {
  if (!('rechargeToAmount' in threshold)) return [];
  const held = await heldOfBalances(context, [{ ...of, prepaidBalance: threshold, counted }], now);
  return held.get(of.contract.id) ?? [];
}

/** Whether nothing that the charge was computed from has changed in PostgreSQL. Locks must keep it so. */
export async function isStillValid(
  context: SnapshotContext,
  { now, reading, ...reference }: PreparedCharge,
): Promise<boolean> {
  const again = await readThreshold(context, reference, now, reading.input.ids);
  return again !== null && (await fingerprint(again)) === (await fingerprint(reading));
}

async function fingerprint({ of, counted, input, without, with: candidates }: Reading): Promise<string> {
  const plans: (readonly [string, string])[][] = [];
  for (const plan of [without, candidates]) {
    plans.push(plan === null ? [] : [...(await inputFingerprints(plan))]);
  }
  return JSON.stringify([of, counted, input, plans]);
}

async function readThreshold(
  context: SnapshotContext,
  { customerId, contractId, kind }: ThresholdReference,
  now: Instant,
  ids: ThresholdCommitInput['ids'],
): Promise<Reading | null> {
  const all = await loadThresholdContracts(context.db, [customerId], now);
  const of = all.find(({ contract }) => contract.id === contractId);
  if (of === undefined) return null;
  return kind === 'SPEND' ? readSpend(context, of, now, ids) : readPrepaidBalance(context, of, now, ids);
}

async function readPrepaidBalance(
  context: SnapshotContext,
  of: ThresholdContract,
  now: Instant,
  ids: ThresholdCommitInput['ids'],
): Promise<Reading | null> {
  const { contract, prepaidBalance: threshold, fiatCreditTypeId: invoice } = of;
  if (threshold === null) return null;
  const watched = { ...of, prepaidBalance: threshold };
  const counted = (await countedCommits(context.db, [watched], now)).get(contract.id) ?? [];
  const productName = await nameOfProduct(context.db, threshold.commit.productId, now);
  const unit = { access: unitOf(watched), invoice };
  const input = {
    ids,
    contract,
    commit: threshold.commit,
    productName,
    unit,
    startingAt: floorToHour(now),
    now,
  };
  const commit = candidateCommit(input);
  const drawing = [...counted, commit];
  return {
    of,
    threshold,
    counted,
    input,
    without: await planDrafts(context, drawing),
    with: await planDrafts(context, drawing, [{ commit, isLast: false }]),
  };
}

/** The commit is to pay for the rest that no other balance pays. */
async function readSpend(
  context: SnapshotContext,
  of: ThresholdContract,
  now: Instant,
  ids: ThresholdCommitInput['ids'],
): Promise<Reading | null> {
  const { spend: threshold } = of;
  if (threshold === null) return null;
  const productName = await nameOfProduct(context.db, threshold.commit.productId, now);
  const given = spendInput(of, threshold, { productName, now, ids });
  if (given === null) return null;
  const priority = threshold.commit.priority ?? priorityBehind(await payersOf(context.db, of.contract));
  const input = { ...given, commit: { ...given.commit, priority } };
  const commit = candidateCommit(input);
  const plan = await planDrafts(context, [commit], [{ commit, isLast: true }]);
  return { of, threshold, counted: [], input, without: null, with: plan };
}

/** The balances of the customer, and those that the contract's parent shares with it. */
async function payersOf(
  db: Transaction,
  contract: ThresholdContract['contract'],
): Promise<readonly Commit[]> {
  const { customerId, parent } = contract;
  const own = await loadCommits(db, { customerIds: [customerId], includeArchived: false });
  const contractIds = parent === null ? [] : [parent.contractId];
  const ofParent = await loadCommits(db, { contractIds, includeArchived: false });
  return [...own, ...ofParent.filter((commit) => mayDrawOn(contract, commit))];
}

/** Its access begins with the billing period. Null where the contract is in none. */
export function spendInput(
  { contract, fiatCreditTypeId: fiat }: ThresholdContract,
  { commit }: SpendThreshold,
  given: Pick<ThresholdCommitInput, 'productName' | 'now' | 'ids'>,
): ThresholdCommitInput | null {
  const period = periodContaining(periodTerms(contract), given.now);
  if (period === null) return null;
  return { ...given, contract, commit, unit: { access: fiat, invoice: fiat }, startingAt: period.start };
}

async function nameOfProduct(db: Database | Transaction, id: string, now: Instant): Promise<string> {
  const product = (await loadProducts(db, [id])).get(id);
  assert(product !== undefined, `product ${id} of a threshold exists`);
  return versionAt(product, now).name;
}

/**
 * The amount of the commit, in the unit of the threshold; null where nothing is due. Holds that have ended since do not
 * count; those that are new are for the next evaluation.
 */
export async function amountDue(
  db: Database | Transaction,
  { now, reading: { of, threshold, counted, input }, deductions, holds }: PreparedCharge,
): Promise<Decimal | null> {
  const ofCandidate = deductions.with.filter(({ commitId }) => commitId === input.ids.commit);
  const drawn = sum(ofCandidate.map(({ amount }) => amount));
  if (!('rechargeToAmount' in threshold)) return drawn.gte(threshold.thresholdAmount) ? drawn : null;
  const balance = await balanceLeft(db, counted, deductions.without, now);
  const line = rechargeLine(threshold, await stillHeld(db, holds, now));
  if (balance.gt(line.at)) return null;
  assert(of.prepaidBalance !== null, 'the threshold is of the contract');
  const others = await balanceLeft(db, counted, deductions.with, now);
  return rechargeAmount(threshold, { balance, others, drawn });
}

/** The rest of the commits after invoices and drafts. */
async function balanceLeft(
  db: Database | Transaction,
  commits: readonly Commit[],
  draftDeductions: readonly BalanceDeduction[],
  now: Instant,
): Promise<Decimal> {
  const balances = await balancesWithDrafts({ db, draftDeductions }, await withOwners(db, commits), now);
  return sum(commits.map(({ id }) => balances.get(id)?.balance ?? ZERO));
}
