import { describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/time.ts';
import {
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  totalsByCreditType,
  windowBoundaries,
} from '../../../../src/rating/invoices/breakdown.ts';
import { lineIdParts } from '../../../../src/rating/invoices/rate-usage.ts';
import { flat, hour, METRIC, PERIOD, rate, rateCase, series, tiers } from '../fixtures.ts';

const STEPPED = tiers(['10', '5'], [null, '3']);

describe('window boundaries', () => {
  test('window boundaries are aligned to UTC and clipped to the period', () => {
    const period = { start: hour(22), end: hour(50) };
    expect(windowBoundaries(period, 'day')).toEqual([hour(22), hour(24), hour(48), hour(50)]);
    expect(windowBoundaries(PERIOD, 'day')).toEqual([PERIOD.start, PERIOD.start + DAY_MS, PERIOD.end]);
    expect(windowBoundaries(PERIOD, 'hour')).toHaveLength(49);
  });

  test('a period shorter than a window is one window', () => {
    const period = { start: hour(2), end: hour(5) };
    expect(windowBoundaries(period, 'day')).toEqual([hour(2), hour(5)]);
  });
});

describe('the breakdown', () => {
  const usage = { [METRIC]: [series([1, '8'], [20, '12'], [30, '15'], [31, '12'], [40, '13'])] };
  const { lines } = rateCase({ rates: [rate(STEPPED)], usage });
  const frozen = lineWindows(lines);

  function show(size: 'hour' | 'day') {
    return breakdownWindows(lines, frozen, size, PERIOD).map((window) =>
      window.lines.map(({ line, quantity, total }) => `L${line.tier?.level} ${quantity} = ${total}`),
    );
  }

  test('the breakdown has every window, with the tiers that were used in it', () => {
    expect(show('day')).toEqual([['L1 10 = 50', 'L2 2 = 6'], ['L2 1 = 3']]);
    const hours = show('hour');
    expect(hours).toHaveLength(48);
    expect(hours[0]).toEqual(['L1 8 = 40']);
    expect(hours[1]).toEqual([]);
    expect(hours[19]).toEqual(['L1 2 = 10', 'L2 2 = 6']);
    expect(hours[30]).toEqual(['L2 -3 = -9']);
  });

  test('the breakdown refuses windows that are larger than asked for', () => {
    const day = {
      position: 0,
      window: { start: hour(0), end: hour(24) },
      quantity: usage0(),
      total: usage0(),
    };
    expect(() => breakdownWindows(lines, [day], 'hour', PERIOD)).toThrow(/fit/);
  });

  test('the breakdown starts inside a day where the period does', () => {
    const period = { start: hour(22), end: hour(48) };
    const rated = rateCase({
      rates: [rate(flat('1'))],
      usage: { [METRIC]: [series([23, '1'], [25, '3'])] },
      period,
    });
    const days = breakdownWindows(rated.lines, lineWindows(rated.lines), 'day', period);
    expect(days.map(({ window }) => (window.end - window.start) / HOUR_MS)).toEqual([2, 24]);
    expect(days.map((day) => day.lines.map((one) => String(one.total)))).toEqual([['1'], ['2']]);
  });

  function usage0() {
    return invoiceTotal([], USD_CENTS.id);
  }
});

describe('totals', () => {
  const { lines } = rateCase({ rates: [rate(STEPPED)], usage: { [METRIC]: [series([1, '12.5'])] } });

  test('totals are exact sums per pricing unit', () => {
    expect(invoiceTotal(lines, USD_CENTS.id).toString()).toBe('57.5');
    expect(invoiceTotal(lines, 'other').toString()).toBe('0');
    expect([...totalsByCreditType(lines).keys()]).toEqual([USD_CENTS.id]);
  });
});

test('the parts of line ids differ between the lines of an invoice and repeat with a recomputation', () => {
  const compute = () =>
    rateCase({
      rates: [rate(STEPPED), rate(flat('1'), { startingAt: hour(24) })],
      usage: { [METRIC]: [series([1, '12.5'], [30, '14'])] },
    }).lines.map((line) => lineIdParts(line).join('|'));
  const ids = compute();
  expect(new Set(ids).size).toBe(3);
  expect(compute()).toEqual(ids);
});
