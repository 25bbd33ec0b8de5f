import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupBy } from '../../src/core/group-by.ts';
import { readWindowRows } from '../../src/metering/query/window-rows.ts';
import { runs } from '../support/shares-of-tests.ts';

interface Row {
  readonly owner: number;
  readonly groups: readonly string[];
  readonly offset: number;
  readonly values: readonly string[];
}

interface Given {
  readonly groupCount: number;
  readonly metricCount: number;
  /** In the order of lines and windows. */
  readonly rows: readonly Row[];
  /** How many rows each block of the answer has; the rest is in a last one. */
  readonly blocks: readonly number[];
}

const value = fc.oneof(
  fc.constant(''),
  fc.integer({ min: -5, max: 5 }).map(String),
  fc.bigInt({ min: -(10n ** 75n), max: 10n ** 75n }).map(String),
);

const given: fc.Arbitrary<Given> = fc
  .record({ groupCount: fc.nat(2), metricCount: fc.integer({ min: 1, max: 3 }) })
  .chain(({ groupCount, metricCount }) => {
    const texts = (size: number) =>
      fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('x'.repeat(300))), {
        minLength: size,
        maxLength: size,
      });
    const line = fc.record({
      owner: fc.nat(3),
      groups: texts(groupCount),
      windows: fc.array(
        fc.record({
          offset: fc.nat(2_678_400),
          values: fc.array(value, { minLength: metricCount, maxLength: metricCount }),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    });
    const lines = fc.uniqueArray(line, { maxLength: 6, selector: lineKey });
    const rows = lines.map((all) =>
      all.flatMap(({ owner, groups, windows }) => windows.map((one) => ({ owner, groups, ...one }))),
    );
    return fc.record({
      groupCount: fc.constant(groupCount),
      metricCount: fc.constant(metricCount),
      rows,
      blocks: fc.array(fc.nat(5), { maxLength: 6 }),
    });
  });

function lineKey({ owner, groups }: Pick<Row, 'owner' | 'groups'>): string {
  return JSON.stringify([owner, groups]);
}

function count(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function text(content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([count(bytes.length), bytes]);
}

function words(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number, index * 4);
  return bytes;
}

function blockOf(rows: readonly Row[], { groupCount, metricCount }: Given): Buffer {
  const column = (name: string, type: string, ...cells: readonly Buffer[]) =>
    Buffer.concat([text(name), text(type), ...cells]);
  const places = (length: number) => Array.from({ length }, (_, place) => place);
  return Buffer.concat([
    count(groupCount + metricCount + 2),
    count(rows.length),
    column('owner', 'UInt32', words(rows.map(({ owner }) => owner))),
    ...places(groupCount).map((place) =>
      column(`group_${place}`, 'String', ...rows.map(({ groups }) => text(groups[place] ?? ''))),
    ),
    column('window_offset', 'UInt32', words(rows.map(({ offset }) => offset))),
    ...places(metricCount).map((place) =>
      column(`value_${place}`, 'String', ...rows.map(({ values }) => text(values[place] ?? ''))),
    ),
  ]);
}

function answerOf(one: Given): Buffer {
  const blocks: Buffer[] = [];
  let from = 0;
  for (const size of [...one.blocks, one.rows.length]) {
    blocks.push(blockOf(one.rows.slice(from, from + size), one));
    from += size;
  }
  return Buffer.concat(blocks);
}

describe('windows in the Native format', () => {
  test('windows in the Native format are those of their lines and metrics, in whatever blocks they come', () => {
    fc.assert(
      fc.property(given, (one) => {
        const read = readWindowRows(answerOf(one), one).flatMap(({ owner, metrics }) =>
          metrics.map(({ groupValues, count: total, eachWindow }, metric) => {
            const windows: (readonly [number, string])[] = [];
            eachWindow((offset, all, start, end) => windows.push([offset, all.slice(start, end)]));
            return { owner, groups: groupValues, metric, total, windows };
          }),
        );
        const expected = [...groupBy(one.rows, lineKey).values()].flatMap((rows) =>
          Array.from({ length: one.metricCount }, (_, metric) => {
            const windows = rows
              .map(({ offset, values }) => [offset, values[metric] ?? ''] as const)
              .filter(([, own]) => own !== '');
            const { owner = 0, groups = [] } = rows[0] ?? {};
            return { owner, groups, metric, total: windows.length, windows };
          }),
        );
        expect(read).toEqual(expected);
      }),
      { numRuns: runs(300) },
    );
  });

  test('windows in the Native format are refused where the answer breaks off within a block', () => {
    fc.assert(
      fc.property(
        given.filter(({ rows }) => rows.length > 0),
        fc.nat(),
        (one, place) => {
          const answer = blockOf(one.rows, one);
          const cut = answer.subarray(0, 1 + (place % (answer.length - 1)));
          expect(() => readWindowRows(cut, one)).toThrow('assertion failed');
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('windows in the Native format are refused where the answer is a text, or has other columns', () => {
    const columns = { groupCount: 0, metricCount: 1 };
    expect(() => readWindowRows(Buffer.from('Code: 241. DB::Exception'), columns)).toThrow('the columns');
    const other = blockOf([], { ...columns, groupCount: 1, rows: [], blocks: [] });
    expect(() => readWindowRows(other, columns)).toThrow('the columns');
    const types = Buffer.concat([count(3), count(0), text('owner'), text('UInt64')]);
    expect(() => readWindowRows(types, columns)).toThrow('a column is UInt32, not UInt64');
    expect(readWindowRows(Buffer.alloc(0), columns)).toEqual([]);
  });
});
