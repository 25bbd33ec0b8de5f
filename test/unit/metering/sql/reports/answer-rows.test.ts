/** Rows and files are read from pieces that end anywhere; what breaks off is never taken for a whole answer. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterBeginning,
  type ReportRow,
  rowsOf,
  wholeParquet,
} from '../../../../../src/metering/sql/reports/answer-rows.ts';

const row = fc.array(fc.option(fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 3 });
const rows = fc.array(row, { maxLength: 8 });
const cuts = fc.array(fc.nat(400), { maxLength: 6 });

/** As ClickHouse writes them. */
function written(all: readonly ReportRow[]): Buffer {
  const lines = all.map((cells) => JSON.stringify({ cells }));
  return Buffer.from(`[\n${lines.join(',\n')}\n]\n`);
}

async function* cutAt(bytes: Buffer, at: readonly number[]): AsyncGenerator<Buffer, void, undefined> {
  const ends = [...at.map((end) => Math.min(end, bytes.length)), bytes.length].toSorted((a, b) => a - b);
  let start = 0;
  for (const end of ends) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function all<Part>(parts: AsyncIterable<Part>): Promise<Part[]> {
  const read: Part[] = [];
  for await (const part of parts) read.push(part);
  return read;
}

describe('rows', () => {
  test('rows of an answer are those that were written, wherever their pieces end', async () => {
    const law = fc.asyncProperty(rows, cuts, async (given, at) => {
      expect((await all(rowsOf(cutAt(written(given), at)))).flat()).toEqual(given);
    });
    await fc.assert(law);
  });

  test('rows of an answer that break off before the closing bracket are refused', async () => {
    const law = fc.asyncProperty(rows, fc.nat(400), cuts, async (given, cut, at) => {
      const bytes = written(given);
      const part = bytes.subarray(0, Math.min(cut, bytes.length - 2));
      await expect(all(rowsOf(cutAt(part, at)))).rejects.toThrow();
    });
    await fc.assert(law);
  });

  test.each([
    ['[\n{"cells":["1"]},\n{"exception":"Code: 395. DB::Exception: too large"}\n]\n'],
    ['[\n{"cells":["1"]}\nCode: 395. DB::Exception: too large. (LIMIT_EXCEEDED)\n'],
    ['Code: 395. DB::Exception: too large. (LIMIT_EXCEEDED)\n'],
  ])('rows of an answer with the text of a failure among them are refused: %j', async (text) => {
    await expect(all(rowsOf(cutAt(Buffer.from(text), [])))).rejects.toThrow();
  });
});

describe('a Parquet file', () => {
  const file = Buffer.from('PAR1 some columns and their footer PAR1');

  test('a Parquet file passes as it is, wherever its pieces end', async () => {
    const law = fc.asyncProperty(cuts, async (at) => {
      expect(Buffer.concat(await all(wholeParquet(cutAt(file, at))))).toEqual(file);
    });
    await fc.assert(law);
  });

  test('a Parquet file that breaks off is not passed to its end', async () => {
    // After its first word alone it would look whole: no engine sends only that.
    const ends = fc.integer({ min: 0, max: file.length - 1 }).filter((end) => end !== 'PAR1'.length);
    const law = fc.asyncProperty(ends, cuts, async (cut, at) => {
      const passed: Buffer[] = [];
      const read = async () => {
        for await (const piece of wholeParquet(cutAt(file.subarray(0, cut), at))) passed.push(piece);
      };
      await expect(read()).rejects.toThrow('before the end');
      expect(Buffer.concat(passed).length).toBeLessThanOrEqual(Math.max(0, cut - 4));
    });
    await fc.assert(law);
  });
});

test('a failure within the beginning comes before any piece', async () => {
  async function* failing(after: number) {
    for (let index = 0; index < after; index += 1) yield Buffer.alloc(10);
    throw new Error('too large');
  }
  const read = async (after: number) => {
    let pieces = 0;
    try {
      for await (const _ of afterBeginning(failing(after), 30)) pieces += 1;
    } catch (error) {
      return { pieces, error: String(error) };
    }
    return { pieces, error: null };
  };
  expect(await read(2)).toEqual({ pieces: 0, error: 'Error: too large' });
  expect(await read(5)).toEqual({ pieces: 5, error: 'Error: too large' });
  expect(Buffer.concat(await all(afterBeginning(cutAt(Buffer.from('abc'), [1]))))).toEqual(
    Buffer.from('abc'),
  );
});
