/** Named schedules of customers, contracts and rate cards: two operations for each of them. */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import {
  getNamedSchedule,
  type NamedSchedule,
  type ScheduleOwner,
  updateNamedSchedule,
} from '../../../billing/named-schedules/named-schedules.ts';
import { formatInstant } from '../../../core/time.ts';
import { parseJson, stringifyJson } from '../../base/json.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';

const NAME_LENGTH_MAX = 200;
const PROPERTIES_MAX = 20;

const text = z.string().min(1).max(NAME_LENGTH_MAX);
const name = { schedule_name: text };
const properties = {
  properties: z
    .record(text, z.string().max(NAME_LENGTH_MAX))
    .refine(
      (given) => Object.keys(given).length <= PROPERTIES_MAX,
      `must have at most ${PROPERTIES_MAX} members`,
    )
    .nullish()
    .meta({ description: 'Tell schedules of the same name apart.' }),
};
const asked = {
  covering_date: timestamp.nullish().meta({ description: 'The segment that covers this time.' }),
};
const written = {
  starting_at: timestamp,
  ending_before: timestamp.nullish().meta({ description: 'If omitted, the value has no end.' }),
  value: z
    .unknown()
    .refine((value) => value !== undefined, 'is required')
    .meta({ description: 'Any JSON.' }),
};

const segments = z.object({
  data: z.array(
    z.object({ value: z.unknown(), starting_at: timestamp, ending_before: timestamp.optional() }),
  ),
});

/** The owners of schedules, and their names in requests. */
const OWNERS = {
  Customer: {
    path: '/v1/customers',
    what: 'a customer',
    members: z.object({ customer_id: uuid }),
    ownerOf: ({ customer_id: id }: { customer_id: string }): ScheduleOwner => ({ subject: 'customer', id }),
  },
  RateCard: {
    path: '/v1/contract-pricing/rate-cards',
    what: 'a rate card',
    members: z.object({ rate_card_id: uuid }),
    ownerOf: ({ rate_card_id: id }: { rate_card_id: string }): ScheduleOwner => ({
      subject: 'rate_card',
      id,
    }),
  },
  Contract: {
    path: '/v1/contracts',
    what: 'a contract',
    members: z.object({ customer_id: uuid, contract_id: uuid, ...properties }),
    ownerOf: (sent: { customer_id: string; contract_id: string }): ScheduleOwner => ({
      subject: 'contract',
      id: sent.contract_id,
      customerId: sent.customer_id,
    }),
  },
} as const;

export function namedScheduleRoutes(context: RowContext): RouteDefinition[] {
  return [
    ...routesOf(context, 'Customer', OWNERS.Customer),
    ...routesOf(context, 'Contract', OWNERS.Contract),
    ...routesOf(context, 'RateCard', OWNERS.RateCard),
  ];
}

interface Owner<Members extends z.ZodObject> {
  readonly path: `/${string}`;
  readonly what: string;
  readonly members: Members;
  ownerOf(sent: z.output<Members>): ScheduleOwner;
}

function routesOf<Members extends z.ZodObject>(
  context: RowContext,
  id: string,
  { path, what, members, ownerOf }: Owner<Members>,
): RouteDefinition[] {
  const scheduleOf = (sent: object): NamedSchedule => {
    const given = z.object({ ...name, ...properties }).parse(sent);
    return {
      owner: ownerOf(members.parse(sent)),
      name: given.schedule_name,
      properties: given.properties ?? {},
    };
  };
  return [
    route({
      method: 'post',
      path: `${path}/getNamedSchedule`,
      operationId: `get${id}NamedSchedule`,
      summary: `Read a named schedule of ${what}`,
      description: 'By start. A schedule that was never written has no segments.',
      tags: ['Named schedules'],
      scope: 'read',
      body: z.object({ ...members.shape, ...name, ...asked }),
      response: segments,
      errors: [400, 404],
      async handler({ body }) {
        const found = await getNamedSchedule(context, scheduleOf(body), body.covering_date ?? null);
        return {
          data: found.map(({ value, startingAt, endingBefore }) => ({
            value: parseJson(value),
            starting_at: formatInstant(startingAt),
            ...(endingBefore === null ? {} : { ending_before: formatInstant(endingBefore) }),
          })),
        };
      },
    }),
    route({
      method: 'post',
      path: `${path}/updateNamedSchedule`,
      operationId: `update${id}NamedSchedule`,
      summary: `Write a value of a named schedule of ${what}`,
      description:
        'Over the interval, whatever the schedule had there; outside of it nothing changes. The service keeps the ' +
        'value and does not interpret it.',
      tags: ['Named schedules'],
      scope: 'write',
      body: z.object({ ...members.shape, ...name, ...written }),
      response: 'empty',
      errors: [400, 404],
      async handler({ body }) {
        await updateNamedSchedule(context, scheduleOf(body), {
          startingAt: body.starting_at,
          endingBefore: body.ending_before ?? null,
          value: stringifyJson(body.value),
        });
      },
    }),
  ];
}
