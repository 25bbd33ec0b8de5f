/** Billable metrics in answers: the definition, and the fields that older clients read. */
import { z } from 'zod';
import type { WithCustomFields } from '../../../billing/custom-fields/with-fields.ts';
import { unreachable } from '../../../core/errors.ts';
import {
  AGGREGATIONS,
  type BillableMetric,
  type EventTypeFilter,
  type PropertyFilter,
  type StreamingMetric,
} from '../../../core/metric.ts';
import { formatInstant } from '../../../core/time.ts';
import type { StoredMetric } from '../../../store/metrics/billable-metrics.ts';
import { customFields, timestamp, uuid } from '../../wire/fields.ts';

const metricFields = {
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
};

export const metric = z.object(metricFields).meta({ id: 'BillableMetric' });

const legacyFields = {
  group_by: z
    .array(z.string())
    .optional()
    .meta({ deprecated: true, description: 'The names in `group_keys`, each once.' }),
  aggregate: z.string().optional().meta({ deprecated: true, description: 'Use `aggregation_type`.' }),
  aggregate_keys: z
    .array(z.string())
    .optional()
    .meta({ deprecated: true, description: 'Use `aggregation_key`.' }),
  filter: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .meta({
      deprecated: true,
      description:
        'The `in_values` by property name and under `event_type`. It cannot say all that `event_type_filter` ' +
        'and `property_filters` say.',
    }),
};

export const metricWithLegacy = z
  .object({ ...metricFields, ...legacyFields })
  .meta({ id: 'BillableMetricWithDeprecatedFields' });

/** In event search a SQL metric is shown by its kind instead of its definition. */
export const matchedMetric = z
  .object({
    ...metricFields,
    ...legacyFields,
    aggregation_type: z.enum([...AGGREGATIONS, 'custom_sql']).optional(),
  })
  .meta({ id: 'MatchedBillableMetric' });

export function metricToWire(from: WithCustomFields<BillableMetric>): z.input<typeof metric> {
  return {
    id: from.id,
    name: from.name,
    ...definitionToWire(from),
    custom_fields: { ...from.customFields },
    ...(from.archivedAt === null ? {} : { archived_at: formatInstant(from.archivedAt) }),
  };
}

export function metricWithLegacyToWire(
  from: WithCustomFields<StoredMetric>,
): z.input<typeof metricWithLegacy> {
  return { ...metricToWire(from), ...legacyToWire(from) };
}

export function matchedMetricToWire(from: WithCustomFields<StoredMetric>): z.input<typeof matchedMetric> {
  return {
    ...metricWithLegacyToWire(from),
    ...(from.kind === 'sql' ? { aggregation_type: 'custom_sql' as const } : {}),
  };
}

function definitionToWire(from: BillableMetric) {
  switch (from.kind) {
    case 'streaming':
      return {
        ...(from.eventTypeFilter === null ? {} : { event_type_filter: listsToWire(from.eventTypeFilter) }),
        property_filters: from.propertyFilters.map((filter) => ({
          name: filter.name,
          ...(filter.exists === null ? {} : { exists: filter.exists }),
          ...listsToWire(filter),
        })),
        aggregation_type: from.aggregation,
        ...(from.aggregationKey === null ? {} : { aggregation_key: from.aggregationKey }),
        group_keys: from.groupKeys.map((key) => [...key]),
      };
    case 'sql':
      return { sql: from.sql };
    default:
      return unreachable(from);
  }
}

function legacyToWire(from: StoredMetric) {
  switch (from.kind) {
    case 'streaming':
      return {
        group_by: [...new Set(from.groupKeys.flat())],
        aggregate: from.aggregation,
        aggregate_keys: from.aggregationKey === null ? [] : [from.aggregationKey],
        filter: legacyFilter(from),
      };
    case 'sql':
      return {};
    default:
      return unreachable(from);
  }
}

function legacyFilter({
  eventTypeFilter,
  propertyFilters,
}: Pick<StreamingMetric, 'eventTypeFilter' | 'propertyFilters'>): Record<string, string[]> {
  const filter = new Map<string, string[]>();
  if (eventTypeFilter?.inValues) filter.set('event_type', [...eventTypeFilter.inValues]);
  for (const { name, inValues } of propertyFilters) {
    if (inValues !== null) filter.set(name, [...inValues]);
  }
  return Object.fromEntries(filter);
}

function listsToWire({ inValues, notInValues }: EventTypeFilter | PropertyFilter) {
  return {
    ...(inValues === null ? {} : { in_values: [...inValues] }),
    ...(notInValues === null ? {} : { not_in_values: [...notInValues] }),
  };
}
