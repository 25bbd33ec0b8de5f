/** Cuts rows into statements that stay below PostgreSQL's limit of 65,535 parameters. */

/** Enough for 65 columns a row. */
const ROWS_MAX = 1_000;

export function rowsPerInsert<Row>(rows: readonly Row[]): Row[][] {
  const chunks: Row[][] = [];
  for (let from = 0; from < rows.length; from += ROWS_MAX) chunks.push(rows.slice(from, from + ROWS_MAX));
  return chunks;
}
