/** The HTTP front that stands for a server in the tests, met by the unpatched client in all its ways. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createRemoteClickHouse, createRemoteDatabase } from '../../src/metering/client/clickhouse-remote.ts';
import { FRONT_USERS } from '../support/clickhouse-front.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { createTestDirectory } from '../support/stores.ts';

let front: FrontProcess;
let client: ClickHouseClient;

function open(options: Parameters<typeof createClient>[0] = {}): ClickHouseClient {
  const url = `http://127.0.0.1:${front.port}`;
  const user = { username: 'tallyhouse', password: FRONT_USERS.tallyhouse };
  const log = { level: ClickHouseLogLevel.OFF };
  return createClient({ url, ...user, database: 'billing', log, ...options });
}

beforeAll(async () => {
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
  await createRemoteDatabase({ url: frontUrl(front.port, 'billing') });
  client = open();
  await client.command({ query: 'CREATE TABLE t (a UInt64, b String) ENGINE = MergeTree ORDER BY a' });
});

afterAll(async () => {
  await client.close();
  await front.stop();
});

test('ping, with and without a query', async () => {
  expect(await client.ping()).toMatchObject({ success: true });
  expect(await client.ping({ select: true })).toMatchObject({ success: true });
});

test('parameters in the URL, as a form of the client, and as none of a later query', async () => {
  const query = 'SELECT {a:UInt64} AS a, {b:String} AS b, {c:Array(String)} AS c';
  const query_params = { a: 7, b: "it's\n\\ é", c: ['x', "y'"] };
  for (const use_multipart_params of [false, true]) {
    const asker = open({ use_multipart_params });
    const result = await asker.query({ query, query_params, format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ a: 7, b: query_params.b, c: query_params.c }]);
    await expect(asker.query({ query: 'SELECT {a:UInt64}' })).rejects.toMatchObject({ code: '456' });
    await asker.close();
  }
});

test('inserts of values, of a stream and of bytes are reported in the summary', async () => {
  const values = [{ a: 1, b: 'é' }];
  const inserted = await client.insert({ table: 't', values, format: 'JSONEachRow' });
  expect(inserted.summary?.written_rows).toBe('1');
  const stream = Readable.from([
    [2, 'two'],
    [3, 'three'],
  ]);
  await client.insert({ table: 't', values: stream, format: 'JSONCompactEachRow' });
  const exec = await client.exec({
    query: 'INSERT INTO t FORMAT CSV',
    values: Readable.from(['4,"four"\n5,five\n']),
  });
  await text(exec.stream);
  const result = await client.query({
    query: 'SELECT count() AS n, sum(a) AS s FROM t',
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([{ n: 5, s: 15 }]);
});

test('answers and inserts may be compressed', async () => {
  const compressed = open({ compression: { request: true, response: true } });
  await compressed.command({ query: 'CREATE TABLE z (a UInt64) ENGINE = Memory' });
  const values = Array.from({ length: 1_000 }, (_, a) => ({ a }));
  await compressed.insert({ table: 'z', values, format: 'JSONEachRow' });
  const result = await compressed.query({ query: 'SELECT sum(a) AS s FROM z', format: 'JSONEachRow' });
  expect(result.response_headers['content-encoding']).toBe('gzip');
  expect(await result.json()).toEqual([{ s: 499_500 }]);
  await compressed.close();
});

test('settings hold for their query alone, unknown ones are refused', async () => {
  const query = 'SELECT number FROM numbers(10)';
  const limited = client.query({
    query,
    clickhouse_settings: { max_result_rows: '5', result_overflow_mode: 'throw' },
  });
  await expect(limited).rejects.toMatchObject({ type: 'TOO_MANY_ROWS_OR_BYTES' });
  expect(await (await client.query({ query, format: 'JSONEachRow' })).json()).toHaveLength(10);
  const unknown = client.query({ query, clickhouse_settings: { no_such_setting: '1' } });
  await expect(unknown).rejects.toMatchObject({ code: '115', type: 'UNKNOWN_SETTING' });
});

test('failures carry code, type and status, and the headers say which query they were', async () => {
  const response = await fetch(
    `http://127.0.0.1:${front.port}/?database=billing&query_id=q-1&query=SELECT+*+FROM+no`,
    {
      headers: { authorization: `Basic ${btoa(`tallyhouse:${FRONT_USERS.tallyhouse}`)}` },
    },
  );
  expect(response.status).toBe(404);
  expect(response.headers.get('X-ClickHouse-Exception-Code')).toBe('60');
  expect(response.headers.get('X-ClickHouse-Query-Id')).toBe('q-1');
  expect(await response.text()).toMatch(/^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)/s);
});

test('a wrong password, a second statement and a field beyond the limit are refused as a server does', async () => {
  const stranger = open({ password: 'wrong' });
  await expect(stranger.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '516' });
  await stranger.close();
  await expect(client.command({ query: 'SELECT 1; SELECT 2' })).rejects.toMatchObject({ code: '62' });
  const tooLong = { query: 'SELECT length({a:String})', query_params: { a: 'x'.repeat(140_000) } };
  await expect(client.query({ ...tooLong, use_multipart_params: true })).rejects.toThrow(
    'Field value too long',
  );
});

test('a hand-written query can only read, whatever user the service itself is', async () => {
  const clickhouse = createRemoteClickHouse({ url: frontUrl(front.port, 'billing') });
  const rows = await clickhouse.query({
    sql: 'SELECT 1 AS a',
    lane: 'analysis',
    schema: z.object({ a: z.number() }),
  });
  expect(rows).toEqual([{ a: 1 }]);
  await clickhouse.close();
  const analyst = open({ username: 'analyst', password: FRONT_USERS.analyst });
  const drop = analyst.command({ query: 'DROP TABLE t', clickhouse_settings: { readonly: '0' } });
  await expect(drop).rejects.toMatchObject({ code: '164', type: 'READONLY' });
  await analyst.close();
});
