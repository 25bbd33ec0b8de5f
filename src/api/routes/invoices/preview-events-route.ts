/** Drafts of a customer with events that are not sent. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { previewEvents } from '../../../billing/invoices/previews/preview-events.ts';
import { stringifyJson } from '../../base/json.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, uuid } from '../../wire/fields.ts';
import { ingestError } from '../ingest/routes.ts';
import { invoiceSchema, invoiceToWire } from './output.ts';
import { viewOf } from './routes.ts';

/** As many as one request of `POST /v1/ingest` may have. */
const EVENTS_MAX = 100;

const previewedEvent = z
  .object({
    event_type: z.string().min(1),
    timestamp: z.string().nullish().meta({ format: 'date-time', description: 'Default: now.' }),
    properties: z.record(z.string(), z.unknown()).nullish(),
    transaction_id: z.string().nullish().meta({
      description: 'In `merge` mode an event whose id is known does not count again.',
    }),
  })
  .meta({ id: 'PreviewedEvent' });

export function previewEventsRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/customers/{customer_id}/previewEvents',
    operationId: 'previewEvents',
    summary: 'Preview the drafts of a customer with events that are not sent',
    description:
      'The drafts of all contracts of the customer. `replace`: as if the given events were all there are; `merge`: ' +
      'as if they had been sent now. SQL metrics are evaluated too. Nothing is stored.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid }),
    body: z.object({
      events: z.array(previewedEvent).min(1).max(EVENTS_MAX),
      mode: enumIn(['REPLACE', 'MERGE']).default('REPLACE'),
      skip_zero_qty_line_items: z.boolean().nullish(),
    }),
    response: z.object({ data: z.array(invoiceSchema) }),
    errors: [400, 404],
    errorBody: ingestError,
    async handler({ params, body }) {
      const invoices = await previewEvents(context, params.customer_id, {
        mode: body.mode === 'MERGE' ? 'merge' : 'replace',
        events: body.events.map((event) => ({
          transactionId: event.transaction_id ?? null,
          eventType: event.event_type,
          timestamp: event.timestamp ?? null,
          propertiesJson: stringifyJson(event.properties ?? {}),
        })),
      });
      const view = await viewOf(context, invoices, {
        skip_zero_qty_line_items: body.skip_zero_qty_line_items ?? false,
      });
      return { data: invoices.map((invoice) => invoiceToWire(invoice, view)) };
    },
  });
}
