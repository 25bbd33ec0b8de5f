/** Token billing: what has no price (docs/token-billing.md). Managed rate cards are in routes/rate-cards. */
import { z } from 'zod';
import { listUnpriced, type UnpricedDeps } from '../../../billing/token-billing/list-unpriced.ts';
import { formatInstant } from '../../../core/time.ts';
import { TOKEN_KINDS } from '../../../core/token-billing.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp } from '../../wire/fields.ts';

const unpriced = z
  .object({
    customer_id: z.string().meta({ description: 'As it was sent.' }),
    provider: z.string(),
    model: z.string(),
    token_kinds: z.array(z.enum(TOKEN_KINDS)).meta({ description: 'What the events count.' }),
    events: z.number(),
    first_timestamp: timestamp,
    last_timestamp: timestamp,
    reason: z.string().meta({ description: 'As of the last of the events, for people to read.' }),
  })
  .meta({ id: 'UnpricedTokens' });

export function tokenBillingRoutes(deps: UnpricedDeps): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/token-billing/unpriced',
      operationId: 'listUnpricedTokens',
      summary: 'List token-billing events without a price, by customer and model',
      description: 'They are priced as soon as their model has a rate, as long as their period is open.',
      tags: ['Token billing'],
      scope: 'read',
      query: z.object({
        starting_on: timestamp.optional().meta({ description: 'Default: the start of this month.' }),
        ending_before: timestamp.optional().meta({ description: 'Default: now.' }),
      }),
      response: z.object({ data: z.array(unpriced) }),
      errors: [400, 413],
      handler: async ({ query }) => ({
        data: (
          await listUnpriced(deps, { start: query.starting_on ?? null, end: query.ending_before ?? null })
        ).map((one) => ({
          customer_id: one.customerRef,
          provider: one.provider,
          model: one.model,
          token_kinds: [...one.kinds],
          events: one.events,
          first_timestamp: formatInstant(one.first),
          last_timestamp: formatInstant(one.last),
          reason: one.reason,
        })),
      }),
    }),
  ];
}
