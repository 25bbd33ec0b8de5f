/** Usage queries: raw metric results, without conversion, rounding or price. */
import { z } from 'zod';
import {
  USAGE_WINDOW_SIZES,
  type UsageGroupsInput,
  type UsageGroupView,
  usageGroupCursor,
  usageGroups,
} from '../../billing/usage/usage-groups.ts';
import { formatInstant } from '../../core/time.ts';
import { enumIn, exactValue, limit, timestamp, uuid } from '../fields.ts';
import { cursor, encodeCursor, pageOf } from '../pagination.ts';
import { type RouteDefinition, route } from '../route.ts';

type Deps = Parameters<typeof usageGroups>[0];

const name = z.string().min(1);

const groupsQuery = z.object({
  limit: limit(1, 100, 100),
  next_page: cursor(usageGroupCursor).optional(),
});

const groupsBody = z
  .object({
    customer_id: uuid,
    billable_metric_id: uuid,
    window_size: enumIn(USAGE_WINDOW_SIZES),
    starting_on: timestamp
      .nullish()
      .meta({ description: 'At midnight UTC; with hour windows on any full hour.' }),
    ending_before: timestamp
      .nullish()
      .meta({ description: 'At midnight UTC; with hour windows on any full hour.' }),
    current_period: z
      .boolean()
      .nullish()
      .meta({ description: 'The current billing period of the customer’s contract, instead of dates.' }),
    group_key: z
      .array(name)
      .min(1)
      .nullish()
      .meta({ description: 'All names of one group key of the metric, in any order.' }),
    group_filters: z.record(name, z.array(z.string())).nullish().meta({
      description: 'Values to return by name; a name that is missing or has no values returns all.',
    }),
    group_by: z
      .object({ key: name, values: z.array(name).min(1).nullish() })
      .nullish()
      .meta({ deprecated: true, description: 'One simple group key; use group_key and group_filters.' }),
  })
  .meta({ id: 'UsageGroupsRequest' });

const usageGroup = z
  .object({
    starting_on: timestamp,
    ending_before: timestamp,
    group_key: z.string().nullable().meta({ deprecated: true, description: 'Null for compound keys.' }),
    group_value: z.string().nullable().meta({ deprecated: true, description: 'Null for compound keys.' }),
    group: z.record(z.string(), z.string().nullable()).optional(),
    value: exactValue.nullable().meta({ description: 'Null where no event matched.' }),
  })
  .meta({ id: 'UsageGroup' });

export function usageRoutes(deps: Deps): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v1/usage/groups',
      operationId: 'listUsageGroups',
      summary: 'Usage of a customer and a metric, by window and group',
      description:
        'Each window is aggregated on its own. With a group key only groups with usage are returned. All ' +
        'pages show the usage of the moment of the first one.',
      tags: ['Usage'],
      scope: 'read',
      query: groupsQuery,
      body: groupsBody,
      response: pageOf(usageGroup),
      errors: [400, 404],
      async handler({ query, body }) {
        const { rows, next } = await usageGroups(deps, fromWire(query, body));
        return { data: rows.map(toWire), next_page: next === null ? null : encodeCursor(next) };
      },
    }),
  ];
}

function fromWire(query: z.output<typeof groupsQuery>, body: z.output<typeof groupsBody>): UsageGroupsInput {
  const { group_by: groupBy } = body;
  return {
    customerId: body.customer_id,
    billableMetricId: body.billable_metric_id,
    windowSize: body.window_size,
    startingOn: body.starting_on ?? null,
    endingBefore: body.ending_before ?? null,
    currentPeriod: body.current_period ?? false,
    groupKey: body.group_key ?? null,
    groupFilters: body.group_filters ?? null,
    groupBy: groupBy == null ? null : { key: groupBy.key, values: groupBy.values ?? [] },
    limit: query.limit,
    cursor: query.next_page ?? null,
  };
}

function toWire({ window, group, single, value }: UsageGroupView): z.input<typeof usageGroup> {
  return {
    starting_on: formatInstant(window.start),
    ending_before: formatInstant(window.end),
    group_key: single?.key ?? null,
    group_value: single?.value ?? null,
    ...(group === null ? {} : { group: { ...group } }),
    value,
  };
}
