/** The histories of subscriptions: of their quantities, and of their seats. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import {
  readQuantityHistory,
  readSeatsHistory,
  type SeatHistorySegment,
} from '../../../billing/contract-views/subscription-histories.ts';
import { formatInstant } from '../../../core/time.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, timestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { cursor, pageOf, pageToWire } from '../../wire/paging.ts';

const reference = { customer_id: uuid, contract_id: uuid, subscription_id: uuid };

function referenceFromWire(body: { customer_id: string; contract_id: string; subscription_id: string }) {
  return {
    customerId: body.customer_id,
    contractId: body.contract_id,
    subscriptionId: body.subscription_id,
  };
}

const quantityHistory = z
  .object({
    subscription_id: uuid,
    fiat_credit_type_id: uuid,
    history: z.array(
      z.object({
        starting_at: timestamp,
        data: z.array(
          z.object({
            quantity: exactValue,
            unit_price: exactValue.meta({
              type: 'number',
              description: 'For a whole billing period, as of its start; 0 if there is no price.',
            }),
            total: exactValue,
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'SubscriptionQuantityHistory' });

/** A segment may name 100,000 seats. */
const SEGMENTS_MAX = 10;

const seatSegment = z
  .object({
    starting_at: timestamp,
    ending_before: timestamp.nullable().meta({ description: 'Null: it continues.' }),
    total_quantity: exactValue.meta({ type: 'number', description: 'Assigned and unassigned seats.' }),
    assigned_seat_ids: z.array(z.string()),
  })
  .meta({ id: 'SubscriptionSeatsScheduleEntry' });

export function subscriptionRoutes(deps: RowContext): RouteDefinition[] {
  return [quantityHistoryRoute(deps), seatsHistoryRoute(deps)];
}

function quantityHistoryRoute(deps: RowContext): RouteDefinition {
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
    response: z.object({ data: quantityHistory }),
    errors: [400, 404],
    async handler({ body }) {
      const { fiatCreditTypeId, entries } = await readQuantityHistory(deps, referenceFromWire(body));
      return {
        data: {
          subscription_id: body.subscription_id,
          fiat_credit_type_id: fiatCreditTypeId,
          history: entries.map(({ startingAt, rows }) => ({
            starting_at: formatInstant(startingAt),
            data: rows.map(({ quantity, unitPrice, total }) => ({ quantity, unit_price: unitPrice, total })),
          })),
        },
      };
    },
  });
}

function seatsHistoryRoute(deps: RowContext): RouteDefinition {
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
    response: pageOf(seatSegment),
    errors: [400, 404],
    async handler({ body }) {
      const page = await readSeatsHistory(
        deps,
        referenceFromWire(body),
        {
          coveringDate: body.covering_date ?? null,
          startingAt: body.starting_at ?? null,
          endingBefore: body.ending_before ?? null,
        },
        { after: body.cursor ?? null, limit: body.limit ?? SEGMENTS_MAX },
      );
      return pageToWire(page, segmentToWire);
    },
  });
}

function segmentToWire({ interval, quantity, seatIds }: SeatHistorySegment): z.input<typeof seatSegment> {
  return {
    starting_at: formatInstant(interval.start),
    ending_before: interval.end === null ? null : formatInstant(interval.end),
    total_quantity: quantity,
    assigned_seat_ids: [...seatIds],
  };
}
