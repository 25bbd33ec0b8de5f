/** Tables that are sent with a statement: any text arrives as it was sent, and nothing of them stays in ClickHouse. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type SentTable, tabSeparated } from '../../src/metering/client/sent-tables.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';

const clickhouse = await clickhouseForFile();

type Row = readonly [string | null, string | null];

const tableOf = (name: string, rows: readonly Row[]): SentTable => ({
  name,
  columns: ['a', 'b'].map((column) => ({ name: column, type: 'Nullable(String)' })),
  rows: tabSeparated(rows),
});

const schema = z.object({ a: z.string().nullable(), b: z.string().nullable() });

const read = (rows: readonly Row[]) =>
  clickhouse.query({ sql: 'SELECT a, b FROM sent_texts', tables: [tableOf('sent_texts', rows)], schema });

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', '\\N', '\\', "'", '\t', '\n', '\r\n', '\u0000', '\b\f', 'a\tb\\tc', 'NULL', '--x'),
);
const row = fc.tuple(fc.option(text), fc.option(text));

describe('a table that is sent with a statement', () => {
  it('a table that is sent with a statement has the texts that were sent, every character of them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        const byText = (one: unknown, other: unknown) =>
          JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
        const found = (await read(rows)).map(({ a, b }) => [a, b]);
        expect(found.sort(byText)).toEqual([...rows].map(([a, b]) => [a, b]).sort(byText));
      }),
      { numRuns: 40 },
    );
  });

  it('a table that is sent with a statement may be empty, and stand beside another one and beside parameters', async () => {
    expect(await read([])).toEqual([]);
    const rows = await clickhouse.query({
      sql: 'SELECT l.a AS a, r.b AS b FROM sent_left AS l INNER JOIN sent_right AS r ON l.a = r.a WHERE l.b = {b:String}',
      params: { b: 'x' },
      tables: [
        tableOf('sent_left', [
          ['1', 'x'],
          ['2', 'y'],
        ]),
        tableOf('sent_right', [
          ['1', 'one'],
          ['2', 'two'],
        ]),
      ],
      schema,
    });
    expect(rows).toEqual([{ a: '1', b: 'one' }]);
  });

  it('a table that is sent with a statement is not there for the next statement', async () => {
    await read([['1', '2']]);
    await expect(clickhouse.query({ sql: 'SELECT a, b FROM sent_texts', schema })).rejects.toThrow(
      /sent_texts/,
    );
  });

  it('a table that is sent with a statement is read by many statements at once, each its own', async () => {
    const counts = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        clickhouse.query({
          sql: 'SELECT toString(count()) AS a, max(b) AS b FROM sent_texts',
          tables: [
            tableOf(
              'sent_texts',
              Array.from({ length: index + 1 }, () => ['x', `${index}`]),
            ),
          ],
          schema,
        }),
      ),
    );
    expect(counts.flat()).toEqual(
      Array.from({ length: 12 }, (_, index) => ({ a: `${index + 1}`, b: `${index}` })),
    );
  });
});
