/**
 * The parts that balances pay for, and their lines, worked out by hand. Two days; a price of 10 unless said otherwise.
 */
import { describe, expect, test } from 'vitest';
import type { UsageRate } from '../../../../src/core/catalogue.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { OverrideSpecifier } from '../../../../src/core/terms/overrides.ts';
import { overrideOf } from '../composites/override.ts';
import { flat, grouped, hour, rate, tiers, version } from '../fixtures.ts';
import { COINS, type Drawn, drawn, GEMS, type InvoiceGiven, simple } from './drawn-invoice.ts';

/** [what it shows, the invoice, its lines, what is due, what is taken] */
type Row = [string, InvoiceGiven, string[], string, Drawn['taken']];

const TEN = () => rate(flat('10'));
const DISCOUNTED = () => rate(flat('10'), { commitRate: flat('8') as UsageRate });
const TOKENS = { Tokens: simple(TEN(), [1, '4'], [30, '6']) };

const SPLITS: Row[] = [
  [
    'a balance covers everything',
    { used: TOKENS, balances: { A: { left: '100' } } },
    ['Tokens h0-48 6 @ 10 = 60 by A', 'A applied h0-48 = -60'],
    '0',
    { A: '60' },
  ],
  [
    'a balance runs out in the middle of an hour: covered, applied, rest',
    { used: TOKENS, balances: { A: { left: '45' } } },
    ['Tokens h0-48 4.5 @ 10 = 45 by A', 'A applied h0-48 = -45', 'Tokens h0-48 1.5 @ 10 = 15'],
    '15',
    { A: '45' },
  ],
  [
    'two balances pay one after the other, each with its pair of lines',
    { used: TOKENS, balances: { A: { left: '5' }, B: { left: '30' } } },
    [
      ...['Tokens h0-48 0.5 @ 10 = 5 by A', 'A applied h0-48 = -5'],
      ...['Tokens h0-48 3 @ 10 = 30 by B', 'B applied h0-48 = -30'],
      'Tokens h0-48 2.5 @ 10 = 25',
    ],
    '25',
    { A: '5', B: '30' },
  ],
  [
    'a balance that ends pays for the usage until then, and the line is cut there',
    { used: TOKENS, balances: { A: { left: '100', until: 24 } } },
    ['Tokens h0-24 4 @ 10 = 40 by A', 'A applied h0-24 = -40', 'Tokens h24-48 2 @ 10 = 20'],
    '20',
    { A: '40' },
  ],
  [
    'a balance that begins pays for the usage from then on',
    { used: TOKENS, balances: { A: { left: '100', from: 24 } } },
    ['Tokens h0-24 4 @ 10 = 40', 'Tokens h24-48 2 @ 10 = 20 by A', 'A applied h24-48 = -20'],
    '40',
    { A: '20' },
  ],
  [
    'a line is not cut where a balance ends that was used up before',
    { used: TOKENS, balances: { A: { left: '40', until: 24 } } },
    ['Tokens h0-48 4 @ 10 = 40 by A', 'A applied h0-48 = -40', 'Tokens h0-48 2 @ 10 = 20'],
    '20',
    { A: '40' },
  ],
  [
    'what a balance has is paid in full although the quantity has no end',
    { used: { Tokens: simple(rate(flat('3')), [1, '4']) }, balances: { A: { left: '10' } } },
    [
      ...['Tokens h0-48 3.33333333333333333333 @ 3 = 10 by A', 'A applied h0-48 = -10'],
      'Tokens h0-48 0.66666666666666666667 @ 3 = 2',
    ],
    '2',
    { A: '10' },
  ],
  [
    'a postpaid commit covers what is due now: its applied line does not count',
    { used: TOKENS, balances: { A: { left: '45', type: 'POSTPAID' } } },
    ['Tokens h0-48 4.5 @ 10 = 45 by A', 'A applied h0-48 = -45', 'Tokens h0-48 1.5 @ 10 = 15'],
    '60',
    { A: '45' },
  ],
  [
    'a balance in another unit pays nothing',
    { used: TOKENS, balances: { A: { left: '45', unit: COINS } } },
    ['Tokens h0-48 6 @ 10 = 60'],
    '60',
    {},
  ],
];

