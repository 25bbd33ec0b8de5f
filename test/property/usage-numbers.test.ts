import { ClickHouseError } from '@clickhouse/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseUsageDecimal } from '../../src/core/decimal.ts';
import { type NumberReader, numberDefinitions } from '../../src/metering/query/number-sql.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { naiveNumber, plainText } from '../support/naive/usage.ts';
import { runs } from '../support/shares-of-tests.ts';

const clickhouse = await clickhouseForFile();

const row = z.object({ number: z.string().nullable(), is_number: z.boolean() });

/** The value that SQL reads in each text: plain decimal text, or null for no number. */
async function numbersInSql(texts: readonly string[], reader: NumberReader): Promise<(string | null)[]> {
  const isNumber = reader === 'exact' ? 'value_is_number' : 'isNotNull(value_number)';
  const rows = await clickhouse.query({
    sql: `WITH ${numberDefinitions('texts.2', reader).join(',\n')}
      SELECT toString(value_number) AS number, toBool(${isNumber}) AS is_number
      FROM (SELECT arrayJoin(arrayZip(range(length({texts:Array(String)})), {texts:Array(String)})) AS texts)
      ORDER BY texts.1`,
    params: { texts },
    schema: row,
  });
  for (const { number, is_number } of rows) expect(is_number).toBe(number !== null);
  return rows.map(({ number }) => number);
}

function numberInTypeScript(text: string): string | null {
  return parseUsageDecimal(text)?.toString() ?? null;
}

function numberOfOracle(text: string): string | null {
  const scaled = naiveNumber(text);
  return scaled === null ? null : plainText(scaled);
}

const digits = (max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789000999'), minLength: 1, maxLength: max });
const sign = fc.constantFrom('', '', '-', '+');
const plain = fc
  .tuple(sign, digits(40), fc.option(digits(34)))
  .map(([s, whole, part]) => s + whole + (part === null ? '' : `.${part}`));
const exponent = fc.tuple(plain, fc.constantFrom('e', 'E'), sign, digits(3)).map((parts) => parts.join(''));
const nearlyNumber = fc.string({ unit: fc.constantFrom(...'0011..++--eEx_ '), maxLength: 7 });
const anyText = fc.string({ unit: 'grapheme', maxLength: 6 }).filter((text) => !text.includes('\0'));
const nasty = fc.constantFrom(
  ...[
    '',
    ' 1',
    '1 ',
    '\t1',
    '1\n',
    '+5',
    '.5',
    '5.',
    '-.5',
    '.',
    '-',
    '+',
    'e5',
    '1e',
    '1e+',
    '--1',
    '+-1',
    '1.1.1',
    '0x10',
    '1_000',
  ],
  ...[
    '1,000',
    '٣',
    '１',
    'NaN',
    'nan',
    'inf',
    '-Infinity',
    'null',
    'true',
    '-0',
    '-0.0',
    '0e99',
    '0e-99',
    '1E3',
    '1e-7',
    '1e-30',
    '1e-31',
    '1e-40',
  ],
  ...[
    '1.5e-30',
    '15e-31',
    '1e35',
    '1e36',
    '0.1e36',
    '0.1e37',
    '1e45',
    '1e100',
    '1e007',
    '5e-1',
    '10e-31',
    '0.00e5',
    '000',
    '00.5',
    '9223372036854775807',
  ],
  ...[
    '9223372036854775808',
    '-9223372036854775809',
    '18446744073709551617',
    '99999999999999999.9',
    '0.99999999999999999',
  ],
  ...[
    `${'1'.repeat(36)}`,
    `${'1'.repeat(37)}`,
    `${'0'.repeat(90)}7`,
    `0.${'1'.repeat(30)}`,
    `0.${'1'.repeat(31)}`,
    `0.${'1'.repeat(30)}000`,
  ],
  ...[
    `${'9'.repeat(36)}.${'9'.repeat(30)}`,
    `-${'9'.repeat(36)}.${'9'.repeat(30)}`,
    `1${'0'.repeat(60)}e-50`,
    `0.${'0'.repeat(60)}1e60`,
  ],
);

const texts = fc.oneof(
  { weight: 3, arbitrary: nasty },
  { weight: 4, arbitrary: plain },
  { weight: 4, arbitrary: exponent },
  { weight: 6, arbitrary: nearlyNumber },
  { weight: 1, arbitrary: anyText },
);
const whole = fc.tuple(sign, digits(18)).map((parts) => parts.join(''));

/** The value that the reader of whole numbers reads in one text; `ended` where its statement fails. */
async function readAlone(text: string): Promise<string | null | undefined> {
  const [number] = await numbersInSql([text], 'whole').catch((error: unknown) => {
    if (error instanceof ClickHouseError && error.type === 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO')
      return ['ended'];
    throw error;
  });
  return number;
}

describe('the number in a property', () => {
  it('the number in a property is the same in SQL, in TypeScript and for the oracle, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(texts, { minLength: 200, maxLength: 400 }), async (batch) => {
        const expected = batch.map((text) => [text, numberOfOracle(text)]);
        expect(batch.map((text) => [text, numberInTypeScript(text)])).toEqual(expected);
        const inSql = await numbersInSql(batch, 'exact');
        expect(batch.map((text, index) => [text, inSql[index]])).toEqual(expected);
      }),
      { numRuns: runs(40) },
    );
  });

  it('the number in a property is the same for the reader of whole numbers, or it ends the statement', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(whole, { minLength: 100, maxLength: 200 }),
        fc.array(texts, { minLength: 20, maxLength: 40 }),
        async (wholes, others) => {
          expect(await numbersInSql(wholes, 'whole')).toEqual(wholes.map(numberOfOracle));
          for (const text of others) {
            const read = await readAlone(text);
            if (read !== 'ended') expect([text, read]).toEqual([text, numberOfOracle(text)]);
          }
        },
      ),
      { numRuns: runs(10) },
    );
  });
});
