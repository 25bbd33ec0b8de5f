/** Invoices and charges that a client asks for: professional services, a charge on a usage invoice, another issue date. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { addCharge } from '../../../billing/contracts/edits/add-charge.ts';
import { firstOf } from '../../../billing/invoices/drafts/unbilled-usage.ts';
import { moveIssueDate } from '../../../billing/invoices/issued/move-issue-date.ts';
import { scheduleProfessionalServices } from '../../../billing/invoices/scheduled/schedule-professional-services.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, exactNumber, timestamp, uuid } from '../../wire/fields.ts';
import { invoiceSchema, invoiceToWire } from './output.ts';
import { viewOf } from './routes.ts';

const common = { method: 'post', tags: ['Invoices'], scope: 'write', errors: [400, 404] } as const;

export function requestedInvoiceRoutes(context: BillingContext): RouteDefinition[] {
  return [servicesRoute(context), issueDateRoute(context), chargeRoute(context)];
}

/** Far above any invoice that is written by hand. */
const LINES_MAX = 1_000;

const amount = exactNumber({ min: '0' }).nullish();

const serviceLine = z
  .object({
    professional_service_id: uuid,
    amount,
    unit_price: amount.meta({ description: 'With a quantity. Default: the price of the service.' }),
    quantity: amount,
    metadata: z.string().nullish().meta({ description: 'Shown on the line.' }),
    amendment_id: z.string().nullish().meta({ description: 'Ignored: the id of the service is enough.' }),
  })
  .meta({ id: 'ProServiceInvoiceLineItem' });

function servicesRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/scheduleProServicesInvoice',
    operationId: 'scheduleProServicesInvoice',
    summary: 'Invoice professional services',
    description:
      'Creates a separate invoice, which is issued at `issued_at`, at once if that has passed. A line has an amount, ' +
      'or a quantity. All lines of a service together are limited by its max_amount.',
    body: z.object({
      customer_id: uuid,
      contract_id: uuid,
      issued_at: timestamp,
      line_items: z.array(serviceLine).min(1).max(LINES_MAX),
    }),
    response: z.object({ data: z.array(invoiceSchema) }),
    async handler({ body, actor }) {
      const invoice = await scheduleProfessionalServices(context, {
        customerId: body.customer_id,
        contractId: body.contract_id,
        issuedAt: body.issued_at,
        lineItems: body.line_items.map((line) => ({
          professionalServiceId: line.professional_service_id,
          amount: line.amount ?? null,
          unitPrice: line.unit_price ?? null,
          quantity: line.quantity ?? null,
          metadata: line.metadata ?? null,
        })),
        requestedBy: actor.name,
      });
      const view = await viewOf(context, [invoice], {});
      return { data: [invoiceToWire({ ...invoice, warnings: firstOf([]) }, view)] };
    },
  });
}

function issueDateRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/updateInvoiceIssueDate',
    operationId: 'updateInvoiceIssueDate',
    summary: 'Issue the draft of a scheduled invoice at another time',
    description:
      'The schedule does not change. A date in the past issues the invoice immediately. The date must not be after the end of the contract.',
    body: z.object({ invoice_id: uuid, issue_date: timestamp }),
    response: createdId,
    async handler({ body }) {
      await moveIssueDate(context, { invoiceId: body.invoice_id, issueDate: body.issue_date });
      return { data: { id: body.invoice_id } };
    },
  });
}

function chargeRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/customers/{customer_id}/addCharge',
    operationId: 'addChargeToInvoice',
    summary: 'Add a charge to the draft of a usage invoice',
    description:
      'For clients of plans, which the service does not have: a contract and a FIXED product take the places of ' +
      'the plan and its charge. The charge is a scheduled charge of the contract, dated at the end of the period.',
    params: z.object({ customer_id: uuid }),
    wireWords: { contractId: 'customer_plan_id', productId: 'charge_id' },
    body: z.object({
      customer_plan_id: uuid.meta({ description: 'The id of a contract.' }),
      charge_id: uuid.meta({ description: 'The id of a FIXED product.' }),
      price: exactNumber().meta({ description: 'In the currency of the invoice. Negative: a correction.' }),
      quantity: exactNumber({ min: '0' }),
      description: z.string().meta({ description: 'Not printed; `metadata` of the line.' }),
      invoice_start_timestamp: timestamp.meta({ description: 'start_timestamp of the draft.' }),
    }),
    response: 'empty',
    async handler({ params, body, actor }) {
      await addCharge(context, {
        customerId: params.customer_id,
        contractId: body.customer_plan_id,
        productId: body.charge_id,
        price: body.price,
        quantity: body.quantity,
        description: body.description,
        invoiceStartTimestamp: body.invoice_start_timestamp,
        addedBy: actor.name,
      });
    },
  });
}
