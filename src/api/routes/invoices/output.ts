/** Invoices on the wire: schemas of invoices and lines, and the mapping to them. */
import { z } from 'zod';
import type { BreakdownItem } from '../../../billing/invoices/breakdowns/breakdowns.ts';
import type {
  InvoiceWithUnbilledUsage,
  InvoiceWithWarnings,
} from '../../../billing/invoices/drafts/unbilled-usage.ts';
import { type CustomFieldsById, customFieldsOf } from '../../../core/custom-fields.ts';
import { ZERO } from '../../../core/decimal.ts';
import { CHUNK_ITEMS } from '../../../core/in-chunks.ts';
import { type Invoice, type InvoiceLine, isAppliedLine } from '../../../core/invoice.ts';
import type { Page } from '../../../core/paging.ts';
import { formatInstant, type Interval } from '../../../core/time.ts';
import { dueAt, payableAmount } from '../../../rating/invoices/payable.ts';
import { JsonList } from '../../base/json.ts';
import { creditType, customFields, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { pageToWire } from '../../wire/paging.ts';
import { externalInvoiceSchema, externalToWire } from './external-invoice.ts';
import { creditTypeOf, type InvoiceView } from './invoice-view.ts';
import {
  formatInstants,
  type LineItemWire,
  lineItemSchema,
  lineText,
  lineToWire,
  ownerToWire,
} from './line-output.ts';
import { unbilledUsageShape, unbilledUsageToWire } from './unbilled-usage-output.ts';

const invoiceShape = {
  id: uuid,
  customer_id: uuid,
  customer_name: z.string().optional().meta({ description: 'The current name of the customer.' }),
  customer_external_id: z
    .string()
    .optional()
    .meta({ description: 'The current first ingest alias of the customer, or its id if there is none.' }),
  contract_id: uuid,
  type: z.string().meta({ description: '`USAGE`, `SCHEDULED` or `USAGE_CONSOLIDATED`.' }),
  status: z.string().meta({ description: '`DRAFT`, `FINALIZED` or `VOID`.' }),
  start_timestamp: timestamp.optional().meta({ description: 'The billing period of a usage invoice.' }),
  end_timestamp: timestamp.optional(),
  issued_at: timestamp.meta({
    type: 'string',
    format: 'date-time',
    description: 'When it was finalized; for a draft, when it is expected to be.',
  }),
  credit_type: creditType,
  subtotal: exactValue,
  total: exactValue,
  net_payment_terms_days: z.int().optional(),
  invoice_number: z.string().optional().meta({
    description: 'Assigned within seconds after the invoice is issued, and never changed. Absent until then.',
  }),
  due_at: timestamp.optional().meta({
    type: 'string',
    format: 'date-time',
    description: '`issued_at` and `net_payment_terms_days`; absent without payment terms.',
  }),
  regenerated_from_invoice_id: uuid
    .optional()
    .meta({ description: 'The voided invoice that this one replaces.' }),
  payer: z
    .object({ contract_id: uuid, customer_id: uuid })
    .optional()
    .meta({ description: 'The payer of a usage invoice in a hierarchy.' }),
  constituent_invoices: z
    .array(z.object({ invoice_id: uuid, contract_id: uuid, customer_id: uuid }))
    .optional()
    .meta({ description: 'For a `USAGE_CONSOLIDATED` invoice: the invoices whose lines it combines.' }),
  external_invoice: externalInvoiceSchema
    .nullable()
    .meta({ description: 'The state of the invoice at its billing provider; null if it has none.' }),
  customer_custom_fields: customFields,
  contract_custom_fields: customFields,
  custom_fields: customFields,
  line_items: z.array(lineItemSchema),
};

/** Windows of a breakdown are not paid one by one, so they have none. */
const payableShape = {
  credited: exactValue.optional().meta({
    type: 'number',
    description: 'The money that credit notes take back, net of tax; absent without any.',
  }),
  payable_amount: exactValue.meta({
    type: 'number',
    description:
      '`total` rounded once to the minor unit of the currency, half away from zero, less `credited`: whole cents in USD.',
  }),
};

const previousShape = {
  previous_invoice: z
    .object({
      id: uuid,
      start_timestamp: timestamp,
      end_timestamp: timestamp,
      issued_at: timestamp,
      total: exactValue,
      change: exactValue.meta({
        type: 'number',
        description: 'The increase of the draft over it; negative for a decrease.',
      }),
    })
    .optional()
    .meta({
      description:
        'Of drafts of usage and consolidated invoices: the last finalized invoice before it, of the same contract or the ' +
        'one that it renews, in the same currency.',
    }),
};

/** Long lists are built and written line by line, so that the answer does not need memory for all. */
type ListedLines = LineItemWire[] | JsonList<InvoiceLine, LineItemWire>;

const listedLines: z.ZodType<z.output<typeof lineItemSchema>[], ListedLines> = z.array(lineItemSchema);

export const invoiceSchema = z
  .object({
    ...invoiceShape,
    line_items: listedLines,
    ...payableShape,
    ...previousShape,
    ...unbilledUsageShape,
  })
  .meta({ id: 'Invoice' });

export const breakdownSchema = z
  .object({
    ...invoiceShape,
    breakdown_start_timestamp: timestamp,
    breakdown_end_timestamp: timestamp,
  })
  .meta({ id: 'BreakdownInvoice', description: 'An invoice cut to one window of time.' });

type InvoiceWire = z.input<typeof invoiceSchema>;
type InvoiceFieldsWire<Lines> = Omit<
  InvoiceWire,
  keyof typeof unbilledUsageShape | keyof typeof payableShape | keyof typeof previousShape | 'line_items'
> & { line_items: Lines };

type ShownInvoice = InvoiceWithWarnings & Partial<Pick<InvoiceWithUnbilledUsage, 'lateUsage'>>;

/** A page of invoices. */
export function invoicePage(page: Page<ShownInvoice, unknown>, view: InvoiceView) {
  return pageToWire(page, (invoice) => invoiceToWire(invoice, view));
}

export function invoiceToWire(invoice: ShownInvoice, view: InvoiceView): InvoiceWire {
  return {
    ...fieldsToWire(invoice, view, listedLinesToWire(invoice, view)),
    ...creditedToWire(invoice, view),
    ...previousToWire(invoice, view),
    ...unbilledUsageToWire(invoice, (id) => creditTypeOf(id, view)),
  };
}

function creditedToWire(invoice: Invoice, { credited }: InvoiceView) {
  const payable = payableAmount(invoice);
  const taken = credited.get(invoice.id);
  return taken === undefined
    ? { payable_amount: payable }
    : { credited: taken, payable_amount: payable.minus(taken) };
}

function fieldsToWire<Lines>(invoice: Invoice, view: InvoiceView, lines: Lines): InvoiceFieldsWire<Lines> {
  const due = dueAt(invoice);
  const external = view.external.get(invoice.id);
  const fields: CustomFieldsById = view.customFields.get(invoice.id) ?? new Map();
  return {
    id: invoice.id,
    customer_id: invoice.customerId,
    ...customerToWire(invoice, view),
    contract_id: invoice.contractId,
    type: invoice.type,
    status: invoice.status,
    ...(invoice.type === 'SCHEDULED' ? {} : periodToWire(invoice.period)),
    issued_at: formatInstant(invoice.issuedAt),
    credit_type: creditTypeOf(invoice.creditTypeId, view),
    subtotal: invoice.total,
    total: invoice.total,
    net_payment_terms_days: invoice.netPaymentTermsDays ?? undefined,
    invoice_number: view.numbers.get(invoice.id),
    due_at: due === null ? undefined : formatInstant(due),
    regenerated_from_invoice_id: invoice.regeneratedFromInvoiceId ?? undefined,
    ...payerToWire(invoice, view),
    constituent_invoices: invoice.constituents?.map(ownerToWire),
    external_invoice: external === undefined ? null : externalToWire(external),
    customer_custom_fields: customFieldsOf(fields, invoice.customerId),
    contract_custom_fields: customFieldsOf(fields, invoice.contractId),
    custom_fields: customFieldsOf(fields, invoice.id),
    line_items: lines,
  };
}

function customerToWire({ customerId }: Invoice, { customers }: InvoiceView) {
  const customer = customers.get(customerId);
  return customer === undefined
    ? {}
    : { customer_name: customer.name, customer_external_id: customer.externalId };
}

function previousToWire({ id }: Invoice, { previous }: InvoiceView) {
  const before = previous.get(id);
  if (before === undefined) return {};
  const { period, issuedAt, total, change } = before;
  const issued = formatInstant(issuedAt);
  return { previous_invoice: { id: before.id, ...periodToWire(period), issued_at: issued, total, change } };
}

function payerToWire({ type, contractId }: Invoice, { payers }: InvoiceView) {
  const payer = type === 'USAGE' ? payers.get(contractId) : undefined;
  return payer === undefined
    ? {}
    : { payer: { contract_id: payer.contractId, customer_id: payer.customerId } };
}

function listedLinesToWire(invoice: Invoice, view: InvoiceView): ListedLines {
  const lines = shownLines(invoice, view);
  const write = lineWriter(invoice, view);
  return lines.length > CHUNK_ITEMS ? new JsonList(lines, write, lineText) : lines.map(write);
}

function* linesToWire(invoice: Invoice, view: InvoiceView): Generator<void, LineItemWire[], undefined> {
  const write = lineWriter(invoice, view);
  const lines: LineItemWire[] = [];
  for (const line of shownLines(invoice, view)) {
    lines.push(write(line));
    yield;
  }
  return lines;
}

function lineWriter({ id }: Pick<Invoice, 'id'>, view: InvoiceView): (line: InvoiceLine) => LineItemWire {
  const fields: CustomFieldsById = view.customFields.get(id) ?? new Map();
  const formatted = formatInstants();
  return (line) => lineToWire(id, line, fields, view, formatted);
}

/** The lines that the view shows. */
function shownLines({ lines }: Pick<Invoice, 'lines'>, view: InvoiceView): readonly InvoiceLine[] {
  if (!view.skipZeroQuantityLines) return lines;
  return lines.filter((line) => isAppliedLine(line) || !line.quantity.eq(ZERO));
}

/** Yields after each line. */
export function* breakdownToWire(
  item: BreakdownItem,
  view: InvoiceView,
): Generator<void, z.input<typeof breakdownSchema>, undefined> {
  return {
    ...fieldsToWire(item, view, yield* linesToWire(item, view)),
    breakdown_start_timestamp: formatInstant(item.window.start),
    breakdown_end_timestamp: formatInstant(item.window.end),
  };
}

function periodToWire({ start, end }: Interval) {
  return { start_timestamp: formatInstant(start), end_timestamp: formatInstant(end) };
}
