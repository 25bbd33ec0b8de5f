/** The answer to a query as JSON and as CSV, a few rows at a time. */
import type { ReportResult } from '../../../billing/sql/run-query.ts';
import { JsonNumber, stringifyJson } from '../../base/json.ts';
import { csvTable, csvText } from '../../http/csv.ts';

type Column = ReportResult['columns'][number];
type Row = ReadonlyArray<string | null>;

/** The text of `{columns, data}`. Refusals come before the first piece. */
export async function* jsonText({ columns, rows }: ReportResult): AsyncGenerator<string, void, undefined> {
  const shown = columns.map(({ name, type }) => ({ name, type: shownType(type) }));
  let before = `{"columns":${stringifyJson(shown)},"data":[`;
  for await (const part of rows) {
    const texts = part.map((row) => stringifyJson(rowOf(columns, row)));
    yield `${before}${texts.join(',')}`;
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

/** A property is the text that was sent. */
function shownType(type: Column['type']): string {
  return type === 'property' || type === 'null' ? 'text' : type;
}

function rowOf(columns: readonly Column[], row: Row): Readonly<Record<string, unknown>> {
  return Object.fromEntries(columns.map(({ name, type }, index) => [name, cellOf(type, row[index])]));
}

/** A cell with its type: numbers keep all their digits. */
function cellOf(type: Column['type'], cell: string | null | undefined) {
  if (cell === null || cell === undefined) return null;
  if (type === 'number') return new JsonNumber(cell);
  return type === 'boolean' ? cell === 'true' : cell;
}

export async function* csvRows({ columns, rows }: ReportResult): AsyncGenerator<string, void, undefined> {
  const table = csvTable<Row, Row>(
    columns.map(({ name, type }, index) => ({
      name,
      description: '',
      value: (cells) => cellOf(type, cells[index]),
    })),
    (row) => [row],
  );
  yield* csvText(columns, reads());

  /** At least one, for the header. */
  async function* reads() {
    let isEmpty = true;
    for await (const part of rows) {
      isEmpty = false;
      yield table.cells(part);
    }
    if (isEmpty) yield [];
  }
}
