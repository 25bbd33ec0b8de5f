/** Overrides on invoice lines: prices worked out by hand. 30 units in hour 1, 30 more in hour 25. */
import { expect, it } from 'vitest';
import { USD_CENTS } from '../../../../src/core/credit-types.ts';
import { decimal } from '../../../../src/core/decimal.ts';
import type { Override } from '../../../../src/core/terms/overrides.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { describeLine, flat, hour, product, rate, rateCase, series, tiers, version } from '../fixtures.ts';

const USAGE = { 'metric-a': [series([1, '30'], [25, '60'])] };

function override(fields: Partial<Override>): Override {
  return {
    id: 'override',
    contractId: 'contract',
    startingAt: 0,
    endingBefore: null,
    entitled: null,
    type: null,
    multiplier: null,
    priority: null,
    overwriteRate: null,
    tiers: [],
    productId: 'product-1',
    applicableProductTags: [],
    specifiers: [],
    isCommitSpecific: false,
    target: 'LIST_RATE',
    createdAt: 0,
    ...fields,
  };
}

const times = (multiplier: string, fields: Partial<Override> = {}) =>
  override({ type: 'MULTIPLIER', multiplier: decimal(multiplier), ...fields });
const fixed = (price: string, fields: Partial<Override> = {}) =>
  override({
    type: 'OVERWRITE',
    overwriteRate: { rate: { rateType: 'FLAT', price: decimal(price) }, creditTypeId: null },
    ...fields,
  });
const tiered = (...list: [size: string | null, multiplier: string][]) =>
  override({
    type: 'TIERED',
    priority: decimal('1'),
    tiers: list.map(([size, multiplier]) => ({
      size: size === null ? null : decimal(size),
      multiplier: decimal(multiplier),
    })),
  });

/** `quantity × unit price = total` of every line, and whether it is the list price. */
function lines(
  overrides: readonly Override[],
  list = flat('10'),
  prioritization: 'EXPLICIT' | 'LOWEST_MULTIPLIER' = 'LOWEST_MULTIPLIER',
): string[] {
  const { lines: rated } = rateCase({
    product: product(version({ tags: ['ai'] })),
    rates: [rate(list)],
    usage: USAGE,
    overrides: { overrides, prioritization },
  });
  return rated.map(
    (one) => `${one.quantity.toFixed()} × ${one.unitPrice.toFixed()} = ${one.total.toFixed()}`,
  );
}

it.each<[string, Override[], string[]]>([
  ['none: the list price', [], ['60 × 10 = 600']],
  ['a multiplier', [times('0.9')], ['60 × 9 = 540']],
  ['the smallest of two multipliers, whichever came first', [times('0.8'), times('0.9')], ['60 × 8 = 480']],
  ['a fixed price before any multiplier', [fixed('7'), times('0.1')], ['60 × 7 = 420']],
  ['the fixed price that was added last', [fixed('7'), fixed('8')], ['60 × 8 = 480']],
  ['a tag', [times('0.5', { productId: null, applicableProductTags: ['x', 'ai'] })], ['60 × 5 = 300']],
  ['no target at all: every product', [times('0.5', { productId: null })], ['60 × 5 = 300']],
  ['another product', [times('0.5', { productId: 'product-2' })], ['60 × 10 = 600']],
  [
    'commit-specific: not what no commit covers',
    [times('0.5', { isCommitSpecific: true })],
    ['60 × 10 = 600'],
  ],
  [
    'half of the period: a line on either side of the boundary',
    [times('0.5', { startingAt: hour(24) })],
    ['30 × 10 = 300', '30 × 5 = 150'],
  ],
  ['the same price on both sides: one line', [times('1', { startingAt: hour(24) })], ['60 × 10 = 600']],
  [
    'an entitlement taken away for a day',
    [override({ entitled: false, endingBefore: hour(24) })],
    ['30 × 10 = 300'],
  ],
  [
    'an entitlement given back later',
    [override({ entitled: false }), override({ entitled: true, startingAt: hour(24) })],
    ['30 × 10 = 300'],
  ],
])('%s', (_, overrides, expected) => {
  expect(lines(overrides)).toEqual(expected);
});

it.each<[string, Override[], string[]]>([
  ['is reported without overrides', [], ['h0-48 60']],
  ['is not reported where the contract takes it out', [override({ entitled: false })], []],
  [
    'is reported for the time in which it is not taken out',
    [override({ entitled: false, startingAt: hour(24) })],
    ['h0-24 30'],
  ],
  ['is reported where an override of the price has no price to change', [times('0.5')], ['h0-48 60']],
])('usage without a rate %s', (_, overrides, expected) => {
  const { lines: none, warnings } = rateCase({
    rates: [],
    usage: USAGE,
    overrides: { overrides, prioritization: 'LOWEST_MULTIPLIER' },
  });
  expect(none).toEqual([]);
  const hours = (at: number) => (at - hour(0)) / HOUR_MS;
  const shown = warnings.map(
    ({ interval, quantity }) => `h${hours(interval.start)}-${hours(interval.end)} ${quantity}`,
  );
  expect(shown).toEqual(expected);
});

it.each<[string, Override[], string[]]>([
  ['by an OVERWRITE', [fixed('7')], ['h0-48 60 @ 7 = 420']],
  ['from where the OVERWRITE starts', [fixed('7', { startingAt: hour(24) })], ['h24-48 30 @ 7 = 210']],
  [
    'by an OVERWRITE behind a multiplier of a class above it',
    [times('0.5'), fixed('7')],
    ['h0-48 60 @ 7 = 420'],
  ],
  ['and not billed where the contract takes it out', [fixed('7'), override({ entitled: false })], []],
])('usage without a rate on the card is priced %s', (_, overrides, expected) => {
  const rated = rateCase({
    rates: [],
    usage: USAGE,
    overrides: { overrides, prioritization: 'LOWEST_MULTIPLIER' },
  });
  expect(rated.lines.map(describeLine)).toEqual(expected);
  expect(rated.lines.map(({ creditTypeId, listRate }) => [creditTypeId, listRate])).toEqual(
    expected.map(() => [USD_CENTS.id, null]),
  );
});

it('multiplies ranges of the quantity, and the list price holds after the last one', () => {
  expect(lines([tiered(['20', '0.5'], ['20', '0.2'])], flat('10'), 'EXPLICIT')).toEqual([
    '20 × 5 = 100',
    '20 × 2 = 40',
    '20 × 10 = 200',
  ]);
});

it('cuts list tiers where the multiplier changes', () => {
  expect(lines([tiered(['20', '0.5'], [null, '0.1'])], tiers(['30', '10'], [null, '4']), 'EXPLICIT')).toEqual(
    ['20 × 5 = 100', '10 × 1 = 10', '30 × 0.4 = 12'],
  );
});

it('under EXPLICIT the lowest priority value wins before the smallest multiplier', () => {
  const strong = times('0.9', { priority: decimal('1') });
  const cheap = times('0.1', { priority: decimal('2') });
  expect(lines([cheap, strong], flat('10'), 'EXPLICIT')).toEqual(['60 × 9 = 540']);
});
