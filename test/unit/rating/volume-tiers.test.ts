/** Volume tiers: all units have the price of the tier that they reach together (docs/explanation/rating.md). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rate } from '../../../src/core/catalogue.ts';
import { type Decimal, decimal, maximum, sum, ZERO } from '../../../src/core/decimal.ts';
import { HOUR_MS } from '../../../src/core/time.ts';
import { otherIncreases, ownIncrease } from '../../../src/rating/holds/volume-cost.ts';
import { bandAt, listedBands } from '../../../src/rating/rates/tiers.ts';
import {
  type Case,
  describeLine,
  flat,
  hour,
  METRIC,
  PERIOD,
  rate,
  rateCase,
  series,
  tiers,
} from './fixtures.ts';

const volume = (...list: Parameters<typeof tiers>): Rate =>
  ({ ...tiers(...list), tiersMode: 'volume' }) as Rate;
const FALLING = volume(['10', '5'], ['20', '3'], [null, '1']);
const used = (...steps: [number, string][]) => ({ [METRIC]: [series(...steps)] });

/** [what it shows, the case, its lines worked out by hand] */
const PRICING: [string, Case, string[]][] = [
  ['no usage is in tier 1', { rates: [rate(FALLING)] }, ['h0-48 L1 0 @ 5 = 0']],
  [
    'a bound belongs to the lower tier',
    { rates: [rate(FALLING)], usage: used([1, '10']) },
    ['h0-48 L1 10 @ 5 = 50'],
  ],
  [
    'all units have the price above a bound',
    { rates: [rate(FALLING)], usage: used([1, '11']) },
    ['h0-48 L2 11 @ 3 = 33'],
  ],
  [
    'the last tier has no end',
    { rates: [rate(FALLING)], usage: used([1, '30.5']) },
    ['h0-48 L3 30.5 @ 1 = 30.5'],
  ],
  [
    'a rate change splits the quantity, each part at the tier that the whole reaches',
    {
      rates: [rate(FALLING), rate(volume(['15', '8'], [null, '4']), { startingAt: hour(24) })],
      usage: used([1, '12'], [30, '16']),
    },
    ['h0-24 L2 12 @ 3 = 36', 'h24-48 L2 4 @ 4 = 16'],
  ],
  [
    'a flat rate before it counts towards the tier',
    { rates: [rate(flat('2')), rate(FALLING, { startingAt: hour(24) })], usage: used([1, '29'], [30, '31']) },
    ['h0-24 29 @ 2 = 58', 'h24-48 L3 2 @ 1 = 2'],
  ],
  [
    'an invoice that begins within the period prices its own units by the whole quantity',
    {
      rates: [rate(FALLING)],
      usage: used([1, '9'], [30, '12']),
      period: { start: hour(24), end: hour(48) },
      countedFrom: hour(0),
    },
    ['h24-48 L2 3 @ 3 = 9'],
  ],
];

describe('volume prices', () => {
  test.each(PRICING)('%s', (_, given, expected) => {
    expect(rateCase(given).lines.map(describeLine)).toEqual(expected);
  });

  test('hours show the growth of the total, which is negative where the price of earlier units falls', () => {
    const [line] = rateCase({ rates: [rate(FALLING)], usage: used([1, '8'], [5, '11'], [40, '12']) }).lines;
    const hours = line?.windows.map(({ window, quantity, total }) => [
      (window.end - PERIOD.start) / HOUR_MS,
      `${quantity}`,
      `${total}`,
    ]);
    expect(hours).toEqual([
      [1, '8', '40'],
      [5, '3', '-7'],
      [40, '1', '3'],
    ]);
  });

  test('hours after a part has ended show how its price falls further', () => {
    const rates = [rate(FALLING), rate(flat('7'), { startingAt: hour(24) })];
    const [part] = rateCase({ rates, usage: used([1, '8'], [30, '11']) }).lines;
    expect(
      part?.windows.map(({ window, quantity, total }) => [
        (window.end - PERIOD.start) / HOUR_MS,
        `${quantity}`,
        `${total}`,
      ]),
    ).toEqual([
      [1, '8', '40'],
      [30, '0', '-16'],
    ]);
    expect(`${part?.total}`).toBe('24');
  });
});

const whole = fc.integer({ min: 0, max: 60 }).map((value) => decimal(String(value)));
const price = fc.integer({ min: 0, max: 20 }).map((value) => decimal(String(value)));
const listed = fc
  .tuple(fc.array(fc.tuple(fc.integer({ min: 1, max: 15 }), price), { maxLength: 4 }), price)
  .map(([sized, last]) =>
    listedBands({
      rateType: 'TIERED',
      tiers: [
        ...sized.map(([size, one]) => ({ size: decimal(String(size)), price: one })),
        { size: null, price: last },
      ],
    }),
  );

test('a hold at volume prices is never less than what any part of it adds to the invoice, and never below 0', () => {
  fc.assert(
    fc.property(listed, whole, whole, fc.integer({ min: 0, max: 40 }), (bands, own, other, added) => {
      const shift = { whole: own.plus(other), own, others: [{ quantity: other, lists: [bands] }] };
      const total = (units: Decimal) => {
        const { price: one } = bandAt(bands, shift.whole.plus(units));
        return sum([own.plus(units), other].map((quantity) => quantity.times(one)));
      };
      const parts = Array.from({ length: added + 1 }, (_, units) => decimal(String(units)));
      const highest = parts.map((units) => total(units).minus(total(ZERO))).reduce(maximum, ZERO);
      const most = decimal(String(added));
      const held = ownIncrease(shift, bands, most).plus(otherIncreases(shift, most));
      expect(held.gte(highest)).toBe(true);
      // Later usage does not count on what earlier usage has saved.
      const half = decimal(String(Math.floor(added / 2)));
      const later = { whole: shift.whole.plus(half), own: own.plus(half), others: shift.others };
      const rest = most.minus(half);
      const inTwo = [
        ...[ownIncrease(shift, bands, half), otherIncreases(shift, half)],
        ...[ownIncrease(later, bands, rest), otherIncreases(later, rest)],
      ];
      expect(sum(inTwo).toFixed()).toBe(held.toFixed());
    }),
  );
});
