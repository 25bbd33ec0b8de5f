import { describe, expect, test } from 'vitest';
import type { QuantityConversion } from '../../../../src/core/catalogue.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import {
  type Case,
  describeLine,
  flat,
  grouped,
  hour,
  METRIC,
  OTHER_METRIC,
  PERIOD,
  product,
  rate,
  rateCase,
  series,
  tiers,
  version,
} from '../fixtures.ts';

const STEPPED = tiers(['10', '5'], ['20', '3'], [null, '1']);

function conversion(operation: 'MULTIPLY' | 'DIVIDE', factor: string): QuantityConversion {
  return { name: null, operation, conversionFactor: decimal(factor) };
}

function used(...steps: [number, string][]) {
  return { [METRIC]: [series(...steps)] };
}

const MODEL = product(version({ pricingGroupKey: ['model'] }));
const MODEL_BY_REGION = product(version({ pricingGroupKey: ['model'], presentationGroupKey: ['region'] }));

/** [what it shows, the case, its lines worked out by hand] */
const DIMENSIONAL: [string, Case, string[]][] = [
  [
    'each combination has its own rate and line',
    {
      product: MODEL,
      rates: [
        rate(flat('2'), { pricingGroupValues: { model: 'small' } }),
        rate(flat('9'), { pricingGroupValues: { model: 'large' } }),
      ],
      usage: { [METRIC]: [grouped({ model: 'small' }, [1, '3']), grouped({ model: 'large' }, [1, '1'])] },
    },
    ['h0-48 model=large 1 @ 9 = 9', 'h0-48 model=small 3 @ 2 = 6'],
  ],
  [
    'a combination without an entry of its own has the rate without values',
    {
      product: MODEL,
      rates: [rate(flat('2'), { pricingGroupValues: { model: 'small' } }), rate(flat('4'))],
      usage: { [METRIC]: [grouped({ model: 'small' }, [1, '3']), grouped({ model: 'new' }, [1, '1'])] },
    },
    ['h0-48 model=new 1 @ 4 = 4', 'h0-48 model=small 3 @ 2 = 6'],
  ],
  [
    'the rate without values steps in while the entry is not in force',
    {
      product: MODEL,
      rates: [
        rate(flat('2'), { pricingGroupValues: { model: 'small' }, startingAt: hour(24) }),
        rate(flat('4'), { endingBefore: hour(48) }),
      ],
      usage: { [METRIC]: [grouped({ model: 'small' }, [1, '3'], [30, '5'])] },
    },
    ['h0-24 model=small 3 @ 4 = 12', 'h24-48 model=small 2 @ 2 = 4'],
  ],
  [
    'values are compared exactly',
    {
      product: MODEL,
      rates: [rate(flat('2'), { pricingGroupValues: { model: 'Small' } })],
      usage: { [METRIC]: [grouped({ model: 'small' }, [1, '3'])] },
    },
    [],
  ],
  [
    'an entry that is not entitled does not fall back',
    {
      product: MODEL,
      rates: [rate(flat('2'), { pricingGroupValues: { model: 'small' }, entitled: false }), rate(flat('4'))],
      usage: { [METRIC]: [grouped({ model: 'small' }, [1, '3'])] },
    },
    [],
  ],
  ['a combination without usage has no line', { product: MODEL, rates: [rate(flat('2'))] }, []],
  [
    'presentation values have separate lines and tier counters at the same price',
    {
      product: MODEL_BY_REGION,
      rates: [rate(STEPPED, { pricingGroupValues: { model: 'm' } })],
      usage: {
        [METRIC]: [
          grouped({ model: 'm', region: 'us' }, [1, '8']),
          grouped({ model: 'm', region: 'eu' }, [1, '11']),
        ],
      },
    },
    [
      'h0-48 model=m region=eu L1 10 @ 5 = 50',
      'h0-48 model=m region=eu L2 1 @ 3 = 3',
      'h0-48 model=m region=us L1 8 @ 5 = 40',
    ],
  ],
  [
    'a property may be pricing and presentation key at once',
    {
      product: product(version({ pricingGroupKey: ['model'], presentationGroupKey: ['model'] })),
      rates: [rate(flat('2'), { pricingGroupValues: { model: 'm' } })],
      usage: { [METRIC]: [grouped({ model: 'm' }, [1, '8'])] },
    },
    ['h0-48 model=m 8 @ 2 = 16'],
  ],
];

