/** Publishes the payments of gated commits whose purchase is invoiced, in the transaction that issues the invoices. */
import type { PaymentOutcome } from '../../core/terms/payment-gate.ts';
import type { Instant } from '../../core/time.ts';
import {
  publishPaymentOutcomes,
  publishPaymentRequests,
  type RequestedPayment,
} from '../../notifications/payment-messages.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Transaction } from '../../store/base/database.ts';
import type { GatedInvoice } from './collect-payment.ts';

/** `collected`: the outcomes by invoice of the payments that were collected just now. */
export async function tellOfPayments(
  tx: Transaction,
  gated: readonly GatedInvoice[],
  collected: ReadonlyMap<string, PaymentOutcome>,
  now: Instant,
): Promise<void> {
  const payments = gated.map(({ commitId, invoice }) => {
    const { customerId, contractId } = invoice;
    return { commitId, customerId, contractId, invoice };
  });
  const ended = payments.flatMap((payment) => {
    const outcome = collected.get(payment.invoice.id);
    if (outcome === undefined) return [];
    const errorMessage = outcome === 'PAID' ? null : 'the simulated payment provider refuses this amount';
    const provider = { id: null, failure: null };
    return [{ ...payment, outcome, invoiceId: payment.invoice.id, errorMessage, provider }];
  });
  await publishPaymentOutcomes(tx, ended, now);
  await publishPaymentRequests(tx, await collectedElsewhere(tx, payments));
}

/** Payments with gate EXTERNAL that are still open. */
async function collectedElsewhere(
  tx: Transaction,
  payments: readonly RequestedPayment[],
): Promise<RequestedPayment[]> {
  if (payments.length === 0) return [];
  const ids = payments.map(({ commitId }) => commitId);
  const commits = await loadCommits(tx, { ids, includeArchived: true });
  const external = new Set(commits.flatMap((one) => (one.paymentGate?.type === 'EXTERNAL' ? [one.id] : [])));
  const outcomes = await loadPaymentOutcomes(tx, [...external]);
  return payments.filter(({ commitId }) => external.has(commitId) && !outcomes.has(commitId));
}
