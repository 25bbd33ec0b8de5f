/** Composite products, worked out by hand. Usage products cost 1 a unit unless given: quantities are amounts. */
import { describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import { lineIdParts } from '../../../../src/rating/invoices/rate-usage.ts';
import { flat, hour, rate, version } from '../fixtures.ts';
import {
  COINS,
  composite,
  compositeLines,
  compositeWindows,
  counts,
  type InvoiceGiven,
  percent,
  rateGiven,
  tieredPercent,
} from './fixtures.ts';
import { overrideOf } from './override.ts';

type Row = readonly [name: string, given: InvoiceGiven, expected: readonly string[]];

const A: InvoiceGiven['used'] = {
  a: {
    steps: [
      [3, '100'],
      [30, '140'],
    ],
  },
};
const A_AND_B: InvoiceGiven['used'] = {
  a: { steps: [[3, '100']], tags: ['ai'] },
  b: { steps: [[5, '50']], tags: ['db'] },
};

const PERCENTAGES: readonly Row[] = [
  [
    'a percentage of a product by id',
    { used: A_AND_B, composites: { support: composite(counts(['a']), percent('0.1')) } },
    ['support: h0-48 100 @ 0.1 = 10'],
  ],
  [
    'a percentage of products by tag',
    {
      used: A_AND_B,
      composites: { support: composite(counts([], { compositeTags: ['ai', 'db'] }), percent('0.1')) },
    },
    ['support: h0-48 150 @ 0.1 = 15'],
  ],
  [
    'a product that is named and tagged counts once',
    {
      used: A_AND_B,
      composites: { support: composite(counts(['a'], { compositeTags: ['ai'] }), percent('0.1')) },
    },
    ['support: h0-48 100 @ 0.1 = 10'],
  ],
  [
    'more than 100 %',
    { used: A, composites: { support: composite(counts(['a']), percent('1.5')) } },
    ['support: h0-48 140 @ 1.5 = 210'],
  ],
  [
    'a composite of a product that is not on the invoice has no line',
    { used: A, composites: { support: composite(counts(['unknown']), percent('0.1')) } },
    [],
  ],
  [
    'a composite of a product that was not used has one zero line, in its last segment',
    {
      used: { a: { steps: [] } },
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [rate(percent('0.1')), rate(percent('0.2'), { startingAt: hour(10) })],
        },
      },
    },
    ['support: h10-48 0 @ 0.2 = 0'],
  ],
  [
    'a zero line is in the unit of what is counted',
    {
      used: { a: { steps: [], unit: COINS } },
      composites: { support: composite(counts(['a']), percent('0.1')) },
    },
    ['support: h0-48 0 @ 0.1 = 0 coins'],
  ],
  [
    'spend that falls below zero',
    {
      used: {
        a: {
          steps: [
            [3, '100'],
            [7, '-20'],
          ],
        },
      },
      composites: { support: composite(counts(['a']), percent('0.1')) },
    },
    ['support: h0-48 -20 @ 0.1 = -2'],
  ],
  [
    'one line for each pricing unit',
    {
      used: { a: { steps: [[3, '100']], unit: COINS }, b: { steps: [[4, '10']] } },
      composites: { support: composite(counts(['a', 'b']), percent('0.1')) },
    },
    ['support: h0-48 100 @ 0.1 = 10 coins', 'support: h0-48 10 @ 0.1 = 1'],
  ],
  [
    'a composite without a rate has no line',
    { used: A, composites: { support: { versions: [counts(['a'])], rates: [] } } },
    [],
  ],
  [
    'only the entitled time is charged',
    {
      used: A,
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [rate(percent('0.1')), rate(percent('0.1'), { startingAt: hour(10), entitled: false })],
        },
      },
    },
    ['support: h0-10 100 @ 0.1 = 10'],
  ],
  [
    'a new rate starts a new line',
    {
      used: A,
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [rate(percent('0.1')), rate(percent('0.2'), { startingAt: hour(10) })],
        },
      },
    },
    ['support: h0-10 100 @ 0.1 = 10', 'support: h10-48 40 @ 0.2 = 8'],
  ],
  [
    'the same rate again starts none',
    {
      used: A,
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [rate(percent('0.1')), rate(percent('0.1'), { startingAt: hour(10) })],
        },
      },
    },
    ['support: h0-48 140 @ 0.1 = 14'],
  ],
  [
    'a version that counts something else starts a new line; a new name starts none',
    {
      used: {
        ...A_AND_B,
        b: {
          steps: [
            [5, '50'],
            [40, '60'],
          ],
        },
      },
      composites: {
        support: {
          versions: [
            counts(['a']),
            counts(['b'], { fromHour: 5 }),
            counts(['b'], { fromHour: 20, name: 'Help' }),
          ],
          rates: [rate(percent('0.1'))],
        },
      },
    },
    // The 50 of b are spent in the hour before the version starts.
    ['support: h0-5 100 @ 0.1 = 10', 'Help: h5-48 10 @ 0.1 = 1'],
  ],
  [
    'a product counts while it has the tag',
    {
      used: {
        a: {
          steps: [
            [3, '100'],
            [30, '140'],
          ],
          versions: [
            version({ name: 'a', billableMetricId: 'a' }),
            version({ name: 'a', billableMetricId: 'a', tags: ['ai'], startingAt: hour(10) }),
          ],
        },
      },
      composites: { support: composite(counts([], { compositeTags: ['ai'] }), percent('0.1')) },
    },
    ['support: h0-48 40 @ 0.1 = 4'],
  ],
];