const PRICES: Row[] = [
  [
    'a balance at commit rates buys at the commit rate, the customer at the list rate',
    {
      used: { Tokens: simple(DISCOUNTED(), [1, '4']) },
      balances: { A: { left: '16', rateType: 'COMMIT_RATE' } },
    },
    ['Tokens h0-48 2 @ 8 = 16 by A', 'A applied h0-48 = -16', 'Tokens h0-48 2 @ 10 = 20'],
    '20',
    { A: '16' },
  ],
  [
    'a balance at list rates ignores the commit rate',
    { used: { Tokens: simple(DISCOUNTED(), [1, '4']) }, balances: { A: { left: '20' } } },
    ['Tokens h0-48 2 @ 10 = 20 by A', 'A applied h0-48 = -20', 'Tokens h0-48 2 @ 10 = 20'],
    '20',
    { A: '20' },
  ],
  [
    'without a commit rate on the card the list rate is that of all balances',
    {
      used: { Tokens: simple(TEN(), [1, '4']) },
      balances: { A: { left: '20', rateType: 'COMMIT_RATE' } },
    },
    ['Tokens h0-48 2 @ 10 = 20 by A', 'A applied h0-48 = -20', 'Tokens h0-48 2 @ 10 = 20'],
    '20',
    { A: '20' },
  ],
  [
    'tiers of list and commit rate count the same units',
    {
      used: {
        Tokens: simple(
          rate(tiers(['4', '10'], [null, '5']), {
            commitRate: tiers(['2', '6'], [null, '3']) as UsageRate,
          }),
          [1, '6'],
        ),
      },
      balances: { A: { left: '15', rateType: 'COMMIT_RATE' } },
    },
    [
      ...['Tokens h0-48 L1 2 @ 6 = 12 by A', 'A applied h0-48 = -12', 'Tokens h0-48 L1 1 @ 10 = 10'],
      ...['Tokens h0-48 L2 1 @ 3 = 3 by A', 'A applied h0-48 = -3', 'Tokens h0-48 L2 2 @ 5 = 10'],
    ],
    '20',
    { A: '15' },
  ],
  [
    'free units are left alone',
    {
      used: { Tokens: simple(rate(tiers(['3', '0'], [null, '5'])), [1, '6']) },
      balances: { A: { left: '10' } },
    },
    [
      'Tokens h0-48 L1 3 @ 0 = 0',
      ...['Tokens h0-48 L2 2 @ 5 = 10 by A', 'A applied h0-48 = -10', 'Tokens h0-48 L2 1 @ 5 = 5'],
    ],
    '5',
    { A: '10' },
  ],
  [
    'a commit-specific OVERWRITE is for what balances pay only',
    {
      used: { Tokens: simple(TEN(), [1, '4']) },
      balances: { A: { left: '10' } },
      overrides: [
        overrideOf({
          ...{ type: 'OVERWRITE', isCommitSpecific: true, productId: 'Tokens' },
          overwriteRate: { rate: flat('5'), creditTypeId: null },
        }),
      ],
    },
    ['Tokens h0-48 2 @ 5 = 10 by A', 'A applied h0-48 = -10', 'Tokens h0-48 2 @ 10 = 20'],
    '20',
    { A: '10' },
  ],
  [
    'a price of a balance that ends makes a line of its own, also if nothing was used before it began',
    {
      used: { Tokens: simple(TEN(), [15, '1'], [30, '2']) },
      balances: { A: { left: '100' } },
      overrides: [
        overrideOf({
          ...{ type: 'OVERWRITE', isCommitSpecific: true, productId: 'Tokens' },
          ...{ startingAt: hour(10), endingBefore: hour(20) },
          overwriteRate: { rate: flat('5'), creditTypeId: null },
        }),
      ],
    },
    [
      'Tokens h0-20 1 @ 5 = 5 by A',
      'A applied h0-20 = -5',
      'Tokens h20-48 1 @ 10 = 10 by A',
      'A applied h20-48 = -10',
    ],
    '0',
    { A: '15' },
  ],
  [
    'a commit-specific MULTIPLIER with ids is for the balance that it names',
    {
      used: { Tokens: simple(TEN(), [1, '4']) },
      balances: { A: { left: '10' }, B: { left: '10' } },
      overrides: [
        overrideOf({
          ...{ type: 'MULTIPLIER', multiplier: decimal('0.5'), isCommitSpecific: true },
          specifiers: [specifier({ anyCommitOrCreditIds: ['B'] })],
        }),
      ],
    },
    [
      ...['Tokens h0-48 1 @ 10 = 10 by A', 'A applied h0-48 = -10'],
      ...['Tokens h0-48 2 @ 5 = 10 by B', 'B applied h0-48 = -10'],
      'Tokens h0-48 1 @ 10 = 10',
    ],
    '10',
    { A: '10', B: '10' },
  ],
  [
    'an override of commit rates changes them and no list rate',
    {
      used: { Tokens: simple(DISCOUNTED(), [1, '4']) },
      balances: { A: { left: '8', rateType: 'COMMIT_RATE' }, B: { left: '10' } },
      overrides: [
        overrideOf({
          ...{
            type: 'MULTIPLIER',
            multiplier: decimal('0.5'),
            isCommitSpecific: true,
            target: 'COMMIT_RATE',
          },
        }),
      ],
    },
    [
      ...['Tokens h0-48 2 @ 4 = 8 by A', 'A applied h0-48 = -8'],
      ...['Tokens h0-48 1 @ 10 = 10 by B', 'B applied h0-48 = -10'],
      'Tokens h0-48 1 @ 10 = 10',
    ],
    '10',
    { A: '8', B: '10' },
  ],
  [
    'an override of list rates discounts no commit rate',
    {
      used: { Tokens: simple(DISCOUNTED(), [1, '4']) },
      balances: { A: { left: '16', rateType: 'COMMIT_RATE' } },
      overrides: [overrideOf({ type: 'MULTIPLIER', multiplier: decimal('0.5') })],
    },
    ['Tokens h0-48 2 @ 8 = 16 by A', 'A applied h0-48 = -16', 'Tokens h0-48 2 @ 5 = 10'],
    '10',
    { A: '16' },
  ],
];

