/** Payment gates: whether a commit must be paid before its balance can be used. */
import { z } from 'zod';
import { PAYMENT_GATE_TYPES, STRIPE_PAYMENT_TYPES, TAX_TYPES } from '../../../core/terms/payment-gate.ts';
import { described, kind, optional } from '../description.ts';
import { exact, oneOf, textUpTo, truth } from '../kinds.ts';
import { record } from '../record.ts';

/**
 * Stripe's limits. `ours`: keys that lead a payment back to this service, such as the invoice, its customer, contract and
 * commit, and the invoice that it replaces.
 */
const METADATA_MAX = { keys: 50, ours: 9, key: 40, value: 500 };
const TAX_NAME_MAX = 200;

const { keys, ours } = METADATA_MAX;
const metadata = kind(
  z
    .record(
      z
        .string()
        .min(1)
        .max(METADATA_MAX.key)
        .regex(/^[^[\]]*$/, 'must not contain square brackets'),
      z.string().max(METADATA_MAX.value),
    )
    .refine(
      (map) => Object.keys(map).length <= keys - ours,
      `must have at most ${keys - ours} keys: Stripe takes ${keys}, of which ${ours} are ours`,
    ),
  z.record(z.string(), z.string()),
);

export const paymentGate = record(
  {
    type: oneOf(PAYMENT_GATE_TYPES),
    taxType: described('Default: NONE.', optional(oneOf(TAX_TYPES))),
    stripe: described(
      'With payment_gate_type STRIPE only.',
      optional(
        record({
          paymentType: oneOf(STRIPE_PAYMENT_TYPES),
          invoiceMetadata: optional(metadata),
          onSessionPayment: optional(truth),
        }),
      ),
    ),
    precalculatedTax: described(
      'With tax_type PRECALCULATED only.',
      optional(
        record(
          { amount: exact({ min: '0' }), name: optional(textUpTo(TAX_NAME_MAX)) },
          { place: 'precalculatedTax' },
        ),
      ),
    ),
  },
  { place: 'paymentGate', id: 'PaymentGateConfig' },
);
