/**
 * Size limits of streaming metric definitions (docs/explanation/metering.md, "Metrics"). Every filter, group property and
 * path step adds planning time to each read of usage, and planning cannot be interrupted. The largest allowed
 * definition plans in a fraction of a second.
 */
import { invalid } from '../../core/errors.ts';
import type { StreamingDefinition } from '../../core/metric.ts';
import { EVENT_TYPE_LENGTH_MAX, PROPERTY_NAME_LENGTH_MAX } from '../../metering/ingest/event-limits.ts';

/** A name is shown in lists and on invoices. */
export const METRIC_NAME_LENGTH_MAX = 512;

/** Each filter is a condition on every event; people write one to ten. */
export const PROPERTY_FILTERS_MAX = 30;

/** Values of one list: every model or region of a large vendor fits. */
export const FILTER_VALUES_MAX = 1_000;

export const GROUP_KEYS_MAX = 30;

/** As many as a SQL metric may have columns. */
export const NAMES_PER_GROUP_KEY_MAX = 12;

/** No event has a longer name, nor a longer event type. */
export const NAME_LENGTH_MAX = PROPERTY_NAME_LENGTH_MAX;
export const TYPE_LENGTH_MAX = EVENT_TYPE_LENGTH_MAX;

/** A property and the levels that its value may have below it. */
const PATH_PARTS_MAX = 17;

/** Names and values together: as much text as an event may have. */
const TEXT_LENGTH_MAX = 65_536;

/** Limits that span several fields, or the parts of a name. Throws a refusal (`invalid`) that names the field. */
export function checkDefinitionSize(definition: StreamingDefinition): void {
  const { propertyFilters, eventTypeFilter } = definition;
  for (const [index, { name }] of propertyFilters.entries()) {
    // The other names of a definition are those of filters.
    if (name.split('.').length > PATH_PARTS_MAX) {
      throw invalid(['propertyFilters', index, 'name'], `must have at most ${PATH_PARTS_MAX} parts`);
    }
  }
  const types = [...(eventTypeFilter?.inValues ?? []), ...(eventTypeFilter?.notInValues ?? [])];
  const texts = propertyFilters.flatMap(({ name, inValues, notInValues }) => [
    name,
    ...(inValues ?? []),
    ...(notInValues ?? []),
  ]);
  const typesLength = lengthOf(types);
  if (typesLength + lengthOf(texts) > TEXT_LENGTH_MAX) {
    throw invalid(
      [typesLength > TEXT_LENGTH_MAX ? 'eventTypeFilter' : 'propertyFilters'],
      `the filters of a metric must have at most ${TEXT_LENGTH_MAX} characters together`,
    );
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length, 0);
}
