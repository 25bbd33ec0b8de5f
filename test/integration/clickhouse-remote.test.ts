import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { ClickHouse, QueryLane } from '../../src/metering/client/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../src/metering/client/clickhouse-remote.ts';

/** A request as a ClickHouse server reads it. */
interface Heard {
  readonly authorization: string | undefined;
  readonly url: URLSearchParams;
  readonly body: string;
  readonly form: FormData | null;
}

let server: Server;
let url: string;
let clickhouse: ClickHouse;
let heard: Heard[] = [];
let answer: { status: number; body: Buffer };
let held: Promise<void> | undefined;
/** Instead of `answer`, where a test writes it itself. */
let respond: ((response: ServerResponse) => void) | undefined;

/** No request is answered until what this returns is called. */
function holdAnswers(): () => void {
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  return () => release();
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const type = request.headers['content-type'];
  const isForm = type?.startsWith('multipart/form-data') === true;
  const form = isForm ? await new Response(body, { headers: { 'content-type': type } }).formData() : null;
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  heard.push({ authorization: request.headers.authorization, url: searchParams, body, form });
  await held;
  if (respond !== undefined) return respond(response);
  response.writeHead(answer.status);
  response.end(answer.body);
}

beforeAll(async () => {
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}/billing`;
  clickhouse = createRemoteClickHouse({ url });
});

beforeEach(() => {
  heard = [];
  held = undefined;
  respond = undefined;
  answer = { status: 200, body: Buffer.from('[]') };
});

afterAll(async () => {
  await clickhouse.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

test('a query goes out read-only with its limits in its own text, and rows come back', async () => {
  answer = { status: 200, body: Buffer.from('[{"a":"1"}]') };
  const rows = await clickhouse.query({
    sql: 'SELECT count() AS a FROM t -- all',
    settings: { max_execution_time: 5, result_overflow_mode: 'throw' },
    schema: z.object({ a: z.string() }),
  });
  expect(rows).toEqual([{ a: '1' }]);
  expect(heard[0]?.body).toBe(
    "SELECT count() AS a FROM t -- all\nFORMAT JSONEachRow\nSETTINGS max_execution_time = 5, result_overflow_mode = 'throw', output_format_json_quote_64bit_integers = 1, output_format_json_quote_decimals = 1, output_format_json_array_of_rows = 1",
  );
  expect(heard[0]?.url.get('readonly')).toBe('2');
  expect(heard[0]?.url.get('wait_end_of_query')).toBe('1');
  expect(heard[0]?.url.get('database')).toBe('billing');
  expect(heard[0]?.authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
});

test('a query with parameters goes out as a form, so that no proxy finds its URL too long', async () => {
  const sql = `SELECT {a:String} /* ${'x'.repeat(20_000)} */ FORMAT RowBinary`;
  await clickhouse.queryBytes({ sql, params: { a: "it's\n\\" } });
  expect(heard[0]?.url.get('query')).toBeNull();
  expect(heard[0]?.form?.get('query')).toContain(sql);
  expect(heard[0]?.form?.get('param_a')).toBe("it's\\n\\\\");
});

test('a long list goes out in pieces that a server takes, and nothing of it is lost', async () => {
  const list = Array.from({ length: 50_000 }, (_, index) => `customer-${index}-'é`);
  const sql = 'SELECT length({list:Array(String)}), {n:UInt8}, {list : Array(String)} FORMAT RowBinary';
  await clickhouse.queryBytes({ sql, params: { list, n: 1 } });
  const form = heard[0]?.form;
  const pieces = [...(form?.keys() ?? [])].filter((name) => name.startsWith('param_list'));
  expect(pieces.length).toBeGreaterThan(5);
  const placeholders = pieces.map((name) => `{${name.slice('param_'.length)}:Array(String)}`);
  expect(String(form?.get('query')).replaceAll(': Array', ':Array')).toMatch(
    `SELECT length(arrayConcat(${placeholders.join(', ')})), {n:UInt8}, arrayConcat(${placeholders.join(', ')})`,
  );
  const texts = pieces.map((name) => String(form?.get(name)));
  for (const piece of texts) expect(Buffer.byteLength(piece)).toBeLessThan(131_072);
  expect(texts.map((piece) => piece.slice(1, -1)).join(',')).toBe(
    list.map((each) => `'${each.replace("'", "\\'")}'`).join(','),
  );
});

test('raw bytes come back as they are', async () => {
  answer = { status: 200, body: Buffer.from([0, 255, 10, 200]) };
  expect(await clickhouse.queryBytes({ sql: 'SELECT 1 FORMAT RowBinary' })).toEqual(answer.body);
});

test('an insert sends its bytes as they are and is not left to the server to write later', async () => {
  await clickhouse.insertRows({ table: 't', columns: ['a', 'b'], rows: Buffer.from('[1,"é"]\n') });
  expect(heard[0]?.url.get('query')).toBe('INSERT INTO t (a, b) FORMAT JSONCompactEachRow');
  expect(heard[0]?.body).toBe('[1,"é"]\n');
  expect(heard[0]?.url.get('async_insert')).toBe('0');
  await expect(
    clickhouse.insertRows({ table: 't; x', columns: ['a'], rows: Buffer.from('[1]') }),
  ).rejects.toThrow();
});

