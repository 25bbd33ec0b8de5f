import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../src/metering/clickhouse.ts';
import { createRemoteClickHouse, createRemoteDatabase } from '../../src/metering/clickhouse-remote.ts';

/** What a request said, as a ClickHouse server reads it. */
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

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const type = request.headers['content-type'];
  const isForm = type?.startsWith('multipart/form-data') === true;
  const form = isForm ? await new Response(body, { headers: { 'content-type': type } }).formData() : null;
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  heard.push({ authorization: request.headers.authorization, url: searchParams, body, form });
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

test('parameters go out as a form, however many they are', async () => {
  const list = Array.from({ length: 20_000 }, (_, index) => `it's ${index}`);
  await clickhouse.queryBytes({
    sql: 'SELECT {a:String}, {list:Array(String)} FORMAT RowBinary',
    params: { a: "it's\n\\", list },
  });
  expect(heard[0]?.url.get('query')).toContain('SELECT {a:String}');
  expect(heard[0]?.form?.get('param_a')).toBe("it's\\n\\\\");
  expect(heard[0]?.form?.get('param_list')).toBe(`[${list.map((each) => `'${each.replace("'", "\\'")}'`)}]`);
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

test('on a cluster an insert is answered when every shard has it, and the database is made on all', async () => {
  const cluster = createRemoteClickHouse({ url, cluster: 'prod' });
  await cluster.insertRows({ table: 't', columns: ['a'], rows: Buffer.from('[1]\n') });
  expect(heard[0]?.url.get('distributed_foreground_insert')).toBe('1');
  await createRemoteDatabase({ url, cluster: 'prod' });
  expect(heard[1]?.body).toBe("CREATE DATABASE IF NOT EXISTS `billing` ON CLUSTER 'prod'");
  expect(heard[1]?.url.get('database')).not.toBe('billing');
  await cluster.close();
});

test('a failure carries the code of ClickHouse, and a ping that fails rejects', async () => {
  const body = "Code: 60. DB::Exception: Unknown table 'nowhere'. (UNKNOWN_TABLE) (version 26.7.2.1)";
  answer = { status: 404, body: Buffer.from(body) };
  await expect(clickhouse.command('SELECT 1')).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' });
  await expect(clickhouse.ping()).rejects.toThrow();
});
