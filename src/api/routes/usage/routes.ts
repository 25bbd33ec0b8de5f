/** Usage queries: raw metric results, without conversion, rounding or price. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  BATCH_ROWS_PER_PAGE,
  type UsageBatchInput,
  usageBatch,
  usageBatchCursor,
} from '../../../billing/usage/usage-batch.ts';
import {
  USAGE_WINDOW_SIZES,
  type UsageGroupsInput,
  type UsageGroupView,
  usageGroupCursor,
  usageGroups,
} from '../../../billing/usage/usage-groups.ts';
import { formatInstant } from '../../../core/time.ts';
import { csvTable } from '../../http/csv.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

type UsageBatchResult = Awaited<ReturnType<typeof usageBatch>>['rows'][number];

const name = z.string().min(1);

export const groupsQuery = pageQuery(usageGroupCursor);

export const groupsBody = z
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

export const usageGroup = z
  .object({
    starting_on: timestamp,
    ending_before: timestamp,
    group_key: z.string().nullable().meta({ deprecated: true, description: 'Null for compound keys.' }),
    group_value: z.string().nullable().meta({ deprecated: true, description: 'Null for compound keys.' }),
    group: z.record(z.string(), z.string().nullable()).optional(),
    value: exactValue.nullable().meta({ description: 'Null if no event matched.' }),
  })
  .meta({ id: 'UsageGroup' });

const GROUP_VALUES_MAX = 200;
/** So many ids are 400 KB. A request for all customers or metrics needs no list. */
const BATCH_IDS_MAX = 10_000;

const batchQuery = pageQuery(usageBatchCursor, BATCH_ROWS_PER_PAGE, BATCH_ROWS_PER_PAGE);

const batchBody = z
  .object({
    customer_ids: z
      .array(uuid)
      .max(BATCH_IDS_MAX)
      .nullish()
      .meta({ description: 'Default: all that are not archived.' }),
    billable_metrics: z
      .array(
        z.object({
          id: uuid,
          group_by: z
            .object({
              key: name,
              values: z
                .array(name)
                .min(1)
                .max(GROUP_VALUES_MAX)
                .nullish()
                .meta({ description: 'Default: all values.' }),
            })
            .nullish(),
        }),
      )
      .max(BATCH_IDS_MAX)
      .nullish()
      .meta({ description: 'Default: all that are not archived.' }),
    window_size: enumIn(USAGE_WINDOW_SIZES),
    starting_on: timestamp.meta({ description: 'At midnight UTC; with hour windows on any full hour.' }),
    ending_before: timestamp.meta({ description: 'At midnight UTC; with hour windows on any full hour.' }),
  })
  .meta({ id: 'UsageBatchRequest' });

const batchRow = z
  .object({
    customer_id: uuid,
    billable_metric_id: uuid,
    billable_metric_name: z.string(),
    start_timestamp: timestamp,
    end_timestamp: timestamp,
    value: exactValue.nullable().meta({ description: 'Null if no event matched.' }),
    groups: z
      .record(z.string(), exactValue.nullable())
      .optional()
      .meta({ description: 'Value by group; null for a requested group that no event belongs to.' }),
  })
  .meta({ id: 'UsageBatchRow' });

/** A page of CSV; each is a query over the whole range. */
const CSV_ROWS_PER_READ = 10_000;

const groupsCsv = csvTable<z.input<typeof usageGroup>, z.input<typeof usageGroup>>(
  [
    { name: 'starting_on', description: 'Start of the window.', value: (row) => row.starting_on },
    {
      name: 'ending_before',
      description: 'End of the window, exclusive.',
      value: (row) => row.ending_before,
    },
    {
      name: 'group',
      description:
        'JSON of the values by name, null for events without the property; empty without a group key.',
      value: (row) => row.group,
    },
    { name: 'value', description: 'Exact; empty if no event matched.', value: (row) => row.value },
  ],
  (row) => [row],
  { itemsPerRead: CSV_ROWS_PER_READ },
);

export function usageRoutes(context: BillingContext): RouteDefinition[] {
  return [batchRoute(context), groupsRoute(context)];
}

function batchRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/usage',
    operationId: 'listUsage',
    summary: 'Usage of many customers and metrics, by window',
    description:
      'A row for every customer, metric and window, in this order, also where nothing matched. `value` is ' +
      'that of the whole window, whatever groups are asked for. All pages show the usage of the moment of ' +
      'the first one. A page that takes longer than 10 seconds ends early; `next_page` continues from there.',
    tags: ['Usage'],
    scope: 'read',
    query: batchQuery,
    body: batchBody,
    response: pageOf(batchRow),
    errors: [400, 404, 413],
    async handler({ query, body }) {
      return pageToWire(await usageBatch(context, batchFromWire(query, body)), batchToWire);
    },
  });
}

function groupsRoute(context: BillingContext): RouteDefinition {
  return route({
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
    csv: groupsCsv,
    errors: [400, 404],
    async handler({ query, body }) {
      const page = await usageGroups(context, {
        ...groupsFromWire(query, body),
        billableMetricId: body.billable_metric_id,
      });
      return pageToWire(page, groupToWire);
    },
  });
}

/** The request without its metric. */
export function groupsFromWire(
  query: z.output<typeof groupsQuery>,
  body: Omit<z.output<typeof groupsBody>, 'billable_metric_id'>,
): Omit<UsageGroupsInput, 'billableMetricId'> {
  const { group_by: groupBy } = body;
  return {
    customerId: body.customer_id,
    windowSize: body.window_size,
    startingOn: body.starting_on ?? null,
    endingBefore: body.ending_before ?? null,
    currentPeriod: body.current_period ?? false,
    groupKey: body.group_key ?? null,
    groupFilters: body.group_filters ?? null,
    groupBy: groupBy == null ? null : { key: groupBy.key, values: groupBy.values ?? [] },
    ...pageRequest(query),
  };
}

export function groupToWire({ window, group, single, value }: UsageGroupView): z.input<typeof usageGroup> {
  return {
    starting_on: formatInstant(window.start),
    ending_before: formatInstant(window.end),
    group_key: single?.key ?? null,
    group_value: single?.value ?? null,
    ...(group === null ? {} : { group: { ...group } }),
    value,
  };
}

function batchFromWire(
  query: z.output<typeof batchQuery>,
  body: z.output<typeof batchBody>,
): UsageBatchInput {
  return {
    customerIds: body.customer_ids ?? null,
    metrics:
      body.billable_metrics?.map(({ id, group_by: groupBy }) => ({
        id,
        groupBy: groupBy == null ? null : { key: groupBy.key, values: groupBy.values ?? null },
      })) ?? null,
    windowSize: body.window_size,
    range: { start: body.starting_on, end: body.ending_before },
    ...pageRequest(query),
  };
}

function batchToWire({
  customerId,
  metric,
  window,
  value,
  groups,
}: UsageBatchResult): z.input<typeof batchRow> {
  return {
    customer_id: customerId,
    billable_metric_id: metric.id,
    billable_metric_name: metric.name,
    start_timestamp: formatInstant(window.start),
    end_timestamp: formatInstant(window.end),
    value,
    ...(groups === null ? {} : { groups: Object.fromEntries(groups) }),
  };
}
