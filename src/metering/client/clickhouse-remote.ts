/**
 * ClickHouse behind a URL: one node, or a cluster behind any of its nodes.
 *
 * Two HTTP clients: one for the service, and one with few connections for queries written by users. Statements are
 * sent with the settings that their kind needs (`cluster-settings.ts`).
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { assert, Refusal } from '../../core/errors.ts';
import type { ClickHouse, QueryLane } from './clickhouse.ts';
import { type BackendSelect, createClickHouse } from './clickhouse-client.ts';
import { serverFailure } from './clickhouse-error.ts';
import { parameterForm } from './clickhouse-parameters.ts';
import { type ClickHouseAddress, parseClickHouseUrl } from './clickhouse-url.ts';
import {
  CLUSTER_COMMAND_SETTINGS,
  CLUSTER_INSERT_SETTINGS,
  CLUSTER_SELECT_SETTINGS,
} from './cluster-settings.ts';
import { inPieces } from './parameter-pieces.ts';

/** Longer than any query may run, so that the server's own limit applies first, with a clear error. */
const REQUEST_TIMEOUT_MS = 660_000;
const CONNECTIONS_MAX: Readonly<Record<QueryLane, number>> = { service: 16, analysis: 4 };
/** An analyst's slow query is ended after seconds; beyond this many waiting queries, new ones are refused. */
const ANALYSES_WAITING_MAX = 20;

export interface RemoteClickHouseOptions {
  /** The contents of CLICKHOUSE_URL; `clickhouse-url.ts` describes them. */
  readonly url: string;
  /** Name of the cluster behind it; undefined for a single node. */
  readonly cluster?: string | undefined;
}

/** A statement as it is sent. */
interface Request {
  /** Empty where the body is a form that has it. */
  readonly query: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Buffer | string; readonly type?: string };
}

/** Opens a server; nothing is sent before the first statement. */
export function createRemoteClickHouse(options: RemoteClickHouseOptions): ClickHouse {
  const address = parseClickHouseUrl(options.url);
  const settings = statementSettings(address, options.cluster !== undefined);
  const clients: Readonly<Record<QueryLane, ClickHouseClient>> = {
    service: openClient(address.url, address.database, CONNECTIONS_MAX.service),
    analysis: openClient(address.analysisUrl, address.database, CONNECTIONS_MAX.analysis),
  };
  let analyses = 0;
  const select = async (query: BackendSelect): Promise<Readable> =>
    await send(clients[query.lane], { ...selectRequest(query), settings: settings.select });
  return createClickHouse({
    select: async (query) => {
      if (query.lane === 'service') return await select(query);
      if (analyses >= CONNECTIONS_MAX.analysis + ANALYSES_WAITING_MAX) {
        throw new Refusal('overloaded', 'too many queries are waiting, try again later');
      }
      analyses += 1;
      try {
        return await select(query);
      } finally {
        analyses -= 1;
      }
    },
    command: (query) => run(clients.service, { query, settings: settings.command }),
    insertRows: async ({ table, columns, rows }) => {
      for (const name of [table, ...columns]) assert(IDENTIFIER.test(name), `identifier ${name}`);
      const query = `INSERT INTO ${table} (${columns.join(', ')}) FORMAT JSONCompactEachRow`;
      await run(clients.service, { query, settings: settings.insert, body: { bytes: rows } });
    },
    ping: async () => {
      const result = await clients.service.ping({ select: true });
      if (!result.success) throw result.error;
    },
    close: async () => {
      await Promise.all(Object.values(clients).map((client) => client.close()));
    },
  });
}

/** Creates the database that the URL names, so that an empty server is enough. */
export async function createRemoteDatabase(options: RemoteClickHouseOptions): Promise<void> {
  const address = parseClickHouseUrl(options.url);
  const settings = statementSettings(address, options.cluster !== undefined).command;
  const client = openClient(address.url, undefined, 1);
  const onCluster = options.cluster === undefined ? '' : ` ON CLUSTER '${options.cluster}'`;
  try {
    await run(client, {
      query: `CREATE DATABASE IF NOT EXISTS \`${address.database}\`${onCluster}`,
      settings,
    });
  } finally {
    await client.close();
  }
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

function openClient(url: string, database: string | undefined, connections: number): ClickHouseClient {
  return createClient({
    url,
    ...(database === undefined ? {} : { database }),
    application: 'tallyhouse',
    // It logs to the console; what fails is thrown as well.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: connections,
  });
}

/** The settings of each kind of statement. An answer is complete, or an error, before its first byte is sent. */
function statementSettings({ settings }: ClickHouseAddress, isCluster: boolean) {
  const always = { wait_end_of_query: '1' };
  return {
    select: { ...(isCluster ? CLUSTER_SELECT_SETTINGS : {}), ...settings, ...always, readonly: '2' },
    insert: { async_insert: '0', ...(isCluster ? CLUSTER_INSERT_SETTINGS : {}), ...settings, ...always },
    command: { ...(isCluster ? CLUSTER_COMMAND_SETTINGS : {}), ...settings, ...always },
  };
}

/** With parameters it is a form, query included: proxies in between limit the length of a URL. */
function selectRequest(query: BackendSelect): Pick<Request, 'query' | 'body'> {
  if (Object.keys(query.params).length === 0) return { query: query.sql };
  const { sql, params } = inPieces(query);
  const boundary = randomUUID();
  const queryPart = `--${boundary}\r\nContent-Disposition: form-data; name="query"\r\n\r\n${sql}\r\n`;
  const bytes = `${queryPart}${parameterForm(params, boundary)}`;
  return { query: '', body: { bytes, type: `multipart/form-data; boundary=${boundary}` } };
}

/** Sends a statement and takes its answer, which has no content, to the end. */
async function run(client: ClickHouseClient, request: Request): Promise<void> {
  const answer = await send(client, request);
  answer.resume();
  await finished(answer);
}

/** Throws `ClickHouseError` where the server refuses, and what the client throws where there is no answer. */
async function send(client: ClickHouseClient, { query, settings, body }: Request): Promise<Readable> {
  const result = await client.exec({
    query,
    clickhouse_settings: settings,
    // The client would read the error itself, and cut it.
    ignore_error_response: true,
    ...(body === undefined ? {} : { values: Readable.from([body.bytes], { objectMode: false }) }),
    ...(body?.type === undefined ? {} : { http_headers: { 'Content-Type': body.type } }),
  });
  const status = result.http_status_code;
  const hasFailed = status === undefined || status >= 300;
  if (!hasFailed && result.response_headers['x-clickhouse-exception-code'] === undefined)
    return result.stream;
  throw serverFailure(await text(result.stream), status);
}
