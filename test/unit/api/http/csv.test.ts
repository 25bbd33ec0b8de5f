/** Cells and records of CSV, and who gets it. */
import fc from 'fast-check';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { JsonNumber } from '../../../../src/api/base/json.ts';
import { PARQUET_TYPE, streamedForm } from '../../../../src/api/http/answer-form.ts';
import { CSV_TYPE, csvTable, csvText } from '../../../../src/api/http/csv.ts';
import { Decimal } from '../../../../src/core/decimal.ts';
import { parseCsv } from '../../../support/csv.ts';

interface Item {
  readonly a: Parameters<typeof column.value>[0]['a'];
}

const column = {
  name: 'a',
  description: 'Anything.',
  value: ({ a }: { readonly a: string | number | boolean | object | null | undefined }) => a,
};
const table = csvTable<Item, Item>([column], (item) => [item]);

async function written(...reads: Item['a'][][]): Promise<string> {
  async function* pages() {
    for (const values of reads) yield table.cells(values.map((a) => ({ a })));
  }
  const pieces: string[] = [];
  for await (const piece of csvText(table.columns, pages())) pieces.push(piece);
  return pieces.join('');
}

describe('a cell', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    [null, ''],
    [undefined, ''],
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['Łódź 中文 €', 'Łódź 中文 €'],
    // Texts that a spreadsheet would calculate.
    ['=1+1', "'=1+1"],
    ['+49 30', "'+49 30"],
    ['-2', "'-2"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['＝1', "'＝1"],
    // The same after characters that a spreadsheet skips or does not show.
    [' =1', "' =1"],
    ['\u00a0-1', "'\u00a0-1"],
    ['\u3000＝1', "'\u3000＝1"],
    ['\u2028@x', "'\u2028@x"],
    ['\u200b=1', "'\u200b=1"],
    ['\u200d \u2060+1', "'\u200d \u2060+1"],
    ['\u00ad=1', "'\u00ad=1"],
    ['\u034f=1', "'\u034f=1"],
    ['\ufe0f=1', "'\ufe0f=1"],
    ['\u3164=1', "'\u3164=1"],
    ['\u0001=1', "'\u0001=1"],
    ['\tplain', "'\tplain"],
    [' \tplain', "' \tplain"],
    ['\u200b\rplain', '"\'\u200b\rplain"'],
    [' plain', ' plain'],
    ['\u200ba=b', '\u200ba=b'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['a=b', 'a=b'],
    // Numbers stay numbers, with all their digits.
    [new Decimal('-12.50'), '-12.5'],
    [new Decimal('1e-25'), '0.0000000000000000000000001'],
    [new Decimal('123456789012345678901234567890.12'), '123456789012345678901234567890.12'],
    [new JsonNumber('-0.000000000000000000001'), '-0.000000000000000000001'],
    [-3, '-3'],
    [true, 'true'],
    [{ model: 'a,b' }, '"{""model"":""a,b""}"'],
  ])('%j is %s', async (value, expected) => {
    expect(await written([value])).toBe(`a\r\n${expected}\r\n`);
  });

  test('a cell of CSV of any text is read back, but for the apostrophe before a formula', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(texts, async (values) => {
        const [, ...rows] = parseCsv(await written(values));
        const cells = rows.map(([cell]) => cell);
        for (const [index, value] of values.entries()) {
          expect([value, `'${value}`]).toContain(cells[index]);
          if (/^[=+\-@]/.test(value.trim())) expect(cells[index]).toBe(`'${value}`);
          if (/^[\p{L}\p{N}]/u.test(value)) expect(cells[index]).toBe(value);
        }
        expect(cells).toHaveLength(values.length);
      }),
    );
  });
});

describe('the text', () => {
  test('the text of CSV has one header, whatever the number of reads', async () => {
    expect(await written(['1'], [], ['2', '3'])).toBe('a\r\n1\r\n2\r\n3\r\n');
    expect(await written([])).toBe('a\r\n');
  });

  test('the names of columns of CSV, which a query gives, are no formulas either', async () => {
    async function* reads() {
      yield [['1', '2', '3']];
    }
    const columns = ['plain', '=1+1', ' @SUM(A1)'].map((name) => ({ name }));
    const pieces: string[] = [];
    for await (const piece of csvText(columns, reads())) pieces.push(piece);
    expect(pieces.join('')).toBe("plain,'=1+1,' @SUM(A1)\r\n1,2,3\r\n");
  });
});

describe('the Accept header', () => {
  test.each([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['text/html', false],
    ['text/csv', true],
    ['TEXT/CSV', true],
    ['text/csv; charset=utf-8', true],
    ['text/csv, application/json;q=0.5', true],
    ['text/csv, */*;q=0.1', true],
    ['application/json, text/csv;q=0.5', false],
    ['text/csv;q=0', false],
    ['application/vnd.apache.parquet', false],
    ['application/pdf', false],
  ])('%s: %s', async (accept, expected) => {
    const run = async function* () {};
    const csv = { columns: null, run };
    expect(await formFor({ csv }, accept)).toBe(expected ? CSV_TYPE : 'JSON');
  });

  test.each([
    ['application/vnd.apache.parquet', PARQUET_TYPE],
    ['application/vnd.apache.parquet, application/json;q=0.5', PARQUET_TYPE],
    ['text/csv', CSV_TYPE],
    ['*/*', 'JSON'],
  ])('a route with both: %s', async (accept, expected) => {
    const run = async function* () {};
    const forms = { csv: { columns: null, run }, parquet: { description: '', run } };
    expect(await formFor(forms, accept)).toBe(expected);
  });
});

async function formFor(forms: Parameters<typeof streamedForm>[0], accept: string | undefined) {
  const app = new Hono().get('/', (context) =>
    context.text(streamedForm(forms, context)?.mediaType ?? 'JSON'),
  );
  const response = await app.request('/', accept === undefined ? {} : { headers: { accept } });
  return await response.text();
}
