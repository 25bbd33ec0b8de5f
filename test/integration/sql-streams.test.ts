/** Answers of POST /v1/sql as streams: Parquet, long answers, clients that leave, failures in the middle, and others' work. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { queryRows } from '../../src/billing/sql/run-query.ts';
import { REPORT_LIMITS } from '../../src/metering/sql/reports/run-report.ts';
import { billingContext } from '../support/billing-context.ts';
import { createdId } from '../support/catalogue-api.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { completion } from '../support/scenario.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { api, clickhouse } = service;
const CUSTOMERS = 20;
const PARQUET = 'application/vnd.apache.parquet';

/** Each customer with each, `joins` times. */
const crossed = (select: string, joins: number) =>
  `SELECT ${select} FROM customers a ${Array.from({ length: joins }, (_, index) => `CROSS JOIN customers b${index}`).join(' ')}`;
/** 160,000 rows, some 10 MB. */
const LONG = crossed('a.name AS name, b0.name AS other, a.created_at AS at, b2.customer_id AS id', 3);
/** It would run for minutes. */
const SLOW = crossed('COUNT(*) AS n, SUM(LENGTH(a.name || b0.name || b1.name || b2.name || b3.name))', 5);

const ask = (sql: string, accept: string, signal?: AbortSignal) =>
  fetch(new URL('/v1/sql', service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json', accept },
    body: JSON.stringify({ sql }),
    ...(signal === undefined ? {} : { signal }),
  });

beforeAll(async () => {
  for (let index = 0; index < CUSTOMERS; index += 1) {
    await createdId(api, '/v1/customers', { name: `customer ${index}`, ingest_aliases: [`alias-${index}`] });
  }
  await api.post('/v1/ingest', [
    completion('alias-0', { id: 'p-1', at: '2026-11-02T10:00:00Z', tokens: '0.1234567890123456789' }),
    completion('alias-0', { id: 'p-2', at: '2026-11-02T10:00:00.5Z', tokens: '12345678901234567890' }),
  ]);
});

/** The content of a Parquet file, as ClickHouse reads it: the types of its columns, and its rows. */
async function contentOf(answer: Response) {
  const hex = Buffer.from(await answer.arrayBuffer()).toString('hex');
  const bytes = await clickhouse.queryBytes({
    sql: 'SELECT * FROM format(Parquet, unhex({hex:String})) FORMAT JSON',
    params: { hex },
  });
  const { meta, data } = content.parse(JSON.parse(bytes.toString()));
  return { types: meta.map(({ name, type }) => [name, type]), rows: data };
}

const content = z.object({
  meta: z.array(z.object({ name: z.string(), type: z.string() })),
  data: z.array(z.record(z.string(), z.unknown())),
});

describe('Parquet', () => {
  test('Parquet has the names, types and digits of the answer', async () => {
    const sql = `SELECT transaction_id AS "odd name", properties.tokens + 0 AS tokens, timestamp AS at,
        properties.tokens > 1 AS many, properties.nothing, NULL AS none
      FROM events ORDER BY tokens`;
    const answer = await ask(sql, PARQUET);
    expect(answer.headers.get('content-type')).toBe(PARQUET);
    const { types, rows } = await contentOf(answer);
    expect(types).toEqual([
      ['odd name', 'Nullable(String)'],
      ['tokens', 'Nullable(String)'],
      ['at', "Nullable(DateTime64(3, 'UTC'))"],
      ['many', 'Nullable(Bool)'],
      ['nothing', 'Nullable(String)'],
      ['none', 'Nullable(String)'],
    ]);
    const empty = { nothing: null, none: null };
    expect(rows).toEqual([
      {
        ...{ 'odd name': 'p-1', tokens: '0.1234567890123456789', many: false },
        ...{ at: '2026-11-02 10:00:00.000', ...empty },
      },
      {
        ...{ 'odd name': 'p-2', tokens: '12345678901234567890', many: true },
        ...{ at: '2026-11-02 10:00:00.500', ...empty },
      },
    ]);
  });

  test('Parquet has the rows of the JSON answer in its order, and without rows its columns', async () => {
    const sql = 'SELECT name, LENGTH(name) AS letters FROM customers ORDER BY letters DESC, name DESC';
    const json = (await api.post('/v1/sql', { sql })).list('data') as Array<Record<string, unknown>>;
    const { rows } = await contentOf(await ask(sql, PARQUET));
    expect(rows).toEqual(json.map((row) => ({ ...row, letters: String(row.letters) })));
    expect(rows).toHaveLength(CUSTOMERS);
    const none = await ask("SELECT name FROM customers WHERE name = 'nobody'", PARQUET);
    const bytes = Buffer.from(await none.arrayBuffer()).toString('latin1');
    expect(bytes).toMatch(/^PAR1.*name.*PAR1$/s);
  });

  test.each([
    ['two names change places', 'SELECT name AS b, customer_id AS a FROM customers'],
    [
      'names of the statement itself',
      'SELECT name AS e1, customer_id AS e2, created_at AS r3 FROM customers',
    ],
    [
      'names that hide their columns',
      'SELECT LOWER(name) AS name, customer_id || name AS customer_id FROM customers',
    ],
  ])('Parquet keeps its columns apart where %s', async (_, select) => {
    const sql = `${select} WHERE name = 'customer 7'`;
    const [json] = (await api.post('/v1/sql', { sql })).list('data');
    const { rows } = await contentOf(await ask(sql, PARQUET));
    const times = (row: unknown) =>
      JSON.stringify(row)
        .replaceAll(/(\d)T(\d\d:)/g, '$1 $2')
        .replaceAll('Z"', '"');
    expect(rows.map(times)).toEqual([times(json)]);
  });

  test('Parquet is refused like the other forms', async () => {
    const answer = await ask('SELECT nam FROM customers', PARQUET);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('did you mean name') });
  });
});

