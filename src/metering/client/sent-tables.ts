/**
 * Tables that are sent with a statement: their rows are read by ClickHouse itself, from a file in this process or a
 * part of the request to a server. A list of values in the text of the statement would be planned, named and compared
 * as text: above a megabyte ClickHouse no longer treats it as a constant, and a statement costs rows × values.
 */

export interface SentTable {
  /** The name of the table in the statement: a word that occurs nowhere else in it. */
  readonly name: string;
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>;
  /** As `TabSeparated`, written by `tabSeparated`. */
  readonly rows: Buffer;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
};

/** Rows of texts, in the order of the table's columns. */
export function tabSeparated(rows: ReadonlyArray<ReadonlyArray<string | null>>): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(cellText).join('\t')}\n`).join(''));
}

function cellText(cell: string | null): string {
  if (cell === null) return '\\N';
  return cell.replace(/[\\\t\n\r\0\b\f]/g, (character) => ESCAPES[character] ?? character);
}

/** `ref String, owner String` */
export function structureOf({ columns }: SentTable): string {
  return columns.map(({ name, type }) => `${name} ${type}`).join(', ');
}

/** The statement with each table's name replaced. */
export function withTableNames(
  sql: string,
  tables: readonly SentTable[],
  nameOf: (table: SentTable, index: number) => string,
): string {
  return tables.reduce(
    (text, table, index) =>
      text.replaceAll(new RegExp(`\\b${table.name}\\b`, 'g'), () => nameOf(table, index)),
    sql,
  );
}
