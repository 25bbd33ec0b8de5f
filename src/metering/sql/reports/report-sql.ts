/** Writes the whole statement of a query across customers: its cells as texts, or its columns with types and names. */
import type { StatementWithParams } from '../../client/parameter-pieces.ts';
import { createParameters } from '../../query/parameters.ts';
import { renderStatement } from '../../query/usage-relation.ts';
import type { CheckedReport } from '../read/read-report.ts';
import { createDefinitions, createNames } from '../values/definitions.ts';
import { toText, type Writer } from '../values/value.ts';

/** Each row as a list of the texts of its cells. */
export function textStatement(report: CheckedReport): StatementWithParams {
  const { columns, order } = report;
  const sql = rendered(report, (writer) => {
    const cells = columns.map((column) => toText(writer, column));
    return [`CAST([${cells.join(', ')}], 'Array(Nullable(String))') AS cells`];
  });
  return { sql: order === null ? sql : `${sql}\nORDER BY ${order}`, params: {} };
}

/**
 * Columns with types and the analyst's names, which are bound like all texts of the analyst. They are named outside of
 * the statement, because inside they could collide with its names.
 */
export function typedStatement(report: CheckedReport): StatementWithParams {
  const { columns, order } = report;
  const inner = innerName(columns.map(({ name }) => name));
  const sql = rendered(report, (writer) => [
    ...columns.map((column, index) => `${typedCell(writer, column)} AS ${inner}_${index + 1}`),
    ...(order === null ? [] : [`${order} AS ${inner}_0`]),
  ]);
  const shown = columns.map((_, index) => `${inner}_${index + 1} AS {${nameParameter(index)}:Identifier}`);
  const names = columns.map(({ name }, index) => [nameParameter(index), name] as const);
  return {
    sql: `SELECT ${shown.join(', ')}\nFROM (\n${sql}\n)${order === null ? '' : `\nORDER BY ${inner}_0`}`,
    params: Object.fromEntries(names),
  };
}

function rendered({ from, nameCount }: CheckedReport, cells: (writer: Writer) => readonly string[]): string {
  const definitions = createDefinitions(createNames(nameCount));
  const columns = cells({ parameters: createParameters(), definitions });
  return renderStatement({
    definitions: definitions.list(),
    ...{ columns, from, conditions: [], groupBy: [] },
  });
}

/** Longer than any of the names, so that it equals none of them. */
function innerName(names: readonly string[]): string {
  return 'c'.repeat(Math.max(...names.map(({ length }) => length)) + 1);
}

function nameParameter(index: number): string {
  return `n_${index + 1}`;
}

/**
 * A number is a text: a decimal of 76 digits would not stay exact, because most readers of Parquet convert it to a
 * double or refuse it.
 */
function typedCell(writer: Writer, column: CheckedReport['columns'][number]): string {
  if (column.type === 'timestamp') return `CAST(${column.sql}, 'Nullable(DateTime64(3, \\'UTC\\'))')`;
  if (column.type === 'boolean') return `CAST(${column.sql}, 'Nullable(Bool)')`;
  return `CAST(${toText(writer, column)}, 'Nullable(String)')`;
}