test('on a cluster every statement carries what its answer depends on', async () => {
  const cluster = createRemoteClickHouse({ url, cluster: 'prod' });
  await cluster.insertRows({ table: 't', columns: ['a'], rows: Buffer.from('[1]\n') });
  expect(heard[0]?.url.get('distributed_foreground_insert')).toBe('1');
  expect(heard[0]?.url.get('insert_quorum')).toBe('auto');
  await cluster.queryBytes({ sql: 'SELECT 1 FORMAT RowBinary' });
  expect(heard[1]?.url.get('skip_unavailable_shards')).toBe('0');
  expect(heard[1]?.url.get('fallback_to_stale_replicas_for_distributed_queries')).toBe('0');
  expect(heard[1]?.url.get('distributed_product_mode')).toBe('global');
  await cluster.command('SYSTEM FLUSH LOGS');
  expect(heard[2]?.url.get('distributed_ddl_output_mode')).toBe('null_status_on_timeout');
  await createRemoteDatabase({ url, cluster: 'prod' });
  expect(heard[3]?.body).toBe("CREATE DATABASE IF NOT EXISTS `billing` ON CLUSTER 'prod'");
  expect(heard[3]?.url.get('database')).not.toBe('billing');
  await cluster.close();
});

test('a setting in the URL goes before ours, and what is not understood there refuses the start', async () => {
  const cluster = createRemoteClickHouse({
    url: `${url}?ch_insert_quorum=0&ch_max_threads=3`,
    cluster: 'prod',
  });
  await cluster.insertRows({ table: 't', columns: ['a'], rows: Buffer.from('[1]\n') });
  expect(heard[0]?.url.get('insert_quorum')).toBe('0');
  expect(heard[0]?.url.get('max_threads')).toBe('3');
  await cluster.close();
  expect(() => createRemoteClickHouse({ url: `${url}?insert_quorum=0` })).toThrow('insert_quorum');
  expect(() => createRemoteClickHouse({ url: `${url}/more` })).toThrow('billing/more');
});

test('a setting in the URL never lifts what keeps a query from writing', async () => {
  const other = createRemoteClickHouse({ url: `${url}?ch_readonly=0&ch_wait_end_of_query=0` });
  await other.queryBytes({ sql: 'SELECT 1 FORMAT RowBinary' });
  expect(heard[0]?.url.get('readonly')).toBe('2');
  expect(heard[0]?.url.get('wait_end_of_query')).toBe('1');
  await other.close();
});

