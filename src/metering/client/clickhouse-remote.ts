/**
 * ClickHouse at a URL: one node, or a cluster that is accessed through any of its nodes.
 *
 * One HTTP client for each lane of queries, and one for inserts, DDL and pings. Statements are sent with the settings
 * of their kind (`cluster-settings.ts`).
 */
import { randomUUID } from 'node:crypto';
import { Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { assert } from '../../core/errors.ts';
import { type ClickHouse, QUERY_LANES, type QueryLane, type RowsInsert } from './clickhouse.ts';
import { type BackendSelect, type BackendStream, createClickHouse } from './clickhouse-client.ts';
import { serverFailure } from './clickhouse-error.ts';
import { parameterForm } from './clickhouse-parameters.ts';
import { type ClickHouseAddress, parseClickHouseUrl } from './clickhouse-url.ts';
import {
  CLUSTER_COMMAND_SETTINGS,
  CLUSTER_INSERT_SETTINGS,
  CLUSTER_SELECT_SETTINGS,
} from './cluster-settings.ts';
import { inPieces } from './parameter-pieces.ts';
import { createLanes } from './query-lanes.ts';
import { structureOf } from './sent-tables.ts';
import { createStreamedAnswers } from './streamed-answers.ts';

/** Longer than any query may run, so that the server's own limit applies first, with a clear error. */
const REQUEST_TIMEOUT_MS = 660_000;
/** The first statement to a server. On a cluster it waits 10 s for nodes that are down. */
const FIRST_ANSWER_MS_MAX = 30_000;
const LANE_CONNECTIONS: Readonly<Record<QueryLane, number>> = {
  requests: 12,
  finalization: 6,
  evaluation: 4,
  analysis: 4,
  reports: 2,
  verification: 2,
  ingest: 4,
};
/** For inserts, DDL and pings. */
const WRITE_CONNECTIONS = 8;

export interface RemoteClickHouseOptions {
  /** The contents of CLICKHOUSE_URL; `clickhouse-url.ts` describes them. */
  readonly url: string;
  /** Name of the cluster at the URL; undefined for a single node. */
  readonly cluster?: string | undefined;
}

/** The destination of an answer, and its settings. */
interface StreamedTo {
  readonly reader?: Writable;
  readonly kind?: Readonly<Record<string, string>>;
}

/** A statement in the form in which it is sent. */
interface Request {
  /** Empty if the body is a form with the query. */
  readonly query: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Buffer | string | Readable; readonly type?: string };
  readonly signal?: AbortSignal;
}

/** Opens a server; nothing is sent before the first statement. */
export function createRemoteClickHouse(options: RemoteClickHouseOptions): ClickHouse {
  const address = parseClickHouseUrl(options.url);
  const settings = statementSettings(address, options.cluster !== undefined);
  const clients = laneClients(address);
  const writer = openClient(address.url, address.database, WRITE_CONNECTIONS);
  const answers = createStreamedAnswers();
  const { select, abortAll } = createSelects(settings.select);
  const lanes = createLanes(laneSlots(clients), {
    // The server ends a query whose connection is closed (`cancel_http_readonly_queries_on_client_close`).
    endQueries: async () => {
      abortAll();
      answers.end();
    },
  });
  const stream = ({ ending, signal, format, ...query }: BackendStream) => {
    const whole = { ...query, sql: `${query.sql}\n${ending}` };
    // In Native, an answer that is cut off between two blocks looks complete.
    const kind = format === 'Native' ? settings.select : settings.stream;
    return answers.read(
      (to) =>
        lanes.run(whole, (pool) =>
          // A reader that stops closes the connection, which cancels the query like `endQueries`.
          pool.withConnection(async (client) =>
            pipeline(await select(client, whole, { reader: to, kind }), to),
          ),
        ),
      signal,
    );
  };
  return createClickHouse({
    select: (query) =>
      lanes.run(query, (pool, customer) => pool.withConnection((client) => select(client, query), customer)),
    stream,
    command: (query) => run(writer, { query, settings: settings.command }),
    insertRows: (rows) => insertRows(writer, rows, settings.insert),
    ping: async () => {
      const result = await writer.ping({ select: true });
      if (!result.success) throw result.error;
    },
    laneFigures: lanes.figures,
    cancelQueries: lanes.cancel,
    close: async () => {
      await Promise.all([writer, ...Object.values(clients)].map((client) => client.close()));
    },
  });
}

