/** How the lines of an invoice come to be. */
import { z } from 'zod';
import {
  type ExplainDeps,
  type ExplainedInvoice,
  type ExplainedLine,
  explainCursor,
  explainInvoice,
} from '../../../billing/invoices/explain/explain-invoice.ts';
import { pricingUnitsWithIds } from '../../../billing/invoices/pricing-units.ts';
import { formatInstant } from '../../../core/time.ts';
import type {
  CountedLine,
  ExplainedBase,
  ExplainedPrice,
  ExplainedUsage,
} from '../../../rating/explain/explanation.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { metric, metricToWire } from '../billable-metrics/output.ts';
import { rateSchema, rateToWire } from '../rate-cards/rate-schemas.ts';
import { shareSchema, shareToWire } from './explained-share.ts';
import { creditTypeOf, type InvoiceView } from './invoice-view.ts';
import { lineItemSchema, lineToWire } from './line-output.ts';
import { viewOf } from './routes.ts';

const explainedMetric = metric.omit({ custom_fields: true }).meta({ id: 'ExplainedMetric' });

const usageSchema = z
  .object({
    metric: explainedMetric.optional(),
    grouped_by: z
      .array(z.string())
      .meta({ description: 'Properties of which each combination is a line of its own.' }),
    usage_filter: z.object({ group_key: z.string(), group_values: z.array(z.string()) }).optional(),
    evaluated: z.enum(['HOUR', 'SERVICE_PERIOD']).meta({
      description: 'When the metric is evaluated: at the end of every hour, or at the ends of its time.',
    }),
    counted_from: timestamp.meta({ description: 'Values and counter start at 0 here.' }),
    event_count: exactValue.meta({
      type: 'number',
      description: 'Events that match, in the time of the line. Of a SQL metric: all events of the customer.',
    }),
    value_at_start: exactValue.meta({ type: 'number', description: 'V, the value of the metric so far.' }),
    value_at_end: exactValue,
    quantity_conversion: z
      .object({ operation: z.enum(['MULTIPLY', 'DIVIDE']), conversion_factor: exactValue })
      .optional(),
    quantity_rounding: z
      .object({
        rounding_method: z.enum(['ROUND_UP', 'ROUND_DOWN', 'ROUND_HALF_UP']),
        decimal_places: z.int(),
      })
      .optional(),
    continued: z.object({ at: timestamp, value: exactValue, quantity: exactValue }).optional().meta({
      description: 'Where value and quantity go on from another metric, filter, conversion or rounding.',
    }),
    quantity_at_start: exactValue.meta({
      type: 'number',
      description: 'Q, the quantity so far: V after conversion and rounding.',
    }),
    quantity_at_end: exactValue,
  })
  .meta({ id: 'ExplainedUsage' });

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
      description: 'What it counts of each line, in its own time; at most 100 lines.',
    }),
    counted_lines_left_out: z.int().optional(),
    base_at_start: exactValue.optional().meta({ description: 'Since the start of the billing period.' }),
    base_at_end: exactValue.optional(),
  })
  .meta({ id: 'ExplainedBase' });

const priceSchema = z
  .object({
    list_rate: z
      .object({
        rate_card_id: uuid,
        rate_id: uuid,
        starting_at: timestamp,
        ending_before: timestamp.optional(),
        rate: rateSchema,
      })
      .optional()
      .meta({ description: 'The rate of the card in force; absent if only an override sets the price.' }),
    list_price: exactValue.optional().meta({ description: 'Of the tier of this line.' }),
    override: z
      .object({
        id: uuid,
        type: z.enum(['OVERWRITE', 'MULTIPLIER', 'TIERED']).optional(),
        rule: z.string(),
        multiplier: exactValue.optional(),
        starting_at: timestamp,
        ending_before: timestamp.optional(),
      })
      .optional(),
    is_commit_rate: z.literal(true).optional().meta({
      description: 'A balance counts at the commit rate of the card, which `list_rate` shows then.',
    }),
    rate: rateSchema.meta({ description: 'The rate that is charged.' }),
    tier: z.object({ level: z.int(), above: exactValue, up_to: exactValue.optional() }),
  })
  .meta({ id: 'ExplainedPrice' });

