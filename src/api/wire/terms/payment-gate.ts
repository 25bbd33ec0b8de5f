/** Payment gates: whether a commit must be paid before its balance can be used. */
import { PAYMENT_GATE_TYPES, STRIPE_PAYMENT_TYPES, TAX_TYPES } from '../../../core/terms/payment-gate.ts';
import { described, optional } from '../description.ts';
import { anyText, exact, oneOf, textMap, truth } from '../kinds.ts';
import { record } from '../record.ts';

export const paymentGate = record(
  {
    type: oneOf(PAYMENT_GATE_TYPES),
    taxType: described('Default: NONE.', optional(oneOf(TAX_TYPES))),
    stripe: described(
      'With payment_gate_type STRIPE only.',
      optional(
        record({
          paymentType: oneOf(STRIPE_PAYMENT_TYPES),
          invoiceMetadata: optional(textMap),
          onSessionPayment: optional(truth),
        }),
      ),
    ),
    precalculatedTax: described(
      'With tax_type PRECALCULATED only.',
      optional(
        record({ amount: exact({ min: '0' }), name: optional(anyText) }, { place: 'precalculatedTax' }),
      ),
    ),
  },
  { place: 'paymentGate', id: 'PaymentGateConfig' },
);
