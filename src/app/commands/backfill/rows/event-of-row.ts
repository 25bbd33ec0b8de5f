/**
 * Writes a row as the JSON line of an event, which is then validated like all events. A column that the row lacks is
 * omitted from the line, so that validation reports it as missing.
 */
import { EVENT_FIELDS, type EventField, type FieldSource, type Mapping } from './mapping.ts';
import { TimeProblem, timestampOf } from './timestamp.ts';
import { isObject, jsonOf, nameOf, parseValue, type Row, type Value } from './value.ts';

/** `problem`: why the row cannot be written as an event. `left-out`: the mapping excludes it. */
type EventLine = { readonly json: string } | { readonly problem: string } | 'left-out';

export interface EventWriter {
  write(row: Row): EventLine;
  /** A validation error, with the column that it is about. */
  explain(reason: string): string;
}

class RowProblem extends Error {}

export function createEventWriter(mapping: Mapping): EventWriter {
  const { fields, only } = mapping;
  const taken = new Set([
    ...EVENT_FIELDS.flatMap((field) => ('column' in fields[field] ? [fields[field].column] : [])),
    ...(mapping.propertiesColumn !== null && 'column' in mapping.propertiesColumn
      ? [mapping.propertiesColumn.column]
      : []),
  ]);
  return {
    write(row) {
      try {
        for (const [column, texts] of only) {
          const text = textOf(valueIn(row, column) ?? null);
          if (text === null || !texts.includes(text)) return 'left-out';
        }
        return { json: eventOf(row, mapping, taken) };
      } catch (error) {
        if (error instanceof RowProblem) return { problem: error.message };
        throw error;
      }
    },
    explain(reason) {
      const field = EVENT_FIELDS.find((each) => reason.startsWith(`${each}:`));
      const source = field === undefined ? undefined : fields[field];
      if (source === undefined) return reason;
      return 'column' in source ? `${reason} (column ${JSON.stringify(source.column)})` : reason;
    },
  };
}

function eventOf(row: Row, mapping: Mapping, taken: ReadonlySet<string>): string {
  const members = EVENT_FIELDS.flatMap((field) => {
    const text = fieldText(row, field, mapping);
    return text === null ? [] : [`"${field}":${JSON.stringify(text)}`];
  });
  members.push(`"properties":${propertiesOf(row, mapping, taken)}`);
  return `{${members.join(',')}}`;
}

function fieldText(row: Row, field: EventField, { fields, timestamps }: Mapping): string | null {
  const source = fields[field];
  if ('value' in source) return source.value;
  const value = valueIn(row, source.column) ?? null;
  if (value === null) return null;
  const text =
    field === 'timestamp' ? inColumn(source.column, () => timestampOf(value, timestamps)) : nameOf(value);
  if (text === null) {
    throw new RowProblem(
      `column ${JSON.stringify(source.column)}: ${field} must be a text or a whole number`,
    );
  }
  return `${source.prefix ?? ''}${text}`;
}

function inColumn<T>(column: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TimeProblem)) throw error;
    throw new RowProblem(`column ${JSON.stringify(column)}: timestamp ${error.message}`);
  }
}

/** JSON text of the properties. */
function propertiesOf(row: Row, mapping: Mapping, taken: ReadonlySet<string>): string {
  const members = new Map<string, string>();
  if (mapping.properties !== null) {
    for (const [name, source] of mapping.properties) add(members, name, sourceValue(row, source));
  } else {
    const inOne = mapping.propertiesColumn === null ? null : sourceValue(row, mapping.propertiesColumn);
    for (const [name, value] of Object.entries(membersOf(inOne))) add(members, name, value);
    for (const [name, value] of row) if (!taken.has(name)) add(members, name, value);
  }
  return `{${[...members.values()].join(',')}}`;
}

function add(members: Map<string, string>, name: string, value: Value | undefined): void {
  if (value === null || value === undefined) return;
  if (members.has(name)) throw new RowProblem(`the property ${JSON.stringify(name)} is there twice`);
  members.set(name, `${JSON.stringify(name)}:${jsonOf(value)}`);
}

function sourceValue(row: Row, source: FieldSource): Value | undefined {
  if ('value' in source) return source.value;
  const value = valueIn(row, source.column);
  if (source.prefix === undefined || value === undefined || value === null) return value;
  const text = textOf(value);
  if (text === null)
    throw new RowProblem(`column ${JSON.stringify(source.column)}: has no text for a prefix`);
  return `${source.prefix}${text}`;
}

/** Members of an object, which may be JSON text. */
function membersOf(value: Value | undefined): { readonly [member: string]: Value } {
  if (value === null || value === undefined) return {};
  const parsed = typeof value === 'string' ? parsedOrNull(value) : value;
  if (parsed !== null && isObject(parsed)) return parsed;
  throw new RowProblem(
    'column "properties": is not an object of properties; say with --properties which columns are properties',
  );
}

function parsedOrNull(text: string): Value {
  try {
    return parseValue(text);
  } catch {
    return null;
  }
}

function textOf(value: Value): string | null {
  return typeof value === 'boolean' ? String(value) : nameOf(value);
}

/** The value of a column, or of a member after a dot, if the column has an object or its JSON text. */
function valueIn(row: Row, column: string): Value | undefined {
  const whole = row.get(column);
  if (whole !== undefined || !column.includes('.')) return whole;
  for (let dot = column.indexOf('.'); dot !== -1; dot = column.indexOf('.', dot + 1)) {
    const outer = row.get(column.slice(0, dot));
    if (outer !== undefined) return memberOf(outer, column.slice(0, dot), column.slice(dot + 1));
  }
  return undefined;
}

/** `within`: the name of the value. */
function memberOf(outer: Value, within: string, path: string): Value | undefined {
  if (outer === null) return undefined;
  const value = typeof outer === 'string' ? parsedOrNull(outer) : outer;
  if (value === null || !isObject(value)) {
    throw new RowProblem(
      `column ${JSON.stringify(within)}: is no object, so there is no ${JSON.stringify(path)} in it`,
    );
  }
  if (Object.hasOwn(value, path)) return value[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(value, name))
      return memberOf(value[name] ?? null, `${within}.${name}`, path.slice(dot + 1));
  }
  return undefined;
}
