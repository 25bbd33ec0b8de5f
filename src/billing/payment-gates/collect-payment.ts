/**
 * Collects the payment of an invoice whose commit is withheld until it is paid (docs/explanation/contracts.md, "Payment
 * gates"), in the transaction that issues the invoice.
 */
import type { Invoice } from '../../core/invoice.ts';
import type { PaymentOutcome, PaymentProvider } from '../../core/terms/payment-gate.ts';
import type { Instant } from '../../core/time.ts';
import { simulatedOutcome, simulatedState } from '../../payments/simulated/simulated-provider.ts';
import { payableAmount } from '../../rating/invoices/payable.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { insertPaymentOutcome, loadPaymentOutcomes } from '../../store/balances/payment-outcomes.ts';
import type { Transaction } from '../../store/base/database.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import {
  insertCollected,
  queueGatedPayments,
  unqueueDeliveries,
} from '../../store/invoices/invoice-deliveries.ts';

/** An invoice that pays for one gated commit. */
export interface GatedInvoice {
  readonly commitId: string;
  readonly invoice: Invoice;
}

/** When a provider decides about a payment: in the transaction that issues the invoice, or when it is asked after that. */
const DECIDES: Readonly<Record<PaymentProvider, 'at once' | 'later'>> = {
  simulated: 'at once',
  stripe: 'later',
};

function decisionOf(provider: PaymentProvider | undefined): 'at once' | 'later' | 'never' {
  return provider === undefined ? 'never' : DECIDES[provider];
}

/**
 * The outcomes by invoice; invoices that are collected elsewhere, or not at all, are absent. The outcome releases the
 * commit or withholds it permanently.
 */
export async function collectPayments(
  tx: Transaction,
  gated: readonly GatedInvoice[],
  provider: PaymentProvider | undefined,
  now: Instant,
): Promise<Map<string, PaymentOutcome>> {
  const outcomes = new Map<string, PaymentOutcome>();
  // A provider that decides later is asked when the transaction has ended (`queueCollections`).
  if (decisionOf(provider) !== 'at once' || gated.length === 0) return outcomes;
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
  // A failed payment of a threshold's charge disables terms under the lock of the contract, which is taken before that
  // of this job.
  const paid = gated.filter(({ invoice }) => outcomes.has(invoice.id));
  await noteCustomerChanges(
    tx,
    paid.map(({ invoice }) => invoice.customerId),
  );
  return outcomes;
}

/**
 * Queues the payments of invoices issued by this transaction that a provider collects after it, and records those that
 * the simulated provider has decided. Purchases that are collected elsewhere are not delivered: nobody is to pay them
 * twice.
 */
export async function queueCollections(
  tx: Transaction,
  gated: readonly GatedInvoice[],
  provider: PaymentProvider | undefined,
  now: Instant,
): Promise<void> {
  if (gated.length === 0) return;
  const ids = gated.map(({ commitId }) => commitId);
  const commits = await loadCommits(tx, { ids, includeArchived: true });
  const types = new Map(commits.map(({ id, paymentGate }) => [id, paymentGate?.type]));
  const outcomes = await loadPaymentOutcomes(tx, ids);
  const isStripe = ({ commitId }: GatedInvoice) => types.get(commitId) === 'STRIPE';
  const isCollected = (one: GatedInvoice) =>
    decisionOf(provider) === 'later' && isStripe(one) && !outcomes.has(one.commitId);
  await queueGatedPayments(
    tx,
    gated.filter(isCollected).map(({ commitId, invoice }) => {
      // An invoice may be dated long ago; its payment begins now.
      return { invoiceId: invoice.id, commitId, customerId: invoice.customerId, queuedAt: now };
    }),
  );
  const elsewhere = gated.filter((one) => !isCollected(one));
  await unqueueDeliveries(
    tx,
    elsewhere.map(({ invoice }) => invoice.id),
  );
  if (decisionOf(provider) === 'at once') await insertSimulated(tx, gated.filter(isStripe));
}

/** They are complete: nothing is due. */
async function insertSimulated(tx: Transaction, paid: readonly GatedInvoice[]): Promise<void> {
  await insertCollected(
    tx,
    paid.map(({ commitId, invoice }) => {
      const { id: invoiceId, customerId, issuedAt } = invoice;
      const payable = payableAmount(invoice);
      const external = simulatedState({ invoiceId, total: invoice.total, payable, issuedAt });
      return { invoiceId, commitId, customerId, queuedAt: issuedAt, external };
    }),
  );
}
