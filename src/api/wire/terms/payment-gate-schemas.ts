/** How payment gates look on the wire. */
import { z } from 'zod';
import {
  PAYMENT_GATE_TYPES,
  type PaymentGate,
  STRIPE_PAYMENT_TYPES,
  TAX_TYPES,
} from '../../../core/terms/payment-gate.ts';
import { enumIn, exactNumber, exactValue } from '../fields.ts';
import { given, givenMap } from './term-fields.ts';

export const paymentGateInput = z
  .object({
    payment_gate_type: enumIn(PAYMENT_GATE_TYPES),
    tax_type: enumIn(TAX_TYPES).nullish().meta({ description: 'Default: NONE.' }),
    stripe_config: z
      .object({
        payment_type: enumIn(STRIPE_PAYMENT_TYPES),
        invoice_metadata: z.record(z.string(), z.string()).nullish(),
        on_session_payment: z.boolean().nullish(),
      })
      .nullish()
      .meta({ description: 'With payment_gate_type STRIPE only.' }),
    precalculated_tax_config: z
      .object({ tax_amount: exactNumber({ min: '0' }), tax_name: z.string().nullish() })
      .nullish()
      .meta({ description: 'With tax_type PRECALCULATED only.' }),
  })
  .meta({ id: 'PaymentGateConfigInput' });

export const paymentGateOutput = z
  .object({
    payment_gate_type: z.enum(PAYMENT_GATE_TYPES),
    tax_type: z.enum(TAX_TYPES).optional(),
    stripe_config: z
      .object({
        payment_type: z.enum(STRIPE_PAYMENT_TYPES),
        invoice_metadata: z.record(z.string(), z.string()).optional(),
        on_session_payment: z.boolean().optional(),
      })
      .optional(),
    precalculated_tax_config: z
      .object({ tax_amount: exactValue, tax_name: z.string().optional() })
      .optional(),
  })
  .meta({ id: 'PaymentGateConfig' });

export function paymentGateFromWire(wire: z.output<typeof paymentGateInput>): PaymentGate {
  const { stripe_config: stripe, precalculated_tax_config: tax } = wire;
  return {
    type: wire.payment_gate_type,
    taxType: wire.tax_type ?? null,
    stripe:
      stripe == null
        ? null
        : {
            paymentType: stripe.payment_type,
            invoiceMetadata: stripe.invoice_metadata ?? null,
            onSessionPayment: stripe.on_session_payment ?? null,
          },
    precalculatedTax: tax == null ? null : { amount: tax.tax_amount, name: tax.tax_name ?? null },
  };
}

export function paymentGateToWire(from: PaymentGate): z.input<typeof paymentGateOutput> {
  const { stripe, precalculatedTax: tax } = from;
  return {
    payment_gate_type: from.type,
    ...given('tax_type', from.taxType),
    ...given(
      'stripe_config',
      stripe === null
        ? null
        : {
            payment_type: stripe.paymentType,
            ...givenMap('invoice_metadata', stripe.invoiceMetadata ?? {}),
            ...given('on_session_payment', stripe.onSessionPayment),
          },
    ),
    ...given(
      'precalculated_tax_config',
      tax === null ? null : { tax_amount: tax.amount, ...given('tax_name', tax.name) },
    ),
  };
}
