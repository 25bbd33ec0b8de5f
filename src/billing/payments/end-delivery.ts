/** Records the end of an attempt to deliver an invoice, and all its consequences, in one transaction. */
import type { Instant } from '../../core/time.ts';
import { publishExternalStatus, publishProviderError } from '../../notifications/invoice-messages.ts';
import { publishActionsRequired } from '../../notifications/payment-messages.ts';
import type { Transaction } from '../../store/base/database.ts';
import { type AttemptEnd, endAttempt } from '../../store/invoices/delivery-work.ts';
import { type Delivery, makeWaitingDue } from '../../store/invoices/invoice-deliveries.ts';
import { findInvoiceHead, findRegenerated } from '../../store/invoices/invoices.ts';
import type { BillingContext } from '../billing-context.ts';
import { endProviderPayment } from '../commits/release-commit.ts';

/** The outcome of the payment that a balance waits for; null: there is none, or it is not decided. */
export interface PaymentEnd {
  readonly outcome: 'PAID' | 'FAILED';
  readonly message: string | null;
}

/** The lease had ended, so nothing of the attempt is recorded. */
class LeaseEnded extends Error {
  override readonly name = 'LeaseEnded';
}

/** `before`: as it was leased. False: another attempt has the delivery, and nothing is written. */
export async function endDelivery(
  context: BillingContext,
  before: Delivery,
  owner: string,
  end: AttemptEnd & { readonly payment: PaymentEnd | null; readonly actionRequired: string | null },
): Promise<boolean> {
  const { payment, actionRequired, ...attempt } = end;
  const { gatedCommitId } = before;
  try {
    const voided = await context.db.transaction(async (tx) => {
      // First, because its locks precede the lock of the delivery.
      const ended =
        payment === null || gatedCommitId === null
          ? []
          : await endProviderPayment(tx, context, gatedCommitId, {
              outcome: payment.outcome,
              errorMessage: payment.message,
              provider: {
                id: end.external?.paymentId ?? before.external.paymentId,
                failure: end.external?.paymentFailure ?? null,
              },
            });
      const after = await endAttempt(tx, before, owner, attempt);
      if (after === null) throw new LeaseEnded();
      if (attempt.voidEnded === true) await releaseSuccessor(tx, before.invoiceId, context.clock.now());
      await tellChange(tx, before, after, context.clock.now());
      if (actionRequired !== null && gatedCommitId !== null) {
        await tellAction(
          tx,
          before,
          {
            commitId: gatedCommitId,
            paymentIntentId: actionRequired,
            errorMessage: end.external?.paymentError ?? null,
            failure: end.external?.paymentFailure ?? null,
          },
          context.clock.now(),
        );
      }
      return ended;
    });
    for (const invoice of voided) context.invoiceLog.voided(invoice);
    return true;
  } catch (error) {
    if (error instanceof LeaseEnded) return false;
    throw error;
  }
}

/** The invoice that replaces a voided one waits until the void is done at the provider. */
async function releaseSuccessor(tx: Transaction, invoiceId: string, now: Instant): Promise<void> {
  const successor = await findRegenerated(tx, invoiceId);
  if (successor !== null) await makeWaitingDue(tx, successor, now);
}

async function tellChange(tx: Transaction, before: Delivery, after: Delivery, now: Instant): Promise<void> {
  const { invoiceId, customerId } = before;
  const change = { invoiceId, customerId, external: after.external };
  if (after.external.status === before.external.status) return;
  await publishExternalStatus(tx, change, now);
  if (after.external.status === 'INVALID_REQUEST_ERROR') await publishProviderError(tx, change, now);
}

async function tellAction(
  tx: Transaction,
  { invoiceId, customerId }: Delivery,
  of: Omit<Parameters<typeof publishActionsRequired>[1][number], 'invoiceId' | 'customerId' | 'contractId'>,
  now: Instant,
): Promise<void> {
  const contractId = (await findInvoiceHead(tx, invoiceId))?.contractId ?? null;
  await publishActionsRequired(tx, [{ ...of, customerId, contractId, invoiceId }], now);
}