const TIERS: readonly Row[] = [
  [
    'each tier that was reached is a line',
    {
      used: A,
      composites: {
        support: composite(
          counts(['a']),
          tieredPercent([
            ['60', '0.1'],
            ['60', '0.05'],
            [null, '0.01'],
          ]),
        ),
      },
    },
    [
      'support: h0-48 L1 60 @ 0.1 = 6',
      'support: h0-48 L2 60 @ 0.05 = 3',
      'support: h0-48 L3 20 @ 0.01 = 0.2',
    ],
  ],
  [
    'a tier that was reached and left again keeps its line',
    {
      used: {
        a: {
          steps: [
            [3, '50'],
            [4, '80'],
            [9, '40'],
          ],
        },
      },
      composites: {
        support: composite(
          counts(['a']),
          tieredPercent([
            ['60', '0.1'],
            [null, '0.05'],
          ]),
        ),
      },
    },
    ['support: h0-48 L1 40 @ 0.1 = 4', 'support: h0-48 L2 0 @ 0.05 = 0'],
  ],
  [
    'within an hour only the sum counts',
    {
      used: {
        a: {
          steps: [
            [3, '50'],
            [4, '80'],
          ],
        },
        b: { steps: [[4, '-40']] },
      },
      composites: {
        support: composite(
          counts(['a', 'b']),
          tieredPercent([
            ['60', '0.1'],
            [null, '0.05'],
          ]),
        ),
      },
    },
    ['support: h0-48 L1 40 @ 0.1 = 4'],
  ],
  [
    'a new rate goes on from the amount so far',
    {
      used: A,
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [
            rate(percent('0.1')),
            rate(
              tieredPercent([
                ['120', '0.2'],
                [null, '0.5'],
              ]),
              { startingAt: hour(10) },
            ),
          ],
        },
      },
    },
    ['support: h0-10 100 @ 0.1 = 10', 'support: h10-48 L1 20 @ 0.2 = 4', 'support: h10-48 L2 20 @ 0.5 = 10'],
  ],
  [
    'what is spent without entitlement counts towards tiers',
    {
      used: A,
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [
            rate(percent('0.1'), { entitled: false }),
            rate(
              tieredPercent([
                ['120', '0.2'],
                [null, '0.5'],
              ]),
              { startingAt: hour(10) },
            ),
          ],
        },
      },
    },
    ['support: h10-48 L1 20 @ 0.2 = 4', 'support: h10-48 L2 20 @ 0.5 = 10'],
  ],
  [
    'tiers count in each pricing unit by itself',
    {
      used: { a: { steps: [[3, '100']], unit: COINS }, b: { steps: [[4, '70']] } },
      composites: {
        support: composite(
          counts(['a', 'b']),
          tieredPercent([
            ['60', '0.1'],
            [null, '0.05'],
          ]),
        ),
      },
    },
    [
      'support: h0-48 L1 60 @ 0.1 = 6 coins',
      'support: h0-48 L2 40 @ 0.05 = 2 coins',
      'support: h0-48 L1 60 @ 0.1 = 6',
      'support: h0-48 L2 10 @ 0.05 = 0.5',
    ],
  ],
];

