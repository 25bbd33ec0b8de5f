/** Payment gates: whether a purchase must be paid before its balance can be used, and how it is taxed. */
import { z } from 'zod';
import { exactText, objectOf, textMap } from './values.ts';

export const PAYMENT_GATE_TYPES = ['NONE', 'STRIPE', 'EXTERNAL'] as const;
export const TAX_TYPES = ['NONE', 'STRIPE', 'ANROK', 'PRECALCULATED'] as const;
export const STRIPE_PAYMENT_TYPES = ['INVOICE', 'PAYMENT_INTENT'] as const;

export const paymentGate = objectOf({
  type: z.enum(PAYMENT_GATE_TYPES),
  /** Null: omitted, no tax. */
  taxType: z.enum(TAX_TYPES).nullable(),
  /** With type STRIPE only. */
  stripe: objectOf({
    paymentType: z.enum(STRIPE_PAYMENT_TYPES),
    invoiceMetadata: textMap.nullable(),
    onSessionPayment: z.boolean().nullable(),
  }).nullable(),
  /** With tax type PRECALCULATED only; in the unit of the purchase's invoice. */
  precalculatedTax: objectOf({ amount: exactText, name: z.string().nullable() }).nullable(),
});
export type PaymentGate = z.output<typeof paymentGate>;

/** The outcome of a payment that is collected outside this service. */
export const PAYMENT_OUTCOMES = ['PAID', 'FAILED'] as const;
export type PaymentOutcome = (typeof PAYMENT_OUTCOMES)[number];

/** The provider that collects payments of gate STRIPE; null if there is none. */
export type PaymentProvider = 'simulated' | 'stripe';

/** Whether the balance is still blocked by the gate. `outcome` is null until the payment is reported. */
export function isWithheld(gate: PaymentGate | null, outcome: PaymentOutcome | null): boolean {
  return gate !== null && gate.type !== 'NONE' && outcome !== 'PAID';
}
