/** How the lines of an invoice are computed. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  type ExplainedInvoice,
  type ExplainedLine,
  explainCursor,
  explainInvoice,
} from '../../../billing/invoices/explain/explain-invoice.ts';
import { pricingUnitsWithIds } from '../../../billing/invoices/read/pricing-units.ts';
import { formatInstant } from '../../../core/time.ts';
import type { CountedLine, ExplainedBase } from '../../../rating/explain/explanation.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, given, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { priceSchema, priceToWire } from './explained-price.ts';
import { shareSchema, shareToWire } from './explained-share.ts';
import { usageSchema, usageToWire } from './explained-usage.ts';
import type { InvoiceView } from './invoice-view.ts';
import { lineItemSchema, lineToWire } from './line-output.ts';
import { viewOf } from './routes.ts';

const countedLine = z
  .object({ line_number: z.int(), name: z.string(), amount: exactValue })
  .meta({ id: 'CountedLine' });

const baseSchema = z
  .object({
    composite_product_ids: z.array(uuid),
    composite_tags: z.array(z.string()),
    include_composite_spend: z.boolean(),
    exclude_free_usage: z.boolean(),
    counted_lines: z.array(countedLine).meta({
      description: 'The amounts that it counts per line and time; at most 100 lines.',
    }),
    counted_lines_left_out: z.int().optional(),
    base_at_start: exactValue.optional().meta({ description: 'Since the start of the billing period.' }),
    base_at_end: exactValue.optional(),
  })
  .meta({ id: 'ExplainedBase' });

const explanationSchema = z
  .object({
    line_number: z.int().meta({ description: 'From 1, in the order of the invoice.' }),
    line_item: lineItemSchema,
    counted_up_to: timestamp.optional().meta({
      type: 'string',
      format: 'date-time',
      description:
        'For a line of a consolidated invoice, whose original invoices count events up to different times.',
    }),
    kind: z.enum([
      'usage',
      'composite',
      'minimum',
      'conversion',
      'scheduled',
      'subscription',
      'applied',
      'unknown',
    ]),
    usage: usageSchema.optional(),
    composite: baseSchema.optional(),
    price: priceSchema.optional(),
    part_of_period: z.object({ starting_at: timestamp, ending_before: timestamp }).optional().meta({
      description: 'For a prorated subscription charge: the full billing period.',
    }),
    minimum: exactValue.optional(),
    charged: exactValue
      .optional()
      .meta({ description: 'For a minimum: the total of the percentages, in the currency.' }),
    counted_lines: z
      .array(countedLine)
      .optional()
      .meta({ description: 'For a conversion: the converted lines, at most 100.' }),
    counted_lines_left_out: z.int().optional(),
    share: shareSchema.optional().meta({
      description: 'If balances pay: the units that this line charges, and the payer.',
    }),
    covered_line: countedLine.optional().meta({ description: 'The amount that an applied line takes back.' }),
    formula: z.array(z.string()).meta({ description: 'The calculation, step by step, with its figures.' }),
    is_reproduced: z.boolean().optional().meta({
      description: 'True if the figures reproduce the line; absent if some are unknown.',
    }),
  })
  .meta({ id: 'LineExplanation' });

export function explainRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/{invoice_id}/explain',
    operationId: 'explainInvoice',
    summary: 'Explain the lines of an invoice',
    description:
      'For each line the metric, the events, conversion and rounding, rate and override, tier and formula, so that it ' +
      'can be computed again by hand. Issued invoices are explained from the terms that were kept with them and from ' +
      'the events that they count. Each page of a draft shows a separate moment.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid, invoice_id: uuid }),
    query: pageQuery(explainCursor, 25),
    response: pageOf(explanationSchema).extend({
      counted_up_to: timestamp.optional().meta({
        type: 'string',
        format: 'date-time',
        description: 'Events ingested later do not count. Absent if there is no such limit or it is unknown.',
      }),
    }),
    errors: [400, 404, 413],
    async handler({ params, query }) {
      const page = await explainInvoice(context, params.customer_id, params.invoice_id, pageRequest(query));
      const view = await viewOf(context, [page.invoice], {});
      // An OVERWRITE may charge in another unit than the rate that it replaces.
      const units = await pricingUnitsWithIds(context, page.rows.flatMap(unitsOfPrices));
      const shown = { ...view, creditTypes: new Map([...view.creditTypes, ...units]) };
      return {
        ...pageToWire(page, (row) => explanationToWire(row, page.invoice, shown)),
        ...(page.invoice.type === 'USAGE_CONSOLIDATED' ? {} : countedUpToWire(page.rows[0])),
      };
    },
  });
}

/** Nothing where it is not known. */
function countedUpToWire(row: Pick<ExplainedLine, 'countedUpTo'> | undefined) {
  const countedUpTo = row?.countedUpTo ?? null;
  return countedUpTo === null ? {} : { counted_up_to: formatInstant(countedUpTo) };
}