const explanationSchema = z
  .object({
    line_number: z.int().meta({ description: 'From 1, in the order of the invoice.' }),
    line_item: lineItemSchema,
    counted_up_to: timestamp.optional().meta({
      type: 'string',
      format: 'date-time',
      description: 'Of a line of a consolidated invoice, whose origins count up to moments of their own.',
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
      description: 'Of a prorated charge of a subscription: the billing period of which it charges a part.',
    }),
    minimum: exactValue.optional(),
    charged: exactValue
      .optional()
      .meta({ description: 'Of a minimum: what the percentages come to, in the currency.' }),
    counted_lines: z
      .array(countedLine)
      .optional()
      .meta({ description: 'Of a conversion: at most 100 lines.' }),
    counted_lines_left_out: z.int().optional(),
    share: shareSchema.optional().meta({
      description: 'Where balances pay: which units this line charges, and who pays for them.',
    }),
    covered_line: countedLine.optional().meta({ description: 'What an applied line takes back.' }),
    formula: z.array(z.string()).meta({ description: 'The calculation, step by step, with its figures.' }),
    is_reproduced: z.boolean().optional().meta({
      description: 'Whether the figures give the line; absent where they are not all known.',
    }),
  })
  .meta({ id: 'LineExplanation' });

export function explainRoute(deps: ExplainDeps): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/invoices/{invoice_id}/explain',
    operationId: 'explainInvoice',
    summary: 'Explain the lines of an invoice',
    description:
      'For each line the metric, the events, conversion and rounding, rate and override, tier and formula, so that it ' +
      'can be computed again by hand. Issued invoices are explained from the terms that were kept with them and from ' +
      'the events that they count. Each page of a draft is as of its own moment.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ customer_id: uuid, invoice_id: uuid }),
    query: pageQuery(explainCursor, 25),
    response: pageOf(explanationSchema).extend({
      counted_up_to: timestamp.optional().meta({
        type: 'string',
        format: 'date-time',
        description:
          'Events that were ingested later do not count. Absent where there is none, or it is not known.',
      }),
    }),
    errors: [400, 404, 413],
    async handler({ params, query }) {
      const page = await explainInvoice(deps, params.customer_id, params.invoice_id, pageRequest(query));
      const view = await viewOf(deps, [page.invoice], {});
      // An OVERWRITE may charge in another unit than the rate that it replaces.
      const units = await pricingUnitsWithIds(deps, page.rows.flatMap(unitsOfPrices));
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
    ...(kind === 'usage' || kind === 'composite'
      ? { price: priceToWire(explanation.price, line.creditTypeId, view) }
      : {}),
    ...(kind === 'subscription' && explanation.price !== null
      ? { price: priceToWire(explanation.price, line.creditTypeId, view) }
      : {}),
    ...(kind === 'subscription' && explanation.partOf !== null
      ? {
          part_of_period: {
            starting_at: formatInstant(explanation.partOf.start),
            ending_before: formatInstant(explanation.partOf.end),
          },
        }
      : {}),
    ...(kind === 'minimum' ? { minimum: explanation.minimum, charged: explanation.charged } : {}),
    ...(kind === 'conversion' ? countedToWire(explanation.counted) : {}),
    ...(explanation.share === null ? {} : { share: shareToWire(explanation.share) }),
    ...(kind === 'applied' ? { covered_line: countedLineToWire(explanation.covered) } : {}),
    formula: [...formula],
    ...(isReproduced === null ? {} : { is_reproduced: isReproduced }),
  };
}

