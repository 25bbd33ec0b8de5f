/**
 * The HTTP interface of a ClickHouse server over chDB, as far as `@clickhouse/client` uses it, with the
 * limits that a server has by default. Not a server: no native protocol, no sessions, one user who may
 * write and one who may only read.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import {
  type FrontEngine,
  type FrontResult,
  type FrontStatement,
  openFrontEngine,
} from './clickhouse-front-engine.ts';

export interface ClickHouseFrontOptions {
  /** The engine's own directory. */
  readonly directory: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** With a name: the cluster, which has two shards. */
  readonly cluster?: string | undefined;
}

export interface ClickHouseFront {
  readonly port: number;
  close(): Promise<void>;
}

/** `analyst` has the profile `readonly = 2`. */
export const FRONT_USERS = { tallyhouse: 'front-password', analyst: 'analyst-password' } as const;

/** `http_max_field_value_size`, `http_max_fields` and `http_max_uri_size` as a server has them. */
const FIELD_BYTES_MAX = 131_072;
const FIELDS_MAX = 1_000;
const URI_BYTES_MAX = 1_048_576;

/** Parameters of a URL that are not settings. */
const RESERVED = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'wait_end_of_query',
  'buffer_size',
  'enable_http_compression',
  'user',
  'password',
  'compress',
  'decompress',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
]);

const STATUS_BY_CODE: ReadonlyMap<number, number> = new Map([
  ...[36, 38, 41, 6, 27, 62, 53, 167, 168, 306, 69].map((code) => [code, 400] as const),
  ...[60, 46, 47, 50, 56, 81, 115, 73].map((code) => [code, 404] as const),
  [516, 403],
  [48, 501],
  [159, 408],
]);

/** A failure as a server words it. */
class ServerError extends Error {}

