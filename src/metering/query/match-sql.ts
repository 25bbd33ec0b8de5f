/**
 * Which events match a metric, in SQL: by its event types, its property filters and the requirements of its
 * aggregation.
 */
import {
  AGGREGATION_RULES,
  type PropertyFilter,
  readsProperty,
  type StreamingMetric,
} from '../../core/metric.ts';
import { AGGREGATES } from './aggregate-sql.ts';
import { type NumberReader, numberDefinitions } from './number-sql.ts';
import type { Parameters } from './parameters.ts';
import { propertySql } from './property-sql.ts';

export interface MatchSql {
  /** Entries of the WITH clause used by the conditions and the aggregate. */
  readonly definitions: readonly string[];
  /** All of them must hold. */
  readonly conditions: readonly string[];
}

/**
 * Every filter must pass. `in_values` on an absent property fails; `not_in_values` on an absent property passes unless
 * the filter has `exists: true`. An event does not match without the aggregation key, nor with a value that is not a
 * number if the aggregation needs one (docs/explanation/metering.md). The reader of integers checks that in
 * `value_number`, so it requires that this is aggregated.
 */
export function matchSql(parameters: Parameters, metric: StreamingMetric, numbers: NumberReader): MatchSql {
  const key = keySql(parameters, metric, numbers);
  return {
    definitions: key.definitions,
    conditions: [...eventConditions(parameters, metric), ...key.conditions],
  };
}

/**
 * Whether an event passes all filters; what the aggregation needs is not looked at. A filter that asks for the aggregation
 * key alone is left out: no aggregation that has one counts an event without it.
 */
export function eventConditions(parameters: Parameters, metric: StreamingMetric): string[] {
  return [
    ...eventTypeConditions(parameters, metric),
    ...metric.propertyFilters.flatMap((filter) =>
      filterConditions(parameters, filter, needsProperty(metric, filter.name)),
    ),
  ];
}

/** Whether every event that matches the metric has this property. */
export function guaranteesProperty(metric: StreamingMetric, name: string): boolean {
  if (needsProperty(metric, name)) return true;
  return metric.propertyFilters.some(
    (filter) => filter.name === name && (filter.exists === true || filter.inValues !== null),
  );
}

function needsProperty({ aggregation, aggregationKey }: StreamingMetric, name: string): boolean {
  return readsProperty(aggregation) && aggregationKey === name;
}

/** `property IN values`; an absent property is in no list. */
export function inCondition(parameters: Parameters, name: string, values: readonly string[]): string {
  const { value, text, isPresent, isPath } = propertySql(parameters, name);
  const list = parameters.bind('values', 'Array(String)', values);
  // The expression for a path is long, so it is written once; NULL is in no list, and matches no event.
  if (isPath) return `${value} IN ${list}`;
  // An absent property reads as empty text, so presence matters only if that is in the list.
  return values.includes('') ? `(${isPresent} AND ${text} IN ${list})` : `${text} IN ${list}`;
}

function notInCondition(parameters: Parameters, name: string, values: readonly string[]): string {
  const { value, text, isPresent, isPath } = propertySql(parameters, name);
  const list = parameters.bind('values', 'Array(String)', values);
  if (isPath) return `ifNull(${value} NOT IN ${list}, 1)`;
  return values.includes('') ? `(NOT ${isPresent} OR ${text} NOT IN ${list})` : `${text} NOT IN ${list}`;
}

function eventTypeConditions(parameters: Parameters, { eventTypeFilter }: StreamingMetric): string[] {
  if (eventTypeFilter === null) return [];
  const { inValues, notInValues } = eventTypeFilter;
  const conditions: string[] = [];
  if (inValues !== null) {
    conditions.push(`event_type IN ${parameters.bind('event_types', 'Array(String)', inValues)}`);
  }
  if (notInValues !== null) {
    conditions.push(`event_type NOT IN ${parameters.bind('event_types', 'Array(String)', notInValues)}`);
  }
  return conditions;
}

function filterConditions(parameters: Parameters, filter: PropertyFilter, isNeeded: boolean): string[] {
  const { name, exists, inValues, notInValues } = filter;
  const conditions: string[] = [];
  // A value in a list is present.
  if (exists === true && inValues === null && !isNeeded)
    conditions.push(propertySql(parameters, name).isPresent);
  if (exists === false) conditions.push(`NOT ${propertySql(parameters, name).isPresent}`);
  if (inValues !== null) conditions.push(inCondition(parameters, name, inValues));
  if (notInValues !== null) conditions.push(notInCondition(parameters, name, notInValues));
  return conditions;
}

function keySql(
  parameters: Parameters,
  { aggregation, aggregationKey }: StreamingMetric,
  numbers: NumberReader,
): MatchSql {
  const { reads } = AGGREGATION_RULES[aggregation];
  if (reads === 'nothing' || aggregationKey === null) return { definitions: [], conditions: [] };
  const { text, isPresent } = propertySql(parameters, aggregationKey);
  if (reads === 'text') return { definitions: [`${text} AS value_text`], conditions: [isPresent] };
  // Text that is empty or absent is not a number, so presence needs no separate condition.
  const isNumber = AGGREGATES[aggregation].takesNumberAsText ? 'value_is_number' : 'isNotNull(value_number)';
  const condition = numbers === 'whole' ? "value_text != ''" : isNumber;
  return { definitions: numberDefinitions(text, numbers), conditions: [condition] };
}