describe('a long answer', () => {
  test.each([
    ['application/json', (text: string) => JSON.parse(text).data.length],
    ['text/csv', (text: string) => text.trim().split('\r\n').length - 1],
  ])('a long answer has all of its rows: %s', async (accept, count) => {
    const text = await (await ask(LONG, accept)).text();
    expect(count(text)).toBe(CUSTOMERS ** 4);
  });

  test('a long answer is not in memory, and others are answered while its client does not read', async () => {
    const answer = await ask(LONG, 'text/csv');
    const reader = answer.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const [late] = (
      await Promise.all([
        api.post('/v1/sql', { sql: 'SELECT COUNT(*) AS n FROM customers' }),
        api.post('/v1/ingest', [
          completion('alias-1', { id: 'while', at: '2026-11-03T10:00:00Z', tokens: 1 }),
        ]),
      ])
    ).map(({ body }) => body);
    expect(late).toMatchObject({ data: [{ n: CUSTOMERS }] });
    await reader?.cancel();
  });

  test('a long answer that meets a limit in the middle fails there, and is not taken for a whole one', async () => {
    const limits = { query: { ...REPORT_LIMITS, resultRows: 100_000 } };
    const context = billingContext({ db: service.db, clickhouse, clock: { now: () => 0 } });
    const { rows } = await queryRows(context, { sql: LONG, limits });
    let read = 0;
    const all = async () => {
      for await (const part of rows) read += part.length;
    };
    await expect(all()).rejects.toMatchObject({ kind: 'invalid', message: /more than 100000 rows/ });
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(CUSTOMERS ** 4);
  });
});

const RUNNING = "SELECT toString(count()) AS n FROM system.processes WHERE query LIKE '%INTO OUTFILE%'";
const CANCELLED = "SELECT toString(sum(value)) AS n FROM system.errors WHERE name = 'QUERY_WAS_CANCELLED'";

async function numberOf(sql: string): Promise<number> {
  const [row] = await clickhouse.query({ sql, schema: z.object({ n: z.string() }) });
  return Number(row?.n);
}

test('a client that goes away ends its query', async () => {
  const before = await numberOf(CANCELLED);
  const client = new AbortController();
  const answer = ask(SLOW, 'application/json', client.signal);
  answer.catch(() => {});
  // The one that asks names the words as well.
  await expect.poll(() => numberOf(RUNNING)).toBe(2);
  client.abort();
  await expect(answer).rejects.toThrow();
  await expect.poll(() => numberOf(RUNNING)).toBe(1);
  expect(await numberOf(CANCELLED)).toBe(before + 1);
  const next = await api.post('/v1/sql', { sql: 'SELECT COUNT(*) AS n FROM customers' });
  expect(next.at('data')).toEqual([{ n: CUSTOMERS }]);
});
