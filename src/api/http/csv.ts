/**
 * Answers as CSV (RFC 4180): columns and cells (docs/reference/exports.md).
 *
 * Owns: the text. Does not own: which rows there are (`route.ts`), whether a client asked for it (`answer-form.ts`), and
 * how they are sent (`exchange.ts`).
 */
import { stringify } from 'csv-stringify/sync';
import { Decimal } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { JsonNumber } from '../base/json.ts';

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
export const CSV = 'text/csv';

/** A cell: numbers keep all their digits, objects are written as JSON, nothing is an empty cell. */
type CsvValue = string | number | boolean | Decimal | JsonNumber | object | null | undefined;

export interface CsvColumn<Row> {
  readonly name: string;
  /** For the reference: one sentence. */
  readonly description: string;
  value(row: Row): CsvValue;
}

/** How the items of an answer become rows. `Item` is an item as the JSON answer has it. */
export interface CsvTable<Item> {
  readonly columns: readonly { readonly name: string; readonly description: string }[];
  /** Items read at once; without it, as many as a page of the JSON answer has by default. */
  readonly itemsPerRead?: number;
  /** The rows of some items, cell by cell. */
  cells(items: readonly Item[]): string[][];
}

/** A table with the rows that `rowsOf` makes of each item. */
export function csvTable<Item, Row>(
  columns: readonly CsvColumn<Row>[],
  rowsOf: (item: Item) => readonly Row[],
  options: { readonly itemsPerRead?: number } = {},
): CsvTable<Item> {
  return {
    columns,
    ...options,
    cells: (items) =>
      items.flatMap((item) => rowsOf(item).map((row) => columns.map(({ value }) => cellText(value(row))))),
  };
}

/** The header and all rows, in pieces of one read each. */
export async function* csvText(
  columns: readonly { readonly name: string }[],
  reads: AsyncIterable<string[][]>,
): AsyncGenerator<string, void, undefined> {
  let header: string[][] = [columns.map(({ name }) => withoutFormula(name))];
  for await (const rows of reads) {
    yield records([...header, ...rows]);
    header = [];
  }
}

function records(rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : stringify([...rows], { record_delimiter: '\r\n', quoted_match: /[\r\n]/ });
}

function cellText(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return withoutFormula(value);
  if (value instanceof Decimal) return value.toFixed();
  if (value instanceof JsonNumber) return value.toString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * The characters that make a spreadsheet read a text as a formula, also after characters that it skips or does not
 * show: white space, controls, and characters without width. A tab or a line break among them is enough.
 */
const FORMULA =
  /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/u;

/** An apostrophe before a text makes a spreadsheet show it. Names and group values may come from strangers. */
function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Refuses paging: an answer as CSV has all rows. `sent` are the parameters as they were sent. */
export function refusePaging(sent: unknown): void {
  if (typeof sent !== 'object' || sent === null) return;
  for (const [name, value] of Object.entries(sent)) {
    if ((name !== 'limit' && name !== 'next_page') || value === '' || value === null) continue;
    throw new Refusal('invalid', `${name}: must not be given with Accept: ${CSV}, whose answer has all rows`);
  }
}
