/** Rows of a sheet as entries of a list. Pure. */
import { type FormField, startOf, type Values } from './field.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface Pasted {
  readonly entries: readonly Values[];
  /** The names that no object has. */
  readonly unknown: readonly string[];
}

/** More rows are for a program. */
const ROWS_MAX = 1_000;

/**
 * A line is an entry: the name of an object, then the other columns in their order, by tabs as sheets copy them, else
 * by semicolons. Empty lines, and lines with an unknown name, are left out.
 */
export function entriesIn(
  text: string,
  columns: readonly string[],
  fields: readonly FormField[],
  objects: readonly Named[],
  today: string,
): Pasted {
  const [first = '', ...others] = columns;
  const unknown: string[] = [];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const entries = lines.slice(0, ROWS_MAX).flatMap((line): Values[] => {
    const [name = '', ...cells] = line.split(line.includes('\t') ? '\t' : ';').map((cell) => cell.trim());
    const object = objects.find((each) => each.name.toLowerCase() === name.toLowerCase());
    if (object === undefined) {
      unknown.push(name);
      return [];
    }
    const given = others.flatMap((at, index) =>
      cells[index] ? [[at, cells[index].replace(/^\$/, '')]] : [],
    );
    return [startOf(fields, today, { [first]: object.id, ...Object.fromEntries(given) })];
  });
  return { entries, unknown };
}
