/**
 * The consequences of the outcome of the payment of a threshold's charge (docs/explanation/thresholds.md, "Payment
 * gates").
 */
import type { FullContract } from '../../core/terms/contract.ts';
import type { ContractChanges } from '../../core/terms/contract-edits.ts';
import type { PaymentOutcome } from '../../core/terms/payment-gate.ts';
import type { ThresholdKind } from '../../core/terms/thresholds.ts';
import { recordSystemChanges } from '../../store/access/system-changes.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockContract } from '../../store/contracts/contracts.ts';
import {
  type ChargeInFlight,
  endThresholdCharge,
  loadChargesInFlight,
} from '../../store/thresholds/threshold-charges.ts';
import type { BillingContext } from '../billing-context.ts';
import { changeContract } from '../contracts/change-contract.ts';
import type { ContractChange } from '../contracts/settle-contract.ts';
import { CHARGED_BY, THRESHOLDS } from './charge-threshold.ts';

/**
 * A failed payment disables the threshold; nothing is tried again by itself. Then the contract may be charged again.
 * The contract of the charge must not be locked after the jobs of the contract.
 */
export async function settlePayment(
  tx: Transaction,
  context: BillingContext,
  charge: Pick<ChargeInFlight, 'commitId' | 'contractId' | 'customerId' | 'kind'>,
  outcome: PaymentOutcome | null,
): Promise<void> {
  const contract = await lockContract(tx, charge.contractId);
  if (outcome === 'FAILED' && contract?.archivedAt === null) {
    const origin = { now: context.clock.now(), changedBy: CHARGED_BY };
    await changeContract(tx, context, charge, origin, (full) => disabled(full, charge.kind));
    const change = { action: 'disableThreshold', resourceType: 'contract', resourceId: charge.contractId };
    const description = `Disable the ${charge.kind} threshold because the payment of commit ${charge.commitId} has failed`;
    await recordSystemChanges(tx, THRESHOLDS, origin.now, [{ ...change, description }]);
  }
  await endThresholdCharge(tx, charge.commitId);
}

/** Settles the charges of the customers whose payment has an outcome, and those whose commit was archived. */
export async function settlePayments(context: BillingContext, customerIds: readonly string[]): Promise<void> {
  const charges = await loadChargesInFlight(context.db, customerIds);
  if (charges.length === 0) return;
  const ids = charges.map(({ commitId }) => commitId);
  const outcomes = await loadPaymentOutcomes(context.db, ids);
  const commits = await loadCommits(context.db, { ids, includeArchived: true });
  const archived = new Set(commits.flatMap(({ id, archivedAt }) => (archivedAt === null ? [] : [id])));
  for (const charge of charges) {
    const outcome = outcomes.get(charge.commitId) ?? null;
    if (outcome === null && !archived.has(charge.commitId)) continue;
    await context.db.transaction((tx) => settlePayment(tx, context, charge, outcome));
  }
}

function disabled(full: FullContract, kind: ThresholdKind): ContractChange {
  const { terms } = full;
  const change = { isEnabled: false };
  const isPrepaid = kind === 'PREPAID_BALANCE';
  const changes: Partial<ContractChanges> = isPrepaid
    ? { updatePrepaidBalanceThreshold: change }
    : { updateSpendThreshold: change };
  const { prepaidBalanceThreshold: prepaid, spendThreshold: spend } = terms;
  const after = isPrepaid
    ? { prepaidBalanceThreshold: prepaid && { ...prepaid, ...change } }
    : { spendThreshold: spend && { ...spend, ...change } };
  return { after: { ...full, terms: { ...terms, ...after } }, changes };
}
