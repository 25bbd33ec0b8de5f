/** Rows of a sheet as entries of a list. Pure. */
import { type CreditType, unitText } from '../format/money.ts';
import { entriesOf, type FormField, shownFields, startOf, textOf, USD, type Values } from './field.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Pasted {
  readonly entries: readonly Values[];
  /** A sentence for each row that is left out, and for all rows beyond the limit. */
  readonly problems: readonly string[];
  /** The rows that are left out, as they are in the sheet. */
  readonly unused: string;
}

/** More rows are for a program. */
const ROWS_MAX = 1_000;

/** Where the values of a form have the rows of a list that are not entries yet. */
export function rowsAt(at: string): string {
  return `rows for ${at}`;
}

/** Whether rows of a sheet were pasted that are not entries yet. */
export function hasUnusedRows(fields: readonly FormField[], values: Values): boolean {
  return shownFields(fields, values).some(
    ({ at, pasted, fields: inner = [] }) =>
      (pasted !== undefined && textOf(values, rowsAt(at)).trim() !== '') ||
      entriesOf(values, at).some((entry) => hasUnusedRows(inner, entry)),
  );
}

interface Sheet {
  /** The fields that its columns fill, that of the object's name first. */
  readonly columns: readonly string[];
  readonly fields: readonly FormField[];
  /** The objects that a row can name. */
  readonly objects: readonly Named[];
  readonly today: string;
  /** The unit of its amounts. */
  readonly unit: CreditType;
}

/**
 * A line is an entry: the name of an object, then the other columns in their order, by tabs as sheets copy them, else
 * by semicolons. Lines are left out if they are empty, or their name is not that of exactly one object.
 */
export function entriesIn(text: string, { columns, fields, objects, today, unit }: Sheet): Pasted {
  const [first = '', ...others] = columns;
  const problems: string[] = [];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const unused = lines.slice(ROWS_MAX);
  if (unused.length > 0) problems.push(`Only the first ${ROWS_MAX} of ${lines.length} rows are added`);
  const leftOut: string[] = [];
  const entries = lines.slice(0, ROWS_MAX).flatMap((line): Values[] => {
    const [name = '', ...cells] = line.split(line.includes('\t') ? '\t' : ';').map((cell) => cell.trim());
    const [object, second] = objects.filter((each) => each.name.toLowerCase() === name.toLowerCase());
    if (object === undefined || second !== undefined) {
      problems.push(
        object === undefined ? `No product is named ${name}` : `Several products are named ${name}`,
      );
      leftOut.push(line);
      return [];
    }
    const given = others.flatMap((at, index) => {
      const isMoney = fields.find((field) => field.at === at)?.kind === 'money';
      const cell = cells[index] ?? '';
      return cell === '' ? [] : [[at, isMoney ? withoutUnit(cell, unit) : cell]];
    });
    return [startOf(fields, today, { [first]: object.id, ...Object.fromEntries(given) })];
  });
  return { entries, problems, unused: [...leftOut, ...unused].join('\n') };
}

/**
 * `$3`, `USD 3` and `3 USD` in US dollars, `EUR 3` in euros. With the sign or the code of another currency it stays a
 * text, which the API refuses.
 */
function withoutUnit(cell: string, unit: CreditType): string {
  const code = unitText(unit);
  const marks = unit.id === USD.id ? [code, '$'] : [code];
  for (const mark of marks) {
    const text = cell.toUpperCase();
    if (text.startsWith(mark.toUpperCase())) return cell.slice(mark.length).trim();
    if (text.endsWith(mark.toUpperCase())) return cell.slice(0, -mark.length).trim();
  }
  return cell;
}
