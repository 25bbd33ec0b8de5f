import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { wordBlocks } from '../../src/metering/client/native-words.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';

const clickhouse = await clickhouseForFile();

const anything = z.unknown();

const NASTY = [
  '',
  ' leading and trailing ',
  "it's",
  "''",
  "a\\'; DROP TABLE usage_events; --",
  'back\\slash',
  '\\N',
  '\\n',
  'line\nbreak\r\n',
  'tab\t',
  'nul\0byte',
  '\b\f\v',
  '"quoted" `ticked`',
  '{name:String}',
  '[1,2]',
  'ünïcödé 漢字 😀',
  '%s %d $1 ?',
];

describe('parameters', () => {
  test.each(NASTY)('parameters arrive as they are, alone, in an array and in a map: %j', async (value) => {
    const rows = await clickhouse.query({
      sql: `SELECT {text:String} AS text, {list:Array(String)} AS list, {map:Map(String, String)} AS map,
                   {nested:Array(Array(String))} AS nested, {maybe:Nullable(String)} AS maybe`,
      params: {
        text: value,
        list: [value, 'x', value],
        map: { [value]: value },
        nested: [[value], []],
        maybe: value === '\\N' ? null : value,
      },
      schema: anything,
    });
    const maybe = value === '\\N' ? null : value;
    expect(rows).toEqual([
      { text: value, list: [value, 'x', value], map: { [value]: value }, nested: [[value], []], maybe },
    ]);
  });

  test('parameters of every other type that is used arrive exactly', async () => {
    const rows = await clickhouse.query({
      sql: `SELECT {a:UInt64} AS a, {b:Int64} AS b, {c:Decimal(76, 30)} AS c, {d:DateTime64(3, 'UTC')} AS d,
                   {e:Array(UInt32)} AS e, {f:Bool} AS f, {g:Nullable(UInt8)} AS g, {h:UInt8} AS h`,
      params: {
        a: 18_446_744_073_709_551_615n,
        b: '-9223372036854775808',
        c: '12345678901234567890.000000000000000000000000000001',
        d: '2026-11-20 00:00:00.123',
        e: [0, 4_294_967_295],
        f: true,
        g: null,
        h: 7,
      },
      schema: anything,
    });
    expect(rows).toEqual([
      {
        a: '18446744073709551615',
        b: '-9223372036854775808',
        c: '12345678901234567890.000000000000000000000000000001',
        d: '2026-11-20 00:00:00.123',
        e: [0, 4_294_967_295],
        f: true,
        g: null,
        h: 7,
      },
    ]);
  });

  test('parameters may be as many as an invoice run has customers', async () => {
    const customers = Array.from({ length: 50_000 }, (_, index) => `customer-${index}-${"'".repeat(10)}`);
    const rows = await clickhouse.query({
      sql: 'SELECT length({customers:Array(String)}) AS count',
      params: { customers },
      schema: z.object({ count: z.string() }),
    });
    expect(rows).toEqual([{ count: '50000' }]);
  });

  test('parameters of one query are never seen by another, although they share connections', async () => {
    const queries = Array.from({ length: 200 }, async (_, index) => {
      const rows = await clickhouse.query({
        sql: 'SELECT {n:UInt32} AS n',
        params: { n: index },
        schema: anything,
      });
      expect(rows).toEqual([{ n: index }]);
    });
    await Promise.all(queries);
    const forgotten = clickhouse.query({ sql: 'SELECT {n:UInt32} AS n', schema: anything });
    await expect(forgotten).rejects.toMatchObject({ code: '456', type: 'UNKNOWN_QUERY_PARAMETER' });
  });

  test.each([[Number.NaN], [2 ** 53], [new Date(0)], [undefined], [() => 1]])(
    'parameters that cannot be sent exactly are refused: %s',
    async (value) => {
      await expect(
        clickhouse.query({ sql: 'SELECT 1', params: { value }, schema: anything }),
      ).rejects.toThrow();
    },
  );
});