/** Queries that can be cancelled: each by its reader, or all together. */
function createSelects(settings: Request['settings']) {
  const running = new Set<AbortController>();
  return {
    async select(
      client: ClickHouseClient,
      query: BackendSelect,
      { reader, kind = settings }: StreamedTo = {},
    ): Promise<Readable> {
      const controller = new AbortController();
      const { signal } = controller;
      const abort = () => controller.abort();
      running.add(controller);
      reader?.once('close', abort);
      try {
        const { about, ...request } = selectRequest(query);
        return await send(client, { ...request, settings: { ...kind, ...about }, signal });
      } finally {
        reader?.off('close', abort);
        running.delete(controller);
      }
    },
    abortAll() {
      for (const controller of running) controller.abort();
    },
  };
}

async function insertRows(
  client: ClickHouseClient,
  { table, columns, rows, types }: RowsInsert,
  settings: Request['settings'],
): Promise<void> {
  for (const name of [table, ...columns]) assert(IDENTIFIER.test(name), `identifier ${name}`);
  // The types of a RowBinary body are those of the columns.
  const format = types === undefined ? 'JSONCompactEachRow' : 'RowBinary';
  const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT ${format}`;
  await run(client, { query, settings, body: { bytes: rows } });
}

function laneClients(address: ClickHouseAddress): Record<QueryLane, ClickHouseClient> {
  const open = (lane: QueryLane, url = address.url) =>
    openClient(url, address.database, LANE_CONNECTIONS[lane]);
  return {
    requests: open('requests'),
    finalization: open('finalization'),
    evaluation: open('evaluation'),
    analysis: open('analysis', address.analysisUrl),
    reports: open('reports', address.analysisUrl),
    verification: open('verification', address.analysisUrl),
    ingest: open('ingest'),
  };
}

/** The client of a lane, once for each of its connections. */
function laneSlots(clients: Readonly<Record<QueryLane, ClickHouseClient>>) {
  const slots = QUERY_LANES.map((lane) => {
    const client = clients[lane];
    return [lane, Array.from({ length: LANE_CONNECTIONS[lane] }, () => client)] as const;
  });
  return Object.fromEntries(slots) as Record<QueryLane, ClickHouseClient[]>;
}

/** Creates the database named in the URL, so that an empty server is enough. */
export async function createRemoteDatabase(options: RemoteClickHouseOptions): Promise<void> {
  const address = parseClickHouseUrl(options.url);
  const settings = statementSettings(address, options.cluster !== undefined).command;
  const client = openClient(address.url, undefined, 1);
  const onCluster = options.cluster === undefined ? '' : ` ON CLUSTER '${options.cluster}'`;
  try {
    await run(client, {
      query: `CREATE DATABASE IF NOT EXISTS \`${address.database}\`${onCluster}`,
      settings,
      signal: AbortSignal.timeout(FIRST_ANSWER_MS_MAX),
    });
  } finally {
    await client.close();
  }
}

/** Inserts of any length, in the form of another ClickHouse's answers. */
export interface RemoteInserts {
  /**
   * `pieces`: the rows in the format Native. Resolves when they are on disk. When it rejects, some of the rows may be
   * stored. A replicated table accepts rows that it already had.
   */
  insert(table: string, columns: readonly string[], pieces: AsyncIterable<Buffer>): Promise<void>;
  close(): Promise<void>;
}

