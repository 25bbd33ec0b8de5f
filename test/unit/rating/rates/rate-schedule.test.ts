import { describe, expect, test } from 'vitest';
import type { RateEntry } from '../../../../src/core/catalogue.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { effectiveRates, rateAt, rateBook, rateSpans } from '../../../../src/rating/rates/rate-schedule.ts';
import { flat, hour, PERIOD, rate } from '../fixtures.ts';

/** A rate from hour `start` to hour `end`, named by its price. */
function from(start: number, end: number | null, price: string): RateEntry {
  return rate(flat(price), { startingAt: hour(start), endingBefore: end === null ? null : hour(end) });
}

function priceOf(entry: RateEntry | null): string {
  return entry?.rate.rateType === 'FLAT' ? entry.rate.price.toString() : '-';
}

/** `0-10:5 10-:7` */
function show(entries: readonly RateEntry[]): string {
  const inHours = (at: number | null) => (at === null ? '' : (at - PERIOD.start) / HOUR_MS);
  return effectiveRates(entries)
    .map(({ interval, entry }) => `${inHours(interval.start)}-${inHours(interval.end)}:${priceOf(entry)}`)
    .join(' ');
}

describe('effective segments', () => {
  const rows: [string, RateEntry[], string][] = [
    ['one open-ended rate', [from(0, null, '1')], '0-:1'],
    ['one with an end: nothing after it', [from(0, 5, '1')], '0-5:1'],
    ['a later start ends the earlier one', [from(0, null, '1'), from(5, null, '2')], '0-5:1 5-:2'],
    [
      'a rate added before an existing one lasts until it',
      [from(5, null, '2'), from(0, null, '1')],
      '0-5:1 5-:2',
    ],
    ['a rate between two', [from(0, null, '1'), from(9, null, '3'), from(5, null, '2')], '0-5:1 5-9:2 9-:3'],
    ['after its end, what it interrupted goes on', [from(0, null, '1'), from(5, 9, '2')], '0-5:1 5-9:2 9-:1'],
    [
      'with an end, it holds to that end even across a later start',
      [from(0, null, '1'), from(7, null, '3'), from(5, 9, '2')],
      '0-5:1 5-9:2 9-:3',
    ],
    [
      'nested ones come back one by one',
      [from(0, null, '1'), from(2, 12, '2'), from(5, 9, '3')],
      '0-2:1 2-5:2 5-9:3 9-12:2 12-:1',
    ],
    [
      'an open-ended rate from inside a bounded one takes over for good',
      [from(0, null, '1'), from(5, 9, '2'), from(7, null, '3')],
      '0-5:1 5-7:2 7-:3',
    ],
    [
      'an open-ended rate from before a bounded one resumes after it',
      [from(0, null, '1'), from(5, 9, '2'), from(3, null, '3')],
      '0-3:1 3-5:3 5-9:2 9-:3',
    ],
    ['the same start replaces', [from(0, null, '1'), from(0, null, '2')], '0-:2'],
    [
      'the same start corrects a wrong end',
      [from(0, null, '1'), from(5, 20, '2'), from(5, 9, '3')],
      '0-5:1 5-9:3 9-:1',
    ],
    [
      'a bounded rate from the same start ends, the open one goes on',
      [from(0, null, '1'), from(0, 5, '2')],
      '0-5:2 5-:1',
    ],
    [
      'an open rate from the same start replaces a bounded one',
      [from(0, 5, '2'), from(0, null, '1')],
      '0-:1',
    ],
    ['a gap stays a gap', [from(0, 5, '1'), from(9, 12, '2')], '0-5:1 9-12:2'],
  ];
  test.each(rows)('%s', (_, entries, expected) => expect(show(entries)).toBe(expected));

  test('effective segments follow the sequence, not the order of the list', () => {
    const first = from(0, null, '1');
    const second = from(0, null, '2');
    expect(show([second, first])).toBe('0-:2');
  });
});

describe('lookup by group values', () => {
  const book = rateBook([
    rate(flat('1')),
    rate(flat('2'), { pricingGroupValues: { model: 'm', region: 'eu' } }),
    rate(flat('3'), { pricingGroupValues: { model: 'm' } }),
  ]);
  const price = (values: Record<string, string>) => priceOf(rateAt(book, values, hour(0)));

  test('all keys must be equal, in any order', () => {
    expect(price({ region: 'eu', model: 'm' })).toBe('2');
    expect(price({ model: 'm' })).toBe('3');
  });

  test('a partial match is none: the entry without values applies', () => {
    expect(price({ model: 'm', region: 'us' })).toBe('1');
    expect(price({})).toBe('1');
  });

  test('lookup by group values: without an entry without values, other usage is unpriced', () => {
    const exactOnly = rateBook([rate(flat('2'), { pricingGroupValues: { model: 'm' } })]);
    expect(rateAt(exactOnly, { model: 'n' }, hour(0))).toBeNull();
    expect(rateSpans(exactOnly, { model: 'n' }, PERIOD)).toEqual([{ interval: PERIOD, entry: null }]);
  });

  test('values cannot be confused with names', () => {
    const tricky = rateBook([rate(flat('2'), { pricingGroupValues: { a: 'b', c: 'd' } })]);
    expect(rateAt(tricky, { a: 'b,c:d' }, hour(0))).toBeNull();
  });
});
