/** The list of stored events. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { listEvents } from '../../../billing/events/list-events.ts';
import { invalid } from '../../../core/errors.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

const listedEvent = z
  .object({
    transaction_id: z.string(),
    timestamp,
    event_type: z.string(),
    customer_id: z.string().meta({ description: 'As it was sent.' }),
    matched_customer: z
      .object({ id: uuid, name: z.string() })
      .nullable()
      .meta({ description: 'Null if no customer has this id or alias now.' }),
  })
  .meta({ id: 'ListedEvent' });

const position = z.object({ at: keysetPosition.shape.at, transactionId: z.string().max(512) });

export function eventListRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/events',
    operationId: 'listEvents',
    summary: 'List stored events, the newest first',
    description:
      'By the time at which they happened, then by transaction id: of all customers or of one, of all types or of one, ' +
      'each event once. `POST /v1/events/search` has their properties and metrics.',
    tags: ['Usage'],
    scope: 'read',
    query: pageQuery(position, 50).extend({
      customer_id: uuid.optional(),
      event_type: z.string().min(1).max(200).optional(),
      starting_on: timestamp.optional(),
      ending_before: timestamp.optional(),
    }),
    response: pageOf(listedEvent),
    errors: [400, 429],
    async handler({ query }) {
      const { starting_on: start = null, ending_before: end = null } = query;
      if (start !== null && end !== null && start >= end) {
        throw invalid(['endingBefore'], 'must be after starting_on');
      }
      const filter = {
        customerId: query.customer_id ?? null,
        eventType: query.event_type ?? null,
        start,
        end,
      };
      return pageToWire(await listEvents(context, filter, pageRequest(query)), ({ event, customer }) => ({
        transaction_id: event.transactionId,
        timestamp: formatInstant(event.timestamp),
        event_type: event.eventType,
        customer_id: event.customerRef,
        matched_customer: customer === null ? null : { id: customer.id, name: customer.name },
      }));
    },
  });
}
