/**
 * The simulated payment provider (`PAYMENT_PROVIDER=simulated`): decides at once, by the amount alone, so that clients
 * can try both outcomes (docs/explanation/contracts.md, "Payment gates"). It has no memory, and nothing leaves the
 * process.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { unsentNote } from '../../core/external-credit-note.ts';
import type { ExternalInvoice } from '../../core/external-invoice.ts';
import type { PaymentOutcome } from '../../core/terms/payment-gate.ts';
import type { PaymentDocument } from '../document.ts';
import type { PaymentsProvider } from '../provider.ts';

/** Amounts that end in these digits cannot be paid, such as 100.02 dollars, which are 10002 cents. */
const FAILING_END = '02';

const REFUSED = 'the simulated payment provider refuses this amount';

/** `amount` is in the unit of the invoice: cents for US dollars. */
export function simulatedOutcome(amount: Decimal): PaymentOutcome {
  const digits = amount.toFixed().replace('.', '');
  return digits.endsWith(FAILING_END) ? 'FAILED' : 'PAID';
}

export const simulatedProvider: PaymentsProvider = {
  deliver: async (document) => simulatedState(document),
  status: async (document) => simulatedState(document),
  void: async (document) => ({ ...simulatedState(document), status: 'VOID', error: null }),
  async collect(document) {
    const external = simulatedState(document);
    return { external, isUnderWay: false, message: external.paymentError };
  },
  async charge({ document }) {
    const outcome = simulatedOutcome(document.total);
    const message = outcome === 'PAID' ? null : REFUSED;
    return { external: simulatedState(document), outcome, message, actionRequired: null };
  },
  deliverNote: async () => unsentNote('stripe', 'SKIPPED', null),
  notesThere: async () => null,
  isPaymentUnderWay: async () => false,
};

/** The provider's copy of an invoice. */
export function simulatedState({
  invoiceId,
  total,
  payable,
  issuedAt,
}: Pick<PaymentDocument, 'invoiceId' | 'total' | 'payable' | 'issuedAt'>): ExternalInvoice {
  const isPaid = simulatedOutcome(total) === 'PAID';
  return {
    billingProvider: 'stripe',
    status: isPaid ? 'PAID' : 'PAYMENT_FAILED',
    externalId: `simulated_${invoiceId}`,
    number: null,
    issuedAt,
    paidAt: isPaid ? issuedAt : null,
    pdfUrl: null,
    paymentUrl: null,
    total: payable,
    subTotal: payable,
    tax: null,
    paymentId: null,
    amountPaid: isPaid ? payable : ZERO,
    paymentError: isPaid ? null : REFUSED,
    error: isPaid ? null : REFUSED,
  };
}
