import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateEntry } from '../../src/core/catalogue.ts';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal } from '../../src/core/decimal.ts';
import { contains, HOUR_MS } from '../../src/core/time.ts';
import { effectiveRates, rateAt, rateBook, rateSpans } from '../../src/rating/rates/rate-schedule.ts';
import { runs } from '../support/shares-of-tests.ts';

const HOURS = 40;

const entries: fc.Arbitrary<RateEntry[]> = fc
  .array(
    fc.record({
      start: fc.integer({ min: 0, max: HOURS - 1 }),
      length: fc.option(fc.integer({ min: 1, max: 20 })),
    }),
    { maxLength: 12 },
  )
  .map((added) =>
    added.map(({ start, length }, sequence) => ({
      id: `rate-${sequence}`,
      rateCardId: 'card-1',
      productId: 'product-1',
      pricingGroupValues: {},
      billingFrequency: null,
      startingAt: start * HOUR_MS,
      endingBefore: length === null ? null : (start + length) * HOUR_MS,
      entitled: true,
      rate: { rateType: 'FLAT', price: decimal(String(sequence)) },
      creditTypeId: USD_CENTS.id,
      commitRate: null,
      sequence,
    })),
  );

/**
 * A board with one cell per hour, painted by each addition in turn. A bounded rate paints its range. An open one paints
 * from its start, leaving out cells that belong to a rate with a later start. A replaced rate is removed by painting a
 * new board without it.
 */
function paintedHours(added: readonly RateEntry[]): (string | null)[] {
  const kept: RateEntry[] = [];
  for (const entry of added) {
    const replaced = kept.findIndex(
      (earlier) =>
        earlier.startingAt === entry.startingAt &&
        (entry.endingBefore === null || earlier.endingBefore !== null),
    );
    if (replaced >= 0) kept.splice(replaced, 1);
    if (entry.endingBefore === null) {
      const bounded = kept.findIndex((earlier) => earlier.startingAt === entry.startingAt);
      if (bounded >= 0) kept.splice(bounded, 1);
    }
    kept.push(entry);
  }
  const board: (RateEntry | null)[] = Array.from({ length: HOURS }, () => null);
  for (const entry of kept) {
    for (let hour = entry.startingAt / HOUR_MS; hour < HOURS; hour += 1) {
      if (entry.endingBefore !== null && hour * HOUR_MS >= entry.endingBefore) break;
      const painted = board[hour];
      if (entry.endingBefore === null && painted && painted.startingAt > entry.startingAt) continue;
      board[hour] = entry;
    }
  }
  return board.map((entry) => entry?.id ?? null);
}

describe('effective rate segments', () => {
  test('equal a board painted hour by hour', () => {
    fc.assert(
      fc.property(entries, (added) => {
        const segments = effectiveRates(added);
        const hours = Array.from(
          { length: HOURS },
          (_, hour) => segments.find(({ interval }) => contains(interval, hour * HOUR_MS))?.entry.id ?? null,
        );
        expect(hours).toEqual(paintedHours(added));
      }),
      { numRuns: runs(2_000) },
    );
  });

  test('ascend without overlap, and neighbours differ', () => {
    fc.assert(
      fc.property(entries, (added) => {
        const segments = effectiveRates(added);
        for (const [index, { interval, entry }] of segments.entries()) {
          const next = segments[index + 1];
          if (next === undefined) continue;
          expect(interval.end).not.toBeNull();
          expect(interval.end ?? 0).toBeLessThanOrEqual(next.interval.start);
          if (interval.end === next.interval.start) expect(next.entry).not.toBe(entry);
        }
      }),
    );
  });

  test('the rate added last decides at its own start', () => {
    fc.assert(
      fc.property(entries, (added) => {
        const last = added.at(-1);
        if (last === undefined) return;
        const found = effectiveRates(added).find(({ interval }) => contains(interval, last.startingAt));
        const later = added.some(({ startingAt }) => startingAt > last.startingAt);
        if (!later || last.endingBefore !== null) expect(found?.entry).toBe(last);
      }),
    );
  });

  test('the spans of a period cover it without gap or overlap', () => {
    fc.assert(
      fc.property(entries, (added) => {
        const period = { start: 5 * HOUR_MS, end: 30 * HOUR_MS };
        const spans = rateSpans(rateBook(added), {}, period);
        const edges = spans.flatMap(({ interval }) => [interval.start, interval.end]);
        expect([edges[0], edges.at(-1)]).toEqual([period.start, period.end]);
        for (let index = 1; index < edges.length - 1; index += 2) expect(edges[index]).toBe(edges[index + 1]);
      }),
    );
  });
});

describe('a rate book', () => {
  const GROUP_VALUES = [{}, { model: 'a' }, { model: 'b' }, { model: 'a', region: 'eu' }];
  const FREQUENCIES = [null, 'MONTHLY', 'ANNUAL'] as const;
  const identities = fc.record({
    pricingGroupValues: fc.constantFrom<Record<string, string>>(...GROUP_VALUES),
    billingFrequency: fc.constantFrom(...FREQUENCIES),
  });
  const mixed = entries.chain((added) =>
    fc
      .array(identities, { minLength: added.length, maxLength: added.length })
      .map((given) => added.map((entry, index) => ({ ...entry, ...given[index] }))),
  );

  test('a rate book keeps group values and billing frequencies apart, and falls back to the rate without values', () => {
    fc.assert(
      fc.property(mixed, identities, (added, { pricingGroupValues, billingFrequency }) => {
        const book = rateBook(added);
        const painted = (values: Record<string, string>) =>
          paintedHours(
            added.filter(
              (entry) =>
                entry.billingFrequency === billingFrequency &&
                JSON.stringify(entry.pricingGroupValues) === JSON.stringify(values),
            ),
          );
        const exact = painted(pricingGroupValues);
        const fallback = painted({});
        for (let hour = 0; hour < HOURS; hour += 1) {
          const found = rateAt(book, pricingGroupValues, hour * HOUR_MS, billingFrequency);
          expect(found?.id ?? null).toBe(exact[hour] ?? fallback[hour] ?? null);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('a rate book of a product with another price in every hour of a year has the rate of each hour', () => {
    const hours = 365 * 24;
    const added = Array.from(
      { length: hours },
      (_, hour): RateEntry => ({
        id: `rate-${hour}`,
        rateCardId: 'card-1',
        productId: 'product-1',
        pricingGroupValues: {},
        billingFrequency: null,
        startingAt: hour * HOUR_MS,
        endingBefore: null,
        entitled: true,
        rate: { rateType: 'FLAT', price: decimal(String(hour)) },
        creditTypeId: USD_CENTS.id,
        commitRate: null,
        sequence: (hour * 7_919) % hours,
      }),
    );
    const spans = rateSpans(rateBook(added), {}, { start: 0, end: hours * HOUR_MS });
    expect(spans.map(({ entry }) => entry?.id)).toEqual(added.map(({ id }) => id));
  });
});
