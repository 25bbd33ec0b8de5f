/** The mapping from columns of a file to members of an event. */
import { z } from 'zod';
import { TIME_FORMS, type TimeForm } from './timestamp.ts';

export const EVENT_FIELDS = ['transaction_id', 'customer_id', 'event_type', 'timestamp'] as const;
export type EventField = (typeof EVENT_FIELDS)[number];

/** A constant for all rows, or the value of a column. */
export type FieldSource =
  | { readonly value: string }
  | { readonly column: string; readonly prefix?: string | undefined };

export interface Mapping {
  readonly fields: Readonly<Record<EventField, FieldSource>>;
  /** Names of properties and their sources; null: all columns that are not mapped otherwise. */
  readonly properties: ReadonlyMap<string, FieldSource> | null;
  /** A column whose members are properties, if properties are not listed; it may be missing. */
  readonly propertiesColumn: FieldSource | null;
  readonly timestamps: TimeForm;
  /** Only rows in which each of these columns has one of these texts are events. */
  readonly only: ReadonlyMap<string, readonly string[]>;
}

/** Columns with the names of event fields are those fields. */
export const SAME_NAMES: Mapping = {
  fields: {
    transaction_id: { column: 'transaction_id' },
    customer_id: { column: 'customer_id' },
    event_type: { column: 'event_type' },
    timestamp: { column: 'timestamp' },
  },
  properties: null,
  propertiesColumn: { column: 'properties' },
  timestamps: 'rfc3339',
  only: new Map(),
};

const name = z.string().min(1);
const source = z.union([
  name.transform((column) => ({ column })),
  z.strictObject({ column: name, prefix: z.string().optional() }),
  z.strictObject({ value: z.string() }),
]);

const document = z.strictObject({
  transaction_id: source.optional(),
  customer_id: source.optional(),
  event_type: source.optional(),
  timestamp: source.optional(),
  properties: z.union([z.array(name), z.record(name, source)]).optional(),
  timestamps: z.enum(TIME_FORMS).optional(),
  only: z
    .record(name, z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)]))
    .optional(),
});

export class MappingProblem extends Error {}

/** The values of `--map`, `--event-type`, `--properties` and `--timestamps`. */
export interface MappingArguments {
  readonly map: string | undefined;
  readonly eventType: string | undefined;
  readonly properties: string | undefined;
  readonly timestamps: string | undefined;
}

/** Null without arguments. Throws `MappingProblem`. */
export function mappingOfArguments(given: MappingArguments): Mapping | null {
  const { map, eventType, properties, timestamps } = given;
  if (map === undefined && eventType === undefined && properties === undefined && timestamps === undefined)
    return null;
  const columns = map === undefined ? {} : columnsOf(map);
  if (eventType !== undefined && columns.event_type !== undefined) {
    throw new MappingProblem('--event-type and event_type in --map exclude each other');
  }
  const form = TIME_FORMS.find((each) => each === (timestamps ?? 'rfc3339'));
  if (form === undefined) throw new MappingProblem(`--timestamps must be one of ${TIME_FORMS.join(', ')}`);
  return mappingOf({
    ...columns,
    ...(eventType === undefined ? {} : { event_type: { value: eventType } }),
    ...(properties === undefined ? {} : { properties: namesIn(properties, '--properties') }),
    timestamps: form,
  });
}

/** Parses a mapping file. Throws `MappingProblem`. */
export function mappingOfFile(text: string): Mapping {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new MappingProblem('it is not JSON');
  }
  return mappingOf(json);
}

function mappingOf(json: unknown): Mapping {
  const parsed = document.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new MappingProblem(`${issue?.path.join('.') || 'the mapping'}: ${issue?.message ?? 'is wrong'}`);
  }
  const given = parsed.data;
  const field = (which: EventField) => given[which] ?? SAME_NAMES.fields[which];
  return {
    fields: {
      transaction_id: field('transaction_id'),
      customer_id: field('customer_id'),
      event_type: field('event_type'),
      timestamp: field('timestamp'),
    },
    properties: given.properties === undefined ? null : propertiesOf(given.properties),
    propertiesColumn: given.properties === undefined ? SAME_NAMES.propertiesColumn : null,
    timestamps: given.timestamps ?? 'rfc3339',
    only: new Map(Object.entries(given.only ?? {})),
  };
}

function propertiesOf(given: string[] | Record<string, FieldSource>): ReadonlyMap<string, FieldSource> {
  if (!Array.isArray(given)) return new Map(Object.entries(given));
  return new Map(given.map((column) => [column, { column }]));
}

/** `transaction_id=COLUMN,customer_id=COLUMN`: the name of a column may contain anything but a comma. */
function columnsOf(text: string): Partial<Record<EventField, string>> {
  const columns: Partial<Record<EventField, string>> = {};
  for (const pair of namesIn(text, '--map')) {
    const at = pair.indexOf('=');
    const field = EVENT_FIELDS.find((each) => each === pair.slice(0, at).trim());
    if (at === -1 || field === undefined) {
      throw new MappingProblem(
        `--map: ${JSON.stringify(pair)} is not FIELD=COLUMN with a FIELD of ${EVENT_FIELDS.join(', ')}`,
      );
    }
    if (columns[field] !== undefined) throw new MappingProblem(`--map: ${field} is there twice`);
    const column = pair.slice(at + 1).trim();
    if (column === '') throw new MappingProblem(`--map: ${field} has no column`);
    columns[field] = column;
  }
  return columns;
}

function namesIn(text: string, option: string): string[] {
  const names = text.split(',').map((each) => each.trim());
  if (names.includes('')) throw new MappingProblem(`${option}: there is a name missing beside a comma`);
  if (new Set(names).size !== names.length) throw new MappingProblem(`${option}: a name is there twice`);
  return names;
}