const NESTED: readonly Row[] = [
  [
    'a composite counts other composites only if it opts in',
    {
      used: A,
      composites: {
        all: composite(counts(['a', 'support']), percent('0.5')),
        support: composite(counts(['a']), percent('0.1')),
      },
    },
    ['all: h0-48 140 @ 0.5 = 70', 'support: h0-48 140 @ 0.1 = 14'],
  ],
  [
    'three levels, in whatever order they are given',
    {
      used: A,
      composites: {
        top: composite(counts(['middle'], { includeCompositeSpend: true }), percent('2')),
        middle: composite(counts(['a', 'bottom'], { includeCompositeSpend: true }), percent('0.5')),
        bottom: composite(counts(['a']), percent('0.1')),
      },
    },
    ['bottom: h0-48 140 @ 0.1 = 14', 'middle: h0-48 154 @ 0.5 = 77', 'top: h0-48 77 @ 2 = 154'],
  ],
  [
    'two that count each other, one after the other',
    {
      used: A,
      composites: {
        one: {
          versions: [
            counts(['a', 'two'], { includeCompositeSpend: true }),
            counts(['a'], { includeCompositeSpend: true, fromHour: 10 }),
          ],
          rates: [rate(percent('0.1'))],
        },
        two: {
          versions: [
            counts(['a'], { includeCompositeSpend: true }),
            counts(['a', 'one'], { includeCompositeSpend: true, fromHour: 10 }),
          ],
          rates: [rate(percent('0.2'))],
        },
      },
    },
    [
      // 100 and 20 % of them; then 40.
      'one: h0-10 120 @ 0.1 = 12',
      'one: h10-48 40 @ 0.1 = 4',
      'two: h0-10 100 @ 0.2 = 20',
      'two: h10-48 44 @ 0.2 = 8.8',
    ],
  ],
  [
    'the minimum of a composite counts too',
    {
      used: A,
      composites: {
        all: composite(counts(['support'], { includeCompositeSpend: true }), percent('0.5')),
        support: composite(counts(['a']), percent('0.1', '20')),
      },
    },
    ['all: h0-48 20 @ 0.5 = 10', 'support: h0-48 140 @ 0.1 = 14', 'support: minimum h0-48 1 @ 6 = 6'],
  ],
];

const MINIMUMS: readonly Row[] = [
  [
    'a minimum that is reached adds nothing',
    { used: A, composites: { support: composite(counts(['a']), percent('0.1', '14')) } },
    ['support: h0-48 140 @ 0.1 = 14'],
  ],
  [
    'a minimum that is not reached adds the difference',
    { used: A, composites: { support: composite(counts(['a']), percent('0.1', '14.5')) } },
    ['support: h0-48 140 @ 0.1 = 14', 'support: minimum h0-48 1 @ 0.5 = 0.5'],
  ],
  [
    'a minimum of tiers',
    {
      used: A,
      composites: {
        support: composite(
          counts(['a']),
          tieredPercent(
            [
              ['100', '0.1'],
              [null, '0'],
            ],
            '12',
          ),
        ),
      },
    },
    ['support: h0-48 L1 100 @ 0.1 = 10', 'support: h0-48 L2 40 @ 0 = 0', 'support: minimum h0-48 1 @ 2 = 2'],
  ],
  [
    'a minimum is charged where nothing was used',
    { used: { a: { steps: [] } }, composites: { support: composite(counts(['a']), percent('0.1', '5')) } },
    ['support: minimum h0-48 1 @ 5 = 5'],
  ],
  [
    'a minimum raises negative percentages too',
    {
      used: { a: { steps: [[3, '-30']] } },
      composites: { support: composite(counts(['a']), percent('0.1', '5')) },
    },
    ['support: h0-48 -30 @ 0.1 = -3', 'support: minimum h0-48 1 @ 8 = 8'],
  ],
  [
    'a minimum is in the currency and compares with percentages of custom units by their worth',
    {
      used: { a: { steps: [[3, '100']], unit: COINS }, b: { steps: [[4, '10']] } },
      composites: { support: composite(counts(['a', 'b']), percent('0.1', '30')) },
    },
    // 10 coins at 2.5, and 1.
    [
      'support: h0-48 100 @ 0.1 = 10 coins',
      'support: h0-48 10 @ 0.1 = 1',
      'support: minimum h0-48 1 @ 4 = 4',
    ],
  ],
  [
    'one minimum a billing period, that of the last rate',
    {
      used: A,
      composites: {
        support: {
          versions: [counts(['a'])],
          rates: [
            rate(percent('0.1', '1000')),
            rate(percent('0.2', '20'), { startingAt: hour(10), endingBefore: hour(40) }),
            rate(percent('0.9', '500'), { startingAt: hour(40), entitled: false }),
          ],
        },
      },
    },
    ['support: h0-10 100 @ 0.1 = 10', 'support: h10-40 40 @ 0.2 = 8', 'support: minimum h10-40 1 @ 2 = 2'],
  ],
];

