/** The reader of the Native format gives the rows that the reader of rows gives, however the answer is cut. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordBlocks } from '../../src/metering/client/native-words.ts';
import { hashTransactionId } from '../../src/metering/ingest/transaction-hash.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';

const clickhouse = await clickhouseForFile();

const COLUMNS = 4;

async function rowsOf(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  columns = COLUMNS,
): Promise<number[][]> {
  async function* given() {
    yield* pieces;
  }
  const rows: number[][] = [];
  for await (const block of wordBlocks(given(), columns)) {
    const [first = new Uint32Array()] = block;
    for (const index of first.keys()) rows.push(block.map((column) => column[index] ?? -1));
  }
  return rows;
}

/** The bytes in pieces that end at these places, some of them empty. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** Hashes of any ids and seconds, as a statement gives them. */
const stored = fc.array(
  fc.record({
    id: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    second: fc.integer({ min: 0, max: 0xffff_ffff }),
  }),
  { maxLength: 300 },
);

function statement(ids: readonly { id: string; second: number }[]) {
  const hashes = ids.map(({ id }) => {
    const words = new Uint32Array(3);
    hashTransactionId(id, words);
    return words;
  });
  const column = (index: number) => hashes.map((words) => words[index] ?? 0);
  return {
    sql: `SELECT a, b, c, s AS \`zweite Spalte – секунда\` FROM
      (SELECT arrayJoin(arrayZip({a:Array(UInt32)}, {b:Array(UInt32)}, {c:Array(UInt32)}, {s:Array(UInt32)})) AS t,
        t.1 AS a, t.2 AS b, t.3 AS c, t.4 AS s)`,
    params: { a: column(0), b: column(1), c: column(2), s: ids.map(({ second }) => second) },
  };
}

describe('the blocks of an answer', () => {
  it('the blocks of an answer hold the rows of RowBinary, for every number of rows, size of block and cut into pieces', async () => {
    const places = fc.array(fc.nat(), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(stored, fc.integer({ min: 1, max: 200 }), places, async (ids, blockRows, at) => {
        const { sql, params } = statement(ids);
        const settings = { max_block_size: blockRows };
        const bytes = await clickhouse.queryBytes({ sql: `${sql} FORMAT RowBinary`, params, settings });
        const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
        const expected = ids.map((_, index) => words.slice(index * COLUMNS, (index + 1) * COLUMNS));
        expect(words).toHaveLength(ids.length * COLUMNS);
        const native = await clickhouse.queryBytes({ sql: `${sql} FORMAT Native`, params, settings });
        expect(await rowsOf(cut(native, at))).toEqual(expected);
        expect(await rowsOf(clickhouse.queryStream({ sql, params, settings, format: 'Native' }))).toEqual(
          expected,
        );
      }),
      { numRuns: runs(100) },
    );
  });

  it('the blocks of an answer are refused where the answer ends within one or is something else', async () => {
    const sql = 'SELECT toUInt32(number) AS a, toUInt32(number) AS b FROM numbers(1000)';
    const settings = { max_block_size: 300 };
    const native = await clickhouse.queryBytes({ sql: `${sql} FORMAT Native`, settings });
    const rows = await rowsOf([native], 2);
    expect(rows).toHaveLength(1000);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: native.length - 1 }), async (length) => {
        const some = await rowsOf([native.subarray(0, length)], 2).catch(() => null);
        // An end between two blocks cannot be distinguished from an intended one.
        expect(some === null || (some.length % 100 === 0 && some.length < rows.length)).toBe(true);
      }),
    );
    await expect(rowsOf([native], 3)).rejects.toThrow('an answer has 3 columns');
    await expect(rowsOf([Buffer.from('Code: 159. DB::Exception: Timeout exceeded')], 2)).rejects.toThrow();
    await expect(rowsOf([native, Buffer.from('Code: 159. DB::Exception')], 2)).rejects.toThrow();
    const wide = await clickhouse.queryBytes({ sql: 'SELECT toUInt64(1) AS a FORMAT Native' });
    await expect(rowsOf([wide], 1)).rejects.toThrow('a column is UInt32, not UInt64');
  });

  it('the blocks of an answer are ended where they are not read to the end', async () => {
    let isClosed = false;
    async function* endless() {
      const block = await clickhouse.queryBytes({ sql: 'SELECT toUInt32(1) AS a FORMAT Native' });
      try {
        for (;;) yield block;
      } finally {
        isClosed = true;
      }
    }
    for await (const [column] of wordBlocks(endless(), 1)) {
      expect(column).toEqual(Uint32Array.of(1));
      break;
    }
    expect(isClosed).toBe(true);
  });
});
