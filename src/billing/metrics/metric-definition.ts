/**
 * Validates metric definitions (docs/explanation/metering.md, "Metrics"; docs/explanation/sql-metrics.md).
 *
 * A property filter must name the aggregated property and every group property, so that every matching event
 * has them.
 */
import { invalid, words } from '../../core/errors.ts';
import { type PropertyFilter, readsProperty, type StreamingDefinition } from '../../core/metric.ts';
import { UNUSABLE_NAME } from '../../core/own-value.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { checkSqlMetric } from '../../metering/sql/run/sql-metric.ts';
import { checkDefinitionSize } from './definition-limits.ts';

/** The whole definition of a metric, without its name. */
export type MetricDefinition =
  | ({ readonly kind: 'streaming' } & StreamingDefinition)
  | { readonly kind: 'sql'; readonly sql: string };

/** Throws a refusal (`invalid`) that names the field, and in a query the place in it. */
export async function checkDefinition(clickhouse: ClickHouse, definition: MetricDefinition): Promise<void> {
  if (definition.kind === 'streaming') checkStreamingDefinition(definition);
  else await checkSqlMetric(clickhouse, definition.sql);
}

/** Throws a refusal (`invalid`) that names the first field that is wrong. */
function checkStreamingDefinition(definition: StreamingDefinition): void {
  checkDefinitionSize(definition);
  checkPresence(definition);
  checkAggregationKey(definition);
  const known = new Set<string>();
  for (const [index, key] of definition.groupKeys.entries()) {
    checkGroupKey(definition, key, index);
    // The order of the names makes no difference to usage, so it makes no other key.
    const identity = JSON.stringify([...key].sort());
    if (known.has(identity)) throw invalid(['groupKeys', index], `repeats the key ${key.join(', ')}`);
    known.add(identity);
  }
}

/** No event passes filters that both require and forbid a property. */
function checkPresence({ propertyFilters }: StreamingDefinition): void {
  for (const [index, filter] of propertyFilters.entries()) {
    if (filter.exists === false && filter.inValues !== null) {
      throw invalid(['propertyFilters', index], words`exists false and ${['inValues']} exclude each other`);
    }
    const other = propertyFilters
      .slice(0, index)
      .findIndex(
        (earlier) =>
          earlier.name === filter.name &&
          ((impliesPresence(earlier) && filter.exists === false) ||
            (impliesPresence(filter) && earlier.exists === false)),
      );
    if (other >= 0) {
      throw invalid(
        ['propertyFilters', index],
        words`excludes ${['propertyFilters', other]}: one requires ${filter.name} and one forbids it`,
      );
    }
  }
}

function checkAggregationKey({ aggregation, aggregationKey, propertyFilters }: StreamingDefinition): void {
  if (!readsProperty(aggregation)) return;
  if (aggregationKey === null) {
    throw invalid(['aggregationKey'], words`is required with ${['aggregation']} ${aggregation}`);
  }
  const filters = propertyFilters.filter((filter) => filter.name === aggregationKey);
  if (filters.length === 0) {
    throw invalid(['aggregationKey'], 'must be one of the property filter names');
  }
  if (filters.some((filter) => filter.exists === false)) {
    throw invalid(['aggregationKey'], 'must not be a property that a filter requires to be absent');
  }
}

function checkGroupKey(definition: StreamingDefinition, key: readonly string[], index: number): void {
  const field = ['groupKeys', index];
  for (const [position, name] of key.entries()) {
    if (name === UNUSABLE_NAME) throw invalid([...field, position], `must not be ${UNUSABLE_NAME}`);
    if (key.indexOf(name) !== position) throw invalid([...field, position], `repeats ${name}`);
    if (!definition.propertyFilters.some((filter) => filter.name === name && impliesPresence(filter))) {
      throw invalid(
        [...field, position],
        words`does not match one of the property filter names: ${name} needs a property filter with exists true or ${['inValues']}`,
      );
    }
  }
}

function impliesPresence(filter: PropertyFilter): boolean {
  return filter.exists === true || filter.inValues !== null;
}
