/** The definition of a metric as a client sends it, to create it or to try it. */
import { z } from 'zod';
import {
  FILTER_VALUES_MAX,
  GROUP_KEYS_MAX,
  NAME_LENGTH_MAX,
  NAMES_PER_GROUP_KEY_MAX,
  PROPERTY_FILTERS_MAX,
  TYPE_LENGTH_MAX,
} from '../../../billing/metrics/definition-limits.ts';
import type { MetricDefinition } from '../../../billing/metrics/metric-definition.ts';
import { invalid } from '../../../core/errors.ts';
import { AGGREGATIONS, aggregationsReading } from '../../../core/metric.ts';
import { enumIn } from '../../wire/fields.ts';

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const values = z.array(z.string()).min(1).max(FILTER_VALUES_MAX);
const eventTypes = z.array(z.string().max(TYPE_LENGTH_MAX)).min(1).max(FILTER_VALUES_MAX);

const eventTypeFilterInput = z
  .object({ in_values: eventTypes.nullish(), not_in_values: eventTypes.nullish() })
  .meta({ id: 'EventTypeFilterInput' });

const propertyFilterInput = z
  .object({
    name,
    exists: z.boolean().nullish().meta({ description: 'true: must be present; false: must be absent.' }),
    in_values: values.nullish(),
    not_in_values: values.nullish(),
  })
  .meta({ id: 'PropertyFilterInput' });

export const definitionBody = z.object({
  sql: z.string().nullish().meta({ description: 'Excludes every other part of a definition.' }),
  event_type_filter: eventTypeFilterInput.nullish(),
  property_filters: z
    .array(propertyFilterInput)
    .max(PROPERTY_FILTERS_MAX)
    .nullish()
    .meta({ description: 'All must pass.' }),
  aggregation_type: enumIn(AGGREGATIONS).nullish(),
  aggregation_key: name
    .nullish()
    .meta({ description: `Required except for ${aggregationsReading('nothing').join(', ')}.` }),
  group_keys: z
    .array(z.array(name).min(1).max(NAMES_PER_GROUP_KEY_MAX))
    .max(GROUP_KEYS_MAX)
    .nullish()
    .meta({ description: 'Each inner list is one group key with one or more properties.' }),
});

/** A query, or filters with an aggregation. Refuses both at once. */
export function definitionFromWire(body: z.output<typeof definitionBody>): MetricDefinition {
  if (body.sql != null) {
    refuseOthers(body);
    return { kind: 'sql', sql: body.sql };
  }
  const { event_type_filter: types, property_filters: properties } = body;
  if (body.aggregation_type == null) throw invalid(['aggregation'], 'is required without sql');
  return {
    kind: 'streaming',
    eventTypeFilter:
      types == null ? null : { inValues: types.in_values ?? null, notInValues: types.not_in_values ?? null },
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
  if (given !== undefined) throw invalid(['sql'], `cannot be combined with ${given[0]}`);
}
