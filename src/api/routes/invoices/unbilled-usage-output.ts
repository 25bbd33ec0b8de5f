/**
 * Unbilled usage of an invoice on the wire: `warnings` and `unbilled_late_usage`. Both are additions of this
 * service; the official client does not know them.
 */
import { z } from 'zod';
import type {
  InvoiceWithUnbilledUsage,
  InvoiceWithWarnings,
} from '../../../billing/invoices/drafts/unbilled-usage.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { unreachable } from '../../../core/errors.ts';
import { type InvoiceWarning, UNRATED_TERM_KINDS } from '../../../core/invoice.ts';
import { formatInstant } from '../../../core/time.ts';
import type { LateUsage } from '../../../rating/invoices/late-usage.ts';
import { creditType, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { invoiceAdvice } from './warning-messages.ts';

const groupValues = z.record(z.string(), z.string());

export const groupValuesShape = {
  pricing_group_values: groupValues.optional(),
  presentation_group_values: groupValues.optional(),
};

const warningSchema = z
  .object({
    code: z.string().meta({
      description:
        '`unpriced_usage`: usage that no rate covers. `unpriced_subscription`: a billing period of a subscription ' +
        'that begins without a rate. `usage_filter_without_group_key`: the metric cannot group by ' +
        'the key of the usage filter; events without this property are not counted. `uncounted_events`: events over ' +
        'which the metric cannot be evaluated; it is counted without them. `too_many_lines`: a product with more ' +
        'lines than an invoice lists; none of them is on the invoice. On drafts also `metric_not_evaluated`: a ' +
        'metric that needs too much time or memory; and `not_computed`: lines and totals of this draft are missing. ' +
        '`unrated_terms`: terms of the contract that the version which issued the invoice did not bill.',
    }),
    message: z.string().meta({ description: 'The problem, and how to fix it.' }),
    subscription_id: uuid.optional(),
    product_id: uuid.optional(),
    product_name: z.string().optional(),
    billable_metric_id: uuid.optional(),
    billable_metric_name: z.string().optional(),
    ...groupValuesShape,
    starting_at: timestamp,
    ending_before: timestamp,
    quantity: exactValue.optional().meta({
      type: 'number',
      description:
        'Not billed; after conversion and rounding. For `unpriced_usage` and `unpriced_subscription`.',
    }),
    event_count: z.int().optional().meta({ description: 'Events that are not counted.' }),
    transaction_ids: z
      .array(z.string())
      .optional()
      .meta({ description: 'Ids of the first 100 of these events.' }),
    line_count: z.int().optional().meta({ description: 'Lines that the product would have.' }),
    term_kind: z
      .string()
      .optional()
      .meta({ description: `Of \`unrated_terms\`: ${UNRATED_TERM_KINDS.join(', ')}.` }),
    term_ids: z
      .array(uuid)
      .optional()
      .meta({ description: 'Ids of the first 100 of these terms; for a threshold, the id of the contract.' }),
    term_count: z.int().optional().meta({ description: 'How many terms of this kind there are.' }),
  })
  .meta({ id: 'InvoiceWarning' });

export const lateUsageSchema = z
  .object({
    product_id: uuid,
    product_name: z.string(),
    ...groupValuesShape,
    quantity: exactValue.meta({
      type: 'number',
      description:
        'The quantity missing on the invoice, after conversion and rounding. Negative if it lowers the usage.',
    }),
    credit_type: creditType.optional(),
    total: exactValue.optional().meta({
      type: 'number',
      description:
        'What it would have cost in time, under the terms of the invoice, in `credit_type`. Both are absent ' +
        'where no rate covers it.',
    }),
  })
  .meta({ id: 'UnbilledLateUsage' });

const leftOut = z
  .int()
  .optional()
  .meta({ description: 'Number of further entries; absent if there are none.' });

export const unbilledUsageShape = {
  warnings: z.array(warningSchema).meta({
    description:
      'Usage that is unintentionally not billed: at most 100 entries. For an issued invoice, as of ' +
      'its issue.',
  }),
  warnings_left_out: leftOut,
  unbilled_late_usage: z
    .array(lateUsageSchema)
    .nullable()
    .optional()
    .meta({
      description:
        'Usage of the period that arrived after the invoice was finalized: at most 100 entries, and none where ' +
        'the invoice is complete. Only where a single FINALIZED invoice is read; null where it is not known.',
    }),
  unbilled_late_usage_left_out: leftOut,
};

const unbilledUsage = z.object(unbilledUsageShape);

/** `creditTypeOf` returns the pricing unit of an id. */
export function unbilledUsageToWire(
  { warnings, lateUsage }: InvoiceWithWarnings & Partial<Pick<InvoiceWithUnbilledUsage, 'lateUsage'>>,
  creditTypeOf: (id: string) => CreditType,
): z.input<typeof unbilledUsage> {
  const warningsLeftOut = warnings.count - warnings.first.length;
  const lateLeftOut = lateUsage ? lateUsage.count - lateUsage.first.length : 0;
  return {
    warnings: warnings.first.map(warningToWire),
    ...(warningsLeftOut === 0 ? {} : { warnings_left_out: warningsLeftOut }),
    ...(lateUsage === undefined
      ? {}
      : { unbilled_late_usage: lateUsage?.first.map((late) => lateToWire(late, creditTypeOf)) ?? null }),
    ...(lateLeftOut === 0 ? {} : { unbilled_late_usage_left_out: lateLeftOut }),
  };
}

interface GroupedValues {
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
}

/** Empty group values are left out. */
export function groupValuesToWire({ pricingGroupValues, presentationGroupValues }: GroupedValues) {
  return {
    pricing_group_values: hasMembers(pricingGroupValues) ? pricingGroupValues : undefined,
    presentation_group_values: hasMembers(presentationGroupValues) ? presentationGroupValues : undefined,
  };
}

function hasMembers(values: Readonly<Record<string, string>>): boolean {
  return Object.keys(values).length > 0;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one case for each kind of warning.
function warningToWire(warning: InvoiceWarning): z.input<typeof warningSchema> {
  const { kind, interval } = warning;
  const common = {
    code: kind,
    message: invoiceAdvice(warning),
    starting_at: formatInstant(interval.start),
    ending_before: formatInstant(interval.end),
  };
  switch (kind) {
    case 'unpriced_usage':
      return {
        ...common,
        product_id: warning.productId,
        product_name: warning.productName,
        billable_metric_id: warning.billableMetricId,
        ...groupValuesToWire(warning),
        quantity: warning.quantity,
      };
    case 'unpriced_subscription':
      return {
        ...common,
        subscription_id: warning.subscriptionId,
        product_id: warning.productId,
        product_name: warning.productName,
        quantity: warning.quantity,
      };
    case 'usage_filter_without_group_key':
      return {
        ...common,
        product_id: warning.productId,
        product_name: warning.productName,
        billable_metric_id: warning.billableMetricId,
      };
    case 'uncounted_events':
      return {
        ...common,
        ...metricToWire(warning),
        event_count: warning.eventCount,
        transaction_ids: [...warning.transactionIds],
      };
    case 'too_many_lines':
      return {
        ...common,
        product_id: warning.productId,
        product_name: warning.productName,
        line_count: warning.lineCount,
      };
    case 'unrated_terms':
      return {
        ...common,
        term_kind: warning.termKind,
        term_ids: [...warning.termIds],
        term_count: warning.termCount,
      };
    case 'metric_not_evaluated':
      return { ...common, ...metricToWire(warning) };
    case 'not_computed':
      return common;
    default:
      return unreachable(kind);
  }
}

function metricToWire({
  billableMetricId,
  metricName,
}: {
  readonly billableMetricId: string;
  readonly metricName: string;
}) {
  return { billable_metric_id: billableMetricId, billable_metric_name: metricName };
}

export function lateToWire(
  late: LateUsage,
  creditTypeOf: (id: string) => CreditType,
): z.input<typeof lateUsageSchema> {
  const { productId, productName, quantity, price } = late;
  return {
    product_id: productId,
    product_name: productName,
    ...groupValuesToWire(late),
    quantity,
    ...(price === null ? {} : { credit_type: creditTypeOf(price.creditTypeId), total: price.total }),
  };
}
