/**
 * Creates the charge of a threshold (docs/explanation/thresholds.md, "The charge"): a commit of the contract whose
 * purchase the scheduled invoices bill. Concurrent charges, edits of the contract and spending from its balances wait,
 * or make this charge compute again.
 */
import { type Decimal, maximum, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import { publishThresholdReached } from '../../notifications/payment-messages.ts';
import { discountedPrice, type Price } from '../../rating/thresholds/discounted-price.ts';
import { boughtCommit } from '../../rating/thresholds/threshold-commit.ts';
import { recordSystemChanges, type SystemActor } from '../../store/access/system-changes.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockBalances } from '../../store/invoices/balance-deductions.ts';
import { insertThresholdCharge, loadThresholdCharges } from '../../store/thresholds/threshold-charges.ts';
import type { BillingContext } from '../billing-context.ts';
import { changeContract } from '../contracts/change-contract.ts';
import {
  amountDue,
  isStillValid,
  type PreparedCharge,
  prepareCharge,
  type ThresholdReference,
} from './prepare-charge.ts';
import { accumulatedSpends } from './spend-trackers.ts';
import { worthOf } from './threshold-contracts.ts';

/** The creator of the commit, in the history of the contract. */
export const CHARGED_BY = 'threshold billing';

export const THRESHOLDS: SystemActor = { kind: 'evaluation', name: 'thresholds' };

/** `overtaken`: the state has changed during the computation, so the threshold is evaluated again. */
export type ChargeOutcome = 'charged' | 'not_due' | 'overtaken';

/** Charges the due amount, if no charge of the contract is in flight. */
export async function chargeThreshold(
  context: BillingContext,
  reference: ThresholdReference,
): Promise<ChargeOutcome> {
  const prepared = await prepareCharge(context, reference);
  if (prepared === null || (await amountDue(context.db, prepared)) === null) return 'not_due';
  try {
    await context.db.transaction((tx) => charge(tx, context, prepared));
    return 'charged';
  } catch (error) {
    if (error instanceof NotCharged) return error.outcome;
    throw error;
  }
}

/** Undoes the transaction. */
class NotCharged extends Error {
  override readonly name = 'NotCharged';
  readonly outcome: ChargeOutcome;
  constructor(outcome: ChargeOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}

async function charge(tx: Transaction, context: BillingContext, prepared: PreparedCharge): Promise<void> {
  const { contractId, kind, now, reading } = prepared;
  const { paymentGate } = reading.threshold;
  let price: Price = { total: ZERO, discounted: ZERO };
  await changeContract(tx, context, prepared, { now, changedBy: CHARGED_BY }, async (full) => {
    const amount = await lockedAmount(tx, context, prepared, full);
    price = await priceOf(tx, prepared, amount);
    const commit = boughtCommit(reading.input, { amount, price, paymentGate });
    const terms = { ...full.terms, commits: [...full.terms.commits, commit] };
    return { after: { ...full, terms }, changes: { addCommits: [commit] } };
  });
  await insertThresholdCharge(tx, {
    commitId: reading.input.ids.commit,
    contractId,
    kind,
    discountedAmount: price.discounted,
    isInFlight: paymentGate.type !== 'NONE',
  });
  await publishThresholdReached(tx, prepared, now);
  const change = { action: 'chargeThreshold', resourceType: 'contract', resourceId: contractId };
  const description = `Create commit ${reading.input.ids.commit} because the ${kind} threshold was reached`;
  await recordSystemChanges(tx, THRESHOLDS, now, [{ ...change, description }]);
}

/** The amount of the charge that is due under the lock of the contract. */
async function lockedAmount(
  tx: Transaction,
  context: BillingContext,
  prepared: PreparedCharge,
  { contract }: FullContract,
): Promise<Decimal> {
  await lockBalances(tx, [contract.customerId]);
  const charges = await loadThresholdCharges(tx, [contract.id]);
  if (charges.some(({ isInFlight }) => isInFlight)) throw new NotCharged('not_due');
  if (!(await isStillValid({ ...context, db: tx }, prepared))) throw new NotCharged('overtaken');
  const amount = await amountDue(tx, prepared);
  if (amount === null) throw new NotCharged('not_due');
  return amount;
}

/** In the currency of the contract. */
async function priceOf(
  tx: Transaction,
  { now, reading: { of, threshold, input } }: PreparedCharge,
  amount: Decimal,
): Promise<Price> {
  const worth = worthOf(of, input.unit.access);
  assert(worth !== null, `the rate card converts ${input.unit.access}`);
  const full = amount.times(worth);
  const { discount } = threshold;
  const cap = discount?.cap ?? null;
  if (cap === null) return discountedPrice(full, discount, null);
  const tracker = of.spendTrackers.find(({ alias }) => alias === cap.spendTrackerAlias);
  const counted = (await accumulatedSpends(tx, [of], now)).get(of.contract.id)?.get(cap.spendTrackerAlias);
  const perUnit = tracker === undefined ? null : worthOf(of, tracker.creditTypeId);
  // Spend that cannot be counted in the currency does not limit the discount of charges in it.
  if (perUnit === null) return discountedPrice(full, discount, null);
  const room = maximum(cap.amount.minus(counted?.amount ?? ZERO), ZERO).times(perUnit);
  return discountedPrice(full, discount, room);
}
