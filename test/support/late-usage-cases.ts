/** Cases of late usage for an invoice of November 2026, with expected reports computed by hand. */
import type { Aggregation } from '../../src/core/metric.ts';

/** One product and its rates. */
export interface Setup {
  readonly aggregation?: Aggregation;
  readonly product?: object;
  /** Each with the fields of a rate that differ from the default: 2 cents, without an end. */
  readonly rates?: readonly object[];
}

/** `11-03T10` is the third of November at ten. The model is `m` unless given. */
export type Use = readonly [at: string, amount: number | string, model?: string];

export interface Case {
  readonly name: string;
  readonly setup: Setup;
  readonly early: readonly Use[];
  readonly late: readonly Use[];
  /** Total of the invoice. */
  readonly total: string;
  readonly expected: readonly string[];
}

const BY_MODEL = { pricing_group_key: ['model'] };

export const CASES: readonly Case[] = [
  { name: 'nothing late', setup: {}, early: [['11-03T10', 5]], late: [], total: '10', expected: [] },
  {
    name: 'one late event',
    setup: {},
    early: [['11-03T10', 5]],
    late: [['11-03T10', 7]],
    total: '10',
    expected: ['7 = 14'],
  },
  {
    name: 'late events where there was no usage at all',
    setup: {},
    early: [],
    late: [['11-03T10', 7]],
    total: '0',
    expected: ['7 = 14'],
  },
  {
    name: 'events outside the period',
    setup: {},
    early: [['11-03T10', 5]],
    late: [['12-01T00', 7]],
    total: '10',
    expected: [],
  },
  {
    name: 'late events in a stretch that is not entitled',
    setup: {
      rates: [
        { ending_before: '2026-11-10T00:00:00Z' },
        { starting_at: '2026-11-10T00:00:00Z', entitled: false },
      ],
    },
    early: [
      ['11-03T10', 5],
      ['11-12T10', 6],
    ],
    late: [
      ['11-03T11', 1],
      ['11-12T11', 100],
    ],
    total: '10',
    expected: ['1 = 2'],
  },
  {
    name: 'late events that no rate covers',
    setup: { product: BY_MODEL, rates: [{ pricing_group_values: { model: 'm' } }] },
    early: [
      ['11-03T10', 5],
      ['11-03T10', 6, 'x'],
    ],
    late: [
      ['11-03T11', 1],
      ['11-03T11', 2, 'x'],
      ['11-03T11', 3, 'y'],
    ],
    total: '10',
    expected: ['m 1 = 2', 'x 2 unpriced', 'y 3 unpriced'],
  },
  {
    name: 'presentation values',
    setup: { product: { presentation_group_key: ['model'] } },
    early: [['11-03T10', 5, 'a']],
    late: [
      ['11-03T11', 1, 'b'],
      ['11-03T11', 2, 'a'],
    ],
    total: '10',
    expected: ['a 2 = 4', 'b 1 = 2'],
  },
  {
    name: 'tiers and segments',
    setup: {
      rates: [
        { rate_type: 'TIERED', price: undefined, tiers: [{ size: 4, price: 10 }, { price: 1 }] },
        { starting_at: '2026-11-10T00:00:00Z', price: 2 },
      ],
    },
    early: [
      ['11-03T10', 3],
      ['11-12T10', 2],
    ],
    late: [
      ['11-04T10', 5],
      ['11-11T10', 1],
    ],
    total: '34',
    // 1 × 10 + 4 × 1, and 1 × 2.
    expected: ['6 = 16'],
  },
  {
    name: 'a conversion with rounding',
    setup: {
      product: {
        quantity_conversion: { conversion_factor: 10, operation: 'DIVIDE' },
        quantity_rounding: { decimal_places: 0, rounding_method: 'ROUND_UP' },
      },
    },
    early: [['11-03T10', 21]],
    late: [
      ['11-03T10', 8],
      ['11-04T10', 2],
    ],
    total: '6',
    // 21 are 3 tens begun, 31 are 4.
    expected: ['1 = 2'],
  },
  {
    name: 'COUNT',
    setup: { aggregation: 'COUNT' },
    early: [['11-03T10', 5]],
    late: [
      ['11-03T10', 7],
      ['11-02T10', 7],
    ],
    total: '2',
    expected: ['2 = 4'],
  },
  {
    name: 'MAX, beaten',
    setup: { aggregation: 'MAX' },
    early: [['11-03T10', 5]],
    late: [['11-02T10', 7]],
    total: '10',
    expected: ['2 = 4'],
  },
  {
    name: 'MAX, not beaten',
    setup: { aggregation: 'MAX' },
    early: [['11-03T10', 5]],
    late: [['11-02T10', 4]],
    total: '10',
    expected: [],
  },
  {
    name: 'UNIQUE, a known value and a new one',
    setup: { aggregation: 'UNIQUE' },
    early: [['11-03T10', 'ada']],
    late: [
      ['11-02T10', 'ada'],
      ['11-02T10', 'bob'],
    ],
    total: '2',
    expected: ['1 = 2'],
  },
  {
    name: 'LATEST, lowered',
    setup: { aggregation: 'LATEST' },
    early: [['11-03T10', 5]],
    late: [['11-04T10', 3]],
    total: '10',
    expected: ['-2 = -4'],
  },
  {
    name: 'LATEST, not the last',
    setup: { aggregation: 'LATEST' },
    early: [['11-03T10', 5]],
    late: [['11-02T10', 3]],
    total: '10',
    expected: [],
  },
];
