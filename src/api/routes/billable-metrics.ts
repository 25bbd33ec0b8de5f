/** Billable metrics: which usage events count, and how they are aggregated. */
import { z } from 'zod';
import {
  createMetric,
  getMetric,
  listMetrics,
  retireMetric,
  setMetricName,
} from '../../billing/metrics/metrics.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid } from '../../core/errors.ts';
import { AGGREGATIONS, type EventTypeFilter, type PropertyFilter } from '../../core/metric.ts';
import { formatInstant } from '../../core/time.ts';
import type { StoredMetric } from '../../store/billable-metrics.ts';
import type { Database } from '../../store/database.ts';
import { createdId, customFields, enumIn, queryBoolean, timestamp, uuid } from '../fields.ts';
import { keysetQuery, pageRequest, pageToWire } from '../keyset.ts';
import { pageOf } from '../pagination.ts';
import { type RouteDefinition, route } from '../route.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
}

const values = z.array(z.string()).min(1);

const eventTypeFilterInput = z
  .object({ in_values: values.nullish(), not_in_values: values.nullish() })
  .meta({ id: 'EventTypeFilterInput' });

const propertyFilterInput = z
  .object({
    name: z.string().min(1),
    exists: z.boolean().nullish().meta({ description: 'true: must be present; false: must be absent.' }),
    in_values: values.nullish(),
    not_in_values: values.nullish(),
  })
  .meta({ id: 'PropertyFilterInput' });

const createBody = z
  .object({
    name: z.string().min(1),
    sql: z.string().nullish().meta({ description: 'Excludes every other part of a definition.' }),
    event_type_filter: eventTypeFilterInput.nullish(),
    property_filters: z.array(propertyFilterInput).nullish().meta({ description: 'All must pass.' }),
    aggregation_type: enumIn(AGGREGATIONS).nullish(),
    aggregation_key: z.string().min(1).nullish().meta({ description: 'Required except for COUNT.' }),
    group_keys: z
      .array(z.array(z.string().min(1)).min(1))
      .nullish()
      .meta({ description: 'Each inner list is one key of one or several properties.' }),
    custom_fields: customFields.optional(),
  })
  .meta({
    id: 'CreateBillableMetric',
    example: {
      name: 'Tokens',
      event_type_filter: { in_values: ['completion'] },
      property_filters: [
        { name: 'tokens', exists: true },
        { name: 'model', exists: true },
      ],
      aggregation_type: 'SUM',
      aggregation_key: 'tokens',
      group_keys: [['model']],
    },
  });

const metric = z
  .object({
    id: uuid,
    name: z.string(),
    event_type_filter: z
      .object({ in_values: z.array(z.string()).optional(), not_in_values: z.array(z.string()).optional() })
      .optional(),
    property_filters: z
      .array(
        z.object({
          name: z.string(),
          exists: z.boolean().optional(),
          in_values: z.array(z.string()).optional(),
          not_in_values: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    aggregation_type: z.enum(AGGREGATIONS).optional(),
    aggregation_key: z.string().optional(),
    group_keys: z.array(z.array(z.string())).optional(),
    sql: z.string().optional(),
    custom_fields: customFields,
    archived_at: timestamp.optional(),
  })
  .meta({ id: 'BillableMetric' });

const byId = z.object({ billable_metric_id: uuid });

export function billableMetricRoutes(deps: Deps): RouteDefinition[] {
  return [createRoute(deps), getRoute(deps), listRoute(deps), ...changeRoutes(deps)];
}

function createRoute(deps: Deps): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/billable-metrics/create',
    operationId: 'createBillableMetric',
    summary: 'Create a billable metric',
    description: 'A metric measures all history, also events sent before it was created.',
    tags: ['Billable metrics'],
    scope: 'write',
    body: createBody,
    response: createdId,
    errors: [400],
    async handler({ body }) {
      const { id } = await createMetric(deps, fromWire(body));
      return { data: { id } };
    },
  });
}

function getRoute(deps: Deps): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/billable-metrics/{billable_metric_id}',
    operationId: 'getBillableMetric',
    summary: 'Get a billable metric',
    tags: ['Billable metrics'],
    scope: 'read',
    params: byId,
    response: z.object({ data: metric }),
    errors: [404],
    async handler({ params }) {
      return { data: toWire(await getMetric(deps, params.billable_metric_id)) };
    },
  });
}

