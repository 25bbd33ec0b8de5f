/**
 * The code shared by the embedded engine and a server: settings and format of queries, and parsing of rows. Both are
 * used through `@clickhouse/client`; a backend only provides its clients.
 */
import { z } from 'zod';
import { eachInChunks } from '../../core/in-chunks.ts';
import { countMemory } from '../../runtime/answer-memory.ts';
import { around } from './around.ts';
import type { ClickHouse, QueryLane, QueryParams, SelectStatement, StreamedSelect } from './clickhouse.ts';
import { parameterStatement, settingsClause } from './clickhouse-parameters.ts';
import type { SentTable } from './sent-tables.ts';

/** A complete SELECT, with its parameters in both forms of transport. */
export interface BackendSelect {
  readonly sql: string;
  readonly params: QueryParams;
  readonly lane: QueryLane;
  readonly customer: string | undefined;
  readonly tables: readonly SentTable[];
  /** The parameters as a SET statement before the query, for an engine without separate parameters. */
  parameterStatement(): string;
}

/** A SELECT whose answer is streamed. */
export interface BackendStream extends BackendSelect {
  readonly format: StreamedSelect['format'];
  /** FORMAT and SETTINGS, which follow the text of the SELECT. */
  readonly ending: string;
  readonly signal: AbortSignal | undefined;
}

/** The differences between the embedded engine and a server. */
export interface ClickHouseBackend {
  /** Runs a query; the result is complete, or the failure known, when this resolves. */
  select(query: BackendSelect): Promise<AsyncIterable<unknown>>;
  /** Runs a query and streams its answer (`ClickHouse.queryStream`). */
  stream(query: BackendStream): AsyncGenerator<Buffer, void, undefined>;
  command(sql: string): Promise<void>;
  insertRows: ClickHouse['insertRows'];
  ping(): Promise<void>;
  laneFigures: ClickHouse['laneFigures'];
  cancelQueries(): Promise<void>;
  close(): Promise<void>;
}

/** The engine cancels a query that runs longer. Bulk reads and invoice runs set their own limit. */
const EXECUTION_TIME_MAX_SECONDS = 30;

const DEFAULT_SETTINGS = { max_execution_time: EXECUTION_TIME_MAX_SECONDS };

/** Numbers beyond JavaScript's precision are quoted, and the rows arrive as one JSON array. */
const ROW_SETTINGS = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_array_of_rows: 1,
};

/** Memory of rows as objects, relative to their text: the text, the objects, and the results of the schema. */
const OBJECTS_PER_TEXT = 8;

export function createClickHouse(backend: ClickHouseBackend): ClickHouse {
  return {
    query: async <Row>({
      sql,
      params,
      settings,
      lane,
      customer,
      tables,
      schema,
    }: SelectStatement & { schema: z.ZodType<Row> }) => {
      const clause = settingsClause({ ...DEFAULT_SETTINGS, ...settings, ...ROW_SETTINGS });
      // On its own line, so that it is not part of a comment at the end of the query.
      const bytes = await select(backend, `${sql}\nFORMAT JSONEachRow\n${clause}`, {
        params,
        lane,
        customer,
        tables,
      });
      countMemory(bytes.length * OBJECTS_PER_TEXT);
      return await rowsOf(bytes, schema);
    },
    queryBytes: async ({ sql, settings, ...about }) =>
      await select(backend, `${sql}\n${settingsClause({ ...DEFAULT_SETTINGS, ...settings })}`, about),
    queryStream: ({ sql, format, settings, signal, ...about }) =>
      backend.stream({
        ...backendSelect(sql, about),
        format,
        signal,
        ending: `FORMAT ${format}\n${settingsClause({ ...DEFAULT_SETTINGS, ...settings })}`,
      }),
    command: (sql) => backend.command(sql),
    insertRows: (insert) => backend.insertRows(insert),
    ping: () => backend.ping(),
    laneFigures: () => backend.laneFigures(),
    cancelQueries: () => backend.cancelQueries(),
    close: () => backend.close(),
  };
}

/** The same ClickHouse, with another default lane. */
export function inLane(clickhouse: ClickHouse, lane: QueryLane): ClickHouse {
  return around(clickhouse, { change: (statement) => ({ lane, ...statement }) });
}

/** The same ClickHouse; queries without a customer use the share of a customer named `share`. */
export function inShare(clickhouse: ClickHouse, share: string): ClickHouse {
  return around(clickhouse, {
    change: (statement) => ({ ...statement, customer: statement.customer ?? share }),
  });
}

interface AboutSelect {
  readonly params?: QueryParams | undefined;
  readonly lane?: QueryLane | undefined;
  readonly customer?: string | undefined;
  readonly tables?: readonly SentTable[] | undefined;
}

function backendSelect(
  sql: string,
  { params = {}, lane = 'requests', customer, tables = [] }: AboutSelect,
): BackendSelect {
  return { sql, params, lane, customer, tables, parameterStatement: () => parameterStatement(params) };
}

async function select(backend: ClickHouseBackend, sql: string, about: AboutSelect): Promise<Buffer> {
  const result = await backend.select(backendSelect(sql, about));
  const chunks: Buffer[] = [];
  for await (const chunk of result) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk)));
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  countMemory(bytes.length);
  return bytes;
}

/** The length of a part that is parsed in one go. */
const PART_BYTES = 65_536;

/**
 * ClickHouse writes a line for each row. Line breaks within JSON texts are escaped, so this occurs only between rows.
 */
const BETWEEN_ROWS = ',\n';

/**
 * The rows of an answer. A long one is parsed in parts, between which the process serves other requests: a million rows
 * take seconds. Throws if the answer is something else, such as the text of an error.
 */
async function rowsOf<Row>(answer: Buffer, schema: z.ZodType<Row>): Promise<Row[]> {
  const rows = z.array(schema);
  if (answer.length <= PART_BYTES) return rows.parse(JSON.parse(answer.toString('utf8')));
  const all: Row[] = [];
  await eachInChunks(partsOf(answer), (part) => {
    for (const row of rows.parse(JSON.parse(part))) all.push(row);
  });
  return all;
}

/** Arrays of some of the rows each; together they are the answer. */
function* partsOf(answer: Buffer): Generator<string, void, undefined> {
  let from = 0;
  while (from < answer.length) {
    const cut = answer.indexOf(BETWEEN_ROWS, from + PART_BYTES);
    const to = cut === -1 ? answer.length : cut;
    const text = answer.toString('utf8', from, to);
    yield `${from === 0 ? '' : '['}${text}${cut === -1 ? '' : ']'}`;
    from = to + (cut === -1 ? 0 : BETWEEN_ROWS.length);
  }
}
