import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../../../src/core/decimal.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { type LineTexts, lineOfTexts, packedSeries } from '../../../../src/metering/query/packed-series.ts';
import { createSeriesFold } from '../../../../src/metering/query/series-fold.ts';

const START = Date.UTC(2026, 10, 1);
const form = {
  aggregation: 'SUM',
  groupBy: ['model', 'region'],
  windowEnd: (offset: number) => START + offset * 1_000 + HOUR_MS,
} as const;

interface Line {
  readonly groupValues: readonly [string, string];
  readonly windows: readonly { readonly hour: number; readonly value: string }[];
}

const digits = fc.bigInt({ min: -(10n ** 66n), max: 10n ** 66n }).map(String);
const windows = fc.uniqueArray(fc.record({ hour: fc.nat(8_784), value: digits }), {
  minLength: 1,
  maxLength: 30,
  selector: ({ hour }) => hour,
});
const line: fc.Arbitrary<Line> = fc.record({
  groupValues: fc.tuple(fc.string(), fc.string()),
  windows: windows.map((own) => own.toSorted((a, b) => a.hour - b.hour)),
});

const packed = ({ groupValues, windows: own }: Line) =>
  lineOfTexts({
    groupValues,
    count: own.length,
    offsets: own.map(({ hour }) => hour * 3_600).join(' '),
    values: own.map(({ value }) => value).join(' '),
  });

const seriesOf = (line: LineTexts) => packedSeries([lineOfTexts(line)], form).unpack();

function sumsOf(windows: Line['windows']) {
  const fold = createSeriesFold('SUM');
  for (const { hour, value } of windows) fold.add(START + (hour + 1) * HOUR_MS, decimal(value));
  return fold.steps;
}

test('unpacked series have the steps of their windows, with all digits, each time they are unpacked', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
      const { valueCount, unpack } = packedSeries(lines.map(packed), form);
      expect(valueCount).toBe(lines.reduce((total, own) => total + own.windows.length, 0));
      const expected = lines.map(({ groupValues: [model, region], windows: own }) => ({
        groupValues: { model, region },
        steps: sumsOf(own),
      }));
      expect(unpack()).toEqual(expected);
      expect(unpack()).toEqual(expected);
    }),
  );
});

test('a window with an empty value is none', () => {
  const windowsOf = (offsets: string, values: string, count: number) =>
    seriesOf({ groupValues: ['a', 'b'], count, offsets, values });
  const expected = windowsOf('3600 10800', '+1 2', 2);
  expect(expected[0]?.steps).toHaveLength(2);
  expect(windowsOf('0 3600 7200 10800 14400', ' +1  2 ', 2)).toEqual(expected);
});

test('a line that lacks a value or a start is refused', () => {
  const whole = { groupValues: ['a', 'b'], count: 2, offsets: '0 3600', values: '1 2' };
  expect(seriesOf(whole)).toHaveLength(1);
  const allBroken = [
    { values: '1' },
    { values: '1 ' },
    { values: '1 2 ' },
    { offsets: '0' },
    { offsets: '0 3600 7200' },
    { count: 1 },
  ];
  for (const broken of allBroken) {
    expect(() => seriesOf({ ...whole, ...broken })).toThrow('a start and a value');
  }
});
