/** Checks that a file has the columns named in the mapping. */
import { nearestName } from '../../../../core/nearest-name.ts';
import { EXIT, InputFailure } from '../failure.ts';
import { EVENT_FIELDS, type FieldSource, type Mapping } from './mapping.ts';

const NAMES_SHOWN_MAX = 30;

/** Throws `InputFailure` with the first missing column. A dot in a name may refer to a member of a column. */
export function checkColumns(mapping: Mapping, columns: readonly string[], file: string): void {
  const known = new Set(columns);
  for (const [what, column] of columnsOf(mapping)) {
    const outer = column.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'));
    if (outer.some((name) => known.has(name))) continue;
    const nearest = nearestName(column, columns, (name) => Math.max(1, Math.floor(name.length / 4)));
    const hint = nearest === null ? '' : `; ${JSON.stringify(nearest)} was probably meant`;
    const shown = columns.slice(0, NAMES_SHOWN_MAX).map((name) => JSON.stringify(name));
    const more = columns.length > NAMES_SHOWN_MAX ? `, and ${columns.length - NAMES_SHOWN_MAX} more` : '';
    throw new InputFailure(
      `cannot read ${file}: it has no column ${JSON.stringify(column)} for ${what}${hint}\n` +
        `Its columns: ${shown.join(', ')}${more}. Say with --map or --mapping which column is what`,
      EXIT.usage,
    );
  }
}

/** Names of columns in the mapping, and the use of each. */
export function columnsOf(mapping: Mapping): [what: string, column: string][] {
  const named = (what: string, source: FieldSource): [string, string][] =>
    'column' in source ? [[what, source.column]] : [];
  return [
    ...EVENT_FIELDS.flatMap((field) => named(field, mapping.fields[field])),
    ...[...(mapping.properties ?? [])].flatMap(([name, source]) => named(`the property ${name}`, source)),
    ...[...mapping.only.keys()].map((column): [string, string] => ['only', column]),
  ];
}
