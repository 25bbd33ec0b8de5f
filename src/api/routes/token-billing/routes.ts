/**
 * Token billing: margins, and usage without a price (docs/explanation/token-billing.md). Managed rate cards are in
 * routes/rate-cards.
 */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { listUnpriced } from '../../../billing/token-billing/list-unpriced.ts';
import { formatInstant } from '../../../core/time.ts';
import { TOKEN_KINDS } from '../../../core/token-billing.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { marginRoute } from './margin-route.ts';

const unpriced = z
  .object({
    customer_id: z.string().meta({ description: 'As it was sent.' }),
    provider: z.string(),
    model: z.string(),
    token_kinds: z.array(z.enum(TOKEN_KINDS)).meta({ description: 'The quantity that the events count.' }),
    events: z.number(),
    first_timestamp: timestamp,
    last_timestamp: timestamp,
    reason: z.string().meta({ description: 'As of the last of the events, for people to read.' }),
  })
  .meta({ id: 'UnpricedTokens' });

const position = z.object({ prefix: z.string(), key: z.string() });

export function tokenBillingRoutes(context: BillingContext): RouteDefinition[] {
  return [
    marginRoute(context),
    route({
      method: 'get',
      path: '/v1/token-billing/unpriced',
      operationId: 'listUnpricedTokens',
      summary: 'List token-billing events without a price, by customer and model',
      description:
        'They are priced as soon as their model has a rate, as long as their period is open. A page may have few rows.',
      tags: ['Token billing'],
      scope: 'read',
      query: pageQuery(position).extend({
        starting_on: timestamp.optional().meta({ description: 'Default: the start of this month.' }),
        ending_before: timestamp.optional().meta({ description: 'Default: now.' }),
      }),
      response: pageOf(unpriced),
      errors: [400],
      handler: async ({ query }) => {
        const range = { start: query.starting_on ?? null, end: query.ending_before ?? null };
        return pageToWire(await listUnpriced(context, range, pageRequest(query)), (one) => ({
          customer_id: one.customerRef,
          provider: one.provider,
          model: one.model,
          token_kinds: [...one.kinds],
          events: one.events,
          first_timestamp: formatInstant(one.first),
          last_timestamp: formatInstant(one.last),
          reason: one.reason,
        }));
      },
    }),
  ];
}
