import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createParameters } from '../../src/metering/query/parameters.ts';
import { propertySql } from '../../src/metering/query/property-sql.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { propertyText } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';

const clickhouse = await clickhouseForFile();

const row = z.object({ value: z.string().nullable(), text: z.string(), present: z.boolean() });

/** The text that SQL reads at a path in each of the values, which are those of the property `p`. */
async function readInSql(values: readonly string[], path: string): Promise<(string | null)[]> {
  const parameters = createParameters();
  const { value, text, isPresent } = propertySql(parameters, path);
  const rows = await clickhouse.query({
    sql: `SELECT ${value} AS value, ${text} AS text, toBool(${isPresent}) AS present
      FROM (
        SELECT numbered.1 AS position, map('p', numbered.2) AS properties
        FROM (SELECT arrayJoin(arrayZip(range(length({list:Array(String)})), {list:Array(String)})) AS numbered)
      )
      ORDER BY position`,
    params: { ...parameters.values(), list: values },
    schema: row,
  });
  for (const { value: read, text: read_text, present } of rows) {
    expect([present, read_text]).toEqual([read !== null, read ?? '']);
  }
  return rows.map(({ value: read }) => read);
}

function readNaively(value: string, path: string): string | null {
  const event = { transactionId: '', customerRef: '', eventType: '', timestamp: 0, ingestedAt: 0 };
  return propertyText({ ...event, properties: { p: value } }, path);
}

const PATHS = ['p.a', 'p.b', 'p.a.b', 'p.', 'p.a.b.c', 'p.\\', 'p.1'];

const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1e5',
    '1E-7',
    '9007199254740993',
    '-0.10',
    '1.50',
    '1e400',
    '123456789'.repeat(4),
  ),
  fc.constantFrom('01', '1.', '.5', '+1', '-', '1e', '1.2.3', '1-2', '0x1', '--1', 'NaN', '1e5e5', '٣'),
  fc.bigInt().map(String),
);
const text = fc.constantFrom(
  ...['""', '"a"', '"1"', '"\\""', '"\\\\"', '"\\\\\\"1"', '"{\\"a\\":1}"', '"\\u00e9"', '"\\ud83d\\ude00"'],
  ...[
    '"é1"',
    '"𝄞"',
    '"a-1"',
    '",1,"',
    '"\\n1"',
    '"\\x"',
    '"\\u12"',
    '"a',
    '"\\"',
    '"\n"',
    "'a'",
    '"\\u0001"',
  ],
);
const scalar = fc.oneof(
  number,
  text,
  fc.constantFrom('true', 'false', 'null', 'tru', 'true1', 'nul', '\u00a01'),
);
const space = fc.constantFrom('', '', '', '', ' ', '\n\t ', '\u000b');

