/**
 * Whether a metric counts an event, and if not, the reason as text. Pure.
 *
 * The same rules as `query/match-sql.ts`, in TypeScript; a property test compares the two.
 */
import { parseUsageDecimal, USAGE_INTEGER_DIGITS_MAX, USAGE_SCALE_MAX } from '../../core/decimal.ts';
import {
  AGGREGATION_RULES,
  type PropertyFilter,
  readsProperty,
  type StreamingMetric,
} from '../../core/metric.ts';
import type { PropertyReader } from './nested-properties.ts';
import type { StoredEvent } from './stored-event.ts';

/** The names of the properties that are needed to match this metric. */
export function propertiesToMatch({
  propertyFilters,
  aggregation,
  aggregationKey,
}: StreamingMetric): string[] {
  const names = propertyFilters.map(({ name }) => name);
  return readsProperty(aggregation) && aggregationKey !== null ? [...names, aggregationKey] : names;
}

/** The first rule of the metric that the event fails, as text for people; null if it passes all. */
export function mismatchReason(
  metric: StreamingMetric,
  event: StoredEvent,
  propertyOf: PropertyReader,
): string | null {
  const eventType = eventTypeProblem(metric, event.eventType);
  if (eventType !== null) return eventType;
  for (const filter of metric.propertyFilters) {
    const problem = filterProblem(filter, propertyOf(event, filter.name));
    if (problem !== null) return problem;
  }
  return aggregationKeyProblem(metric, event, propertyOf);
}

function eventTypeProblem({ eventTypeFilter }: StreamingMetric, eventType: string): string | null {
  const { inValues = null, notInValues = null } = eventTypeFilter ?? {};
  if (inValues !== null && !inValues.includes(eventType)) {
    return `event_type is ${quoted(eventType)}, event_type_filter.in_values has ${listed(inValues)}`;
  }
  if (notInValues?.includes(eventType)) {
    return `event_type is ${quoted(eventType)}, which event_type_filter.not_in_values has`;
  }
  return null;
}

function filterProblem(filter: PropertyFilter, value: string | null): string | null {
  const { exists, inValues, notInValues } = filter;
  const name = `property ${quoted(filter.name)}`;
  if (exists === true && value === null) return `${name} is missing, its filter has exists true`;
  if (exists === false && value !== null) {
    return `${name} is ${quoted(value)}, its filter has exists false`;
  }
  if (inValues !== null && value === null) {
    return `${name} is missing, its filter has in_values ${listed(inValues)}`;
  }
  if (inValues !== null && value !== null && !inValues.includes(value)) {
    return `${name} is ${quoted(value)}, its filter has in_values ${listed(inValues)}`;
  }
  if (value !== null && notInValues?.includes(value)) {
    return `${name} is ${quoted(value)}, which its filter has in not_in_values`;
  }
  return null;
}

function aggregationKeyProblem(
  { aggregation, aggregationKey }: StreamingMetric,
  event: StoredEvent,
  propertyOf: PropertyReader,
): string | null {
  const { reads } = AGGREGATION_RULES[aggregation];
  if (reads === 'nothing' || aggregationKey === null) return null;
  const name = `property ${quoted(aggregationKey)}`;
  const value = propertyOf(event, aggregationKey);
  if (value === null) return `${name} is missing, it is the aggregation_key`;
  if (reads === 'text' || parseUsageDecimal(value) !== null) return null;
  return (
    `${name} is ${quoted(value)}, which ${aggregation} cannot count: it takes decimal numbers with at most ` +
    `${USAGE_INTEGER_DIGITS_MAX} digits before and ${USAGE_SCALE_MAX} after the point`
  );
}

const SHOWN_LENGTH_MAX = 100;
const SHOWN_VALUES_MAX = 5;

/** Values may be as long as an event, so reasons shorten them. */
function quoted(text: string): string {
  const shown = text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
  return JSON.stringify(shown);
}

function listed(values: readonly string[]): string {
  const shown = values.slice(0, SHOWN_VALUES_MAX).map(quoted).join(', ');
  const rest = values.length - SHOWN_VALUES_MAX;
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}
