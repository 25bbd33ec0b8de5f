/**
 * What makes the definition of a streaming metric sound (docs/metering.md, "Metrics"). Pure.
 *
 * A matching event always has the aggregated property and every group property: that is why both must be
 * named by a property filter. `field` paths are those of the create request.
 */
import { invalid } from '../../core/errors.ts';
import type { PropertyFilter, StreamingMetric } from '../../core/metric.ts';

export type StreamingDefinition = Pick<
  StreamingMetric,
  'eventTypeFilter' | 'propertyFilters' | 'aggregation' | 'aggregationKey' | 'groupKeys'
>;

/** Throws a refusal (`invalid`) that names the first field that is wrong. */
export function checkStreamingDefinition(definition: StreamingDefinition): void {
  for (const [index, filter] of definition.propertyFilters.entries()) {
    if (filter.exists === false && filter.inValues !== null) {
      throw invalid(`property_filters[${index}]`, 'exists false and in_values exclude each other');
    }
  }
  checkAggregationKey(definition);
  for (const [index, key] of definition.groupKeys.entries()) checkGroupKey(definition, key, index);
}

function checkAggregationKey({ aggregation, aggregationKey, propertyFilters }: StreamingDefinition): void {
  if (aggregation === 'COUNT') return;
  if (aggregationKey === null) {
    throw invalid('aggregation_key', `is required with aggregation_type ${aggregation}`);
  }
  const filters = propertyFilters.filter((filter) => filter.name === aggregationKey);
  if (filters.length === 0) {
    throw invalid('aggregation_key', 'must be one of the property filter names');
  }
  if (filters.some((filter) => filter.exists === false)) {
    throw invalid('aggregation_key', 'must not be a property that a filter requires to be absent');
  }
}

function checkGroupKey(definition: StreamingDefinition, key: readonly string[], index: number): void {
  const field = `group_keys[${index}]`;
  for (const [position, name] of key.entries()) {
    if (key.indexOf(name) !== position) throw invalid(`${field}[${position}]`, `repeats ${name}`);
    if (!definition.propertyFilters.some((filter) => filter.name === name && impliesPresence(filter))) {
      throw invalid(
        `${field}[${position}]`,
        `does not match one of the property filter names: ${name} needs a property filter with exists true or in_values`,
      );
    }
  }
}

function impliesPresence(filter: PropertyFilter): boolean {
  return filter.exists === true || filter.inValues !== null;
}
