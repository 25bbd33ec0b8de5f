/** The definition of a metric as a client sends it, to create it or to try it. */
import { z } from 'zod';
import type { MetricDefinition } from '../../billing/metrics/metric-definition.ts';
import { invalid } from '../../core/errors.ts';
import { AGGREGATIONS } from '../../core/metric.ts';
import { enumIn } from '../fields.ts';

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

export const definitionBody = z.object({
  sql: z.string().nullish().meta({ description: 'Excludes every other part of a definition.' }),
  event_type_filter: eventTypeFilterInput.nullish(),
  property_filters: z.array(propertyFilterInput).nullish().meta({ description: 'All must pass.' }),
  aggregation_type: enumIn(AGGREGATIONS).nullish(),
  aggregation_key: z.string().min(1).nullish().meta({ description: 'Required except for COUNT.' }),
  group_keys: z
    .array(z.array(z.string().min(1)).min(1))
    .nullish()
    .meta({ description: 'Each inner list is one key of one or several properties.' }),
});

/** A query, or filters with an aggregation; not both. */
export function definitionFromWire(body: z.output<typeof definitionBody>): MetricDefinition {
  if (body.sql != null) {
    refuseOthers(body);
    return { kind: 'sql', sql: body.sql };
  }
  const { event_type_filter: eventTypes, property_filters: properties } = body;
  if (body.aggregation_type == null) throw invalid('aggregation_type', 'is required without sql');
  return {
    kind: 'streaming',
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
  };
}

function refuseOthers(body: z.output<typeof definitionBody>): void {
  const { event_type_filter, property_filters, aggregation_type, aggregation_key, group_keys } = body;
  const others = { event_type_filter, property_filters, aggregation_type, aggregation_key, group_keys };
  const given = Object.entries(others).find(([, value]) => value != null);
  if (given !== undefined) throw invalid('sql', `cannot be combined with ${given[0]}`);
}