function unitsOfPrices({ explanation }: ExplainedLine): string[] {
  const { kind } = explanation;
  if (kind !== 'usage' && kind !== 'composite' && kind !== 'subscription') return [];
  const listed = explanation.price?.listed ?? null;
  return listed === null ? [] : [listed.creditTypeId];
}

function explanationToWire(
  row: ExplainedLine,
  { id, type }: ExplainedInvoice['invoice'],
  view: InvoiceView,
): z.input<typeof explanationSchema> {
  const { position, line, explanation, isReproduced, metric: counted } = row;
  const { kind, formula } = explanation;
  return {
    line_number: position + 1,
    line_item: lineToWire(id, line, view.customFields.get(id) ?? new Map(), view),
    ...(type === 'USAGE_CONSOLIDATED' ? countedUpToWire(row) : {}),
    kind,
    ...(kind === 'usage' ? { usage: usageToWire(explanation.usage, counted) } : {}),
    ...(kind === 'composite' ? { composite: baseToWire(explanation.base) } : {}),
    price:
      kind === 'usage' || kind === 'composite' || kind === 'subscription'
        ? given(explanation.price, (price) => priceToWire(price, line.creditTypeId, view))
        : undefined,
    part_of_period:
      kind === 'subscription'
        ? given(explanation.partOf, ({ start, end }) => ({
            starting_at: formatInstant(start),
            ending_before: formatInstant(end),
          }))
        : undefined,
    ...(kind === 'minimum' ? { minimum: explanation.minimum, charged: explanation.charged } : {}),
    ...(kind === 'conversion' ? countedToWire(explanation.counted) : {}),
    ...(explanation.share === null ? {} : { share: shareToWire(explanation.share) }),
    ...(kind === 'applied' ? { covered_line: countedLineToWire(explanation.covered) } : {}),
    formula: [...formula],
    ...(isReproduced === null ? {} : { is_reproduced: isReproduced }),
  };
}

function baseToWire(base: ExplainedBase): z.input<typeof baseSchema> {
  return {
    composite_product_ids: [...base.productIds],
    composite_tags: [...base.tags],
    include_composite_spend: base.includesComposites,
    exclude_free_usage: base.excludesFreeUsage,
    ...countedToWire(base.counted),
    base_at_start: base.baseAtStart ?? undefined,
    base_at_end: base.baseAtEnd ?? undefined,
  };
}

const COUNTED_LINES_MAX = 100;

function countedToWire(counted: readonly CountedLine[]) {
  const leftOut = counted.length - COUNTED_LINES_MAX;
  return {
    counted_lines: counted.slice(0, COUNTED_LINES_MAX).map(countedLineToWire),
    ...(leftOut > 0 ? { counted_lines_left_out: leftOut } : {}),
  };
}

function countedLineToWire({ position, name, amount }: CountedLine) {
  return { line_number: position + 1, name, amount };
}
