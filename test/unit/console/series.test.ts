/** Series of charts, and the sums of two months of revenue. */
import Big from 'big.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cumulative, sameDays, seriesOf } from '../../../console/src/parts/revenue.ts';
import { type Series, seriesFrom } from '../../../console/src/parts/series.ts';

const digits = ({ values }: Series) => values.map((value) => value?.toFixed() ?? null);

it('series of groups with one label are two, and no figure of either is lost', () => {
  const point = (key: string, value: string) => ({ key, label: 'a · b', start: '1', value: new Big(value) });
  const series = seriesFrom(['1', '2'], [point('one', '5'), point('other', '3'), point('one', '1')]);
  expect(series.map((each) => [each.label, ...digits(each)])).toEqual([
    ['a · b', '6', null],
    ['a · b (2)', '3', null],
  ]);
});

it('series of a chart add up to all points, however many groups there are and whatever they are called', () => {
  const points = fc.array(
    fc.record({
      key: fc.integer({ min: 0, max: 20 }).map(String),
      label: fc.constantFrom('x', 'y', 'all others'),
      start: fc.constantFrom('1', '2', '3'),
      value: fc.integer({ min: -99, max: 99 }).map((value) => new Big(value)),
    }),
  );
  fc.assert(
    fc.property(points, (all) => {
      const sumOf = (values: readonly Big[]) =>
        values.reduce((sum, value) => sum.plus(value), new Big(0)).toFixed();
      const series = seriesFrom(['1', '2', '3'], all);
      expect(sumOf(series.flatMap(({ values }) => values.flatMap((value) => value ?? [])))).toBe(
        sumOf(all.map(({ value }) => value)),
      );
      expect(new Set(series.map(({ key }) => key)).size).toBe(series.length);
    }),
  );
});

const on = (month: string, amounts: readonly (readonly [day: number, amount: number])[]) =>
  new Map(
    amounts.map(([day, amount]) => [
      `${month}-${String(day).padStart(2, '0')}T00:00:00.000Z`,
      new Big(amount),
    ]),
  );

it('revenue of a month that is running is compared with the same days of the month before', () => {
  const now = on('2026-11', [
    [1, 10],
    [3, 5],
    [26, 99],
  ]);
  const before = on('2026-10', [
    [1, 4],
    [25, 2],
    [26, 500],
  ]);
  const running = seriesOf('2026-11', now, before, '2026-11-26T09:30:00Z').series;
  const days = sameDays(running);
  expect([days?.now.toFixed(), days?.before.toFixed()]).toEqual(['15', '6']);
  expect(sameDays(seriesOf('2026-11', now, before, '2026-12-02T00:00:00Z').series)).toBeNull();
  expect(sameDays(seriesOf('2026-11', now, before, '2026-11-01T10:00:00Z').series)).toBeNull();
});

it('revenue that is shown cumulatively ends at the sum of the days that are over', () => {
  const [present] = cumulative(
    seriesOf(
      '2026-11',
      on('2026-11', [
        [1, 10],
        [3, 5],
        [26, 99],
      ]),
      new Map(),
      '2026-11-26T09:30:00Z',
    ).series,
  );
  expect(present?.values.slice(0, 4).map((value) => value?.toFixed())).toEqual(['10', '10', '15', '15']);
  expect(present?.values[24]?.toFixed()).toBe('15');
  expect(present?.values[25]).toBeNull();
});
