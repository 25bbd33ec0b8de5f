/** Deliveries of invoices to billing providers: another attempt, reports of other systems, and the billed party. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { setCustomerBillableStatus } from '../../../billing/customers/billable-status.ts';
import { redeliverInvoices } from '../../../billing/payments/redeliver.ts';
import { tellExternalStatus } from '../../../billing/payments/told-status.ts';
import { BILLABLE_STATUSES } from '../../../core/billing-providers.ts';
import { EXTERNAL_STATUSES } from '../../../core/external-invoice.ts';
import { isLink } from '../../../core/urls.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, timestamp, uuid } from '../../wire/fields.ts';
import { externalInvoiceSchema, externalToWire } from '../invoices/external-invoice.ts';

/** One call is one transaction. */
const INVOICES_PER_CALL_MAX = 100;

export function deliveryRoutes(context: RowContext): RouteDefinition[] {
  return [deliverRoute(context), tellRoute(context), billableRoute(context)];
}

function deliverRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/deliver',
    operationId: 'deliverInvoices',
    summary: 'Try again to deliver invoices to their billing providers',
    description:
      'For invoices with `INVALID_REQUEST_ERROR`, `DELETED` or `SKIPPED`, and those that were issued before there was a ' +
      'provider. One that is delivered stays as it is: none is delivered twice. The attempt follows within seconds.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ invoice_ids: z.array(uuid).min(1).max(INVOICES_PER_CALL_MAX) }),
    response: z.object({
      data: z.array(z.object({ invoice_id: uuid, external_status: z.enum(EXTERNAL_STATUSES) })),
    }),
    errors: [400, 404],
    async handler({ body }) {
      const queued = await redeliverInvoices(context, body.invoice_ids);
      return {
        data: queued.map(({ invoiceId, status }) => ({ invoice_id: invoiceId, external_status: status })),
      };
    },
  });
}

function tellRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/providers/custom/invoices/update',
    operationId: 'updateExternalInvoice',
    summary: 'Report the state of an invoice in your own system',
    description: 'For invoices of `billing_provider` custom. Members that are absent stay as they are.',
    tags: ['Billing providers'],
    scope: 'write',
    body: z.object({
      invoice_id: uuid.meta({ description: 'The id of the invoice here.' }),
      external_status: enumIn(EXTERNAL_STATUSES).optional(),
      number: z.string().max(255).nullish(),
      pdf_url: z.string().max(2_000).refine(isLink, 'must be a URL with https or http').nullish(),
      external_payment_id: z.string().max(255).nullish(),
      billing_provider_error: z.string().max(2_000).nullish(),
      paid_at: timestamp.nullish(),
    }),
    response: z.object({ data: externalInvoiceSchema }),
    errors: [400, 404],
    async handler({ body }) {
      const told = await tellExternalStatus(context, body.invoice_id, {
        ...(body.external_status === undefined ? {} : { status: body.external_status }),
        ...(body.number === undefined ? {} : { number: body.number }),
        ...(body.pdf_url === undefined ? {} : { pdfUrl: body.pdf_url }),
        ...(body.external_payment_id === undefined ? {} : { paymentId: body.external_payment_id }),
        ...(body.billing_provider_error === undefined ? {} : { error: body.billing_provider_error }),
        ...(body.paid_at === undefined ? {} : { paidAt: body.paid_at }),
      });
      return { data: externalToWire(told) };
    },
  });
}

function billableRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers/setBillableStatus',
    operationId: 'setBillableStatus',
    summary: 'Decide whether the invoices of a customer are delivered to a billing provider',
    description: 'Applies to invoices issued from now on. Delivered invoices stay at the provider.',
    tags: ['Customers'],
    scope: 'write',
    body: z.object({ customer_id: uuid, billable_status: z.enum(BILLABLE_STATUSES) }),
    response: z.object({ data: z.object({ customer_id: uuid, billable_status: z.enum(BILLABLE_STATUSES) }) }),
    errors: [400, 404],
    async handler({ body }) {
      await setCustomerBillableStatus(context, body.customer_id, body.billable_status);
      return { data: body };
    },
  });
}
