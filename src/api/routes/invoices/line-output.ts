/** Lines of invoices on the wire. */
import { z } from 'zod';
import type { ProductType } from '../../../core/catalogue.ts';
import { type CustomFieldsById, customFieldsOf } from '../../../core/custom-fields.ts';
import { Decimal } from '../../../core/decimal.ts';
import {
  type InvoiceLine,
  type InvoiceOwner,
  isAppliedLine,
  isUsageLine,
  type LinePayer,
  type LineTier,
  type ScheduledInvoiceLine,
  type SubscriptionInvoiceLine,
  type UsageInvoiceLine,
} from '../../../core/invoice.ts';
import { COMMIT_TYPES, type CommitType } from '../../../core/terms/commits.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { lineId } from '../../../rating/invoices/line-id.ts';
import { doubleOf, stringifyJson } from '../../base/json.ts';
import { creditType, customFields, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { rateSchema, rateToWire } from '../rate-cards/rate-schemas.ts';
import { creditTypeOf, type InvoiceView } from './invoice-view.ts';
import { groupValuesShape, groupValuesToWire } from './unbilled-usage-output.ts';

const tierSchema = z
  .object({
    level: z.int().meta({ description: 'Number of the tier, from 1.' }),
    starting_at: z.string().meta({ description: 'Lower bound, exclusive.' }),
    size: z.string().optional().meta({ description: 'Units the tier holds; absent for the last tier.' }),
  })
  .meta({ id: 'TierMetadata' });

export const lineItemSchema = z
  .object({
    id: uuid.meta({
      description:
        'Stable whenever the invoice is computed, when it is issued, and in the windows of its breakdown.',
    }),
    name: z.string(),
    type: z.string().meta({
      description:
        '`usage`; `subscription`; `applied_commit_or_credit`, which takes back the line before it because a commit or credit pays ' +
        'for it; `scheduled`: a scheduled charge, a discount or a professional service; `commit_purchase`; or ' +
        '`cpu_conversion`: what the lines in one ' +
        'custom pricing unit total in the currency of the invoice. It has no product; `quantity` is in the custom ' +
        'unit, and `total` is in the currency. ' +
        'A `usage` line of a COMPOSITE product has the amount that it is a percentage of as `quantity`, and ' +
        'the fraction as `unit_price`. What its minimum adds is a line named "… (minimum)", of quantity 1.',
    }),
    quantity: exactValue.optional(),
    unit_price: exactValue.optional(),
    total: exactValue.meta({ type: 'number', description: 'Exact, never rounded.' }),
    list_price: rateSchema.optional(),
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
    subscription_id: uuid.optional().meta({ description: 'The subscription of a `subscription` line.' }),
    subscription_custom_fields: customFields.optional(),
    is_prorated: z
      .boolean()
      .optional()
      .meta({
        description:
          'For a `subscription` line: true if it charges for a part of a billing period at a part of its price, ' +
          'which is the unit price of the line.',
      }),
    metadata: z.string().optional().meta({
      description:
        'For a professional service, the requested name; for a charge added to the invoice, its description.',
    }),
    commit_id: uuid.optional().meta({
      description:
        'The commit or credit that pays for the line, or that was used by an `applied_commit_or_credit`; the commit ' +
        'that a `commit_purchase` line pays for.',
    }),
    postpaid_commit: z
      .object({ id: uuid })
      .optional()
      .meta({ description: 'The postpaid commit whose shortfall a `commit_purchase` line bills.' }),
    commit_segment_id: uuid.optional().meta({ description: 'The segment of the access schedule.' }),
    commit_type: z
      .string()
      .optional()
      .meta({
        description:
          '`PrepaidCommit`, also for credits, or `PostpaidCommit`: what that one covers is due nevertheless, so its ' +
          'applied lines are not counted in totals.',
      }),
    applied_commit_or_credit: z
      .object({ id: uuid, type: z.enum(COMMIT_TYPES) })
      .optional()
      .meta({
        description: 'The commit or credit that pays for the line or that the line applies.',
      }),
    commit_custom_fields: customFields.optional(),
    ...groupValuesShape,
    tier: tierSchema.optional(),
    origin: z
      .object({ line_item_id: uuid, invoice_id: uuid, contract_id: uuid, customer_id: uuid })
      .optional()
      .meta({ description: 'On a `USAGE_CONSOLIDATED` invoice: the source of the line.' }),
    sub_line_items: z.array(z.never()),
  })
  .meta({ id: 'InvoiceLineItem' });

export type LineItemWire = z.input<typeof lineItemSchema>;

const PRODUCT_TYPE_NAMES: Record<ProductType, string> = {
  USAGE: 'UsageProductListItem',
  SUBSCRIPTION: 'SubscriptionProductListItem',
  COMPOSITE: 'CompositeProductListItem',
  FIXED: 'FixedProductListItem',
  PROFESSIONAL_SERVICE: 'ProServiceProductListItem',
};

/** `formatInstant` for the lines of one invoice, which have few instants. */
export function formatInstants(): (at: Instant) => string {
  const known = new Map<Instant, string>();
  return (at) => {
    const text = known.get(at) ?? formatInstant(at);
    known.set(at, text);
    return text;
  };
}

/**
 * The text that `stringifyJson` writes. Most amounts are the same as doubles, with which `JSON.stringify` can write the
 * line.
 */
export function lineText(line: LineItemWire): string {
  const quantity = plainAmount(line.quantity);
  const unitPrice = plainAmount(line.unit_price);
  const total = plainAmount(line.total);
  const isPlain = quantity !== null && unitPrice !== null && total !== null && line.list_price === undefined;
  return isPlain ? JSON.stringify({ ...line, quantity, unit_price: unitPrice, total }) : stringifyJson(line);
}

/** Undefined: the line has none. Null: no double has its digits. */
function plainAmount(amount: LineItemWire['quantity']): number | null | undefined {
  if (amount === undefined) return undefined;
  return amount instanceof Decimal ? doubleOf(amount) : null;
}

export function lineToWire(
  invoiceId: string,
  line: InvoiceLine,
  fields: CustomFieldsById,
  view: InvoiceView,
  formatted: (at: Instant) => string = formatInstant,
): LineItemWire {
  if (isUsageLine(line)) return usageLineToWire(invoiceId, line, fields, view, formatted);
  const common = {
    id: lineId(invoiceId, line),
    name: line.name,
    ...(isAppliedLine(line)
      ? { type: 'applied_commit_or_credit' }
      : { type: line.type, quantity: line.quantity, unit_price: line.unitPrice }),
    total: line.total,
    credit_type: creditTypeOf(line.creditTypeId, view),
    origin: originToWire(line),
    sub_line_items: [],
  };
  const time = {
    starting_at: formatted(line.interval.start),
    ending_before: formatted(line.interval.end),
  };
  switch (line.type) {
    case 'cpu_conversion':
    case 'applied_conversion':
      return {
        ...common,
        ...time,
        ...payerToWire(line.payer),
        converted_credit_type: creditTypeOf(line.convertedCreditTypeId, view),
      };
    case 'subscription':
    case 'applied_subscription':
      return {
        ...common,
        ...time,
        ...subscriptionLineToWire(line, fields),
        list_price: listPriceToWire(invoiceId, line, view),
      };
    case 'commit_purchase':
      return { ...common, ...productToWire(line, fields), ...sourceToWire(line, fields) };
    case 'true_up':
      return {
        ...common,
        type: 'commit_purchase',
        ...productToWire(line, fields),
        ...sourceToWire(line, fields),
      };
    case 'scheduled':
    case 'discount':
    case 'professional_service':
      return { ...common, type: 'scheduled', ...productToWire(line, fields), ...sourceToWire(line, fields) };
  }
}

/** Absent but on consolidated invoices. */
function originToWire(line: InvoiceLine): LineItemWire['origin'] {
  if (line.origin === undefined) return undefined;
  const { origin, ...own } = line;
  return { line_item_id: lineId(origin.invoiceId, own), ...ownerToWire(origin) };
}

export function ownerToWire({ invoiceId, contractId, customerId }: InvoiceOwner) {
  return { invoice_id: invoiceId, contract_id: contractId, customer_id: customerId };
}

/** Members in one literal: an invoice may have tens of thousands of these lines. */
function usageLineToWire(
  invoiceId: string,
  line: UsageInvoiceLine,
  fields: CustomFieldsById,
  view: InvoiceView,
  formatted: (at: Instant) => string,
): LineItemWire {
  const isApplied = line.type === 'applied';
  const { payer, interval, tier } = line;
  const { pricing_group_values, presentation_group_values } = groupValuesToWire(line);
  return {
    id: lineId(invoiceId, line),
    name: line.type === 'minimum' ? `${line.name} (minimum)` : line.name,
    type: isApplied ? 'applied_commit_or_credit' : 'usage',
    quantity: isApplied ? undefined : line.quantity,
    unit_price: isApplied ? undefined : line.unitPrice,
    total: line.total,
    credit_type: creditTypeOf(line.creditTypeId, view),
    sub_line_items: [],
    starting_at: formatted(interval.start),
    ending_before: formatted(interval.end),
    commit_id: payer?.commitId,
    commit_segment_id: payer?.segmentId,
    commit_type: payer === null ? undefined : COMMIT_TYPE_NAMES[payer.commitType],
    applied_commit_or_credit: payer === null ? undefined : appliedToWire(payer),
    product_id: line.productId,
    product_type: PRODUCT_TYPE_NAMES[line.productType],
    product_tags: [...line.productTags],
    product_custom_fields: customFieldsOf(fields, line.productId),
    pricing_group_values,
    presentation_group_values,
    tier: tier === null ? undefined : tierToWire(tier),
    list_price: listPriceToWire(invoiceId, line, view),
    origin: originToWire(line),
  };
}

/** The purpose of a line of a schedule, with its custom fields. */
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
    case 'true_up':
      return { postpaid_commit: { id: sourceId }, commit_custom_fields: own };
  }
}

