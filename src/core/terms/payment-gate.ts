/** Whether a purchase has to be paid before its balance can be used, and how it is taxed. */
import { z } from 'zod';
import { exactText, textMap, valueOf } from './values.ts';

export const PAYMENT_GATE_TYPES = ['NONE', 'STRIPE', 'EXTERNAL'] as const;
export const TAX_TYPES = ['NONE', 'STRIPE', 'ANROK', 'PRECALCULATED'] as const;
export const STRIPE_PAYMENT_TYPES = ['INVOICE', 'PAYMENT_INTENT'] as const;

export const paymentGate = valueOf({
  type: z.enum(PAYMENT_GATE_TYPES),
  /** Null: not given, no tax. */
  taxType: z.enum(TAX_TYPES).nullable(),
  /** With type STRIPE only. */
  stripe: valueOf({
    paymentType: z.enum(STRIPE_PAYMENT_TYPES),
    invoiceMetadata: textMap.nullable(),
    onSessionPayment: z.boolean().nullable(),
  }).nullable(),
  /** With tax type PRECALCULATED only; in the unit of the purchase's invoice. */
  precalculatedTax: valueOf({ amount: exactText, name: z.string().nullable() }).nullable(),
});
export type PaymentGate = z.output<typeof paymentGate>;