/** JSON, and what looks like it, down to three levels. */
const { document } = fc.letrec<{ document: string; value: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, tie('document')),
  document: fc.oneof(
    { maxDepth: 3 },
    fc
      .tuple(space, tie('value'), tie('value'), tie('value'), space)
      .map(([s, a, b, other, t]) => `${s}{"a"${t}:${a}${s},${t}"b":${b},"\\\\":${other}${s}}${t}`),
    fc.tuple(tie('value'), space).map(([a, s]) => `{"a":${s}${a}}`),
    fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join(',')}]`),
    scalar.map((value) => `{1:${value}}`),
  ),
}));

/** A character beyond the first 65,536 is escaped as a pair; half of one is no character. */
function hasHalfOfAPair(value: string): boolean {
  const withoutPairs = value.replaceAll(/\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}/gi, '');
  return /\\ud[89a-f]/i.test(withoutPairs);
}

/** A document with a few characters taken out, put in or doubled. */
const damaged = fc
  .tuple(
    document,
    fc.array(
      fc.tuple(
        fc.nat(200),
        fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '-', '1', 'e', ' ', 'é', '"1'),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([whole, changes]) =>
    changes.reduce((result, [at, put]) => {
      const index = at % (result.length + 1);
      return result.slice(0, index) + put + result.slice(index + (put === '' ? 1 : 0));
    }, whole),
  )
  .filter((result) => !/\p{Surrogate}/u.test(result) && !hasHalfOfAPair(result));

const soup = fc
  .array(
    fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '-', '1', '0', '.', 'e', ' ', '"a":', 'é'),
    {
      maxLength: 30,
    },
  )
  .map((pieces) => pieces.join(''));

/** A member that is there twice is read as the first; as part of a larger value it would be shown twice. */
function repeatsAName(value: string): boolean {
  const names = value.match(/"(?:[^"\\]|\\.)*"(?=\s*:)/gsu) ?? [];
  return new Set(names).size < names.length;
}

describe('a path into the text of a property', () => {
  it('a path into the text of a property reads what a JSON parser that keeps every digit reads, whatever the text', async () => {
    const values = fc.oneof(
      { weight: 4, arbitrary: document },
      { weight: 4, arbitrary: damaged },
      { weight: 2, arbitrary: soup },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PATHS),
        fc.array(values, { minLength: 100, maxLength: 300 }),
        async (path, all) => {
          const batch = all.filter((value) => !repeatsAName(value));
          const inSql = await readInSql(batch, path);
          expect(batch.map((value, index) => [value, inSql[index]])).toEqual(
            batch.map((value) => [value, readNaively(value, path)]),
          );
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('a path into the text of a property takes the first of members of one name, and reads nothing from text that has U+0000', async () => {
    const values = ['{"a":1,"a":2}', '{"a":"x\\u0000"}', '{"a":1,"b":"\\\\u0000"}', '{"a":"\\u0001"}'];
    expect(await readInSql(values, 'p.a')).toEqual(['1', null, '1', '\u0001']);
  });

  it('a path into the text of a property reads nothing from text that escapes half of a pair, which is no character', async () => {
    const values = ['{"a":1,"b":"\\ud83d\\ude00"}', '{"a":1,"b":"\\ud83d"}', '{"a":1,"b":"\\ud83dude00"}'];
    expect(await readInSql(values, 'p.a')).toEqual(['1', null, null]);
  });

  it('a path into the text of a property reads nothing from text that is nested deeper than the parser goes', async () => {
    const deep = (levels: number) => '{"a":'.repeat(levels) + '1'.concat('}'.repeat(levels));
    const [shallow, hostile] = await readInSql([deep(100), deep(12_000)], 'p.a');
    expect(shallow).toMatch(/^\{"a":/);
    expect(hostile).toBeNull();
  });

  it('a path into the text of a property takes time in proportion to the text, also where a quotation mark is never closed', async () => {
    const beginnings = ['"', '{"a":"', '{"a":1,"'];
    const pieces = ['\\"1', '"1', '-', '-1', '1,', '\\', '{"1":', '1 ', '0', '"a1"-"'];
    const parameters = createParameters();
    const { value } = propertySql(parameters, 'p.a');
    const [counted] = await clickhouse.query({
      sql: `SELECT count() AS texts, count(${value}) AS members
        FROM (
          SELECT map('p', substring(concat(beginning, repeat(piece, 60000)), 1, 60000)) AS properties
          FROM (
            SELECT number, arrayJoin({beginnings:Array(String)}) AS beginning,
              arrayJoin({pieces:Array(String)}) AS piece
            FROM numbers(10)
          )
        )`,
      params: { ...parameters.values(), beginnings, pieces },
      // A linear search takes about a millisecond for one of these texts, a quadratic one takes seconds.
      settings: { max_execution_time: 20, max_block_size: 10 },
      schema: z.object({ texts: z.string(), members: z.string() }),
    });
    expect(counted).toEqual({ texts: '300', members: '0' });
  });
});
