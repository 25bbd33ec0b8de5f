/** Collecting an open invoice at its billing provider, on request. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { collectInvoice } from '../../../billing/payments/collect-invoice.ts';
import { EXTERNAL_STATUSES } from '../../../core/external-invoice.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';

export function collectRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/collect',
    operationId: 'collectInvoice',
    summary: 'Collect an open invoice at its billing provider now',
    description:
      'Uses the default payment method of the customer, and answers when the provider has decided. 409 while the invoice ' +
      'is collected or delivered, or a payment of it is under way; 503 if the provider gives no answer.',
    tags: ['Invoices'],
    scope: 'write',
    commitsItself: true,
    body: z.object({ invoice_id: uuid }),
    response: z.object({
      data: z
        .object({
          invoice_id: uuid,
          external_status: z.enum(EXTERNAL_STATUSES),
          payment_error: z.string().nullable().meta({
            description: 'Why nothing was collected; null if it is paid, or its payment is under way.',
          }),
        })
        .meta({ id: 'CollectedInvoice' }),
    }),
    errors: [400, 404, 409, 503],
    async handler({ body }) {
      const { invoiceId, status, paymentError } = await collectInvoice(context, body.invoice_id);
      return { data: { invoice_id: invoiceId, external_status: status, payment_error: paymentError } };
    },
  });
}