const COUNTERS: Row[] = [
  [
    'only what remains at the end of a line is covered, the units up to there',
    { used: { Tokens: simple(TEN(), [1, '9'], [5, '2'], [9, '4']) }, balances: { A: { left: '100' } } },
    ['Tokens h0-48 4 @ 10 = 40 by A', 'A applied h0-48 = -40', 'Tokens h0-48 0 @ 10 = 0'],
    '0',
    { A: '40' },
  ],
  [
    'usage that falls takes nothing and gives nothing back',
    {
      used: { Tokens: simple(TEN(), [1, '9'], [30, '4']) },
      balances: { A: { left: '100', until: 24 }, B: { left: '100', from: 24 } },
    },
    ['Tokens h0-24 9 @ 10 = 90 by A', 'A applied h0-24 = -90', 'Tokens h24-48 -5 @ 10 = -50'],
    '-50',
    { A: '90' },
  ],
  [
    'what falls and rises again after a balance has closed is not given back to it',
    {
      used: { Tokens: simple(TEN(), [1, '10'], [30, '5'], [40, '10']) },
      balances: { A: { left: '50', until: 24 }, B: { left: '1000' } },
    },
    [
      ...['Tokens h0-24 5 @ 10 = 50 by A', 'A applied h0-24 = -50'],
      ...['Tokens h0-24 5 @ 10 = 50 by B', 'B applied h0-24 = -50'],
      'Tokens h24-48 0 @ 10 = 0',
    ],
    '0',
    { A: '50', B: '50' },
  ],
];

function specifier(fields: Partial<OverrideSpecifier>): OverrideSpecifier {
  return {
    ...{ productId: null, productTags: [], pricingGroupValues: {}, presentationGroupValues: {}, exclude: [] },
    ...{ billingFrequency: null, commitIds: [], recurringCommitIds: [], anyCommitOrCreditIds: [] },
    ...fields,
  };
}

const BY_MODEL = version({ name: 'Words', pricingGroupKey: ['model'], presentationGroupKey: ['region'] });
const WORDS = {
  Words: {
    versions: [BY_MODEL] as [typeof BY_MODEL],
    rates: [TEN()],
    series: [
      grouped({ model: 'm', region: 'eu' }, [1, '1']),
      grouped({ model: 'm', region: 'us' }, [1, '1']),
      grouped({ model: 'n', region: 'eu' }, [1, '1']),
    ],
  },
};
const NOTHING_NAMED = {
  productId: null,
  productTags: [],
  pricingGroupValues: {},
  presentationGroupValues: {},
  exclude: [],
};

