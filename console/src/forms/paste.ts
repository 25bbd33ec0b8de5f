/** Rows of a sheet as entries of a list. Pure. */
import { type FormField, startOf, type Values } from './field.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Pasted {
  readonly entries: readonly Values[];
  /** A sentence for each row that is left out, and for all rows beyond the limit. */
  readonly problems: readonly string[];
}

/** More rows are for a program. */
const ROWS_MAX = 1_000;

/**
 * A line is an entry: the name of an object, then the other columns in their order, by tabs as sheets copy them, else
 * by semicolons. Lines are left out if they are empty, or their name is not that of exactly one object.
 */
export function entriesIn(
  text: string,
  columns: readonly string[],
  fields: readonly FormField[],
  objects: readonly Named[],
  today: string,
): Pasted {
  const [first = '', ...others] = columns;
  const problems: string[] = [];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > ROWS_MAX) problems.push(`Only the first ${ROWS_MAX} of ${lines.length} rows are added`);
  const entries = lines.slice(0, ROWS_MAX).flatMap((line): Values[] => {
    const [name = '', ...cells] = line.split(line.includes('\t') ? '\t' : ';').map((cell) => cell.trim());
    const [object, second] = objects.filter((each) => each.name.toLowerCase() === name.toLowerCase());
    if (object === undefined || second !== undefined) {
      problems.push(
        object === undefined ? `No product is named ${name}` : `Several products are named ${name}`,
      );
      return [];
    }
    const given = others.flatMap((at, index) =>
      cells[index] ? [[at, cells[index].replace(/^\$/, '')]] : [],
    );
    return [startOf(fields, today, { [first]: object.id, ...Object.fromEntries(given) })];
  });
  return { entries, problems };
}
