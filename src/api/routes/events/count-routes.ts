/** The stored events of the last 30 days, counted by day and by type. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  countEventsByDay,
  countEventsByType,
  DAYS_COUNTED,
  TYPES_MAX,
} from '../../../billing/events/count-events.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp } from '../../wire/fields.ts';

const eventsOfDay = z
  .object({ starting_on: timestamp.meta({ description: 'Midnight in UTC.' }), events: z.int() })
  .meta({ id: 'EventsOfDay' });

const eventType = z
  .object({
    event_type: z.string(),
    events: z.int(),
    last_timestamp: timestamp.meta({ description: 'When the last of them happened.' }),
    properties: z
      .array(z.string())
      .meta({ description: 'The names of the properties of the first and the last of them.' }),
  })
  .meta({ id: 'EventType' });

export function eventCountRoutes(context: BillingContext): RouteDefinition[] {
  return [
    route({
      method: 'get',
      path: '/v1/events/days',
      operationId: 'countEventsByDay',
      summary: 'Count stored events by day',
      description:
        `The last ${DAYS_COUNTED} days in UTC up to today, by the time at which events happened, each event once, ` +
        'those without a customer too. Days whose events were removed are left out.',
      tags: ['Usage'],
      scope: 'read',
      response: z.object({ data: z.array(eventsOfDay) }),
      errors: [429],
      handler: async () => ({
        data: (await countEventsByDay(context)).map(({ start, events }) => ({
          starting_on: formatInstant(start),
          events,
        })),
      }),
    }),
    route({
      method: 'get',
      path: '/v1/events/types',
      operationId: 'listEventTypes',
      summary: 'List the types of stored events with their properties',
      description: `The ${TYPES_MAX} types with the most events in the last ${DAYS_COUNTED} days, the most frequent one first.`,
      tags: ['Usage'],
      scope: 'read',
      response: z.object({ data: z.array(eventType) }),
      errors: [429],
      handler: async () => ({
        data: (await countEventsByType(context)).map((type) => ({
          event_type: type.eventType,
          events: type.events,
          last_timestamp: formatInstant(type.last),
          properties: [...type.properties],
        })),
      }),
    }),
  ];
}
