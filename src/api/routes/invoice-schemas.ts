/** Invoices on the wire: the schema of an invoice and its lines, and the mapping from our values to it. */
import { z } from 'zod';
import type { BreakdownItem } from '../../billing/invoices/breakdowns.ts';
import type { ProductType } from '../../core/catalogue.ts';
import type { CreditType } from '../../core/credit-types.ts';
import { ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Invoice, InvoiceLine, LineTier } from '../../core/invoice.ts';
import { formatInstant } from '../../core/time.ts';
import { creditType, customFields, exactValue, timestamp, uuid } from '../fields.ts';

const groupValues = z.record(z.string(), z.string());

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
    type: z.string().meta({ description: '`usage`.' }),
    quantity: exactValue,
    unit_price: exactValue,
    total: exactValue.meta({ type: 'number', description: 'Exact, never rounded.' }),
    credit_type: creditType,
    product_id: uuid,
    product_type: z.string(),
    product_tags: z.array(z.string()),
    product_custom_fields: customFields,
    starting_at: timestamp,
    ending_before: timestamp,
    pricing_group_values: groupValues.optional(),
    presentation_group_values: groupValues.optional(),
    tier: tierSchema.optional(),
    sub_line_items: z.array(z.never()),
  })
  .meta({ id: 'InvoiceLineItem' });

const invoiceShape = {
  id: uuid,
  customer_id: uuid,
  contract_id: uuid,
  type: z.string().meta({ description: '`USAGE`.' }),
  status: z.string().meta({ description: '`DRAFT`, `FINALIZED` or `VOID`.' }),
  start_timestamp: timestamp,
  end_timestamp: timestamp,
  issued_at: timestamp.meta({
    type: 'string',
    format: 'date-time',
    description: 'When it was finalized; for a draft, when it is expected to be.',
  }),
  credit_type: creditType,
  subtotal: exactValue,
  total: exactValue,
  net_payment_terms_days: z.int().optional(),
  external_invoice: z.null(),
  customer_custom_fields: customFields,
  contract_custom_fields: customFields,
  custom_fields: customFields,
  line_items: z.array(lineItemSchema),
};

export const invoiceSchema = z.object(invoiceShape).meta({ id: 'Invoice' });

export const breakdownSchema = z
  .object({
    ...invoiceShape,
    breakdown_start_timestamp: timestamp,
    breakdown_end_timestamp: timestamp,
  })
  .meta({ id: 'BreakdownInvoice', description: 'An invoice cut to one window of time.' });

type InvoiceWire = z.input<typeof invoiceSchema>;
type LineItemWire = z.input<typeof lineItemSchema>;

/** What the wire shows besides the invoice itself. */
export interface InvoiceView {
  readonly creditTypes: ReadonlyMap<string, CreditType>;
  readonly skipZeroQuantityLines: boolean;
}

export function invoiceToWire(invoice: Invoice, view: InvoiceView): InvoiceWire {
  const { skipZeroQuantityLines } = view;
  const lines = skipZeroQuantityLines
    ? invoice.lines.filter(({ quantity }) => !quantity.eq(ZERO))
    : invoice.lines;
  return {
    id: invoice.id,
    customer_id: invoice.customerId,
    contract_id: invoice.contractId,
    type: invoice.type,
    status: invoice.status,
    start_timestamp: formatInstant(invoice.period.start),
    end_timestamp: formatInstant(invoice.period.end),
    issued_at: formatInstant(invoice.issuedAt),
    credit_type: creditTypeOf(invoice.creditTypeId, view),
    subtotal: invoice.total,
    total: invoice.total,
    ...(invoice.netPaymentTermsDays === null ? {} : { net_payment_terms_days: invoice.netPaymentTermsDays }),
    external_invoice: null,
    customer_custom_fields: {},
    contract_custom_fields: {},
    custom_fields: {},
    line_items: lines.map((line) => lineToWire(line, view)),
  };
}

export function breakdownToWire(item: BreakdownItem, view: InvoiceView): z.input<typeof breakdownSchema> {
  return {
    ...invoiceToWire(item, view),
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

function lineToWire(line: InvoiceLine, view: InvoiceView): LineItemWire {
  return {
    name: line.name,
    type: line.type,
    quantity: line.quantity,
    unit_price: line.unitPrice,
    total: line.total,
    credit_type: creditTypeOf(line.creditTypeId, view),
    product_id: line.productId,
    product_type: PRODUCT_TYPE_NAMES[line.productType],
    product_tags: [...line.productTags],
    product_custom_fields: {},
    starting_at: formatInstant(line.interval.start),
    ending_before: formatInstant(line.interval.end),
    ...(hasMembers(line.pricingGroupValues) ? { pricing_group_values: line.pricingGroupValues } : {}),
    ...(hasMembers(line.presentationGroupValues)
      ? { presentation_group_values: line.presentationGroupValues }
      : {}),
    ...(line.tier === null ? {} : { tier: tierToWire(line.tier) }),
    sub_line_items: [],
  };
}

function hasMembers(values: Readonly<Record<string, string>>): boolean {
  return Object.keys(values).length > 0;
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