test('queries that people write go out as the user that is named for them', async () => {
  const two = createRemoteClickHouse({ url: `${url}?analysis_user=reader&analysis_password=s%26cret` });
  await two.queryBytes({ sql: 'SELECT 1 FORMAT RowBinary', lane: 'analysis' });
  await two.queryBytes({ sql: 'SELECT 1 FORMAT RowBinary' });
  const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`;
  expect(heard.map((each) => each.authorization)).toEqual([basic('reader:s&cret'), basic('user:p@ss')]);
  await two.close();
});

test('more hand-written queries than may wait are refused, and others are not', async () => {
  const release = holdAnswers();
  const query = { sql: 'SELECT 1 FORMAT RowBinary' };
  const analyses = Array.from({ length: 24 }, () => clickhouse.queryBytes({ ...query, lane: 'analysis' }));
  await expect(clickhouse.queryBytes({ ...query, lane: 'analysis' })).rejects.toMatchObject({
    kind: 'overloaded',
  });
  const service = clickhouse.queryBytes(query);
  await expect.poll(() => heard.length).toBe(5);
  release();
  await Promise.all([...analyses, service]);
});

test('one customer’s slow queries wait for each other, and no other lane or customer waits for them', async () => {
  const release = holdAnswers();
  const ask = (lane: QueryLane, customer: string) =>
    clickhouse.queryBytes({ sql: `SELECT '${lane} ${customer}' FORMAT TSV`, lane, customer });
  const slow = Array.from({ length: 12 }, () => ask('requests', 'slow'));
  await expect.poll(() => heard.length).toBe(9);
  const others = [ask('requests', 'quick'), ask('finalization', 'slow'), ask('verification', 'slow')];
  await expect.poll(() => heard.length).toBe(12);
  expect(clickhouse.laneFigures().get('requests')).toEqual({ running: 10, waiting: 3 });
  release();
  await Promise.all([...slow, ...others]);
});

test('queries are cancelled by closing their connections, which ClickHouse is configured to heed', async () => {
  const other = createRemoteClickHouse({ url });
  const release = holdAnswers();
  const query = other.queryBytes({ sql: 'SELECT 1 FORMAT TSV' });
  const refused = expect(query).rejects.toMatchObject({ kind: 'unavailable' });
  await expect.poll(() => heard.length).toBe(1);
  await other.cancelQueries();
  await refused;
  expect(heard[0]?.url.get('cancel_http_readonly_queries_on_client_close')).toBe('1');
  await expect(other.queryBytes({ sql: 'SELECT 1 FORMAT TSV' })).rejects.toMatchObject({
    kind: 'unavailable',
  });
  release();
  await other.insertRows({ table: 't', columns: ['a'], rows: Buffer.from('[1]\n') });
  expect(heard.at(-1)?.body).toBe('[1]\n');
  await other.close();
});

test('a streamed answer is read while it is sent, and is not waited for', async () => {
  let end = () => {};
  respond = (response) => {
    response.write('first');
    end = () => response.end('second');
  };
  const pieces = clickhouse.queryStream({ sql: 'SELECT 1', params: { a: 1 }, format: 'JSONEachRow' });
  expect(String((await pieces.next()).value)).toBe('first');
  end();
  expect(String((await pieces.next()).value)).toBe('second');
  expect(await pieces.next()).toMatchObject({ done: true });
  expect(heard[0]?.url.get('wait_end_of_query')).toBe('0');
  expect(heard[0]?.url.get('readonly')).toBe('2');
  expect(heard[0]?.form?.get('query')).toBe('SELECT 1\nFORMAT JSONEachRow\nSETTINGS max_execution_time = 30');
});

test('an answer whose end cannot be seen is whole before its first piece is sent', async () => {
  const pieces = clickhouse.queryStream({ sql: 'SELECT 1', format: 'Native' });
  expect((await pieces.next()).value).toEqual(answer.body);
  expect(heard[0]?.url.get('wait_end_of_query')).toBe('1');
  await pieces.return();
});

test('a streamed answer that breaks off is a failure', async () => {
  respond = (response) => {
    response.write('first', () => response.destroy());
  };
  const pieces = clickhouse.queryStream({ sql: 'SELECT 1', format: 'Parquet' });
  const read = async () => {
    for await (const piece of pieces) expect(String(piece)).toBe('first');
  };
  await expect(read()).rejects.toThrow();
});

test('a streamed answer that its reader leaves, or that the service ends, closes its connection', async () => {
  const other = createRemoteClickHouse({ url });
  let closed = 0;
  respond = (response) => {
    response.on('close', () => {
      closed += 1;
    });
    response.write('first');
  };
  const query = { sql: 'SELECT 1', format: 'Parquet', lane: 'reports' } as const;
  // One more than the lane has connections: each gets the one of the reader before.
  for (let round = 1; round <= 3; round += 1) {
    for await (const piece of other.queryStream(query)) {
      expect(String(piece)).toBe('first');
      break;
    }
    await expect.poll(() => closed).toBe(round);
  }
  const gone = new AbortController();
  respond = (response) => response.on('close', () => gone.abort());
  const waiting = other.queryStream({ ...query, signal: gone.signal }).next();
  const left = expect(waiting).rejects.toMatchObject({ kind: 'invalid' });
  await expect.poll(() => heard.length).toBe(4);
  gone.abort();
  await left;
  respond = (response) => void response.write('first');
  const ended = other.queryStream(query);
  await ended.next();
  await other.cancelQueries();
  await expect(ended.next()).rejects.toMatchObject({ kind: 'unavailable' });
  await other.close();
});

test('a failure carries the code of ClickHouse, and a ping that fails rejects', async () => {
  const body = "Code: 60. DB::Exception: Unknown table 'nowhere'. (UNKNOWN_TABLE) (version 26.7.2.1)";
  answer = { status: 404, body: Buffer.from(body) };
  await expect(clickhouse.command('SELECT 1')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
  await expect(clickhouse.ping()).rejects.toThrow();
});

test('the whole message of a failure arrives, with brackets and words in capitals in it', async () => {
  const message = 'Syntax error: failed at position 8 (FROM): FROM (SELECT (MAX)). Expected one of: list';
  answer = {
    status: 400,
    body: Buffer.from(
      `Code: 62. DB::Exception: ${message}. (SYNTAX_ERROR) (version 26.7.2.1 (official build))\n`,
    ),
  };
  const failed = clickhouse.queryBytes({ sql: 'SELECT FROM', params: { a: 1 } });
  await expect(failed).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR', message: `${message}.` });
});

test('a failure on a shard is reported with its cause there', async () => {
  const inner = 'Code: 241. DB::Exception: memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7)';
  const body = `Code: 241. DB::Exception: Received from shard-2:9000. ${inner}: While executing Remote. (MEMORY_LIMIT_EXCEEDED) (version 26.7)`;
  answer = { status: 500, body: Buffer.from(body) };
  const failed = clickhouse.queryBytes({ sql: 'SELECT 1 FORMAT RowBinary' });
  await expect(failed).rejects.toMatchObject({ code: '241', type: 'MEMORY_LIMIT_EXCEEDED' });
});

test('an answer that is not from ClickHouse is reported unchanged', async () => {
  answer = { status: 502, body: Buffer.from('<html>Bad Gateway</html>') };
  await expect(clickhouse.command('SELECT 1')).rejects.toThrow(
    'ClickHouse answered 502: <html>Bad Gateway</html>',
  );
});
