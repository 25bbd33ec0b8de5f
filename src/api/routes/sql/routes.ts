/** Queries of analysts across customers. An endpoint of this service only. */
import { z } from 'zod';
import { type ReportDeps, type ReportResult, runQuery } from '../../../billing/reports/run-query.ts';
import { CHUNK_ITEMS, mapInChunks } from '../../../core/in-chunks.ts';
import { csvTable, csvText } from '../../http/csv.ts';
import { JsonNumber } from '../../http/json.ts';
import { checkInput } from '../../http/problems.ts';
import { type RouteDefinition, route } from '../../http/route.ts';

/** As long as a SQL metric. */
const QUERY_LENGTH_MAX = 10_000;

const body = z.object({ sql: z.string().min(1).max(QUERY_LENGTH_MAX) }).meta({
  id: 'SqlQuery',
  example: { sql: 'SELECT customer_id, SUM(total) AS cents FROM invoices GROUP BY customer_id' },
});

const response = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })).meta({
    description: '`number`, `text`, `timestamp`, `boolean` or `list`, in the order of the query.',
  }),
  data: z.array(z.record(z.string(), z.unknown())).meta({
    description: 'A row each. Numbers have all their digits; times are RFC 3339, lists are JSON texts.',
  }),
});

export function sqlRoutes(deps: ReportDeps): RouteDefinition[] {
  const json = route({
    method: 'post',
    path: '/v1/sql',
    operationId: 'querySql',
    summary: 'Query usage and invoices of all customers with SQL',
    description:
      'One SELECT over the views events, customers, contracts, invoices, invoice_lines, invoice_hours and balances, in ' +
      'the language of SQL metrics. The answer has every acknowledged event and every issued invoice.',
    tags: ['SQL'],
    scope: 'read',
    body,
    response,
    errors: [400, 429],
    async handler({ body: { sql } }) {
      return await answerOf(await runQuery(deps, sql));
    },
  });
  return [{ ...json, csv: { columns: null, run: (input) => csvOf(deps, input.body) } }];
}

type Row = ReportResult['rows'][number];

/** A cell with its type: numbers keep all their digits. */
function cellOf(type: string, cell: string | null | undefined) {
  if (cell === null || cell === undefined) return null;
  if (type === 'number') return new JsonNumber(cell);
  return type === 'boolean' ? cell === 'true' : cell;
}

async function answerOf({ columns, rows }: ReportResult) {
  const shown = columns.map(({ name, type }) => ({ name, type: shownType(type) }));
  const row = (cells: Row) =>
    Object.fromEntries(shown.map(({ name, type }, index) => [name, cellOf(type, cells[index])]));
  return { columns: shown, data: await mapInChunks(rows, row) };
}

/** A property is the text that was sent. */
function shownType(type: string): string {
  return type === 'property' || type === 'null' ? 'text' : type;
}

async function* csvOf(deps: ReportDeps, sent: unknown): AsyncGenerator<string, void, undefined> {
  const { columns, rows } = await runQuery(deps, checkInput(body, 'body', sent).sql);
  const table = csvTable<Row, Row>(
    columns.map(({ name, type }, index) => ({
      name,
      description: '',
      value: (cells) => cellOf(type, cells[index]),
    })),
    (cells) => [cells],
  );
  yield* csvText(
    columns,
    chunks(rows, (part) => table.cells(part)),
  );
}

async function* chunks(rows: readonly Row[], cells: (part: readonly Row[]) => string[][]) {
  for (let first = 0; first === 0 || first < rows.length; first += CHUNK_ITEMS) {
    yield cells(rows.slice(first, first + CHUNK_ITEMS));
  }
}