const ELIGIBILITY: Row[] = [
  [
    'a specifier with pricing and presentation values needs both',
    {
      used: { ...WORDS, Tokens: simple(TEN(), [1, '1']) },
      balances: {
        A: {
          left: '100',
          pays: {
            specifiers: [
              {
                ...NOTHING_NAMED,
                ...{ pricingGroupValues: { model: 'm' }, presentationGroupValues: { region: 'us' } },
              },
            ],
          },
        },
      },
    },
    [
      'Tokens h0-48 1 @ 10 = 10',
      'Words h0-48 m eu 1 @ 10 = 10',
      ...['Words h0-48 m us 1 @ 10 = 10 by A', 'A applied h0-48 = -10'],
      'Words h0-48 n eu 1 @ 10 = 10',
    ],
    '30',
    { A: '10' },
  ],
  [
    'tags count while the product has them',
    {
      used: {
        Tokens: {
          ...simple(TEN(), [1, '4'], [30, '6']),
          versions: [
            version({ name: 'Tokens' }),
            version({ name: 'Tokens', startingAt: hour(24), tags: ['ai'] }),
          ],
        },
      },
      balances: { A: { left: '100', pays: { productTags: ['ai'] } } },
    },
    ['Tokens h0-24 4 @ 10 = 40', 'Tokens h24-48 2 @ 10 = 20 by A', 'A applied h24-48 = -20'],
    '40',
    { A: '20' },
  ],
];

const ORDER: Row[] = [
  [
    'the line that starts first is paid first, whatever its price',
    {
      used: {
        Dear: simple(rate(flat('20'), { startingAt: hour(24) }), [30, '1']),
        Cheap: simple(TEN(), [40, '1']),
      },
      balances: { A: { left: '10' } },
    },
    ['Cheap h0-48 1 @ 10 = 10 by A', 'A applied h0-48 = -10', 'Dear h24-48 1 @ 20 = 20'],
    '20',
    { A: '10' },
  ],
  [
    'of lines that start together, the higher price first, and of the same price the name',
    {
      used: {
        Alpha: simple(TEN(), [1, '1']),
        Beta: simple(TEN(), [1, '1']),
        Gamma: simple(rate(flat('20')), [1, '1']),
      },
      balances: { A: { left: '25' } },
    },
    [
      ...['Alpha h0-48 0.5 @ 10 = 5 by A', 'A applied h0-48 = -5', 'Alpha h0-48 0.5 @ 10 = 5'],
      'Beta h0-48 1 @ 10 = 10',
      ...['Gamma h0-48 1 @ 20 = 20 by A', 'A applied h0-48 = -20'],
    ],
    '15',
    { A: '25' },
  ],
  [
    'products with other keys leave the lines of a product in their order',
    {
      used: {
        Tokens: {
          ...WORDS.Words,
          versions: [
            version({ name: 'Tokens', pricingGroupKey: ['model'], presentationGroupKey: ['region'] }),
          ],
        },
        Alpha: simple(TEN(), [1, '1']),
      },
      balances: { A: { left: '15', pays: { productIds: ['Tokens'] } } },
    },
    [
      'Alpha h0-48 1 @ 10 = 10',
      ...['Tokens h0-48 m eu 1 @ 10 = 10 by A', 'A applied h0-48 = -10'],
      ...['Tokens h0-48 m us 0.5 @ 10 = 5 by A', 'A applied h0-48 = -5', 'Tokens h0-48 m us 0.5 @ 10 = 5'],
      'Tokens h0-48 n eu 1 @ 10 = 10',
    ],
    '25',
    { A: '15' },
  ],
  [
    'lines of one product by their group values',
    { used: WORDS, balances: { A: { left: '15' } } },
    [
      ...['Words h0-48 m eu 1 @ 10 = 10 by A', 'A applied h0-48 = -10'],
      ...['Words h0-48 m us 0.5 @ 10 = 5 by A', 'A applied h0-48 = -5', 'Words h0-48 m us 0.5 @ 10 = 5'],
      'Words h0-48 n eu 1 @ 10 = 10',
    ],
    '15',
    { A: '15' },
  ],
  [
    'a new name or tag that no balance asks for starts no line',
    {
      used: {
        Tokens: {
          ...simple(rate(flat('20')), [1, '1'], [30, '2']),
          versions: [
            version({ name: 'Tokens' }),
            version({ name: 'Tokens', startingAt: hour(24), tags: ['ai'] }),
          ],
        },
        Words: simple(TEN(), [1, '1']),
      },
      balances: { A: { left: '40' } },
    },
    ['Tokens h0-48 2 @ 20 = 40 by A', 'A applied h0-48 = -40', 'Words h0-48 1 @ 10 = 10'],
    '10',
    { A: '40' },
  ],
  [
    'usage comes before composites, which count what it costs and not who pays',
    {
      used: { Tokens: simple(TEN(), [1, '4']) },
      composites: { Support: { counts: ['Tokens'], rate: percentage('0.5', '25') } },
      balances: { A: { left: '50' } },
    },
    [
      ...['Support h0-48 10 @ 0.5 = 5 by A', 'A applied h0-48 = -5', 'Support h0-48 30 @ 0.5 = 15'],
      // The part that fills up the minimum has the higher price of both.
      ...['Support h0-48 1 @ 5 = 5 by A', 'A applied h0-48 = -5'],
      ...['Tokens h0-48 4 @ 10 = 40 by A', 'A applied h0-48 = -40'],
    ],
    '15',
    { A: '50' },
  ],
];

