import { describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import {
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  windowBoundaries,
} from '../../../../src/rating/invoices/breakdown.ts';
import type { RatedConversionLine, UsageLine } from '../../../../src/rating/lines/types.ts';
import { conversionLines, type UnitConversion } from '../../../../src/rating/usage/cpu-conversion.ts';
import { type Case, flat, hour, METRIC, PERIOD, rate, rateCase, series, tiers } from '../fixtures.ts';

const CREDITS = 'unit-credits';
const COMPUTE = 'unit-compute';
const CONVERSIONS = new Map<string, UnitConversion>([
  [CREDITS, { name: 'AI credits', fiatPerCustomCredit: decimal('2.5') }],
  [COMPUTE, { name: 'Compute units', fiatPerCustomCredit: decimal('0.001') }],
]);

const inUnit = (creditTypeId: string, price = flat('2'), fields = {}) =>
  rate(price, { creditTypeId, ...fields });

function linesOf(...cases: Case[]): UsageLine[] {
  return cases.flatMap((one) => rateCase(one).lines);
}

function convert(lines: readonly UsageLine[]): RatedConversionLine[] {
  return [
    ...conversionLines({
      lines,
      fiatCreditTypeId: USD_CENTS.id,
      conversions: CONVERSIONS,
      period: PERIOD,
      boundaries: windowBoundaries(PERIOD, 'hour'),
    }).lines,
  ];
}

function describeConversion(line: RatedConversionLine): string {
  return `${line.name}: ${line.quantity} @ ${line.unitPrice} = ${line.total}`;
}

const used = (...steps: [number, string][]) => ({ [METRIC]: [series(...steps)] });

describe('a conversion line', () => {
  test.each<[string, Case[], string[]]>([
    ['nothing for usage in the currency', [{ rates: [rate(flat('2'))], usage: used([5, '7']) }], []],
    [
      'the sum of all lines in the unit',
      [
        { rates: [inUnit(CREDITS)], usage: used([5, '7']) },
        { rates: [inUnit(CREDITS, tiers(['2', '1'], [null, '0.5']))], usage: used([9, '3']) },
      ],
      ['Conversion of AI credits: 16.5 @ 2.5 = 41.25'],
    ],
    [
      'one line per unit, in the order of their first lines',
      [
        { rates: [inUnit(COMPUTE)], usage: used([5, '1']) },
        { rates: [inUnit(CREDITS)], usage: used([5, '1']) },
        { rates: [inUnit(COMPUTE)], usage: used([5, '0.5']) },
      ],
      ['Conversion of Compute units: 3 @ 0.001 = 0.003', 'Conversion of AI credits: 2 @ 2.5 = 5'],
    ],
    [
      'segments with different prices',
      [
        {
          rates: [inUnit(CREDITS), inUnit(CREDITS, flat('4'), { startingAt: hour(24) })],
          usage: used([5, '1'], [30, '3']),
        },
      ],
      ['Conversion of AI credits: 10 @ 2.5 = 25'],
    ],
    ['nothing where nothing was used', [{ rates: [inUnit(CREDITS)] }], []],
    [
      'a zero where units were used and cost nothing',
      [{ rates: [inUnit(CREDITS, flat('0'))], usage: used([5, '7']) }],
      ['Conversion of AI credits: 0 @ 2.5 = 0'],
    ],
    [
      'a zero where usage rose and fell again',
      [{ rates: [inUnit(CREDITS)], usage: used([5, '7'], [9, '0']) }],
      ['Conversion of AI credits: 0 @ 2.5 = 0'],
    ],
    [
      'a negative amount where usage fell below what it was',
      [{ rates: [inUnit(CREDITS)], usage: used([5, '-3']) }],
      ['Conversion of AI credits: -6 @ 2.5 = -15'],
    ],
    [
      'nothing for usage that is not entitled',
      [{ rates: [inUnit(CREDITS, flat('2'), { entitled: false })], usage: used([5, '7']) }],
      [],
    ],
  ])('a conversion line is %s', (_, cases, expected) => {
    expect(convert(linesOf(...cases)).map(describeConversion)).toEqual(expected);
  });

  test('a conversion line is counted in the total of the invoice, and what it converts is not', () => {
    const lines = linesOf(
      { rates: [rate(flat('10'))], usage: used([5, '1']) },
      { rates: [inUnit(CREDITS)], usage: used([5, '7']) },
    );
    const all = [...lines, ...convert(lines)];
    expect(invoiceTotal(all, USD_CENTS.id).toString()).toBe('45');
    expect(invoiceTotal(all, CREDITS).toString()).toBe('14');
  });

  test('a conversion line covers the period, and exists or not whatever windows are asked for', () => {
    const [line] = convert(linesOf({ rates: [inUnit(CREDITS)], usage: used([5, '7'], [9, '0']) }));
    expect(line?.interval).toEqual(PERIOD);
    expect(line).toMatchObject({ type: 'cpu_conversion', convertedCreditTypeId: CREDITS });
  });

  test('a conversion line has windows that add up to it, without those in which the unit totals 0', () => {
    const lines = linesOf(
      { rates: [inUnit(CREDITS)], usage: used([5, '7'], [9, '4'], [30, '6']) },
      { rates: [inUnit(CREDITS)], usage: used([9, '3']) },
    );
    const [line] = convert(lines);
    const windows = line?.windows.map(({ window, quantity, total }) => [
      window.end,
      String(quantity),
      String(total),
    ]);
    expect(windows).toEqual([
      [hour(5), '14', '35'],
      [hour(30), '4', '10'],
    ]);
    expect(describeConversion(line as RatedConversionLine)).toBe('Conversion of AI credits: 18 @ 2.5 = 45');
  });

  test('a conversion line stands in the breakdown like any other line', () => {
    const lines = linesOf({ rates: [inUnit(CREDITS)], usage: used([5, '7'], [30, '9']) });
    const all = [...lines, ...convert(lines)];
    const days = breakdownWindows(all, lineWindows(all), 'day', PERIOD);
    expect(days.map((day) => day.lines.map((one) => `${one.line.type} ${one.total}`))).toEqual([
      ['usage 14', 'cpu_conversion 35'],
      ['usage 4', 'cpu_conversion 10'],
    ]);
  });

  test('a conversion line of a unit without a conversion is a contradiction', () => {
    const lines = linesOf({ rates: [inUnit('unit-unknown')], usage: used([5, '7']) });
    expect(() => convert(lines)).toThrow(/converts pricing unit unit-unknown/);
  });
});