const FREE: readonly Row[] = [
  [
    'free usage is in the base: a minimum is charged',
    {
      used: { a: { steps: [[3, '100']], rate: flat('0') } },
      composites: { support: composite(counts(['a']), percent('0.1', '5')) },
    },
    ['support: minimum h0-48 1 @ 5 = 5'],
  ],
  [
    'free usage is left out: nothing is there to charge, and no minimum',
    {
      used: { a: { steps: [[3, '100']], rate: flat('0') } },
      composites: { support: composite(counts(['a'], { excludeFreeUsage: true }), percent('0.1', '5')) },
    },
    [],
  ],
  [
    'charges that cancel out are in the base',
    {
      used: {
        a: {
          steps: [
            [3, '100'],
            [9, '0'],
          ],
        },
        b: { steps: [[4, '10']] },
      },
      composites: {
        support: composite(
          counts(['a', 'b']),
          tieredPercent([
            ['50', '0.1'],
            [null, '0.5'],
          ]),
        ),
      },
    },
    ['support: h0-48 L1 10 @ 0.1 = 1', 'support: h0-48 L2 0 @ 0.5 = 0'],
  ],
  [
    'charges that cancel out are free, and left out',
    {
      used: {
        a: {
          steps: [
            [3, '100'],
            [9, '0'],
          ],
        },
        b: { steps: [[4, '10']] },
      },
      composites: {
        support: composite(
          counts(['a', 'b'], { excludeFreeUsage: true }),
          tieredPercent(
            [
              ['50', '0.1'],
              [null, '0.5'],
            ],
            '5',
          ),
        ),
      },
    },
    ['support: h0-48 L1 10 @ 0.1 = 1', 'support: minimum h0-48 1 @ 4 = 4'],
  ],
];

const OVERRIDES: readonly Row[] = [
  [
    'a multiplier without a target changes the base and the percentage',
    {
      used: A,
      composites: { support: composite(counts(['a']), percent('0.1')) },
      overrides: [overrideOf({ type: 'MULTIPLIER', multiplier: decimal('0.5') })],
    },
    ['support: h0-48 70 @ 0.05 = 3.5'],
  ],
  [
    'a multiplier of the composite changes its percentage, and not its minimum',
    {
      used: A,
      composites: { support: composite(counts(['a']), percent('0.1', '10')) },
      overrides: [overrideOf({ type: 'MULTIPLIER', multiplier: decimal('0.5'), productId: 'support' })],
    },
    ['support: h0-48 140 @ 0.05 = 7', 'support: minimum h0-48 1 @ 3 = 3'],
  ],
  [
    'an OVERWRITE for a time, in the unit of what it counts',
    {
      used: A,
      composites: { support: composite(counts(['a']), percent('0.1')) },
      overrides: [
        overrideOf({
          type: 'OVERWRITE',
          productId: 'support',
          startingAt: hour(10),
          overwriteRate: { rate: percent('1'), creditTypeId: COINS },
        }),
      ],
    },
    ['support: h0-10 100 @ 0.1 = 10', 'support: h10-48 40 @ 1 = 40'],
  ],
  [
    'a TIERED override splits the percentage by the amount',
    {
      used: A,
      composites: { support: composite(counts(['a']), percent('0.1')) },
      prioritization: 'EXPLICIT',
      overrides: [
        overrideOf({
          type: 'TIERED',
          productId: 'support',
          priority: decimal('1'),
          tiers: [{ size: decimal('110'), multiplier: decimal('2') }],
        }),
      ],
    },
    ['support: h0-48 L1 110 @ 0.2 = 22', 'support: h0-48 L2 30 @ 0.1 = 3'],
  ],
  [
    'an override that ends the entitlement',
    {
      used: A,
      composites: { support: composite(counts(['a']), percent('0.1')) },
      overrides: [overrideOf({ productId: 'support', startingAt: hour(10), entitled: false })],
    },
    ['support: h0-10 100 @ 0.1 = 10'],
  ],
  [
    'usage that is not entitled is no spend',
    {
      used: A_AND_B,
      composites: { support: composite(counts(['a', 'b']), percent('0.1')) },
      overrides: [overrideOf({ productId: 'a', entitled: false })],
    },
    ['support: h0-48 50 @ 0.1 = 5'],
  ],
];

