/** Previews a streaming or SQL metric before it is created. An endpoint of this service only. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { type PreviewedUsage, previewUsage } from '../../../billing/usage/usage-groups.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { pageOf, pageToWire } from '../../wire/paging.ts';
import { groupsBody, groupsFromWire, groupsQuery, groupToWire, usageGroup } from '../usage/routes.ts';
import { definitionBody, definitionFromWire } from './input.ts';

const previewBody = groupsBody
  .omit({ billable_metric_id: true })
  .extend(definitionBody.shape)
  .meta({
    id: 'PreviewBillableMetric',
    description: 'A definition as for creating a metric, and a question as for usage groups.',
    example: {
      sql: 'SELECT SUM(properties.tokens) AS value, properties.model AS model FROM events GROUP BY model',
      customer_id: '9903ddd7-42de-43d2-ad6a-e57b5f254f4d',
      window_size: 'DAY',
      starting_on: '2026-11-01T00:00:00Z',
      ending_before: '2026-12-01T00:00:00Z',
      group_key: ['model'],
    },
  });

const evaluation = z
  .object({
    mode: z.enum(['along_hours', 'at_each_hour']).meta({
      description:
        'How a product that is billed by the hour evaluates the query: carried along the hours, or again at each hour with events.',
    }),
    milliseconds: z.int().meta({ description: 'How long the evaluation of this page took.' }),
    rows_read: z.int().meta({
      description: "The customer's events in the range; each read of `events` in the query reads them once.",
    }),
    hourly_rows: z.int().meta({ description: 'Rows that all hours of the range together read.' }),
    hourly_rows_max: z
      .int()
      .meta({ description: 'More are refused: use granularity `service_period` then.' }),
  })
  .meta({ id: 'SqlEvaluation', description: 'For a SQL metric: the cost of the evaluation.' });

function evaluationToWire(cost: NonNullable<PreviewedUsage['evaluation']>): z.input<typeof evaluation> {
  const { mode, milliseconds, events, hourlyRows, hourlyRowsMax } = cost;
  return { mode, milliseconds, rows_read: events, hourly_rows: hourlyRows, hourly_rows_max: hourlyRowsMax };
}

export function billableMetricPreviewRoutes(context: BillingContext): RouteDefinition[] {
  return [
    route({
      method: 'post',
      path: '/v1/billable-metrics/preview',
      operationId: 'previewBillableMetric',
      summary: 'Try a billable metric without creating it',
      description: 'Returns the usage that a customer would have if the metric existed. Nothing is stored.',
      tags: ['Billable metrics'],
      scope: 'read',
      query: groupsQuery,
      body: previewBody,
      response: pageOf(usageGroup).extend({ evaluation: evaluation.optional() }),
      errors: [400, 404],
      async handler({ query, body }) {
        const definition = definitionFromWire(body);
        const page = await previewUsage(context, definition, groupsFromWire(query, body));
        return {
          ...pageToWire(page, groupToWire),
          ...(page.evaluation === null ? {} : { evaluation: evaluationToWire(page.evaluation) }),
        };
      },
    }),
  ];
}
