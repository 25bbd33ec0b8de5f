/** Metrics, events and usage. */
import { SPAN_CUSTOMER_ATTRIBUTE } from '../../../core/token-billing.ts';
import type { RequestExamples } from './example.ts';
import { EXAMPLE_IDS as ids } from './ids.ts';

const november = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-11-08T00:00:00Z' };

const tokensMetric = {
  event_type_filter: { in_values: ['completion'] },
  property_filters: [
    { name: 'tokens', exists: true },
    { name: 'model', exists: true },
  ],
  aggregation_type: 'SUM',
  aggregation_key: 'tokens',
  group_keys: [['model']],
};

const cloudEvent = {
  specversion: '1.0',
  id: '5c10fade-1c9e-4d6c-8275-c52c36731d3c',
  source: 'api-gateway',
  type: 'completion',
  subject: ids.customer,
  time: '2026-11-09T12:00:00Z',
  data: { tokens: '1200', model: 'large' },
};

const spans = {
  resourceSpans: [
    {
      resource: {
        attributes: [{ key: SPAN_CUSTOMER_ATTRIBUTE, value: { stringValue: ids.customer } }],
      },
      scopeSpans: [
        {
          scope: { name: 'chat-service', version: '1.0.0' },
          spans: [
            {
              traceId: '5b8efff798038103d269b633813fc60c',
              spanId: 'eee19b7ec3c1b174',
              name: 'chat large',
              kind: 3,
              startTimeUnixNano: '1794225599000000000',
              endTimeUnixNano: '1794225600000000000',
              attributes: [
                { key: 'gen_ai.provider.name', value: { stringValue: 'acme' } },
                { key: 'gen_ai.request.model', value: { stringValue: 'large' } },
                { key: 'gen_ai.usage.input_tokens', value: { intValue: '1200' } },
                { key: 'gen_ai.usage.output_tokens', value: { intValue: '350' } },
              ],
            },
          ],
        },
      ],
    },
  ],
};

export const usageExamples: RequestExamples = {
  createBillableMetric: { body: { name: 'Tokens', ...tokensMetric } },
  renameBillableMetric: { body: { name: 'Tokens of completions' } },
  archiveBillableMetric: { body: { id: ids.metric } },
  previewBillableMetric: {
    body: { customer_id: ids.customer, window_size: 'DAY', ...november, ...tokensMetric },
  },
  listUsage: {
    body: {
      customer_ids: [ids.customer],
      billable_metrics: [{ id: ids.metric }],
      window_size: 'DAY',
      ...november,
    },
  },
  listUsageGroups: {
    body: {
      customer_id: ids.customer,
      billable_metric_id: ids.metric,
      window_size: 'DAY',
      ...november,
      group_key: ['model'],
    },
  },
  createEventCorrection: { body: { name: 'Loop of 9 November', reason: 'A sender repeated its events' } },
  addToEventCorrection: {
    body: { correction_id: ids.openCorrection, void: [{ transaction_id: '2026-11-09-acme-000001' }] },
  },
  applyEventCorrection: { body: { correction_id: ids.filledCorrection } },
  revertEventCorrection: { body: { correction_id: ids.appliedCorrection } },
  dropEventCorrection: { body: { correction_id: ids.wrongCorrection } },
  searchEvents: { body: { transactionIds: ['2026-11-09-acme-000001'] } },
  querySql: {
    body: { sql: 'SELECT event_type, COUNT(*) AS n FROM events GROUP BY event_type ORDER BY n DESC' },
  },
  saveQuery: {
    body: {
      name: 'Events by type',
      sql: 'SELECT event_type, COUNT(*) AS n FROM events GROUP BY event_type ORDER BY n DESC',
    },
  },
  deleteSavedQuery: { body: { id: ids.savedQuery } },
  listPendingRepricing: { params: { rate_card_id: ids.managedRateCard } },
  listTokenMargins: { query: november },
  ingest: {
    body: [
      {
        transaction_id: '2026-11-09-acme-000001',
        customer_id: ids.customer,
        event_type: 'completion',
        timestamp: '2026-11-09T12:00:00Z',
        properties: { tokens: '1200', model: 'large' },
      },
    ],
  },
  ingestSpans: { body: spans },
  ingestSpansOfEndpoint: { body: spans },
  ingestCloudEvents: { body: cloudEvent },
  ingestOpenMeterEvents: { body: cloudEvent },
};
