/** The definition of a metric while it is edited: as query or as form. Pure. */
import type { BodyOf } from '../../api/client.ts';
import type { Schemas } from '../../api/operations.gen.d.ts';

export const AGGREGATIONS = ['COUNT', 'SUM', 'MAX', 'UNIQUE', 'LATEST'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

export const CONDITIONS = ['exists', 'is absent', 'is one of', 'is none of'] as const;
type Condition = (typeof CONDITIONS)[number];

export interface FilterRow {
  readonly name: string;
  readonly condition: Condition;
  /** Separated by commas. */
  readonly values: string;
}

export interface FormDraft {
  readonly aggregation: Aggregation;
  readonly key: string;
  /** Separated by commas. */
  readonly eventTypes: string;
  readonly filters: readonly FilterRow[];
  /** One line per group key, its properties separated by commas. */
  readonly groups: string;
}

export interface Draft {
  readonly kind: 'sql' | 'form';
  readonly sql: string;
  readonly form: FormDraft;
}

export type Definition = Omit<BodyOf<'POST /v1/billable-metrics/create'>, 'name' | 'custom_fields'>;

const EXAMPLE = `SELECT SUM(properties.tokens) AS value, properties.model
FROM events
GROUP BY model`;

export const NEW_DRAFT: Draft = {
  kind: 'sql',
  sql: EXAMPLE,
  form: { aggregation: 'COUNT', key: '', eventTypes: '', filters: [], groups: '' },
};

/** The body for the API. Properties that are summed or grouped by must be present, which the filters require. */
export function definitionOf({ kind, sql, form }: Draft): Definition {
  if (kind === 'sql') return { sql };
  const { aggregation, eventTypes } = form;
  const key = aggregation === 'COUNT' ? '' : form.key.trim();
  const groups = form.groups
    .split('\n')
    .map(listOf)
    .filter((keys) => keys.length > 0);
  const filters = form.filters.filter(({ name }) => name.trim() !== '').map(filterOf);
  const required = [...new Set([...(key === '' ? [] : [key]), ...groups.flat()])];
  const isNamed = (name: string) => filters.some((filter) => filter.name === name);
  const implied = required.filter((name) => !isNamed(name)).map((name) => ({ name, exists: true }));
  return {
    aggregation_type: aggregation,
    ...(key === '' ? {} : { aggregation_key: key }),
    ...(listOf(eventTypes).length === 0 ? {} : { event_type_filter: { in_values: listOf(eventTypes) } }),
    ...(filters.length + implied.length === 0 ? {} : { property_filters: [...filters, ...implied] }),
    ...(groups.length === 0 ? {} : { group_keys: groups }),
  };
}

function filterOf({ name, condition, values }: FilterRow) {
  switch (condition) {
    case 'exists':
      return { name: name.trim(), exists: true };
    case 'is absent':
      return { name: name.trim(), exists: false };
    case 'is one of':
      return { name: name.trim(), in_values: listOf(values) };
    case 'is none of':
      return { name: name.trim(), not_in_values: listOf(values) };
  }
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

type Defined = Pick<
  Schemas['BillableMetric'],
  'sql' | 'aggregation_type' | 'aggregation_key' | 'event_type_filter' | 'property_filters' | 'group_keys'
>;

/** The draft for editing a definition. */
export function draftOf(definition: Defined): Draft {
  const { sql, aggregation_type: aggregation = 'COUNT', aggregation_key: key = '' } = definition;
  if (sql !== undefined) return { ...NEW_DRAFT, kind: 'sql', sql };
  return {
    ...NEW_DRAFT,
    kind: 'form',
    form: {
      aggregation,
      key,
      eventTypes: (definition.event_type_filter?.in_values ?? []).join(', '),
      filters: (definition.property_filters ?? []).flatMap(filterRows),
      groups: (definition.group_keys ?? []).map((keys) => keys.join(', ')).join('\n'),
    },
  };
}

function filterRows({
  name,
  exists,
  in_values: inValues,
  not_in_values: notInValues,
}: NonNullable<Defined['property_filters']>[number]): FilterRow[] {
  const rows: FilterRow[] = [
    ...(inValues === undefined
      ? []
      : [{ name, condition: 'is one of' as const, values: inValues.join(', ') }]),
    ...(notInValues === undefined
      ? []
      : [{ name, condition: 'is none of' as const, values: notInValues.join(', ') }]),
  ];
  if (rows.length > 0) return rows;
  return [{ name, condition: exists === false ? 'is absent' : 'exists', values: '' }];
}

/** As a line of the list: `SUM of tokens, by model and region`. */
export function definitionText(metric: Defined): string {
  if (metric.sql !== undefined) return metric.sql.replaceAll(/\s+/g, ' ');
  const { aggregation_type: aggregation, aggregation_key: key, group_keys: groups = [] } = metric;
  const types = metric.event_type_filter?.in_values;
  return [
    `${aggregation}${key === undefined ? '' : ` of ${key}`}`,
    ...(types === undefined ? [] : [`of ${types.join(', ')}`]),
    ...groups.map((keys) => `by ${keys.join(' and ')}`),
  ].join(', ');
}

/** The definition in an address; null if it is invalid. */
export function definitionIn(text: string | undefined): Draft | null {
  if (text === undefined) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? draftOf(parsed as Defined) : null;
  } catch {
    return null;
  }
}
