/** Customers whose events have stopped. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { DAYS_BEFORE, listMissingEvents, SILENT_DAYS_MAX } from '../../../billing/events/missing-events.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

const missingEvents = z
  .object({
    customer_id: uuid,
    customer_name: z.string(),
    last_timestamp: timestamp.meta({ description: 'When the last of its events happened.' }),
  })
  .meta({ id: 'MissingEvents' });

export function missingEventsRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/events/missing',
    operationId: 'listMissingEvents',
    summary: 'List customers whose events have stopped',
    description:
      'Customers with a contract on a rate card in force whose last event happened at least 24 hours and at most ' +
      `${SILENT_DAYS_MAX} days ago, and which had events on each of the ${DAYS_BEFORE} days in UTC up to the day of that event. ` +
      'By creation of the customers. A page may have few rows.',
    tags: ['Usage'],
    scope: 'read',
    query: pageQuery(keysetPosition),
    response: pageOf(missingEvents),
    errors: [400, 429],
    handler: async ({ query }) =>
      pageToWire(await listMissingEvents(context, pageRequest(query)), ({ id, name, last }) => ({
        customer_id: id,
        customer_name: name,
        last_timestamp: formatInstant(last),
      })),
  });
}
