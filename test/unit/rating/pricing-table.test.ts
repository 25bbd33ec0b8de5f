import { describe, expect, test } from 'vitest';
import type { QuantityConversion, QuantityRounding } from '../../../src/core/catalogue.ts';
import { decimal } from '../../../src/core/decimal.ts';
import {
  type Case,
  describeLine,
  flat,
  hour,
  METRIC,
  product,
  rate,
  rateCase,
  series,
  tiers,
  version,
} from './fixtures.ts';

const STEPPED = tiers(['10', '5'], ['20', '3'], [null, '1']);
const KIBI = (rounding: QuantityRounding | null) =>
  product(version({ quantityConversion: conversion('DIVIDE', '1024'), quantityRounding: rounding }));

function conversion(operation: 'MULTIPLY' | 'DIVIDE', factor: string): QuantityConversion {
  return { name: null, operation, conversionFactor: decimal(factor) };
}

function rounding(method: QuantityRounding['method'], decimalPlaces: number): QuantityRounding {
  return { method, decimalPlaces };
}

function used(...steps: [number, string][]) {
  return { [METRIC]: [series(...steps)] };
}

/** [what it shows, the case, its lines worked out by hand] */
const PRICING: [string, Case, string[]][] = [
  [
    'a flat price times the quantity',
    { rates: [rate(flat('2.5'))], usage: used([3, '4']) },
    ['h0-48 4 @ 2.5 = 10'],
  ],
  [
    'fractions of a cent are kept',
    { rates: [rate(flat('0.0015'))], usage: used([1, '0.333'], [2, '1.001']) },
    ['h0-48 1.001 @ 0.0015 = 0.0015015'],
  ],
  [
    'a price of 0 still shows the quantity',
    { rates: [rate(flat('0'))], usage: used([1, '7']) },
    ['h0-48 7 @ 0 = 0'],
  ],
  ['no usage gives exactly one zero line', { rates: [rate(flat('2'))] }, ['h0-48 0 @ 2 = 0']],
  ['no usage of a tiered price is in tier 1', { rates: [rate(STEPPED)] }, ['h0-48 L1 0 @ 5 = 0']],
  [
    'no usage and a rate change give one zero line, at the later price',
    { rates: [rate(flat('2')), rate(flat('3'), { startingAt: hour(24) })] },
    ['h24-48 0 @ 3 = 0'],
  ],
  [
    'the bound of a tier belongs to it',
    { rates: [rate(STEPPED)], usage: used([1, '10']) },
    ['h0-48 L1 10 @ 5 = 50'],
  ],
  [
    'the first unit above a bound has the next price',
    { rates: [rate(STEPPED)], usage: used([1, '11']) },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 1 @ 3 = 3'],
  ],
  [
    'the size of a tier is its width',
    { rates: [rate(STEPPED)], usage: used([1, '30']) },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 20 @ 3 = 60'],
  ],
  [
    'the last tier has no end',
    { rates: [rate(STEPPED)], usage: used([1, '1000000']) },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 20 @ 3 = 60', 'h0-48 L3 999970 @ 1 = 999970'],
  ],
  [
    'a unit can be split between tiers',
    { rates: [rate(STEPPED)], usage: used([1, '10.25']) },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 0.25 @ 3 = 0.75'],
  ],
  [
    'tiers fill over many hours as in one',
    { rates: [rate(STEPPED)], usage: used([1, '4'], [20, '9.5'], [40, '31']) },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 20 @ 3 = 60', 'h0-48 L3 1 @ 1 = 1'],
  ],
  [
    'DIVIDE 1024 rounded up: one byte is a whole unit',
    { product: KIBI(rounding('ROUND_UP', 0)), rates: [rate(flat('7'))], usage: used([1, '1']) },
    ['h0-48 1 @ 7 = 7'],
  ],
  [
    'rounding acts on the sum of the period, not on each hour',
    {
      product: KIBI(rounding('ROUND_UP', 0)),
      rates: [rate(flat('7'))],
      usage: used([1, '1'], [2, '2'], [3, '1024'], [4, '1025']),
    },
    ['h0-48 2 @ 7 = 14'],
  ],
  [
    'ROUND_DOWN to nothing shows one zero line',
    { product: KIBI(rounding('ROUND_DOWN', 0)), rates: [rate(flat('7'))], usage: used([1, '1023']) },
    ['h0-48 0 @ 7 = 0'],
  ],
  [
    'ROUND_HALF_UP to two places',
    { product: KIBI(rounding('ROUND_HALF_UP', 2)), rates: [rate(flat('100'))], usage: used([1, '1029.12']) },
    // 1029.12 / 1024 = 1.005
    ['h0-48 1.01 @ 100 = 101'],
  ],
  [
    'a quotient without rounding keeps all its digits',
    { product: KIBI(null), rates: [rate(flat('1'))], usage: used([1, '1']) },
    ['h0-48 0.0009765625 @ 1 = 0.0009765625'],
  ],
  [
    'a repeating quotient keeps 20 decimal places, half up',
    {
      product: product(version({ quantityConversion: conversion('DIVIDE', '3') })),
      rates: [rate(flat('3'))],
      usage: used([1, '2']),
    },
    ['h0-48 0.66666666666666666667 @ 3 = 2.00000000000000000001'],
  ],
  [
    'MULTIPLY before tiers',
    {
      product: product(version({ quantityConversion: conversion('MULTIPLY', '2.5') })),
      rates: [rate(STEPPED)],
      usage: used([1, '4'], [2, '5']),
    },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 2.5 @ 3 = 7.5'],
  ],
  [
    'a value that falls back within its tier is billed as it ends',
    { rates: [rate(STEPPED)], usage: used([1, '8'], [2, '3']) },
    ['h0-48 L1 3 @ 5 = 15'],
  ],
  [
    'a value that falls out of a tier leaves a line of 0 there',
    { rates: [rate(STEPPED)], usage: used([1, '15'], [2, '4']) },
    ['h0-48 L1 4 @ 5 = 20', 'h0-48 L2 0 @ 3 = 0'],
  ],
  [
    'a sum below 0 is a negative amount at the price of tier 1',
    { rates: [rate(STEPPED)], usage: used([1, '-6'], [2, '-4']) },
    ['h0-48 L1 -4 @ 5 = -20'],
  ],
  [
    'from below 0 up into tier 2',
    { rates: [rate(STEPPED)], usage: used([1, '-2'], [2, '12']) },
    ['h0-48 L1 10 @ 5 = 50', 'h0-48 L2 2 @ 3 = 6'],
  ],
  [
    'a rate change splits the line',
    {
      rates: [rate(flat('2')), rate(flat('3'), { startingAt: hour(24) })],
      usage: used([24, '10'], [25, '14']),
    },
    ['h0-24 10 @ 2 = 20', 'h24-48 4 @ 3 = 12'],
  ],
  [
    'a rate change does not reset tiers',
    {
      rates: [rate(STEPPED), rate(tiers(['12', '50'], [null, '10']), { startingAt: hour(24) })],
      usage: used([10, '9'], [30, '14']),
    },
    ['h0-24 L1 9 @ 5 = 45', 'h24-48 L1 3 @ 50 = 150', 'h24-48 L2 2 @ 10 = 20'],
  ],
  [
    'a decrease has the price of the segment in which it happens',
    {
      rates: [rate(flat('2')), rate(flat('3'), { startingAt: hour(24) })],
      usage: used([5, '10'], [30, '6']),
    },
    ['h0-24 10 @ 2 = 20', 'h24-48 -4 @ 3 = -12'],
  ],
  [
    'a decrease after a rate change walks down the new tiers',
    {
      rates: [rate(STEPPED), rate(tiers(['5', '100'], [null, '10']), { startingAt: hour(24) })],
      usage: used([5, '12'], [30, '3']),
    },
    ['h0-24 L1 10 @ 5 = 50', 'h0-24 L2 2 @ 3 = 6', 'h24-48 L1 -2 @ 100 = -200', 'h24-48 L2 -7 @ 10 = -70'],
  ],
  [
    'the same price added again does not split the line',
    {
      rates: [rate(flat('2')), rate(flat('2.0'), { startingAt: hour(24) })],
      usage: used([5, '1'], [30, '3']),
    },
    ['h0-48 3 @ 2 = 6'],
  ],
  [
    'a part without entitlement is not billed',
    {
      rates: [
        rate(flat('2')),
        rate(flat('2'), { startingAt: hour(12), endingBefore: hour(24), entitled: false }),
      ],
      usage: used([5, '1'], [20, '4'], [30, '9']),
    },
    ['h0-12 1 @ 2 = 2', 'h24-48 5 @ 2 = 10'],
  ],
  [
    'usage without entitlement moves the tier counter on',
    {
      rates: [rate(STEPPED, { entitled: false }), rate(STEPPED, { startingAt: hour(24) })],
      usage: used([5, '8'], [30, '13']),
    },
    ['h24-48 L1 2 @ 5 = 10', 'h24-48 L2 3 @ 3 = 9'],
  ],
  [
    'never entitled: no line at all',
    { rates: [rate(flat('2'), { entitled: false })], usage: used([5, '1']) },
    [],
  ],
  ['no rate in the period: no line', { rates: [rate(flat('2'), { startingAt: hour(48) })] }, []],
];

describe('one product without group keys: lines worked out by hand', () => {
  test.each(PRICING)('%s', (_, input, lines) =>
    expect(rateCase(input).lines.map(describeLine)).toEqual(lines),
  );
});