describe('a query', () => {
  test('a query gives 64-bit integers and decimals as text, and rows checked against their schema', async () => {
    const schema = z.object({ count: z.string(), sum: z.string() });
    const rows = await clickhouse.query({
      sql: "SELECT count() AS count, toDecimal64('1.50', 2) AS sum",
      schema,
    });
    expect(rows).toEqual([{ count: '1', sum: '1.5' }]);
    const wrong = z.object({ count: z.number() });
    await expect(clickhouse.query({ sql: 'SELECT count() AS count', schema: wrong })).rejects.toThrow(
      z.ZodError,
    );
  });

  test('a query without rows gives none', async () => {
    expect(await clickhouse.query({ sql: 'SELECT 1 AS a WHERE 0', schema: anything })).toEqual([]);
  });

  test('a query may end in a comment and may be a union', async () => {
    const rows = await clickhouse.query({
      sql: 'SELECT 1 AS a UNION ALL SELECT 2 -- both',
      schema: anything,
    });
    expect(rows).toHaveLength(2);
  });

  test('a query can explain another one without running it', async () => {
    const rows = await clickhouse.query({
      sql: "SELECT explain FROM (EXPLAIN AST SELECT a FROM nowhere WHERE b = ';')",
      schema: z.object({ explain: z.string() }),
    });
    expect(rows.map((row) => row.explain.trim())).toContain('TableIdentifier nowhere');
  });

  test('a statement leaves no setting on the connection', async () => {
    const limited = clickhouse.query({
      sql: 'SELECT number FROM numbers(10)',
      settings: { max_result_rows: 5, result_overflow_mode: 'throw' },
      schema: anything,
    });
    await expect(limited).rejects.toMatchObject({ type: 'TOO_MANY_ROWS_OR_BYTES' });
    const all = Array.from({ length: 8 }, () =>
      clickhouse.query({ sql: 'SELECT number FROM numbers(10)', schema: anything }),
    );
    for (const rows of await Promise.all(all)) expect(rows).toHaveLength(10);
  });

  test('a query never gets what another one had put out before it failed', async () => {
    const failing = {
      sql: 'SELECT number, throwIf(number = 99) AS thrown FROM numbers(100) FORMAT JSONEachRow',
      settings: { max_block_size: 1 },
    };
    for (let round = 0; round < 5; round += 1) {
      await expect(clickhouse.queryBytes(failing)).rejects.toMatchObject({ code: '395' });
    }
    const asked = Array.from({ length: 8 }, () =>
      clickhouse.query({ sql: 'SELECT 1 AS a', schema: anything }),
    );
    for (const rows of await Promise.all(asked)) expect(rows).toEqual([{ a: 1 }]);
  });

  test('a query gives its raw bytes in the format that it names', async () => {
    const sql = 'SELECT toUInt32(number) FROM numbers({count:UInt32}) FORMAT RowBinary';
    const bytes = await clickhouse.queryBytes({ sql, params: { count: 3 } });
    expect(bytes).toEqual(Buffer.from([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]));
  });

  test('a query gives an answer of any length in pieces', async () => {
    const pieces: Buffer[] = [];
    for await (const piece of clickhouse.queryStream({
      sql: 'SELECT toString(number + {first:UInt32}) AS a FROM numbers(200000)',
      params: { first: 7 },
      format: 'JSONEachRow',
    })) {
      pieces.push(piece);
    }
    const lines = Buffer.concat(pieces).toString().trim().split('\n');
    expect(lines).toHaveLength(200_000);
    expect([lines[0], lines.at(-1)]).toEqual(['{"a":"7"}', '{"a":"200006"}']);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  });

  test('a query gives its blocks one after the other, and can be left in between', async () => {
    const query = {
      sql: 'SELECT toUInt32(number + {first:UInt32}) AS a FROM numbers(200000)',
      params: { first: 7 },
      format: 'Native',
    } as const;
    const read: number[] = [];
    for await (const [block = []] of wordBlocks(clickhouse.queryStream(query), 1)) read.push(...block);
    expect(read).toEqual(Array.from({ length: 200_000 }, (_, index) => index + 7));
    // More often than a lane has connections.
    for (let round = 0; round < 15; round += 1) {
      for await (const piece of clickhouse.queryStream(query)) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
    }
    const unset = clickhouse.queryStream({ ...query, params: {} }).next();
    await expect(unset).rejects.toMatchObject({ code: '456' });
  });

  test.each(['JSONEachRow', 'Native'] as const)(
    'a query gives an answer in pieces, and its failure after them: %s',
    async (format) => {
      const failing = {
        sql: 'SELECT number, throwIf(number = 199999) AS thrown FROM numbers(200000)',
        format,
      };
      const read = async () => {
        for await (const piece of clickhouse.queryStream(failing)) expect(piece.length).toBeGreaterThan(0);
      };
      await expect(read()).rejects.toMatchObject({ code: '395' });
      expect(await clickhouse.query({ sql: 'SELECT 1 AS a', schema: anything })).toEqual([{ a: 1 }]);
    },
  );

  test('a query that runs too long is ended by the engine', async () => {
    const endless = clickhouse.query({
      sql: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)',
      settings: { max_execution_time: 0.1 },
      schema: anything,
    });
    await expect(endless).rejects.toMatchObject({ code: '159', type: 'TIMEOUT_EXCEEDED' });
  });

  test.each([
    ['SELEC 1', '62', 'SYNTAX_ERROR'],
    ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE'],
    ['SELECT nothing FROM usage_events', '47', 'UNKNOWN_IDENTIFIER'],
    ['SELECT 1; SELECT 2', '62', 'SYNTAX_ERROR'],
    ["SELECT 1 FORMAT Null SETTINGS max_threads = 1; DROP TABLE usage_events --'", '62', 'SYNTAX_ERROR'],
    ['SELECT throwIf(1)', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ["INSERT INTO usage_events (transaction_id) VALUES ('x')", '164', 'READONLY'],
    ['DROP TABLE usage_events', '164', 'READONLY'],
  ])('a query that fails says so with the code and type of ClickHouse: %s', async (sql, code, type) => {
    await expect(clickhouse.queryBytes({ sql })).rejects.toMatchObject({ code, type });
  });
});

describe('a command', () => {
  test('a command is one statement', async () => {
    const two = clickhouse.command(
      'CREATE TABLE a (x UInt8) ENGINE = Memory; CREATE TABLE b (x UInt8) ENGINE = Memory',
    );
    await expect(two).rejects.toMatchObject({ code: '62', type: 'SYNTAX_ERROR' });
    const made = "SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ('a', 'b')";
    expect(await clickhouse.query({ sql: made, schema: anything })).toEqual([]);
  });
});
