/** The invoices and lines on which an event is billed. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { type EventBilling, eventBilling } from '../../../billing/events/event-billing.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';
import type { InvoiceView } from '../invoices/invoice-view.ts';
import { lineItemSchema, lineToWire } from '../invoices/line-output.ts';
import { viewOf } from '../invoices/routes.ts';
import { invoiceAdvice } from '../invoices/warning-messages.ts';

const billing = z
  .object({
    transaction_id: z.string(),
    customer_id: uuid
      .nullable()
      .meta({ description: 'Null if no customer has the id or alias of the event now.' }),
    invoices: z
      .array(
        z.object({
          id: uuid,
          contract_id: uuid,
          status: z.string().meta({ description: '`DRAFT` or `FINALIZED`.' }),
          invoice_number: z.string().optional(),
          start_timestamp: timestamp,
          end_timestamp: timestamp,
        }),
      )
      .meta({ description: 'The usage invoices of the customer whose billing period has the event.' }),
    lines: z.array(
      z.object({
        invoice_id: uuid,
        billable_metric_id: uuid,
        billable_metric_name: z.string(),
        quantity: exactValue.optional().meta({
          type: 'number',
          description:
            'What the event adds to the quantity of the line. Absent if it is no separate part: of a maximum, a latest ' +
            'value, unique values, a query, and of quantities that are converted or rounded.',
        }),
        amount: exactValue.optional().meta({
          type: 'number',
          description:
            'The quantity at the unit price of the line, in its `credit_type`. Absent also if the usage of the product ' +
            'is on several lines, as with tiers.',
        }),
        line_item: lineItemSchema,
      }),
    ),
    warnings: z
      .array(z.object({ invoice_id: uuid, message: z.string() }))
      .meta({ description: 'The warnings of these invoices about usage that the event is part of.' }),
  })
  .meta({ id: 'EventBilling' });

/** `transactionId`: the schema of ids of events. */
export function eventBillingRoute(
  context: BillingContext,
  transactionId: z.ZodType<string>,
): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/events/{transaction_id}/billing',
    operationId: 'getEventBilling',
    summary: 'Find the invoices and lines on which an event is billed',
    description:
      'The usage invoices of the customer at the time of the event, drafts included, and their lines for products ' +
      'whose metric counts the event and whose group values it has. As in event search, the present metrics, products ' +
      'and aliases decide; events accepted within the deduplication window are found.',
    tags: ['Usage'],
    scope: 'read',
    params: z.object({ transaction_id: transactionId }),
    response: z.object({ data: billing }),
    errors: [400, 404, 413],
    async handler({ params }) {
      const found = await eventBilling(context, params.transaction_id);
      return { data: toWire(found, await viewOf(context, found.invoices, {})) };
    },
  });
}

function toWire(
  { view, invoices, lines, warnings }: EventBilling,
  shown: InvoiceView,
): z.input<typeof billing> {
  return {
    transaction_id: view.event.transactionId,
    customer_id: view.customer?.id ?? null,
    invoices: invoices.map(({ id, contractId, status, period }) => ({
      id,
      contract_id: contractId,
      status,
      ...(shown.numbers.has(id) ? { invoice_number: shown.numbers.get(id) } : {}),
      start_timestamp: formatInstant(period.start),
      end_timestamp: formatInstant(period.end),
    })),
    lines: lines.map(({ invoice, line, metric, quantity, amount }) => ({
      invoice_id: invoice.id,
      billable_metric_id: metric.id,
      billable_metric_name: metric.name,
      ...(quantity === null ? {} : { quantity }),
      ...(amount === null ? {} : { amount }),
      line_item: lineToWire(invoice.id, line, shown.customFields.get(invoice.id) ?? new Map(), shown),
    })),
    warnings: warnings.map(({ invoice, warning }) => ({
      invoice_id: invoice.id,
      message: invoiceAdvice(warning),
    })),
  };
}
