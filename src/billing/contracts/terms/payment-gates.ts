/** Refuses unsupported payment gates and taxes (docs/explanation/contracts.md, "Thresholds"). Pure. */
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import type { PaymentGate } from '../../../core/terms/payment-gate.ts';
import type { TermsContext } from './terms-context.ts';

/** Refuses (`invalid`) gates and taxes that no provider supports, and settings of another kind of gate. */
export function refusePaymentGate(
  gate: PaymentGate,
  path: FieldPath,
  { paymentProvider }: Pick<TermsContext, 'paymentProvider'>,
): void {
  if (gate.type === 'STRIPE' && paymentProvider === null) {
    throw invalid(
      [...path, 'type'],
      'STRIPE needs a payment provider, and none is connected: STRIPE_API_KEY connects Stripe, and ' +
        'PAYMENT_PROVIDER=simulated tries it without money',
    );
  }
  if (gate.type !== 'STRIPE' && gate.stripe !== null)
    throw invalid([...path, 'stripe'], words`is for ${['type']} STRIPE only`);
  if (gate.taxType === 'STRIPE' && gate.type !== 'STRIPE') {
    throw invalid([...path, 'taxType'], words`STRIPE is for ${['type']} STRIPE only`);
  }
  if (gate.taxType === 'ANROK') {
    throw invalid([...path, 'taxType'], 'ANROK needs a tax provider, and none is connected');
  }
  if (gate.taxType === 'PRECALCULATED' && gate.precalculatedTax === null) {
    throw invalid([...path, 'precalculatedTax'], words`is required with ${['taxType']} PRECALCULATED`);
  }
  if (gate.taxType !== 'PRECALCULATED' && gate.precalculatedTax !== null) {
    throw invalid([...path, 'precalculatedTax'], words`is for ${['taxType']} PRECALCULATED only`);
  }
}
