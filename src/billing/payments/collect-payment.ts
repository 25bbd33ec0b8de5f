/**
 * Collects the payment of an invoice whose commit is withheld until it is paid (docs/contracts.md, "Payment gates"), in
 * the transaction that issues the invoice.
 */
import type { Invoice } from '../../core/invoice.ts';
import type { PaymentOutcome, PaymentProvider } from '../../core/terms/payment-gate.ts';
import type { Instant } from '../../core/time.ts';
import { loadCommits } from '../../store/commits.ts';
import { noteCustomerChanges } from '../../store/customer-changes.ts';
import type { Transaction } from '../../store/database.ts';
import { insertPaymentOutcome } from '../../store/payment-outcomes.ts';
import { simulatedOutcome } from './simulated-provider.ts';

/** An invoice that pays for one gated commit. */
export interface GatedInvoice {
  readonly commitId: string;
  readonly invoice: Invoice;
}

/**
 * By invoice; invoices whose payment is collected elsewhere, or by nobody, are absent. The outcome releases the commit
 * or withholds it for good.
 */
export async function collectPayments(
  tx: Transaction,
  gated: readonly GatedInvoice[],
  provider: PaymentProvider | undefined,
  now: Instant,
): Promise<Map<string, PaymentOutcome>> {
  const outcomes = new Map<string, PaymentOutcome>();
  if (provider === undefined || gated.length === 0) return outcomes;
  const ids = gated.map(({ commitId }) => commitId);
  const commits = await loadCommits(tx, { ids, includeArchived: true });
  const collected = new Set(
    commits.filter(({ paymentGate }) => paymentGate?.type === 'STRIPE').map(({ id }) => id),
  );
  for (const { commitId, invoice } of gated) {
    if (!collected.has(commitId)) continue;
    const outcome = simulatedOutcome(invoice.total);
    outcomes.set(invoice.id, outcome);
    await insertPaymentOutcome(tx, { commitId, outcome, toldAt: now, toldBy: 'simulated payment provider' });
  }
  // What a failed payment of a threshold's charge disables needs the lock of the contract, before that of this job.
  const paid = gated.filter(({ invoice }) => outcomes.has(invoice.id));
  await noteCustomerChanges(
    tx,
    paid.map(({ invoice }) => invoice.customerId),
  );
  return outcomes;
}
