/** Billable metrics: which usage events count, and how they are aggregated. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { listCustomerMetrics } from '../../../billing/metrics/customer-metrics.ts';
import { METRIC_NAME_LENGTH_MAX } from '../../../billing/metrics/definition-limits.ts';
import {
  createMetric,
  getMetric,
  listMetrics,
  retireMetric,
  setMetricName,
} from '../../../billing/metrics/metrics.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, customFields, queryBoolean, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { definitionBody, definitionFromWire } from './input.ts';
import { metric, metricToWire, metricWithLegacy, metricWithLegacyToWire } from './output.ts';

const metricName = z.string().min(1).max(METRIC_NAME_LENGTH_MAX);

export const createMetricBody = definitionBody
  .extend({ name: metricName, custom_fields: customFields.optional() })
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

const byId = z.object({ billable_metric_id: uuid });

export function billableMetricRoutes(context: BillingContext): RouteDefinition[] {
  return [
    createRoute(context),
    getRoute(context),
    listRoute(context),
    customerListRoute(context),
    ...changeRoutes(context),
  ];
}

function createRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/billable-metrics/create',
    operationId: 'createBillableMetric',
    summary: 'Create a billable metric',
    description: 'A metric measures all history, including events sent before it was created.',
    tags: ['Billable metrics'],
    scope: 'write',
    body: createMetricBody,
    response: createdId,
    errors: [400, 409],
    async handler({ body }) {
      const { id } = await createMetric(context, fromWire(body));
      return { data: { id } };
    },
  });
}

function getRoute(context: BillingContext): RouteDefinition {
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
      return { data: metricToWire(await getMetric(context, params.billable_metric_id)) };
    },
  });
}

function listRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/billable-metrics',
    operationId: 'listBillableMetrics',
    summary: 'List billable metrics',
    tags: ['Billable metrics'],
    scope: 'read',
    query: pageQuery(keysetPosition).extend({ include_archived: queryBoolean.optional() }),
    response: pageOf(metric),
    errors: [400],
    async handler({ query }) {
      const filter = { includeArchived: query.include_archived ?? false };
      return pageToWire(await listMetrics(context, filter, pageRequest(query)), metricToWire);
    },
  });
}

function customerListRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/customers/{customer_id}/billable-metrics',
    operationId: 'listCustomerBillableMetrics',
    summary: 'List the billable metrics of a customer',
    description:
      'Every metric measures every customer. With `on_current_plan=true` only the metrics of products that ' +
      'have rates on the rate cards of the customer’s contracts in force.',
    tags: ['Billable metrics'],
    scope: 'read',
    params: z.object({ customer_id: uuid }),
    query: pageQuery(keysetPosition).extend({
      on_current_plan: queryBoolean.optional(),
      include_archived: queryBoolean.optional(),
    }),
    response: pageOf(metricWithLegacy),
    errors: [400, 404],
    async handler({ params, query }) {
      const filter = {
        customerId: params.customer_id,
        onCurrentPlan: query.on_current_plan ?? false,
        includeArchived: query.include_archived ?? false,
      };
      return pageToWire(
        await listCustomerMetrics(context, filter, pageRequest(query)),
        metricWithLegacyToWire,
      );
    },
  });
}

function changeRoutes(context: BillingContext): RouteDefinition[] {
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
      body: z.object({ name: metricName }),
      response: createdId,
      errors: [400, 404],
      async handler({ params, body }) {
        await setMetricName(context, params.billable_metric_id, body.name);
        return { data: { id: params.billable_metric_id } };
      },
    }),
    route({
      method: 'post',
      path: '/v1/billable-metrics/archive',
      operationId: 'archiveBillableMetric',
      summary: 'Archive a billable metric',
      description: 'Existing products keep using it; new products cannot.',
      tags: ['Billable metrics'],
      scope: 'write',
      body: z.object({ id: uuid }),
      response: createdId,
      errors: [400, 404],
      async handler({ body }) {
        await retireMetric(context, body.id);
        return { data: { id: body.id } };
      },
    }),
  ];
}

function fromWire(body: z.output<typeof createMetricBody>): Parameters<typeof createMetric>[1] {
  return { name: body.name, definition: definitionFromWire(body), customFields: body.custom_fields ?? {} };
}
