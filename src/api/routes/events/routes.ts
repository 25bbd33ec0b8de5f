/** Events: those of a transaction id, with their customer and metrics, and those without a customer. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { EVENT_SEARCH_IDS_MAX, type EventView, searchEvents } from '../../../billing/events/search-events.ts';
import { listUnmatchedEvents, UNMATCHED_DAYS_MAX } from '../../../billing/events/unmatched-events.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { matchedMetric, matchedMetricToWire } from '../metrics/output.ts';
import { eventBillingRoute } from './billing-route.ts';
import { correctionRoutes } from './correction-routes.ts';
import { eventCountRoutes } from './count-routes.ts';
import { eventListRoute } from './list-route.ts';
import { missingEventsRoute } from './missing-route.ts';

/** The limit of ingest: no event has a longer id. */
const TRANSACTION_ID_CHARACTERS_MAX = 128;

const transactionId = z
  .string()
  .min(1)
  .refine(
    (text) => Array.from(text).length <= TRANSACTION_ID_CHARACTERS_MAX,
    `must have at most ${TRANSACTION_ID_CHARACTERS_MAX} characters`,
  );

const searchBody = z
  .object({
    transactionIds: z.array(transactionId).min(1).max(EVENT_SEARCH_IDS_MAX),
    include_unmatched: z
      .boolean()
      .nullish()
      .meta({ description: 'If true, lists every other metric with the first rule that the event fails.' }),
  })
  .meta({ id: 'EventSearch', example: { transactionIds: ['2026-11-20-0001'], include_unmatched: true } });

const foundEvent = z
  .object({
    id: uuid.meta({ description: 'Identifies the row; stable across searches.' }),
    transaction_id: z.string(),
    timestamp,
    customer_id: z.string().meta({ description: 'As it was sent.' }),
    event_type: z.string(),
    properties: z
      .record(z.string(), z.string())
      .meta({ description: 'The text of every value; nested values as JSON text.' }),
    processed_at: timestamp.meta({
      description: 'When the event was accepted; for a duplicate, when it arrived.',
    }),
    matched_customer: z
      .object({ id: uuid, name: z.string() })
      .nullable()
      .meta({ description: 'Null if no customer has this id or alias now.' }),
    matched_billable_metrics: z
      .array(matchedMetric)
      .meta({ description: 'The metrics whose usage counts this event.' }),
    status: z.enum(['billed', 'voided', 'amended']).optional().meta({
      description:
        'Absent for a duplicate. Both versions of an amended event are listed: what was sent is `amended`, what counts instead `billed`.',
    }),
    correction_id: uuid.optional().meta({
      description: 'The set of corrections that took this version away, or gave it.',
    }),
    is_duplicate: z
      .boolean()
      .meta({ description: 'True for a repeat of an accepted event; it is never counted.' }),
    unpriced: z.object({ reason: z.string() }).optional().meta({
      description: 'For token-billing events: the reason why no managed rate card prices the tokens.',
    }),
    unmatched_billable_metrics: z
      .array(z.object({ id: uuid, name: z.string(), reason: z.string() }))
      .optional()
      .meta({ description: 'With `include_unmatched`.' }),
  })
  .meta({ id: 'FoundEvent' });

const unmatchedEvents = z
  .object({
    customer_id: z
      .string()
      .meta({ description: 'As it was sent: no customer has this id or ingest alias now.' }),
    events: z.number(),
    first_timestamp: timestamp,
    last_timestamp: timestamp,
  })
  .meta({ id: 'UnmatchedEvents' });

const position = z.object({ prefix: z.string(), key: z.string() });

export function eventRoutes(context: BillingContext): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v1/events/search',
      operationId: 'searchEvents',
      summary: 'Find events by transaction id',
      description:
        'Events accepted within the deduplication window, in the order of the ids, each followed by the versions that ' +
        'corrections have given it, and by the repeats of it that were seen. Ids without an event are left out.',
      tags: ['Usage'],
      scope: 'read',
      body: searchBody,
      response: z.array(foundEvent),
      errors: [400, 413],
      async handler({ body }) {
        const events = await searchEvents(context, body.transactionIds);
        return events.map((event) => toWire(event, body.include_unmatched ?? false));
      },
    }),
    route({
      method: 'get',
      path: '/v1/events/unmatched',
      operationId: 'listUnmatchedEvents',
      summary: 'List events without a customer, by the id or alias that was sent',
      description:
        'Nothing counts or bills them until a customer has this id or ingest alias; it then has them all, as long as ' +
        'their period is open. A page may have few rows.',
      tags: ['Usage'],
      scope: 'read',
      query: pageQuery(position).extend({
        starting_on: timestamp
          .optional()
          .meta({ description: `Default: ${UNMATCHED_DAYS_MAX} days before \`ending_before\`.` }),
        ending_before: timestamp.optional().meta({
          description: `At most ${UNMATCHED_DAYS_MAX} days after \`starting_on\`. Default: now, or as late as that allows.`,
        }),
      }),
      response: pageOf(unmatchedEvents),
      errors: [400],
      handler: async ({ query }) => {
        const range = { start: query.starting_on ?? null, end: query.ending_before ?? null };
        return pageToWire(await listUnmatchedEvents(context, range, pageRequest(query)), (one) => ({
          customer_id: one.customerRef,
          events: one.events,
          first_timestamp: formatInstant(one.first),
          last_timestamp: formatInstant(one.last),
        }));
      },
    }),
    ...correctionRoutes(context, transactionId),
    eventBillingRoute(context, transactionId),
    missingEventsRoute(context),
    eventListRoute(context),
    ...eventCountRoutes(context),
  ];
}

function toWire(view: EventView, includeUnmatched: boolean): z.input<typeof foundEvent> {
  const { event, customer } = view;
  const unmatched = view.unmatched.map(({ metric, reason }) => ({
    id: metric.id,
    name: metric.name,
    reason,
  }));
  return {
    id: view.id,
    transaction_id: event.transactionId,
    timestamp: formatInstant(event.timestamp),
    customer_id: event.customerRef,
    event_type: event.eventType,
    properties: Object.fromEntries(event.properties),
    processed_at: formatInstant(event.receivedAt),
    matched_customer: customer === null ? null : { id: customer.id, name: customer.name },
    matched_billable_metrics: view.matched.map(matchedMetricToWire),
    ...(view.isDuplicate ? {} : { status: view.standing.status }),
    ...(view.standing.correctionId === null ? {} : { correction_id: view.standing.correctionId }),
    is_duplicate: view.isDuplicate,
    ...(view.unpricedReason === null ? {} : { unpriced: { reason: view.unpricedReason } }),
    ...(includeUnmatched ? { unmatched_billable_metrics: unmatched } : {}),
  };
}
