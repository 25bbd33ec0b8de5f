/**
 * Messages of payment gates (docs/explanation/notifications.md): a threshold was crossed, a payment has to be collected
 * elsewhere, a payment has an outcome. They are always sent, like `invoice.finalized`.
 */
import { currencyOf } from '../core/currencies.ts';
import type { Decimal } from '../core/decimal.ts';
import type { PaymentFailure } from '../core/external-invoice.ts';
import type { PaymentOutcome } from '../core/terms/payment-gate.ts';
import type { ThresholdKind } from '../core/terms/thresholds.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { loadKindsOfCharges } from '../store/thresholds/threshold-charges.ts';
import { type Message, publish } from './outbox.ts';

/** The purpose of the payment of a gated commit. A commit that no threshold has bought was agreed manually. */
const WORKFLOW_TYPES: Readonly<Record<ThresholdKind, string>> = {
  PREPAID_BALANCE: 'prepaid_balance',
  SPEND: 'spend',
};
const BY_HAND = 'manual_commit';

const THRESHOLD_REACHED = 'payment_gate.threshold_reached';
const EXTERNAL_INITIATE = 'payment_gate.external_initiate';
const PAYMENT_STATUS = 'payment_gate.payment_status';
const ACTION_REQUIRED = 'payment_gate.payment_pending_action_required';

/** The payment of the purchase of a commit. */
interface GatedPayment {
  readonly commitId: string;
  readonly customerId: string;
  /** Null for a commit of the customer. */
  readonly contractId: string | null;
}

export interface RequestedPayment extends GatedPayment {
  readonly invoice: { readonly id: string; readonly total: Decimal; readonly creditTypeId: string };
}

/** A payment at the billing provider. */
export interface ProviderPayment {
  /** Null: there is none yet. */
  readonly id: string | null;
  /** The failure as reported by the provider, if any. */
  readonly failure: PaymentFailure | null;
}

export interface EndedPayment extends GatedPayment {
  readonly outcome: PaymentOutcome;
  /** Null if the purchase was not invoiced yet. */
  readonly invoiceId: string | null;
  /** Why it failed, if that is known. */
  readonly errorMessage: string | null;
  /** Null: no billing provider has collected it. */
  readonly provider: ProviderPayment | null;
}

/** Reports that a balance or spend has crossed its threshold, and that a commit is bought. */
export async function publishThresholdReached(
  tx: Transaction,
  of: { readonly customerId: string; readonly contractId: string; readonly kind: ThresholdKind },
  now: Instant,
): Promise<void> {
  const { customerId, contractId, kind } = of;
  const about = { workflow_type: WORKFLOW_TYPES[kind], customer_id: customerId, contract_id: contractId };
  await publish(tx, [THRESHOLD_REACHED], async () => [
    messageOf(THRESHOLD_REACHED, customerId, { ...about, timestamp: formatInstant(now) }),
  ]);
}

/** Requests payments that are collected elsewhere. The release of the commit names the same workflow. */
export async function publishPaymentRequests(
  tx: Transaction,
  payments: readonly RequestedPayment[],
): Promise<void> {
  await publishPayments(tx, EXTERNAL_INITIATE, payments, ({ commitId, invoice }) => ({
    workflow_id: commitId,
    invoice_id: invoice.id,
    invoice_total: invoice.total,
    invoice_currency: currencyOf(invoice.creditTypeId)?.code ?? null,
  }));
}

/** Reports payments that their customer has to confirm, for example with a second factor. */
export async function publishActionsRequired(
  tx: Transaction,
  payments: readonly (GatedPayment & {
    readonly invoiceId: string;
    readonly paymentIntentId: string;
    readonly errorMessage: string | null;
    readonly failure: PaymentFailure | null;
  })[],
  now: Instant,
): Promise<void> {
  await publishPayments(
    tx,
    ACTION_REQUIRED,
    payments,
    ({ commitId, invoiceId, paymentIntentId, errorMessage, failure }) => ({
      workflow_id: commitId,
      invoice_id: invoiceId,
      payment_intent_id: paymentIntentId,
      external_payment_id: paymentIntentId,
      timestamp: formatInstant(now),
      error_message: errorMessage,
      ...providerMember({ id: paymentIntentId, failure }, errorMessage),
    }),
  );
}

/** Reports payments whose outcome is now known. */
export async function publishPaymentOutcomes(
  tx: Transaction,
  payments: readonly EndedPayment[],
  now: Instant,
): Promise<void> {
  await publishPayments(tx, PAYMENT_STATUS, payments, ({ outcome, invoiceId, errorMessage, provider }) => ({
    invoice_id: invoiceId,
    payment_status: outcome === 'PAID' ? 'paid' : 'failed',
    timestamp: formatInstant(now),
    error_message: errorMessage,
    ...(provider === null ? {} : providerMember(provider, outcome === 'FAILED' ? errorMessage : null)),
  }));
}

/** `errorMessage`: why it failed, or is not paid yet; null: there is no error. */
function providerMember({ id, failure }: ProviderPayment, errorMessage: string | null) {
  const error = {
    type: failure?.type ?? null,
    code: failure?.code ?? null,
    decline_code: failure?.declineCode ?? null,
    message: failure?.message ?? errorMessage,
  };
  const hasError = failure !== null || errorMessage !== null;
  return {
    billing_provider: {
      type: 'stripe',
      stripe: { payment_intent_id: id, ...(hasError ? { error } : {}) },
    },
  };
}

async function publishPayments<Payment extends GatedPayment>(
  tx: Transaction,
  type: typeof EXTERNAL_INITIATE | typeof PAYMENT_STATUS | typeof ACTION_REQUIRED,
  payments: readonly Payment[],
  properties: (payment: Payment) => Readonly<Record<string, unknown>>,
): Promise<void> {
  if (payments.length === 0) return;
  await publish(tx, [type], async () => {
    const kinds = await loadKindsOfCharges(
      tx,
      payments.map(({ commitId }) => commitId),
    );
    return payments.map((payment) => {
      const { commitId, customerId, contractId } = payment;
      const kind = kinds.get(commitId);
      const workflow_type = kind === undefined ? BY_HAND : WORKFLOW_TYPES[kind];
      const about = { workflow_type, customer_id: customerId, contract_id: contractId };
      return messageOf(type, customerId, { ...about, ...properties(payment) });
    });
  });
}

function messageOf(type: Message['type'], customerId: string, properties: Message['content']): Message {
  return { type, customerId, content: { properties } };
}