function usageToWire(usage: ExplainedUsage, counted: ExplainedLine['metric']): z.input<typeof usageSchema> {
  const { need, version, continued } = usage;
  const { quantityConversion, quantityRounding } = version;
  return {
    ...(counted === null ? {} : { metric: definitionOf(counted) }),
    grouped_by: [...need.groupKeys],
    ...(need.usageFilter === null
      ? {}
      : {
          usage_filter: {
            group_key: need.usageFilter.property,
            group_values: [...need.usageFilter.values],
          },
        }),
    evaluated: need.evaluatedAt === 'hour' ? 'HOUR' : 'SERVICE_PERIOD',
    counted_from: formatInstant(usage.countedFrom),
    event_count: usage.eventCount,
    value_at_start: usage.valueAtStart,
    value_at_end: usage.valueAtEnd,
    ...(quantityConversion === null
      ? {}
      : {
          quantity_conversion: {
            operation: quantityConversion.operation,
            conversion_factor: quantityConversion.conversionFactor,
          },
        }),
    ...(quantityRounding === null
      ? {}
      : {
          quantity_rounding: {
            rounding_method: quantityRounding.method,
            decimal_places: quantityRounding.decimalPlaces,
          },
        }),
    ...(continued === null
      ? {}
      : {
          continued: {
            at: formatInstant(continued.at),
            value: continued.value,
            quantity: continued.counter,
          },
        }),
    quantity_at_start: usage.counterAtStart,
    quantity_at_end: usage.counterAtEnd,
  };
}

function definitionOf(counted: NonNullable<ExplainedLine['metric']>): z.input<typeof explainedMetric> {
  const { custom_fields: _, ...definition } = metricToWire({ ...counted, customFields: {} });
  return definition;
}

function baseToWire(base: ExplainedBase): z.input<typeof baseSchema> {
  return {
    composite_product_ids: [...base.productIds],
    composite_tags: [...base.tags],
    include_composite_spend: base.includesComposites,
    exclude_free_usage: base.excludesFreeUsage,
    ...countedToWire(base.counted),
    ...(base.baseAtStart === null ? {} : { base_at_start: base.baseAtStart }),
    ...(base.baseAtEnd === null ? {} : { base_at_end: base.baseAtEnd }),
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

function priceToWire(
  { listed, listPrice, applied, rate, band, isCommitRate }: ExplainedPrice,
  creditTypeId: string,
  view: InvoiceView,
): z.input<typeof priceSchema> {
  return {
    ...(listed === null
      ? {}
      : {
          list_rate: {
            rate_card_id: listed.rateCardId,
            rate_id: listed.id,
            ...timeToWire(listed),
            rate: rateToWire(listed.rate, listed.pricingGroupValues, creditTypeOf(listed.creditTypeId, view)),
          },
        }),
    ...(listPrice === null ? {} : { list_price: listPrice }),
    ...(applied === null ? {} : { override: overrideToWire(applied) }),
    ...(isCommitRate ? { is_commit_rate: true as const } : {}),
    rate: rateToWire(rate, {}, creditTypeOf(creditTypeId, view)),
    tier: {
      level: band.level,
      above: band.startingAt,
      ...(band.end === null ? {} : { up_to: band.end }),
    },
  };
}

const RULES = {
  OVERWRITE: 'replaces the list price; of several in force the one added last',
  MULTIPLIER:
    'multiplies the list price; of several in force the one with the highest priority, then the smallest',
  TIERED: 'multiplies the list price in ranges of the quantity; above its last range the list price applies',
} as const;

function overrideToWire({
  override: { id, type, startingAt, endingBefore },
  multiplier,
}: NonNullable<ExplainedPrice['applied']>): NonNullable<z.input<typeof priceSchema>['override']> {
  return {
    id,
    ...(type === null ? {} : { type }),
    rule: RULES[type ?? 'OVERWRITE'],
    ...(multiplier === null ? {} : { multiplier }),
    ...timeToWire({ startingAt, endingBefore }),
  };
}

function timeToWire({
  startingAt,
  endingBefore,
}: {
  readonly startingAt: number;
  readonly endingBefore: number | null;
}) {
  return {
    starting_at: formatInstant(startingAt),
    ...(endingBefore === null ? {} : { ending_before: formatInstant(endingBefore) }),
  };
}