function percentage(price: string, minimum: string) {
  return rate({ rateType: 'PERCENTAGE', price: decimal(price), minimum: decimal(minimum) });
}

const coins = (price: string) => rate(flat(price), { creditTypeId: COINS });
const gems = (price: string) => rate(flat(price), { creditTypeId: GEMS });

const UNITS: Row[] = [
  [
    'a balance in a custom unit pays for usage in it, and the rest is converted',
    { used: { Tokens: simple(coins('2'), [1, '4']) }, balances: { A: { left: '6', unit: COINS } } },
    [
      ...['Tokens h0-48 3 @ 2 = 6 by A', 'A applied h0-48 = -6', 'Tokens h0-48 1 @ 2 = 2'],
      'Conversion of coins h0-48 2 @ 2.5 = 5',
    ],
    '5',
    { A: '6' },
  ],
  [
    'an unrestricted balance in the currency pays for the conversion',
    {
      used: { Tokens: simple(coins('2'), [1, '4']) },
      balances: { A: { left: '6', unit: COINS }, B: { left: '4', until: 1 } },
    },
    [
      ...['Tokens h0-48 3 @ 2 = 6 by A', 'A applied h0-48 = -6', 'Tokens h0-48 1 @ 2 = 2'],
      ...['Conversion of coins h0-48 1.6 @ 2.5 = 4 by B', 'B applied h0-48 = -4'],
      'Conversion of coins h0-48 0.4 @ 2.5 = 1',
    ],
    '1',
    { A: '6', B: '4' },
  ],
  [
    'a restricted one does not',
    {
      used: { Tokens: simple(coins('2'), [1, '4']) },
      balances: { B: { left: '4', pays: { productIds: ['Tokens'] } } },
    },
    ['Tokens h0-48 4 @ 2 = 8', 'Conversion of coins h0-48 8 @ 2.5 = 20'],
    '20',
    {},
  ],
  [
    'of two conversions the dearer unit is paid first',
    {
      used: { Alpha: simple(coins('1'), [1, '4']), Beta: simple(gems('1'), [1, '4']) },
      balances: { A: { left: '21' } },
    },
    [
      ...['Alpha h0-48 4 @ 1 = 4', 'Beta h0-48 4 @ 1 = 4'],
      ...['Conversion of coins h0-48 2 @ 2.5 = 5 by A', 'A applied h0-48 = -5'],
      'Conversion of coins h0-48 2 @ 2.5 = 5',
      ...['Conversion of gems h0-48 4 @ 4 = 16 by A', 'A applied h0-48 = -16'],
      'Conversion of gems h0-48 0 @ 4 = 0',
    ],
    '5',
    { A: '21' },
  ],
];

describe.each<[string, Row[]]>([
  ['Splits', SPLITS],
  ['Prices', PRICES],
  ['Counters', COUNTERS],
  ['Eligibility', ELIGIBILITY],
  ['Order', ORDER],
  ['Custom units', UNITS],
])('%s', (_, rows) => {
  test.each(rows)('%s', (_name, given, lines, due, taken) => {
    expect(drawn(given)).toEqual({ lines, due, taken });
  });
});