/** Opens a server for inserts; nothing is sent before the first one. */
export function createRemoteInserts(options: RemoteClickHouseOptions): RemoteInserts {
  const address = parseClickHouseUrl(options.url);
  const settings = statementSettings(address, options.cluster !== undefined).insert;
  const client = openClient(address.url, address.database, 1);
  return {
    async insert(table, columns, pieces) {
      for (const name of [table, ...columns]) assert(IDENTIFIER.test(name), `identifier ${name}`);
      await run(client, {
        query: `INSERT INTO ${table} (${columns.join(', ')}) FORMAT Native`,
        settings: { ...settings, insert_deduplicate: '0' },
        body: { bytes: Readable.from(pieces, { objectMode: false }) },
      });
    },
    close: () => client.close(),
  };
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

function openClient(url: string, database: string | undefined, connections: number): ClickHouseClient {
  return createClient({
    url,
    ...(database === undefined ? {} : { database }),
    application: 'tallyhouse',
    // The client logs to the console; failures are thrown as well.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: connections,
  });
}

/**
 * The settings of each kind of statement. An answer is complete, or an error, before its first byte is sent, unless it
 * is streamed.
 */
function statementSettings({ settings }: ClickHouseAddress, isCluster: boolean) {
  const always = { wait_end_of_query: '1' };
  const select = {
    ...(isCluster ? CLUSTER_SELECT_SETTINGS : {}),
    cancel_http_readonly_queries_on_client_close: '1',
    ...settings,
    readonly: '2',
  };
  return {
    select: { ...select, ...always },
    stream: { ...select, wait_end_of_query: '0' },
    insert: { async_insert: '0', ...(isCluster ? CLUSTER_INSERT_SETTINGS : {}), ...settings, ...always },
    command: { ...(isCluster ? CLUSTER_COMMAND_SETTINGS : {}), ...settings, ...always },
  };
}

/**
 * With parameters or tables it is a form, query included: proxies limit the length of a URL. A table is a file of the
 * form, whose format and columns are in the URL.
 */
function selectRequest(query: BackendSelect): Pick<Request, 'query' | 'body'> & { readonly about: Texts } {
  const { tables } = query;
  if (Object.keys(query.params).length === 0 && tables.length === 0) return { query: query.sql, about: {} };
  const { sql, params } = inPieces(query);
  const boundary = randomUUID();
  const queryPart = `--${boundary}\r\nContent-Disposition: form-data; name="query"\r\n\r\n${sql}\r\n`;
  const files = tables.flatMap(({ name, rows }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${name}"\r\nContent-Type: text/tab-separated-values\r\n\r\n`,
    ),
    rows,
    Buffer.from('\r\n'),
  ]);
  const bytes = Buffer.concat([
    Buffer.from(queryPart),
    ...files,
    Buffer.from(parameterForm(params, boundary)),
  ]);
  const about = tables.flatMap((table) => [
    [`${table.name}_format`, 'TabSeparated'],
    [`${table.name}_structure`, structureOf(table)],
  ]);
  return {
    query: '',
    body: { bytes, type: `multipart/form-data; boundary=${boundary}` },
    about: Object.fromEntries(about),
  };
}

type Texts = Readonly<Record<string, string>>;

function streamOf(bytes: Buffer | string | Readable): Readable {
  return bytes instanceof Readable ? bytes : Readable.from([bytes], { objectMode: false });
}

/** Sends a statement and discards its empty answer. */
async function run(client: ClickHouseClient, request: Request): Promise<void> {
  const answer = await send(client, request);
  answer.resume();
  await finished(answer);
}

/** Throws `ClickHouseError` if the server refuses, and the client's error if there is no answer. */
async function send(client: ClickHouseClient, { query, settings, body, signal }: Request): Promise<Readable> {
  const result = await client.exec({
    query,
    clickhouse_settings: settings,
    // The client would read the error itself, and cut it.
    ignore_error_response: true,
    ...(signal === undefined ? {} : { abort_signal: signal }),
    ...(body === undefined ? {} : { values: streamOf(body.bytes) }),
    ...(body?.type === undefined ? {} : { http_headers: { 'Content-Type': body.type } }),
  });
  const status = result.http_status_code;
  const hasFailed = status === undefined || status >= 300;
  if (!hasFailed && result.response_headers['x-clickhouse-exception-code'] === undefined)
    return result.stream;
  throw serverFailure(await text(result.stream), status);
}
