/**
 * Writes many rows with few parameters. A statement with a parameter for each value takes longer to build and describe
 * than to run: several times as long for tens of thousands of rows.
 */
import { getTableColumns, is, type SQL, sql } from 'drizzle-orm';
import { PgJsonb, type PgTable } from 'drizzle-orm/pg-core';
import type { Transaction } from './database.ts';

/** Other requests are served between two statements; building one of this many rows takes some 10 ms. */
const ROWS_MAX = 1_000;

/**
 * Inserts the rows in their order. All rows have the same members; columns without one take their default. `suffix`:
 * the rest of the statement, such as `on conflict do nothing`. Returns the rows that the statements return, with the
 * column names of the database.
 */
export async function insertRows<Table extends PgTable, Answer extends Record<string, unknown>>(
  tx: Transaction,
  table: Table,
  rows: readonly Table['$inferInsert'][],
  suffix: SQL = sql``,
): Promise<Answer[]> {
  const names = sql.join(
    columnsOf(table, rows).map(([, { name }]) => sql.identifier(name)),
    sql`, `,
  );
  const answers: Answer[] = [];
  for (const part of rowsAsJson(table, rows)) {
    const inserted = await tx.execute<Record<string, unknown>>(sql`
      insert into ${table} (${names})
      select ${names} from json_populate_recordset(null::${table}, ${part}::json) ${suffix}`);
    for (const answer of inserted) answers.push(answer as Answer);
  }
  return answers;
}

/** The rows as lists for `json_populate_recordset`, one list per statement. */
export function* rowsAsJson<Table extends PgTable>(
  table: Table,
  rows: readonly Table['$inferInsert'][],
): Generator<string, void, undefined> {
  const columns = columnsOf(table, rows).map(([member, column]) => ({
    member,
    column,
    isJson: is(column, PgJsonb),
  }));
  for (let from = 0; from < rows.length; from += ROWS_MAX) {
    const part = rows.slice(from, from + ROWS_MAX).map((row: Readonly<Record<string, unknown>>) => {
      const named: Record<string, unknown> = {};
      for (const { member, column, isJson } of columns) {
        const value = row[member] ?? null;
        // JSON and lists are passed through; other types are converted to the text or number for the driver.
        const isPlain = value === null || isJson || Array.isArray(value);
        named[column.name] = isPlain ? value : column.mapToDriverValue(value);
      }
      return named;
    });
    yield withoutHalves(JSON.stringify(part));
  }
}

/** The columns that the rows have values for. */
function columnsOf<Table extends PgTable>(table: Table, [first]: readonly Table['$inferInsert'][]) {
  const columns = Object.entries(getTableColumns(table));
  return first === undefined ? [] : columns.filter(([member]) => Object.hasOwn(first, member));
}

/** PostgreSQL has no text with half of a surrogate pair, which `JSON.stringify` escapes: it becomes U+FFFD, as in UTF-8. */
function withoutHalves(json: string): string {
  return json.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (one) => (one === '\\\\' ? one : '\\ufffd'));
}