function subscriptionLineToWire(
  line: SubscriptionInvoiceLine,
  fields: CustomFieldsById,
): Partial<LineItemWire> {
  return {
    ...payerToWire(line.payer),
    ...productToWire(line, fields),
    ...(line.tier === null ? {} : { tier: tierToWire(line.tier) }),
    subscription_id: line.sourceId,
    subscription_custom_fields: customFieldsOf(fields, line.sourceId),
    is_prorated: line.isProrated,
  };
}

function productToWire(
  line: UsageInvoiceLine | ScheduledInvoiceLine | SubscriptionInvoiceLine,
  fields: CustomFieldsById,
): Partial<LineItemWire> {
  return {
    product_id: line.productId,
    product_type: PRODUCT_TYPE_NAMES[line.productType],
    product_tags: [...line.productTags],
    product_custom_fields: customFieldsOf(fields, line.productId),
  };
}

const COMMIT_TYPE_NAMES: Record<CommitType, string> = {
  PREPAID: 'PrepaidCommit',
  CREDIT: 'PrepaidCommit',
  POSTPAID: 'PostpaidCommit',
};

function payerToWire(payer: LinePayer | null): Partial<LineItemWire> {
  if (payer === null) return {};
  const { commitId, segmentId, commitType } = payer;
  return {
    commit_id: commitId,
    commit_segment_id: segmentId,
    commit_type: COMMIT_TYPE_NAMES[commitType],
    applied_commit_or_credit: appliedToWire(payer),
  };
}

function appliedToWire({ commitId, commitType }: LinePayer) {
  return { id: commitId, type: commitType };
}

function listPriceToWire(
  invoiceId: string,
  line: UsageInvoiceLine | SubscriptionInvoiceLine,
  view: InvoiceView,
): LineItemWire['list_price'] {
  const found = view.listPrices?.get(invoiceId)?.(line);
  if (!found) return undefined;
  const pricingGroupValues = isUsageLine(line) ? line.pricingGroupValues : {};
  return rateToWire(found.rate, pricingGroupValues, view.creditTypes.get(found.creditTypeId));
}

function tierToWire({ level, startingAt, size }: LineTier): z.input<typeof tierSchema> {
  return {
    level,
    starting_at: startingAt.toFixed(),
    ...(size === null ? {} : { size: size.toFixed() }),
  };
}
