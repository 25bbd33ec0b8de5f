/**
 * The events of rows of CSV and Parquet, where the formats are special, and how files are refused that cannot be read.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { filesOfFolder } from '../../src/app/commands/backfill/files/folder.ts';
import { openSource } from '../../src/app/commands/backfill/files/open-source.ts';
import { mappingOfArguments } from '../../src/app/commands/backfill/rows/mapping.ts';
import { parquetOf, readEventFile } from '../support/event-files.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { createTestDirectory } from '../support/stores.ts';

const clickhouse = await clickhouseForFile();
const directory = await createTestDirectory();

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

const reading = (parts: Readonly<Record<string, string>>, delimiter: string | null = null) => ({
  mapping: mappingOfArguments({
    ...{ map: undefined, eventType: undefined, properties: undefined, timestamps: undefined },
    ...parts,
  }),
  delimiter,
});

const HEADER = 'transaction_id,customer_id,event_type,timestamp,n';
const AT = '2026-01-01T00:00:00Z';
const properties = async (path: string, how?: ReturnType<typeof reading>) => {
  const read = await readEventFile(path, how);
  expect(read.invalid).toEqual([]);
  return read.events.map((event) => Object.fromEntries(event.properties));
};

describe('cells of CSV', () => {
  it('cells of CSV are texts as they stand there; without quotes an empty one and \\N are none', async () => {
    const rows = ['1.50', '""', '', '\\N', '"\\N"', '007', '" x "', '"a\nb"', '"say ""x"""', 'true', 'é'];
    const body = rows.map((cell, at) => `e-${at},acme,call,${AT},${cell}`).join('\n');
    expect(await properties(await file('cells.csv', `${HEADER}\n${body}`))).toEqual([
      { n: '1.50' },
      { n: '' },
      {},
      {},
      { n: '\\N' },
      { n: '007' },
      { n: ' x ' },
      { n: 'a\nb' },
      { n: 'say "x"' },
      { n: 'true' },
      { n: 'é' },
    ]);
  });

  it('cells of CSV may be marked, between tabs or semicolons, and packed, whatever the file is called', async () => {
    const table = (delimiter: string) =>
      `\uFEFF${HEADER.replaceAll(',', delimiter)}\r\n${['a', 'acme', 'call', AT, 'x,y'].join(delimiter)}\r\n\r\n`;
    for (const [name, content, how] of [
      ['table.tsv', table('\t'), undefined],
      ['table.tsv.gz', gzipSync(table('\t')), undefined],
      ['semicolons.csv', table(';'), reading({}, ';')],
    ] as const) {
      expect(await properties(await file(name, content), how)).toEqual([{ n: 'x,y' }]);
    }
  });

  it('cells of CSV are refused one row at a time, with its number and the column', async () => {
    const bad = Buffer.concat([
      Buffer.from(
        `${HEADER}\na,acme,call,${AT},1\nb,acme,call\n,acme,call,${AT},1\nc,acme,call,yesterday,1\nd,acme,call,${AT},`,
      ),
      Buffer.from([0xff, 0x0a]),
      Buffer.from(`e,acme,call,2026-01-01 00:00:00,1\nf,acme,call,${AT},2\n`),
    ]);
    const { events, invalid } = await readEventFile(await file('bad.csv', bad));
    expect(events.map(({ transactionId }) => transactionId)).toEqual(['a', 'f']);
    expect(invalid).toEqual([
      [2, 'has 3 cells where there are 5 columns'],
      [3, 'transaction_id: is required (column "transaction_id")'],
      [4, expect.stringMatching(/^timestamp: .* \(column "timestamp"\)$/)],
      [5, 'column "n": is not valid UTF-8'],
      [6, 'column "timestamp": timestamp has no offset; with --timestamps utc it is taken as UTC'],
    ]);
  });

  it.each([
    ['two.csv', 'a,b,a\n', 'two of its columns are called "a"'],
    ['utf16.csv', Buffer.from('\uFEFFtransaction_id,n\n', 'utf16le'), 'its first row is not valid UTF-8'],
    ['nameless.csv', 'a,,b\n', 'column 2 of its first row has no name'],
    [
      'other.csv',
      'transaction-id,customer_id\n',
      'it has no column "transaction_id" for transaction_id; "transaction-id" was probably meant',
    ],
    ['quotes.csv', `${HEADER}\na,acme,call,${AT},1\nb,acme,call,${AT},"1\n`, 'after row 1: it is no CSV'],
  ])('cells of CSV of %s are refused as a whole', async (name, content, problem) => {
    await expect(readEventFile(await file(name, content))).rejects.toThrow(problem);
  });

  it('end with the last whole row where packed data is cut off', async () => {
    let state = 1;
    const rows = Array.from({ length: 5_000 }, (_, at) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return `e-${at},acme,call,${AT},${state}`;
    });
    const packed = gzipSync(`${HEADER}\n${rows.join('\n')}\n`);
    const path = await file('cut.csv.gz', packed.subarray(0, Math.floor(packed.length / 2)));
    await expect(readEventFile(path)).rejects.toThrow(/cut off after row \d{4}: unexpected end of file/);
  });
});

const SAME = `concat('e-', toString(number)) AS transaction_id, 'acme' AS customer_id, 'call' AS event_type,
  toDateTime64('2026-01-01 00:00:00.123456', 6, 'UTC') AS timestamp`;

describe('columns of Parquet', () => {
  it('columns of Parquet keep every digit, and nested ones are JSON text', async () => {
    const sql = `SELECT ${SAME},
      toDecimal128('12345678901234567890.123456789', 9) AS d38, toDecimal32('-0.50', 2) AS d9, toDecimal64('1', 4) AS d18,
      toUInt64('18446744073709551615') AS u64, toInt64('-9223372036854775808') AS i64, toUInt32(4294967295) AS u32,
      toInt8(-5) AS i8, toUInt8(200) AS u8, toFloat32(0.1) AS f32, toFloat64(1e-7) AS f64, true AS yes,
      toDate32('1969-02-03') AS day, toDateTime64('1969-12-31 23:59:59.000000001', 9, 'UTC') AS ns,
      CAST(NULL AS Nullable(String)) AS none, [1, 2] AS list, map('a', toDecimal32('1.10', 2)) AS members,
      CAST(('q', 9007199254740993), 'Tuple(name String, n Int64)') AS struct, [[1], []] AS lists,
      toUUID('00112233-4455-6677-8899-aabbccddeeff') AS uuid, toLowCardinality('low') AS low
      FROM numbers(1)`;
    const [all] = await properties(await file('types.parquet', await parquetOf(clickhouse, sql)));
    expect(all).toEqual({
      ...{ d38: '12345678901234567890.123456789', d9: '-0.5', d18: '1', u64: '18446744073709551615' },
      ...{
        i64: '-9223372036854775808',
        u32: '4294967295',
        i8: '-5',
        u8: '200',
        f32: '0.1',
        f64: '0.0000001',
      },
      ...{ yes: 'true', day: '1969-02-03', ns: '1969-12-31T23:59:59.000000001Z', list: '[1,2]' },
      ...{ members: '{"a":1.1}', struct: '{"name":"q","n":9007199254740993}', lists: '[[1],[]]' },
      ...{ uuid: '00112233-4455-6677-8899-aabbccddeeff', low: 'low' },
    });
  });

  it.each(['none', 'snappy', 'zstd', 'gzip', 'lz4', 'brotli'])(
    'packed with %s are read group by group, from any row',
    async (method) => {
      const sql = `SELECT ${SAME}, number AS n, ['a', toString(number)] AS list, if(number % 3 = 0, NULL, toString(number % 7)) AS maybe FROM numbers(9000)`;
      const settings = {
        ...{ output_format_parquet_row_group_size: 3_000, output_format_parquet_data_page_size: 4_096 },
        ...{ output_format_parquet_compression_method: method, max_block_size: 1_000, max_threads: 1 },
      };
      const path = await file(`groups-${method}.parquet`, await parquetOf(clickhouse, sql, settings));
      for (const from of [0, 2_999, 7_001]) {
        const { events, invalid } = await readEventFile(path, undefined, from);
        expect(invalid).toEqual([]);
        expect(events).toHaveLength(9_000 - from);
        for (const [at, event] of events.entries()) {
          const n = from + at;
          const maybe = n % 3 === 0 ? {} : { maybe: String(n % 7) };
          if (at % 97 !== 0) continue;
          expect(Object.fromEntries(event.properties)).toEqual({
            n: String(n),
            list: `["a","${n}"]`,
            ...maybe,
          });
        }
      }
    },
  );

  it('columns of Parquet that are not wanted are not read, so they may be of any type', async () => {
    const sql = `SELECT ${SAME}, toInt256(1) AS odd, 5 AS n FROM numbers(2)`;
    const path = await file('odd.parquet', await parquetOf(clickhouse, sql));
    await expect(readEventFile(path)).rejects.toThrow('column "odd" is of type FIXED_LEN_BYTE_ARRAY');
    expect(await properties(path, reading({ properties: 'n' }))).toEqual([{ n: '5' }, { n: '5' }]);
  });

  it('columns of Parquet with values that no event has are refused row by row', async () => {
    const sql = `SELECT ${SAME}, if(number = 1, nan, 1.5) AS f, if(number = 2, unhex('ff'), 'x') AS t FROM numbers(4)`;
    const { events, invalid } = await readEventFile(
      await file('nan.parquet', await parquetOf(clickhouse, sql)),
    );
    expect(events).toHaveLength(2);
    expect(invalid).toEqual([
      [2, 'column "f": is NaN, which no event can have'],
      [3, 'column "t": is not valid UTF-8'],
    ]);
  });

  it('columns of Parquet are refused as a whole where the file is cut off, damaged or another', async () => {
    const whole = await parquetOf(clickhouse, `SELECT ${SAME}, number AS n FROM numbers(1000)`, {
      output_format_parquet_compression_method: 'zstd',
    });
    await expect(readEventFile(await file('cut.parquet', whole.subarray(0, 500)))).rejects.toThrow('footer');
    await expect(readEventFile(await file('gz.parquet', gzipSync(whole)))).rejects.toThrow(
      'Parquet within gzip',
    );
    await expect(readEventFile(await file('text.parquet', 'a,b'))).rejects.toThrow('it is no Parquet file');
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 40, 200);
    await expect(readEventFile(await file('damaged.parquet', damaged))).rejects.toThrow(
      /column "transaction_id"/,
    );
  });
});

describe('a folder', () => {
  it('a folder of a backfill is loaded in the order of its names, without markers, and says what it passes over', async () => {
    const folder = join(directory, 'folder');
    await mkdir(join(folder, 'b'), { recursive: true });
    await mkdir(join(folder, '_temporary'));
    for (const name of [
      'b/2.csv',
      'b/10.jsonl',
      'a.parquet',
      'z.ndjson.gz',
      '_SUCCESS',
      '.x.csv',
      '_temporary/1.csv',
      'readme.md',
    ]) {
      await writeFile(join(folder, name), '');
    }
    await symlink(folder, join(folder, 'b', 'circle'));
    const names = (paths: readonly string[]) => paths.map((path) => path.slice(folder.length + 1));
    expect(names(await filesOfFolder(folder))).toEqual([
      'a.parquet',
      'b/10.jsonl',
      'b/2.csv',
      'b/circle',
      'readme.md',
      'z.ndjson.gz',
    ]);
    const source = await openSource(folder, null, {});
    expect(names(source.files.map(({ name }) => name))).toEqual([
      'a.parquet',
      'b/10.jsonl',
      'b/2.csv',
      'z.ndjson.gz',
    ]);
    expect(names(source.passedOver)).toEqual(['b/circle', 'readme.md']);
    await expect(
      openSource(join(folder, '_temporary', 'none'), null, {}).then(({ files }) => files[0]?.open()),
    ).rejects.toThrow('ENOENT');
    await mkdir(join(folder, 'empty'));
    await expect(openSource(join(folder, 'empty'), null, {})).rejects.toThrow('there are no files at');
  });
});
