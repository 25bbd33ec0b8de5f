/**
 * Records the outcome of a payment that is collected outside the service (docs/explanation/contracts.md, "Payment
 * gates").
 */
import { invalid, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { PaymentOutcome } from '../../core/terms/payment-gate.ts';
import { type ProviderPayment, publishPaymentOutcomes } from '../../notifications/payment-messages.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { insertPaymentOutcome, loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockContract } from '../../store/contracts/contracts.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import { loadInvoicedItems } from '../../store/invoices/invoiced-items.ts';
import type { IssuedHead } from '../../store/invoices/invoices.ts';
import { voidInvoicesOfItems } from '../../store/invoices/voided-invoices.ts';
import { findThresholdCharge } from '../../store/thresholds/threshold-charges.ts';
import type { BillingContext } from '../billing-context.ts';
import { holdScheduledInvoices } from '../invoice-queue/scheduled-jobs.ts';
import { settlePayment } from '../thresholds/settle-payment.ts';

export interface ReleaseCommitInput {
  /** The id of the withheld commit. */
  readonly workflowId: string;
  readonly outcome: PaymentOutcome;
  readonly toldBy: string;
}

/**
 * PAID makes the commit's balance usable from the start of its access. FAILED withholds it permanently and voids the
 * invoices of its purchase; the threshold that caused the purchase is disabled. The same outcome again changes nothing.
 * Refuses the other outcome (`invalid`), and an unknown workflow.
 */
export async function releaseCommit(
  context: BillingContext,
  { workflowId, outcome, toldBy }: ReleaseCommitInput,
): Promise<void> {
  const told = { outcome, toldBy, errorMessage: null, provider: null };
  const voided = await context.db.transaction(async (tx): Promise<IssuedHead[]> => {
    const [commit] = isUuid(workflowId)
      ? await loadCommits(tx, { ids: [workflowId], includeArchived: true })
      : [];
    if (commit?.paymentGate?.type !== 'EXTERNAL') throw notFound('workflow', workflowId);
    const ended = await endPayment(tx, context, commit, told);
    if (ended === null && (await loadPaymentOutcomes(tx, [commit.id])).get(commit.id) !== outcome) {
      throw invalid(['outcome'], `workflow ${workflowId} has ended with the other outcome already`);
    }
    return ended ?? [];
  });
  for (const invoice of voided) context.invoiceLog.voided(invoice);
}

/** The same outcome, reported by a provider. The first report is final. Returns the invoices that it has voided. */
export async function endProviderPayment(
  tx: Transaction,
  context: BillingContext,
  commitId: string,
  told: Omit<ToldOutcome, 'toldBy'>,
): Promise<readonly IssuedHead[]> {
  const [commit] = await loadCommits(tx, { ids: [commitId], includeArchived: true });
  if (commit === undefined) return [];
  return (await endPayment(tx, context, commit, { ...told, toldBy: 'payment provider' })) ?? [];
}

interface ToldOutcome {
  readonly outcome: PaymentOutcome;
  readonly toldBy: string;
  readonly errorMessage: string | null;
  readonly provider: ProviderPayment | null;
}

/** The voided invoices; null if an outcome is known already. */
async function endPayment(
  tx: Transaction,
  context: BillingContext,
  commit: Commit,
  { outcome, toldBy, errorMessage, provider }: ToldOutcome,
): Promise<IssuedHead[] | null> {
  const charge = await findThresholdCharge(tx, commit.id);
  if (charge !== null) await lockContract(tx, charge.contractId);
  // An invoice of the commit is either issued before, and voided here, or is no longer issued.
  if (commit.contractId !== null) await holdScheduledInvoices(tx, [commit.contractId]);
  const row = { commitId: commit.id, outcome, toldAt: context.clock.now(), toldBy };
  if (!(await insertPaymentOutcome(tx, row))) return null;
  const voided = outcome === 'FAILED' ? await voidInvoicesOfItems(tx, itemIdsOf(commit), row.toldAt) : [];
  if (charge !== null) {
    await settlePayment(tx, context, { ...charge, customerId: commit.customerId }, outcome);
  }
  const [invoiced] = (await loadInvoicedItems(tx, itemIdsOf(commit))).values();
  const invoiceId = invoiced?.invoiceId ?? null;
  const { id: commitId, customerId, contractId } = commit;
  await publishPaymentOutcomes(
    tx,
    [{ commitId, customerId, contractId, outcome, invoiceId, errorMessage, provider }],
    row.toldAt,
  );
  await noteCustomerChanges(tx, [commit.customerId]);
  return voided;
}

function itemIdsOf({ invoiceSchedule }: Commit): string[] {
  return (invoiceSchedule?.items ?? []).map(({ id }) => id);
}