function listRoute(deps: Deps): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/billable-metrics',
    operationId: 'listBillableMetrics',
    summary: 'List billable metrics',
    tags: ['Billable metrics'],
    scope: 'read',
    query: z.object({ ...keysetQuery, include_archived: queryBoolean.optional() }),
    response: pageOf(metric),
    errors: [400],
    async handler({ query }) {
      const filter = { includeArchived: query.include_archived ?? false };
      return pageToWire(await listMetrics(deps, filter, pageRequest(query)), toWire);
    },
  });
}

function changeRoutes(deps: Deps): RouteDefinition[] {
  return [
    route({
      method: 'put',
      path: '/v1/billable-metrics/{billable_metric_id}',
      operationId: 'renameBillableMetric',
      summary: 'Rename a billable metric',
      description: 'Only the name can change.',
      tags: ['Billable metrics'],
      scope: 'write',
      params: byId,
      body: z.object({ name: z.string().min(1) }),
      response: createdId,
      errors: [400, 404],
      async handler({ params, body }) {
        await setMetricName(deps, params.billable_metric_id, body.name);
        return { data: { id: params.billable_metric_id } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/billable-metrics/archive',
      operationId: 'archiveBillableMetric',
      summary: 'Archive a billable metric',
      description: 'Products that use it go on metering with it; new products cannot pick it.',
      tags: ['Billable metrics'],
      scope: 'write',
      body: z.object({ id: uuid }),
      response: createdId,
      errors: [400, 404],
      async handler({ body }) {
        await retireMetric(deps, body.id);
        return { data: { id: body.id } };
      },
    }),
  ];
}

function fromWire(body: z.output<typeof createBody>): Parameters<typeof createMetric>[1] {
  refuseSql(body);
  const { event_type_filter: eventTypes, property_filters: properties } = body;
  if (body.aggregation_type == null) throw invalid('aggregation_type', 'is required');
  return {
    name: body.name,
    eventTypeFilter:
      eventTypes == null
        ? null
        : { inValues: eventTypes.in_values ?? null, notInValues: eventTypes.not_in_values ?? null },
    propertyFilters: (properties ?? []).map((filter) => ({
      name: filter.name,
      exists: filter.exists ?? null,
      inValues: filter.in_values ?? null,
      notInValues: filter.not_in_values ?? null,
    })),
    aggregation: body.aggregation_type,
    aggregationKey: body.aggregation_key ?? null,
    groupKeys: body.group_keys ?? [],
    customFields: body.custom_fields ?? {},
  };
}

/** A metric is either a query or a set of filters with an aggregation. */
function refuseSql(body: z.output<typeof createBody>): void {
  if (body.sql == null) return;
  const { event_type_filter, property_filters, aggregation_type, aggregation_key, group_keys } = body;
  const others = { event_type_filter, property_filters, aggregation_type, aggregation_key, group_keys };
  const given = Object.entries(others).find(([, value]) => value != null);
  if (given !== undefined) throw invalid('sql', `cannot be combined with ${given[0]}`);
  throw invalid('sql', 'SQL metrics are not available yet');
}

function toWire(from: StoredMetric): z.input<typeof metric> {
  return {
    id: from.id,
    name: from.name,
    ...(from.eventTypeFilter === null ? {} : { event_type_filter: listsToWire(from.eventTypeFilter) }),
    property_filters: from.propertyFilters.map((filter) => ({
      name: filter.name,
      ...(filter.exists === null ? {} : { exists: filter.exists }),
      ...listsToWire(filter),
    })),
    aggregation_type: from.aggregation,
    ...(from.aggregationKey === null ? {} : { aggregation_key: from.aggregationKey }),
    group_keys: from.groupKeys.map((key) => [...key]),
    custom_fields: {},
    ...(from.archivedAt === null ? {} : { archived_at: formatInstant(from.archivedAt) }),
  };
}

function listsToWire({ inValues, notInValues }: EventTypeFilter | PropertyFilter) {
  return {
    ...(inValues === null ? {} : { in_values: [...inValues] }),
    ...(notInValues === null ? {} : { not_in_values: [...notInValues] }),
  };
}
