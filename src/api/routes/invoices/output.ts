/** Invoices on the wire: schemas of invoices and lines, and the mapping to them. */
import { z } from 'zod';
import type { BreakdownItem } from '../../../billing/invoices/breakdowns.ts';
import type {
  InvoiceWithUnbilledUsage,
  InvoiceWithWarnings,
} from '../../../billing/invoices/unbilled-usage.ts';
import type { ProductType } from '../../../core/catalogue.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { type CustomFieldsById, customFieldsOf } from '../../../core/custom-fields.ts';
import { ZERO } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import type {
  Invoice,
  InvoiceLine,
  LineTier,
  ScheduledInvoiceLine,
  UsageInvoiceLine,
} from '../../../core/invoice.ts';
import { formatInstant, type Interval } from '../../../core/time.ts';
import { dueAt, payableAmount } from '../../../rating/invoice/payable.ts';
import { creditType, customFields, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import {
  groupValuesShape,
  groupValuesToWire,
  unbilledUsageShape,
  unbilledUsageToWire,
} from './unbilled-usage-output.ts';

const tierSchema = z
  .object({
    level: z.int().meta({ description: 'Number of the tier, from 1.' }),
    starting_at: z.string().meta({ description: 'Lower bound, exclusive.' }),
    size: z.string().optional().meta({ description: 'Units the tier holds; absent for the last tier.' }),
  })
  .meta({ id: 'TierMetadata' });

const lineItemSchema = z
  .object({
    name: z.string(),
    type: z.string().meta({
      description:
        '`usage`; `scheduled`: a scheduled charge, a discount or a professional service; `commit_purchase`; or `cpu_conversion`: what the lines in one ' +
        'custom pricing unit come to in the currency of the invoice. It has no product; `quantity` is in the custom ' +
        'unit, and `total` is in the currency. ' +
        'A `usage` line of a COMPOSITE product has the amount that it is a percentage of as `quantity`, and ' +
        'the fraction as `unit_price`. What its minimum adds is a line named "… (minimum)", of quantity 1.',
    }),
    quantity: exactValue,
    unit_price: exactValue,
    total: exactValue.meta({ type: 'number', description: 'Exact, never rounded.' }),
    credit_type: creditType,
    product_id: uuid.optional(),
    product_type: z.string().optional(),
    product_tags: z.array(z.string()).optional(),
    product_custom_fields: customFields.optional(),
    converted_credit_type: creditType.optional(),
    starting_at: timestamp.optional(),
    ending_before: timestamp.optional(),
    scheduled_charge_id: uuid.optional(),
    scheduled_charge_custom_fields: customFields.optional(),
    discount_id: uuid.optional().meta({ description: 'The discount of a line with a negative total.' }),
    discount_custom_fields: customFields.optional(),
    professional_service_id: uuid.optional(),
    professional_service_custom_fields: customFields.optional(),
    metadata: z.string().optional().meta({
      description:
        'Of a professional service, as requested; of a charge added to the invoice, its description.',
    }),
    commit_id: uuid.optional().meta({ description: 'The commit that a `commit_purchase` line pays for.' }),
    commit_custom_fields: customFields.optional(),
    ...groupValuesShape,
    tier: tierSchema.optional(),
    sub_line_items: z.array(z.never()),
  })
  .meta({ id: 'InvoiceLineItem' });

const invoiceShape = {
  id: uuid,
  customer_id: uuid,
  contract_id: uuid,
  type: z.string().meta({ description: '`USAGE` or `SCHEDULED`.' }),
  status: z.string().meta({ description: '`DRAFT`, `FINALIZED` or `VOID`.' }),
  start_timestamp: timestamp.optional().meta({ description: 'Of usage invoices: their billing period.' }),
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
    .meta({ description: 'The voided invoice that this one was computed again for.' }),
  external_invoice: z.null(),
  customer_custom_fields: customFields,
  contract_custom_fields: customFields,
  custom_fields: customFields,
  line_items: z.array(lineItemSchema),
};

/** Windows of a breakdown are not paid one by one, so they have none. */
const payableShape = {
  payable_amount: exactValue.meta({
    type: 'number',
    description:
      '`total` rounded once to the minor unit of the currency, half away from zero: whole cents in USD.',
  }),
};

export const invoiceSchema = z
  .object({ ...invoiceShape, ...payableShape, ...unbilledUsageShape })
  .meta({ id: 'Invoice' });

export const breakdownSchema = z
  .object({
    ...invoiceShape,
    breakdown_start_timestamp: timestamp,
    breakdown_end_timestamp: timestamp,
  })
  .meta({ id: 'BreakdownInvoice', description: 'An invoice cut to one window of time.' });

type InvoiceWire = z.input<typeof invoiceSchema>;
type InvoiceFieldsWire = Omit<InvoiceWire, keyof typeof unbilledUsageShape | keyof typeof payableShape>;
type LineItemWire = z.input<typeof lineItemSchema>;

/** Data that answers show besides the invoice itself. */
export interface InvoiceView {
  readonly creditTypes: ReadonlyMap<string, CreditType>;
  readonly skipZeroQuantityLines: boolean;
  /** By invoice, then by object; invoices without custom fields are absent. */
  readonly customFields: ReadonlyMap<string, CustomFieldsById>;
  /** By invoice; drafts and invoices without a number yet are absent. */
  readonly numbers: ReadonlyMap<string, string>;
}

export function invoiceToWire(
  invoice: InvoiceWithWarnings & Partial<Pick<InvoiceWithUnbilledUsage, 'lateUsage'>>,
  view: InvoiceView,
): InvoiceWire {
  return {
    ...fieldsToWire(invoice, view),
    payable_amount: payableAmount(invoice),
    ...unbilledUsageToWire(invoice, (id) => creditTypeOf(id, view)),
  };
}

function fieldsToWire(invoice: Invoice, view: InvoiceView): InvoiceFieldsWire {
  const number = view.numbers.get(invoice.id);
  const due = dueAt(invoice);
  const fields: CustomFieldsById = view.customFields.get(invoice.id) ?? new Map();
  return {
    id: invoice.id,
    customer_id: invoice.customerId,
    contract_id: invoice.contractId,
    type: invoice.type,
    status: invoice.status,
    ...(invoice.type === 'USAGE' ? periodToWire(invoice.period) : {}),
    issued_at: formatInstant(invoice.issuedAt),
    credit_type: creditTypeOf(invoice.creditTypeId, view),
    subtotal: invoice.total,
    total: invoice.total,
    ...(invoice.netPaymentTermsDays === null ? {} : { net_payment_terms_days: invoice.netPaymentTermsDays }),
    ...(number === undefined ? {} : { invoice_number: number }),
    ...(due === null ? {} : { due_at: formatInstant(due) }),
    ...(invoice.regeneratedFromInvoiceId === null
      ? {}
      : { regenerated_from_invoice_id: invoice.regeneratedFromInvoiceId }),
    external_invoice: null,
    customer_custom_fields: customFieldsOf(fields, invoice.customerId),
    contract_custom_fields: customFieldsOf(fields, invoice.contractId),
    custom_fields: customFieldsOf(fields, invoice.id),
    line_items: shownLines(invoice, view).map((line) => lineToWire(line, fields, view)),
  };
}

/** The lines that the view shows. */
function shownLines({ lines }: Pick<Invoice, 'lines'>, view: InvoiceView): readonly InvoiceLine[] {
  return view.skipZeroQuantityLines ? lines.filter(({ quantity }) => !quantity.eq(ZERO)) : lines;
}

export function breakdownToWire(item: BreakdownItem, view: InvoiceView): z.input<typeof breakdownSchema> {
  return {
    ...fieldsToWire(item, view),
    breakdown_start_timestamp: formatInstant(item.window.start),
    breakdown_end_timestamp: formatInstant(item.window.end),
  };
}

const PRODUCT_TYPE_NAMES: Record<ProductType, string> = {
  USAGE: 'UsageProductListItem',
  SUBSCRIPTION: 'SubscriptionProductListItem',
  COMPOSITE: 'CompositeProductListItem',
  FIXED: 'FixedProductListItem',
  PROFESSIONAL_SERVICE: 'ProServiceProductListItem',
};

function periodToWire({ start, end }: Interval) {
  return { start_timestamp: formatInstant(start), end_timestamp: formatInstant(end) };
}

function lineToWire(line: InvoiceLine, fields: CustomFieldsById, view: InvoiceView): LineItemWire {
  const common = {
    name: line.name,
    type: line.type,
    quantity: line.quantity,
    unit_price: line.unitPrice,
    total: line.total,
    credit_type: creditTypeOf(line.creditTypeId, view),
    sub_line_items: [],
  };
  const time = {
    starting_at: formatInstant(line.interval.start),
    ending_before: formatInstant(line.interval.end),
  };
  switch (line.type) {
    case 'cpu_conversion':
      return { ...common, ...time, converted_credit_type: creditTypeOf(line.convertedCreditTypeId, view) };
    case 'usage':
    case 'minimum':
      return { ...common, ...time, ...usageLineToWire(line, fields) };
    case 'commit_purchase':
      return { ...common, ...productToWire(line, fields), ...sourceToWire(line, fields) };
    case 'scheduled':
    case 'discount':
    case 'professional_service':
      return { ...common, type: 'scheduled', ...productToWire(line, fields), ...sourceToWire(line, fields) };
  }
}

/** What a line of a schedule is for, with its custom fields. */
function sourceToWire(
  { type, sourceId, metadata }: ScheduledInvoiceLine,
  fields: CustomFieldsById,
): Partial<LineItemWire> {
  const own = customFieldsOf(fields, sourceId);
  const noted = metadata === null ? {} : { metadata };
  switch (type) {
    case 'scheduled':
      return { scheduled_charge_id: sourceId, scheduled_charge_custom_fields: own, ...noted };
    case 'discount':
      return { discount_id: sourceId, discount_custom_fields: own };
    case 'professional_service':
      return {
        professional_service_id: sourceId,
        professional_service_custom_fields: own,
        ...noted,
      };
    case 'commit_purchase':
      return { commit_id: sourceId, commit_custom_fields: own };
  }
}

function productToWire(
  line: UsageInvoiceLine | ScheduledInvoiceLine,
  fields: CustomFieldsById,
): Partial<LineItemWire> {
  return {
    product_id: line.productId,
    product_type: PRODUCT_TYPE_NAMES[line.productType],
    product_tags: [...line.productTags],
    product_custom_fields: customFieldsOf(fields, line.productId),
  };
}

function usageLineToWire(line: UsageInvoiceLine, fields: CustomFieldsById): Partial<LineItemWire> {
  return {
    ...(line.type === 'minimum' ? { name: `${line.name} (minimum)` } : {}),
    type: 'usage',
    ...productToWire(line, fields),
    ...groupValuesToWire(line),
    ...(line.tier === null ? {} : { tier: tierToWire(line.tier) }),
  };
}

function tierToWire({ level, startingAt, size }: LineTier): z.input<typeof tierSchema> {
  return {
    level,
    starting_at: startingAt.toFixed(),
    ...(size === null ? {} : { size: size.toFixed() }),
  };
}

function creditTypeOf(id: string, { creditTypes }: InvoiceView): CreditType {
  const found = creditTypes.get(id);
  assert(found !== undefined, `pricing unit ${id} of an invoice exists`);
  return found;
}