describe.each([
  ['percentages', PERCENTAGES],
  ['tiers', TIERS],
  ['nested composites', NESTED],
  ['minimums', MINIMUMS],
  ['free usage', FREE],
  ['overrides', OVERRIDES],
] as const)('%s', (_, rows) => {
  test.each(rows)('%s', (_name, given, expected) => {
    expect(compositeLines(given)).toEqual(expected);
  });

  test.each(rows)('%s: the same lines whatever windows are asked for', (_name, given, expected) => {
    expect(compositeLines({ ...given, windows: 'day' })).toEqual(expected);
    expect(compositeLines({ ...given, windows: 'period' })).toEqual(expected);
  });
});

describe('windows', () => {
  test('tiers fill in the order of time, hour by hour', () => {
    const tiered = tieredPercent([
      ['60', '0.1'],
      [null, '0.05'],
    ]);
    const given = {
      used: {
        a: {
          steps: [
            [3, '50'],
            [4, '80'],
            [9, '40'],
          ],
        },
      },
      composites: { support: composite(counts(['a']), tiered) },
    } as const satisfies InvoiceGiven;
    expect(compositeWindows(given, 'support')).toEqual([
      // Tier 1, then tier 2.
      'h2 50 = 5',
      'h3 10 = 1',
      'h8 -20 = -2',
      'h3 20 = 1',
      'h8 -20 = -1',
    ]);
  });

  test('a minimum stands in the last hour of the last rate', () => {
    const rates = [rate(percent('0.1', '20'), { endingBefore: hour(40) })];
    const given = { used: A, composites: { support: { versions: [counts(['a'])], rates } } };
    expect(compositeWindows(given, 'support')).toEqual(['h2 100 = 10', 'h29 40 = 4', 'h39 1 = 6']);
  });
});

describe('a billing period on two invoices', () => {
  const tiered = tieredPercent(
    [
      ['120', '0.1'],
      [null, '0.5'],
    ],
    '30',
  );
  const composites = { support: composite(counts(['a']), tiered) };

  test('the second one continues in the tiers, and takes back what the first charged for the minimum', () => {
    const first = compositeLines({ used: A, composites, billedUntil: 20 });
    expect(first).toEqual(['support: h0-20 L1 100 @ 0.1 = 10', 'support: minimum h0-20 1 @ 20 = 20']);
    const second = compositeLines({ used: A, composites, billedFrom: 20 });
    // 22 in all, so the minimum adds 8 of 20.
    expect(second).toEqual([
      'support: h20-48 L1 20 @ 0.1 = 2',
      'support: h20-48 L2 20 @ 0.5 = 10',
      'support: minimum h20-48 1 @ -12 = -12',
    ]);
  });
});

test('composites stand where the rate card has them, with separate identities', () => {
  const { lines } = rateGiven({
    used: { a: { steps: [[3, '100']] }, b: { steps: [[4, '10']], unit: COINS } },
    composites: { support: composite(counts(['a', 'b']), percent('0.1', '100')) },
    productOrder: ['b', 'support', 'a'],
  });
  expect(lines.map(({ productId, type, creditTypeId }) => [productId, type, creditTypeId])).toEqual([
    ['b', 'usage', COINS],
    ['support', 'usage', COINS],
    ['support', 'usage', USD_CENTS.id],
    ['support', 'minimum', USD_CENTS.id],
    ['a', 'usage', USD_CENTS.id],
  ]);
  expect(new Set(lines.map((line) => lineIdParts(line).join('|'))).size).toBe(lines.length);
  const ofComposite = lines.filter(({ productId }) => productId === 'support');
  expect(ofComposite.map(({ productType }) => productType)).toEqual(['COMPOSITE', 'COMPOSITE', 'COMPOSITE']);
});
