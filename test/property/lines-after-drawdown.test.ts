/** Lines that are computed after drawdown equal lines that are computed before it and exchanged. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BalanceBook, createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { coverSegments } from '../../src/rating/balances/coverage.ts';
import { linesOfKey } from '../../src/rating/invoices/charged-keys.ts';
import { createLineCollector } from '../../src/rating/invoices/line-collector.ts';
import { inProductOrder, withLater } from '../../src/rating/invoices/rate-invoice.ts';
import { rateKeys } from '../../src/rating/invoices/rate-usage.ts';
import type { UsageLine } from '../../src/rating/lines/types.ts';
import { type DrawdownCase, drawdownCase } from '../support/drawdown-cases.ts';
import { ratingInput } from '../support/drawn-invoices.ts';
import { type InvoiceRatingInput, rateInvoice } from '../support/rate-at-once.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Composites count lines as they are before drawdown. */
function inputOf(given: DrawdownCase, book: BalanceBook, size: 'hour' | 'day'): InvoiceRatingInput {
  const buckets = book.bucketsOf('contract', given.period);
  return { ...ratingInput({ ...given, composites: [] }, size), buckets };
}

function linesAfterDrawdown(input: InvoiceRatingInput, book: BalanceBook): UsageLine[] {
  const rated = rateKeys({ ...input, isAfterDrawdown: true });
  const collector = createLineCollector(Number.POSITIVE_INFINITY);
  collector.add(rated);
  const { coverage } = coverSegments(
    rated.flatMap(({ claims }) => claims),
    book,
  );
  const later = rated
    .flatMap(({ claiming }) => claiming)
    .flatMap((key) => linesOfKey(key, coverage.get(key.text) ?? [], input.boundaries));
  return inProductOrder(withLater(collector.result().lines, later), input);
}

describe('for random usage, prices and balances', () => {
  test.each(['hour', 'day'] as const)(
    'lines computed after drawdown equal those computed before it, in the same order, by %s',
    (size) => {
      fc.assert(
        fc.property(drawdownCase, (given) => {
          const [one, other] = [createBalanceBook(given.buckets), createBalanceBook(given.buckets)];
          const lines = linesAfterDrawdown(inputOf(given, one, size), one);
          expect(lines).toEqual(rateInvoice(inputOf(given, other, size), other).lines);
        }),
        { numRuns: runs(150) },
      );
    },
  );

  test('an invoice with too many lines leaves out the same products', () => {
    fc.assert(
      fc.property(drawdownCase, fc.integer({ min: 0, max: 6 }), (given, linesMax) => {
        const input = inputOf(given, createBalanceBook(given.buckets), 'day');
        const [before, after] = [false, true].map((isAfterDrawdown) => {
          const collector = createLineCollector(linesMax);
          collector.add(rateKeys({ ...input, isAfterDrawdown }));
          return collector.result();
        });
        expect(after?.unlisted).toEqual(before?.unlisted);
        expect(after?.warnings).toEqual(before?.warnings);
      }),
      { numRuns: runs(150) },
    );
  });
});
