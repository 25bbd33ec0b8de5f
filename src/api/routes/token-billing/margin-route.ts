/** The margin over the costs of AI providers, as JSON and CSV. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { createKeptDrafts } from '../../../billing/invoices/breakdowns/kept-drafts.ts';
import { listMargins, type MarginRow } from '../../../billing/token-billing/margin.ts';
import { formatInstant } from '../../../core/time.ts';
import { type CsvColumn, csvTable } from '../../http/csv.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { dayAlignedTimestamp, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

const DAYS_PER_PAGE = 31;

const margin = z
  .object({
    customer_id: uuid,
    day: timestamp.meta({ description: 'Its start, in UTC.' }),
    provider: z.string(),
    model: z.string().meta({ description: 'Id in the catalogue.' }),
    tokens: exactValue.meta({ description: 'Tokens of all kinds, as billed.' }),
    revenue: exactValue.meta({ description: 'US cents, before commits and credits.' }),
    provider_cost: exactValue
      .nullable()
      .meta({ description: 'US cents; null if the catalogue had no price for some tokens at their time.' }),
    margin: exactValue.nullable().meta({ description: 'Revenue without the cost of the provider.' }),
  })
  .meta({ id: 'TokenMargin' });

type MarginWire = z.input<typeof margin>;

const COLUMNS: readonly CsvColumn<MarginWire>[] = [
  { name: 'customer_id', description: 'Id of the customer.', value: (row) => row.customer_id },
  { name: 'day', description: 'Start of the day, in UTC.', value: (row) => row.day },
  { name: 'provider', description: 'Provider in the catalogue.', value: (row) => row.provider },
  { name: 'model', description: 'Id in the catalogue.', value: (row) => row.model },
  { name: 'tokens', description: 'Tokens of all kinds, as billed.', value: (row) => row.tokens },
  { name: 'revenue', description: 'US cents, before commits and credits.', value: (row) => row.revenue },
  {
    name: 'provider_cost',
    description: 'US cents; empty if a price is missing.',
    value: (row) => row.provider_cost,
  },
  { name: 'margin', description: 'Empty if a price is missing.', value: (row) => row.margin },
];

const position = z.object({ customerId: uuid, day: z.int() });

export function marginRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/token-billing/margin',
    operationId: 'listTokenMargins',
    summary: 'List revenue and provider cost of tokens by customer, day and model',
    description: 'Covers drafts and finalized invoices. A page has at most `limit` days of one customer.',
    tags: ['Token billing'],
    scope: 'read',
    query: pageQuery(position, DAYS_PER_PAGE).extend({
      starting_on: dayAlignedTimestamp,
      ending_before: dayAlignedTimestamp,
      customer_id: uuid.optional(),
      provider: z.string().optional(),
      model: z.string().optional().meta({ description: 'Id in the catalogue.' }),
    }),
    response: pageOf(margin),
    csv: csvTable(COLUMNS, (row: MarginWire) => [row], { itemsPerRead: DAYS_PER_PAGE }),
    errors: [400, 413],
    handler: async ({ query, shared }) => {
      const filter = {
        range: { start: query.starting_on, end: query.ending_before },
        customerId: query.customer_id,
        provider: query.provider,
        model: query.model,
        drafts: shared?.(createKeptDrafts),
      };
      return pageToWire(await listMargins(context, filter, pageRequest(query)), toWire);
    },
  });
}

function toWire({ customerId, day, revenueCents, costCents, ...row }: MarginRow): MarginWire {
  return {
    customer_id: customerId,
    day: formatInstant(day),
    provider: row.provider,
    model: row.model,
    tokens: row.tokens,
    revenue: revenueCents,
    provider_cost: costCents,
    margin: costCents === null ? null : revenueCents.minus(costCents),
  };
}
