/** Writes down how an attempt to deliver an invoice has ended, and everything that follows from it, in one transaction. */
import type { Clock } from '../../core/clock.ts';
import { publishExternalStatus, publishProviderError } from '../../notifications/invoice-messages.ts';
import { publishActionsRequired } from '../../notifications/payment-messages.ts';
import type { Database } from '../../store/database.ts';
import { type AttemptEnd, endAttempt } from '../../store/delivery-work.ts';
import type { Delivery } from '../../store/invoice-deliveries.ts';
import { findInvoiceHead } from '../../store/invoices.ts';
import { endProviderPayment } from '../commits/release-commit.ts';
import type { VoidingDeps } from '../invoice-log/invoice-log.ts';

export type EndDeps = VoidingDeps & {
  readonly db: Database;
  readonly clock: Clock;
  readonly gracePeriodHours: number;
};

/** What became of the payment that a balance waits for; null: there is none, or it is not decided. */
export interface PaymentEnd {
  readonly outcome: 'PAID' | 'FAILED';
  readonly message: string | null;
}

/**
 * `before`: as it was leased. The end of a payment is written afterwards, in its own transaction, whose locks are others;
 * if the process ends in between, the next look at the provider finds the same. False: another process has the delivery.
 */
export async function endDelivery(
  deps: EndDeps,
  before: Delivery,
  owner: string,
  end: AttemptEnd & { readonly payment: PaymentEnd | null; readonly actionRequired: string | null },
): Promise<boolean> {
  const { payment, actionRequired, ...attempt } = end;
  const { gatedCommitId } = before;
  // The payment first: if this ends before the attempt is written down, the next one finds the same outcome.
  if (payment !== null && gatedCommitId !== null) {
    const { outcome, message: errorMessage } = payment;
    await endProviderPayment(deps, gatedCommitId, { outcome, errorMessage });
  }
  return deps.db.transaction(async (tx) => {
    const after = await endAttempt(tx, before, owner, attempt);
    if (after === null) return false;
    const now = deps.clock.now();
    const { invoiceId, customerId } = before;
    const change = { invoiceId, customerId, external: after.external };
    if (after.external.status !== before.external.status) {
      await publishExternalStatus(tx, change, now);
      if (after.external.status === 'INVALID_REQUEST_ERROR') await publishProviderError(tx, change, now);
    }
    const isNewAction = actionRequired !== null && before.external.paymentId !== actionRequired;
    if (isNewAction && gatedCommitId !== null) {
      const contractId = (await findInvoiceHead(tx, invoiceId))?.contractId ?? null;
      const payments = [
        { commitId: gatedCommitId, customerId, contractId, invoiceId, paymentIntentId: actionRequired },
      ];
      await publishActionsRequired(tx, payments, now);
    }
    return true;
  });
}
