/** Imports usage invoices of the past. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { firstOf } from '../../../billing/invoices/drafts/unbilled-usage.ts';
import {
  createHistorical,
  previewHistorical,
} from '../../../billing/invoices/historical/create-historical.ts';
import type { HistoricalInvoiceInput } from '../../../billing/invoices/historical/historical-input.ts';
import { mapInChunks } from '../../../core/in-chunks.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import {
  customFields,
  enumIn,
  exactNumber,
  hourAlignedTimestamp,
  timestamp,
  uuid,
} from '../../wire/fields.ts';
import { invoiceSchema, invoiceToWire } from './output.ts';
import { viewOf } from './routes.ts';

/** They are issued in one transaction. */
const INVOICES_MAX = 100;
const LINES_MAX = 1_000;
/** More than the hours of a year. */
const SUBTOTALS_MAX = 10_000;

const dates = { inclusive_start_date: hourAlignedTimestamp, exclusive_end_date: hourAlignedTimestamp };
const quantity = exactNumber({ min: '0' });
const groupValues = z.record(z.string().min(1), z.string()).nullish();

const line = z
  .object({
    ...dates,
    product_id: uuid,
    quantity: quantity.nullish().meta({ description: 'As billed: after conversion and rounding.' }),
    pricing_group_values: groupValues,
    presentation_group_values: groupValues,
    subtotals_with_quantity: z
      .array(z.object({ ...dates, quantity }))
      .max(SUBTOTALS_MAX)
      .nullish()
      .meta({
        description:
          'Instead of the quantity: quantities by time, each within one hour or day of breakdown_granularity.',
      }),
  })
  .meta({ id: 'HistoricalContractUsageInvoiceLineItemInput' });

const invoice = z
  .object({
    ...dates,
    customer_id: uuid,
    contract_id: uuid,
    credit_type_id: uuid.meta({ description: 'The currency of the rate card.' }),
    issue_date: timestamp,
    breakdown_granularity: enumIn(['HOUR', 'DAY']).nullish(),
    usage_line_items: z.array(line).min(1).max(LINES_MAX),
    billable_status: z
      .string()
      .nullish()
      .meta({ description: 'Ignored: nothing is sent to a billing provider.' }),
    custom_fields: customFields.nullish(),
  })
  .meta({ id: 'HistoricalContractUsageInvoiceInputPayload' });

export function historicalInvoiceRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/contracts/createHistoricalInvoices',
    operationId: 'createHistoricalInvoices',
    summary: 'Import usage invoices of the past',
    description:
      'Quantities are given, prices are those of the contract at their time. All are issued or none. The time must ' +
      'lie before invoice_generation_starting_at of the contract, and each time is invoiced once. With preview the ' +
      'invoices are answered as drafts, and nothing is stored.',
    tags: ['Invoices'],
    scope: 'write',
    body: z.object({ invoices: z.array(invoice).min(1).max(INVOICES_MAX), preview: z.boolean() }),
    response: z.object({ data: z.array(invoiceSchema) }),
    errors: [400, 404, 409, 503],
    async handler({ body }) {
      const inputs = await mapInChunks(body.invoices, fromWire);
      const invoices = await (body.preview ? previewHistorical : createHistorical)(context, inputs);
      const view = await viewOf(context, invoices, {});
      return { data: invoices.map((one) => invoiceToWire({ ...one, warnings: firstOf([]) }, view)) };
    },
  });
}

function fromWire(sent: z.output<typeof invoice>): HistoricalInvoiceInput {
  return {
    ...datesFromWire(sent),
    customerId: sent.customer_id,
    contractId: sent.contract_id,
    creditTypeId: sent.credit_type_id,
    issueDate: sent.issue_date,
    breakdownGranularity: sent.breakdown_granularity ?? null,
    usageLineItems: sent.usage_line_items.map((one) => ({
      ...datesFromWire(one),
      productId: one.product_id,
      quantity: one.quantity ?? null,
      pricingGroupValues: one.pricing_group_values ?? {},
      presentationGroupValues: one.presentation_group_values ?? {},
      subtotalsWithQuantity: (one.subtotals_with_quantity ?? []).map((part) => ({
        ...datesFromWire(part),
        quantity: part.quantity,
      })),
    })),
    customFields: sent.custom_fields ?? {},
  };
}

function datesFromWire(sent: { readonly inclusive_start_date: number; readonly exclusive_end_date: number }) {
  return { inclusiveStartDate: sent.inclusive_start_date, exclusiveEndDate: sent.exclusive_end_date };
}
