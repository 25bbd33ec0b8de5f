/** The histories of subscriptions: of their quantities, and of their seats. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import {
  readQuantityHistory,
  readSeatsHistory,
} from '../../../billing/contract-views/subscription-histories.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { called, list, noted, nullable } from '../../wire/description.ts';
import { timestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { anyText, exact, id, instant } from '../../wire/kinds.ts';
import { cursor, pageOf, pageToWire } from '../../wire/paging.ts';
import { beside, record } from '../../wire/record.ts';

const reference = { customer_id: uuid, contract_id: uuid, subscription_id: uuid };

function referenceFromWire(body: { customer_id: string; contract_id: string; subscription_id: string }) {
  return {
    customerId: body.customer_id,
    contractId: body.contract_id,
    subscriptionId: body.subscription_id,
  };
}

const quantityHistory = record(
  {
    subscriptionId: id,
    fiatCreditTypeId: id,
    entries: called(
      'history',
      list(
        record({
          startingAt: instant,
          rows: called(
            'data',
            list(
              record({
                quantity: exact(),
                unitPrice: noted(
                  'For a whole billing period, as of its start; 0 if there is no price.',
                  exact(),
                ),
                total: exact(),
              }),
            ),
          ),
        }),
      ),
    ),
  },
  { id: { answered: 'SubscriptionQuantityHistory' } },
);

/** A segment may name 100,000 seats. */
const SEGMENTS_MAX = 10;

const seatSegment = record(
  {
    interval: beside({
      start: called('starting_at', instant),
      end: called('ending_before', noted('Null: it continues.', nullable(instant))),
    }),
    quantity: called('total_quantity', noted('Assigned and unassigned seats.', exact())),
    seatIds: called('assigned_seat_ids', list(anyText)),
  },
  { id: { answered: 'SubscriptionSeatsScheduleEntry' } },
);

export function subscriptionRoutes(context: RowContext): RouteDefinition[] {
  return [quantityHistoryRoute(context), seatsHistoryRoute(context)];
}

function quantityHistoryRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/contracts/getSubscriptionQuantityHistory',
    operationId: 'getSubscriptionQuantityHistory',
    summary: 'Get the history of quantities and prices of a subscription',
    description:
      'An entry for each change of the quantity or of the price, up to now. Changes of the future are in the ' +
      '`quantity_schedule` of the contract.',
    tags: ['Contracts'],
    scope: 'read',
    body: z.object(reference),
    response: z.object({ data: quantityHistory.output }),
    errors: [400, 404],
    async handler({ body }) {
      const history = await readQuantityHistory(context, referenceFromWire(body));
      return { data: quantityHistory.write({ ...history, subscriptionId: body.subscription_id }) };
    },
  });
}

function seatsHistoryRoute(context: RowContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/contracts/getSubscriptionSeatsHistory',
    operationId: 'getSubscriptionSeatsHistory',
    summary: 'Get the history of seats of a subscription',
    description: 'Segments of unchanged seats, by start; the last segment is the current one.',
    tags: ['Contracts'],
    scope: 'read',
    body: z.object({
      ...reference,
      limit: wholeNumber(1, SEGMENTS_MAX)
        .nullish()
        .meta({ description: `Default: ${SEGMENTS_MAX}.` }),
      cursor: cursor(z.object({ start: z.int() })).nullish(),
      covering_date: timestamp.nullish().meta({ description: 'The segment that contains this instant.' }),
      starting_at: timestamp.nullish().meta({ description: 'Segments in force at or after this instant.' }),
      ending_before: timestamp
        .nullish()
        .meta({ description: 'Segments in force at or before this instant.' }),
    }),
    response: pageOf(seatSegment.output),
    errors: [400, 404],
    async handler({ body }) {
      const page = await readSeatsHistory(
        context,
        referenceFromWire(body),
        {
          coveringDate: body.covering_date ?? null,
          startingAt: body.starting_at ?? null,
          endingBefore: body.ending_before ?? null,
        },
        { after: body.cursor ?? null, limit: body.limit ?? SEGMENTS_MAX },
      );
      return pageToWire(page, seatSegment.write);
    },
  });
}
