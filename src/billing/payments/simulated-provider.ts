/**
 * The simulated payment provider (`PAYMENT_PROVIDER=simulated`): decides at once, by the amount alone, so that clients can
 * try both outcomes (docs/contracts.md, "Payment gates"). Pure.
 */
import type { Decimal } from '../../core/decimal.ts';
import type { PaymentOutcome } from '../../core/terms/payment-gate.ts';

/** Amounts that end in these digits cannot be paid, such as 100.02 dollars, which are 10002 cents. */
const FAILING_END = '02';

/** `amount` is in the unit of the invoice: cents for US dollars. */
export function simulatedOutcome(amount: Decimal): PaymentOutcome {
  const digits = amount.toFixed().replace('.', '');
  return digits.endsWith(FAILING_END) ? 'FAILED' : 'PAID';
}