export async function startClickHouseFront(options: ClickHouseFrontOptions): Promise<ClickHouseFront> {
  const engine = await openFrontEngine(options.directory, options.cluster);
  const server = createServer({ maxHeaderSize: 2 * URI_BYTES_MAX }, (request, response) => {
    void answer(engine, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await closeServer(server);
      await engine.close();
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await closed;
}

async function answer(
  engine: FrontEngine,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('X-ClickHouse-Server-Display-Name', 'front');
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  const startedAt = performance.now();
  try {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/ping') return void response.end('Ok.\n');
    const body = await readBody(request);
    checkUrl(request.url ?? '/');
    const user = authenticate(request, url.searchParams);
    const statement = readStatement({ request, url, body, user });
    response.setHeader('X-ClickHouse-Query-Id', url.searchParams.get('query_id') ?? randomUUID());
    const result = await engine.run(statement);
    response.setHeader('X-ClickHouse-Format', formatOf(statement));
    response.setHeader('X-ClickHouse-Timezone', 'UTC');
    response.setHeader('X-ClickHouse-Summary', summary(result, performance.now() - startedAt));
    sendResult(request, response, url, Buffer.from(result.bytes));
  } catch (error) {
    sendFailure(response, error);
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const bytes = await buffer(request);
  switch (request.headers['content-encoding']) {
    case 'gzip':
      return gunzipSync(bytes);
    case 'deflate':
      return inflateSync(bytes);
    case 'br':
      return brotliDecompressSync(bytes);
    default:
      return bytes;
  }
}

/** The limits of a server on its URL, which count what came before it is decoded. */
function checkUrl(url: string): void {
  if (url.length > URI_BYTES_MAX) throw formError('URI too long');
  const query = url.slice(url.indexOf('?') + 1);
  for (const field of query.split('&')) {
    if (field.length - field.indexOf('=') - 1 > FIELD_BYTES_MAX) throw formError('Field value too long');
  }
}

function formError(problem: string): ServerError {
  return new ServerError(
    `Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: ${problem} (version 26.7)`,
  );
}

function authenticate(request: IncomingMessage, query: URLSearchParams): keyof typeof FRONT_USERS {
  const [scheme, basic = ''] = (request.headers.authorization ?? '').split(' ');
  const pair = scheme === 'Basic' ? Buffer.from(basic, 'base64').toString('utf8') : '';
  const user = scheme === 'Basic' ? pair.slice(0, pair.indexOf(':')) : (query.get('user') ?? 'default');
  const password = scheme === 'Basic' ? pair.slice(pair.indexOf(':') + 1) : (query.get('password') ?? '');
  for (const name of ['tallyhouse', 'analyst'] as const) {
    if (name === user && isEqual(FRONT_USERS[name], password)) return name;
  }
  throw new ServerError(
    `Code: 516. DB::Exception: ${user}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)`,
  );
}

function isEqual(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

interface StatementSource {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly body: Buffer;
  readonly user: keyof typeof FRONT_USERS;
}

function readStatement({ request, url, body, user }: StatementSource): FrontStatement {
  const fields = [...url.searchParams];
  const type = request.headers['content-type'] ?? '';
  const { fields: form, files } = type.startsWith('multipart/form-data')
    ? readForm(body, type)
    : { fields: null, files: [] };
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of [...fields, ...(form ?? [])]) {
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
  }
  const about = new Map(fields);
  const tables = files.map(([name, rows]) => ({
    name,
    rows: Buffer.from(rows),
    format: about.get(`${name}_format`) ?? 'TabSeparated',
    structure: about.get(`${name}_structure`) ?? '',
  }));
  const isOfTable = (name: string) => files.length > 0 && /_(?:format|structure|types)$/.test(name);
  for (const [name, value] of fields) {
    if (!name.startsWith('param_') && !RESERVED.has(name) && !isOfTable(name)) settings.set(name, value);
  }
  const mayOnlyRead = user === 'analyst' || request.method === 'GET' || request.method === 'HEAD';
  if (mayOnlyRead && (settings.get('readonly') ?? '0') === '0') settings.set('readonly', '2');
  const inUrl = url.searchParams.get('query') ?? '';
  const isInsert = form === null && /^\s*INSERT\b/i.test(inUrl);
  const inBody =
    form === null
      ? body.toString('utf8')
      : form.map(([name, text]) => (name === 'query' ? text : '')).join('');
  return {
    sql: isInsert ? inUrl : [inUrl, inBody].filter((part) => part !== '').join('\n'),
    data: isInsert ? body : null,
    database: url.searchParams.get('database') ?? headerText(request, 'x-clickhouse-database') ?? 'default',
    defaultFormat:
      url.searchParams.get('default_format') ?? headerText(request, 'x-clickhouse-format') ?? 'TabSeparated',
    settings,
    params,
    tables,
  };
}

function headerText(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

type Part = readonly [name: string, value: string];

/** The fields of a multipart form, which a server limits in number and size, and its files, which it does not. */
function readForm(body: Buffer, type: string): { readonly fields: Part[]; readonly files: Part[] } {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1];
  if (boundary === undefined) throw formError('No boundary line found');
  const parts = body.toString('utf8').split(`--${boundary}`);
  if (parts.pop()?.trim() !== '--') throw formError('Unexpected EOF');
  const read = parts.slice(1).map((part) => {
    const headEnd = part.indexOf('\r\n\r\n');
    const head = part.slice(0, headEnd);
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
    const value = part.slice(headEnd + '\r\n\r\n'.length, -'\r\n'.length);
    return { isFile: head.includes('filename='), part: [name, value] as const };
  });
  const fields = read.flatMap(({ isFile, part }) => (isFile ? [] : [part]));
  if (fields.length > FIELDS_MAX) throw formError('Too many form fields');
  if (fields.some(([, value]) => Buffer.byteLength(value) > FIELD_BYTES_MAX))
    throw formError('Field value too long');
  return { fields, files: read.flatMap(({ isFile, part }) => (isFile ? [part] : [])) };
}

function formatOf({ sql, data, defaultFormat }: FrontStatement): string {
  const named = data === null ? /\bFORMAT\s+(\w+)(?:\s+SETTINGS\b[^;]*)?\s*$/i.exec(sql)?.[1] : undefined;
  return named ?? defaultFormat;
}

function summary({ readRows, writtenRows, bytes }: FrontResult, elapsedMs: number): string {
  return JSON.stringify({
    read_rows: String(readRows),
    read_bytes: '0',
    written_rows: String(writtenRows),
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: String(bytes.length),
    elapsed_ns: String(Math.round(elapsedMs * 1_000_000)),
  });
}

function sendResult(request: IncomingMessage, response: ServerResponse, url: URL, bytes: Buffer): void {
  const isAsked = url.searchParams.get('enable_http_compression') === '1';
  const isUnderstood = String(request.headers['accept-encoding'] ?? '').includes('gzip');
  if (!isAsked || !isUnderstood) return void response.end(bytes);
  response.setHeader('Content-Encoding', 'gzip');
  response.end(gzipSync(bytes));
}

function sendFailure(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/Code: (\d+)/.exec(message)?.[1] ?? 1001);
  response.statusCode = STATUS_BY_CODE.get(code) ?? 500;
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.end(`${message}\n`);
}