const VERSIONS: [string, Case, string[]][] = [
  [
    'a metric swap continues the counter: V(t) = B(t) + A(s) - B(s)',
    {
      product: product(version(), version({ startingAt: hour(24), billableMetricId: OTHER_METRIC })),
      rates: [rate(STEPPED)],
      usage: {
        [METRIC]: [series([5, '8'], [30, '500'])],
        [OTHER_METRIC]: [series([5, '100'], [24, '101'], [30, '106'])],
      },
    },
    ['h0-24 L1 8 @ 5 = 40', 'h24-48 L1 2 @ 5 = 10', 'h24-48 L2 3 @ 3 = 9'],
  ],
  [
    'new group keys restart the counter and rate only their own part',
    {
      product: product(version(), version({ startingAt: hour(24), pricingGroupKey: ['model'] })),
      rates: [rate(STEPPED)],
      usage: { [METRIC]: [series([5, '12'], [30, '25']), grouped({ model: 'm' }, [5, '12'], [30, '25'])] },
    },
    [
      'h0-24 L1 10 @ 5 = 50',
      'h0-24 L2 2 @ 3 = 6',
      'h24-48 model=m L1 10 @ 5 = 50',
      'h24-48 model=m L2 3 @ 3 = 9',
    ],
  ],
  [
    'a new conversion applies to what follows; the counter goes on',
    {
      product: product(
        version(),
        version({ startingAt: hour(24), quantityConversion: conversion('MULTIPLY', '2') }),
      ),
      rates: [rate(STEPPED)],
      usage: used([5, '8'], [30, '10']),
    },
    ['h0-24 L1 8 @ 5 = 40', 'h24-48 L1 2 @ 5 = 10', 'h24-48 L2 2 @ 3 = 6'],
  ],
  [
    'a new name or tag does not split the line',
    {
      product: product(version(), version({ startingAt: hour(24), name: 'Words', tags: ['llm'] })),
      rates: [rate(flat('2'))],
      usage: used([5, '8'], [30, '10']),
    },
    ['h0-48 10 @ 2 = 20'],
  ],
  [
    'without usage, one zero line across changes of the metric',
    {
      product: product(version(), version({ startingAt: hour(24), billableMetricId: OTHER_METRIC })),
      rates: [rate(flat('2'))],
    },
    ['h24-48 0 @ 2 = 0'],
  ],
];

describe('group keys and versions: lines worked out by hand', () => {
  test.each(DIMENSIONAL)('%s', (_, input, lines) =>
    expect(rateCase(input).lines.map(describeLine)).toEqual(lines),
  );
  test.each(VERSIONS)('%s', (_, input, lines) =>
    expect(rateCase(input).lines.map(describeLine)).toEqual(lines),
  );
});

describe('a line', () => {
  test('a line carries the name of the version valid at its end', () => {
    const renamed = product(
      version({ name: 'Old' }),
      version({ startingAt: hour(24), name: 'New' }),
      version({ startingAt: hour(48), name: 'Later' }),
    );
    const rates = [rate(flat('2')), rate(flat('3'), { startingAt: hour(24) })];
    const { lines } = rateCase({ product: renamed, rates, usage: used([5, '1'], [30, '2']) });
    expect(lines.map(({ name }) => name)).toEqual(['Old', 'New']);
  });

  test('a line repeats level, lower bound and size of its tier', () => {
    const { lines } = rateCase({ rates: [rate(STEPPED)], usage: used([1, '31']) });
    expect(lines.map(({ tier }) => [tier?.level, String(tier?.startingAt), String(tier?.size)])).toEqual([
      [1, '0', '10'],
      [2, '10', '20'],
      [3, '30', 'null'],
    ]);
  });

  test('a line has no tier at a flat price', () => {
    expect(rateCase({ rates: [rate(flat('2'))] }).lines[0]?.tier).toBeNull();
  });

  test('a line shows each hour at the tier it reached, and gives back from the top', () => {
    const { lines } = rateCase({ rates: [rate(STEPPED)], usage: used([1, '8'], [3, '12'], [48, '9']) });
    const windows = lines.map((line) =>
      line.windows.map(({ window, quantity, total }) => [window.end, String(quantity), String(total)]),
    );
    expect(windows).toEqual([
      [
        [hour(1), '8', '40'],
        [hour(3), '2', '10'],
        [hour(48), '-1', '-5'],
      ],
      [
        [hour(3), '2', '6'],
        [hour(48), '-2', '-6'],
      ],
    ]);
  });
});

describe('unpriced usage', () => {
  test('unpriced usage is reported with its values, hours and quantity, and gives no line', () => {
    const { lines, warnings } = rateCase({
      product: MODEL,
      rates: [rate(flat('2'), { pricingGroupValues: { model: 'm' }, startingAt: hour(24) })],
      usage: { [METRIC]: [grouped({ model: 'm' }, [5, '3'], [30, '4']), grouped({ model: 'n' }, [30, '7'])] },
    });
    expect(lines.map(describeLine)).toEqual(['h24-48 model=m 1 @ 2 = 2']);
    expect(warnings.map((w) => [w.kind, w.pricingGroupValues, w.interval, String(w.quantity)])).toEqual([
      ['unpriced_usage', { model: 'm' }, { start: hour(0), end: hour(24) }, '3'],
      ['unpriced_usage', { model: 'n' }, PERIOD, '7'],
    ]);
  });

  test('unpriced usage is not reported where nothing was used or the product is not entitled', () => {
    const rates = [rate(flat('2'), { entitled: false, startingAt: hour(24) })];
    expect(rateCase({ rates, usage: used([30, '5']) }).warnings).toEqual([]);
  });
});

describe('a contradictory input', () => {
  test('steps outside the period throw', () => {
    expect(() => rateCase({ rates: [rate(flat('1'))], usage: used([49, '5']) })).toThrow(/steps ascend/);
  });

  test('two series for the same group throw', () => {
    const usage = { [METRIC]: [series([1, '1']), series([2, '1'])] };
    expect(() => rateCase({ rates: [rate(flat('1'))], usage })).toThrow(/one series/);
  });
});
