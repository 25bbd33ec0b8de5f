/** Laws of drawdown that hold whatever the terms are, on random invoices with balances of every kind. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decimal, decimal, ONE, sum, ZERO } from '../../src/core/decimal.ts';
import { isAppliedLine, isConversionLine } from '../../src/core/invoice.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { beforeBalances } from '../../src/rating/invoices/before-balances.ts';
import { breakdownWindows, lineWindows } from '../../src/rating/invoices/breakdown.ts';
import type { RatedConversionLine, UsageLine } from '../../src/rating/lines/types.ts';
import { type DrawdownCase, drawdownCase } from '../support/drawdown-cases.ts';
import { type DrawnCase, drawnInvoice, lineText } from '../support/drawn-invoices.ts';
import { fixed } from '../support/rating-scenarios.ts';
import { runs } from '../support/shares-of-tests.ts';

type Line = UsageLine | RatedConversionLine;

const RUNS = { numRuns: runs(150) };

function forAll(law: (given: DrawdownCase) => void): void {
  fc.assert(fc.property(drawdownCase, law), RUNS);
}

/** The cost does not depend on the payer. */
function atListPrices(given: DrawdownCase): DrawdownCase {
  return {
    ...given,
    overrides: given.overrides.filter(({ isCommitSpecific }) => !isCommitSpecific),
    buckets: given.buckets.map((one) => ({ ...one, rateType: 'LIST_RATE' })),
  };
}

const withoutBalances = (given: DrawdownCase): DrawdownCase => ({ ...given, buckets: [] });

/** Sums without those of 0, as sorted text. */
function sums(amounts: readonly (readonly [key: string, amount: Decimal])[]): string[] {
  const found = new Map<string, Decimal>();
  for (const [key, amount] of amounts) found.set(key, (found.get(key) ?? ZERO).plus(amount));
  return [...found].flatMap(([key, amount]) => (amount.eq(ZERO) ? [] : [`${key}: ${amount}`])).sort();
}

function bySegment(lines: readonly Line[]): string[] {
  return sums(lines.map(({ payer, total }) => [payer?.segmentId ?? 'nobody', total]));
}

const charged = ({ lines }: DrawnCase) => lines.filter((line) => !isAppliedLine(line));

/** A member of every charge by key and hour, for any payer. */
function byHour(
  lines: readonly Line[],
  member: 'quantity' | 'total',
  keyOf: (line: Line) => string,
): string[] {
  return sums(
    lines.flatMap((line) =>
      line.windows.map((one) => [`${keyOf(line)} ${one.window.start}`, one[member]] as const),
    ),
  );
}

test('a balance gives the amounts that its lines cover less those they take back, and never more than it has', () => {
  forAll((given) => {
    const drawn = drawnInvoice(given);
    const paid = drawn.lines.filter(({ payer }) => payer !== null);
    const deducted = sums([...drawn.deductions]);
    expect(bySegment(paid.filter((line) => !isAppliedLine(line)))).toEqual(deducted);
    expect(
      bySegment(paid.filter(isAppliedLine).map((line) => ({ ...line, total: ZERO.minus(line.total) }))),
    ).toEqual(deducted);
    for (const { segmentId, left } of given.buckets) {
      expect(drawn.deductions.get(segmentId)?.lte(left) ?? true).toBe(true);
    }
    for (const amount of drawn.deductions.values()) expect(amount.gt(ZERO)).toBe(true);
  });
});

test('every covered line is followed by the line that takes it back, hour by hour', () => {
  forAll((given) => {
    const { lines } = drawnInvoice(given);
    const isCovered = (line: Line) => line.payer !== null && !isAppliedLine(line);
    // Every applied line follows a covered one, and the other way round.
    expect(lines.flatMap((line, index) => (isAppliedLine(line) ? [index - 1] : []))).toEqual(
      lines.flatMap((line, index) => (isCovered(line) ? [index] : [])),
    );
    for (const [index, line] of lines.entries()) {
      if (!isCovered(line)) continue;
      const next = lines[index + 1];
      expect(next?.payer).toEqual(line.payer);
      const negated = line.windows.map(({ window, total }) => ({ window, total: `${ZERO.minus(total)}` }));
      expect(next?.windows.map(({ window, total }) => ({ window, total: `${total}` }))).toEqual(negated);
    }
  });
});

test('every unit is on one line for any payer: quantities are those without balances', () => {
  forAll((given) => {
    const units = (one: DrawdownCase) =>
      byHour(
        charged(drawnInvoice(one)).filter((line) => !isConversionLine(line)),
        'quantity',
        (line) => lineText(line).replace(/ \d+$/, ''),
      );
    expect(units(given)).toEqual(units(withoutBalances(given)));
  });
});

test('at list prices, what is covered and the rest cost what they cost without balances, to the last digit', () => {
  forAll((some) => {
    const given = atListPrices(some);
    const costs = (one: DrawdownCase) =>
      byHour(
        charged(drawnInvoice(one)).filter((line) => !isConversionLine(line)),
        'total',
        (line) => `${lineText(line)} ${line.creditTypeId}`,
      );
    expect(costs(given)).toEqual(costs(withoutBalances(given)));
  });
});

test('at list prices, the total is what it is without balances less what prepaid ones give', () => {
  forAll((some) => {
    const given = atListPrices(some);
    const drawn = drawnInvoice(given);
    const worths = new Map([...given.worths].map(([unit, worth]) => [unit, decimal(fixed(worth, 2))]));
    const prepaid = given.buckets
      .filter(({ commitType }) => commitType !== 'POSTPAID')
      .map(({ segmentId, creditTypeId }) =>
        (drawn.deductions.get(segmentId) ?? ZERO).times(worths.get(creditTypeId) ?? ONE),
      );
    expect(drawn.total.plus(sum(prepaid)).toString()).toBe(
      drawnInvoice(withoutBalances(given)).total.toString(),
    );
  });
});

test('at list prices, the lines before balances are those of an invoice without balances, hour by hour', () => {
  forAll((some) => {
    const given = atListPrices(some);
    const before = (one: DrawdownCase) => {
      const { lines } = drawnInvoice(one);
      const all = beforeBalances(lines, lineWindows(lines));
      expect(all.lines.filter((line) => isAppliedLine(line))).toEqual([]);
      const keyOf = (position: number) => {
        const line = all.lines[position];
        return line === undefined || isConversionLine(line)
          ? `${line?.convertedCreditTypeId} in ${line?.creditTypeId}`
          : `${JSON.stringify([line.productId, line.type])} ${line.creditTypeId}`;
      };
      const hourly = sums(
        all.hours.map(({ position, window, total }) => [`${keyOf(position)} ${window.start}`, total]),
      );
      return { hourly, whole: sums(all.lines.map(({ total }, position) => [keyOf(position), total])) };
    };
    expect(before(given)).toEqual(before(withoutBalances(given)));
  });
});

test('hours add up to lines and days, and lines do not depend on the windows that were asked for', () => {
  forAll((given) => {
    const [hours, days] = [drawnInvoice(given, 'hour'), drawnInvoice(given, 'day')];
    const whole = (lines: readonly Line[]) => lines.map(({ windows: _, ...line }) => line);
    expect(whole(days.lines)).toEqual(whole(hours.lines));
    for (const line of hours.lines) {
      expect(sum(line.windows.map(({ total }) => total)).toString()).toBe(line.total.toString());
      expect(sum(line.windows.map(({ quantity }) => quantity)).toString()).toBe(line.quantity.toString());
    }
    const inDays = ({ lines }: DrawnCase) =>
      breakdownWindows(lines, lineWindows(lines), 'day', given.period).flatMap(({ window, lines: own }) =>
        sums(own.map(({ line, total }) => [`${window.start} ${lines.indexOf(line)}`, total])),
      );
    expect(inDays(hours)).toEqual(inDays(days));
  });
});

test('nobody pays for a quantity of an hour in which the balance is closed', () => {
  forAll((given) => {
    const { lines } = drawnInvoice(given);
    const access = new Map(given.buckets.map((one) => [one.segmentId, one.access]));
    const closed = lines.filter((line) => {
      const open = access.get(line.payer?.segmentId ?? '');
      if (open === undefined || isConversionLine(line)) return false;
      // The price of volume tiers may change later for a quantity of before: an hour without a quantity has the difference.
      const counted = line.windows.filter(({ quantity }) => !quantity.eq(ZERO));
      return counted.some(({ window }) => window.start < open.start || window.end > open.end);
    });
    expect(closed).toEqual([]);
  });
});

test('at list prices, a larger prepaid balance never raises the total', () => {
  fc.assert(
    fc.property(drawdownCase, fc.nat(), fc.integer({ min: 1, max: 5_000 }), (some, which, more) => {
      const given = atListPrices(some);
      const buckets = given.buckets.map((one) => ({ ...one, commitType: 'PREPAID' as const }));
      const larger = buckets.map((one, index) =>
        index === which % buckets.length ? { ...one, left: one.left.plus(decimal(fixed(more, 2))) } : one,
      );
      const total = drawnInvoice({ ...given, buckets }).total;
      expect(drawnInvoice({ ...given, buckets: larger }).total.lte(total)).toBe(true);
    }),
    RUNS,
  );
});

test('the order of products, of their usage and of composites has no effect', () => {
  forAll((given) => {
    const reversed = {
      ...given,
      products: given.products.map((one) => ({ ...one, usage: one.usage.toReversed() })).reverse(),
      composites: given.composites.toReversed(),
    };
    expect(drawnInvoice(reversed)).toEqual(drawnInvoice(given));
  });
});

test('several invoices that share a book never take more than it has, and each takes from what is left', () => {
  forAll((given) => {
    const book = createBalanceBook(given.buckets);
    const drawn = [
      drawnInvoice(given, 'hour', book),
      drawnInvoice(given, 'day', book),
      drawnInvoice(given, 'hour', book),
    ];
    const [first, second] = drawn;
    for (const bucket of given.buckets) {
      const taken = sum(drawn.map(({ deductions }) => deductions.get(bucket.segmentId) ?? ZERO));
      expect(taken.lte(bucket.left)).toBe(true);
      expect(book.leftOf(bucket).toString()).toBe(bucket.left.minus(taken).toString());
    }
    const rest = given.buckets.map((one) => ({
      ...one,
      left: one.left.minus(first?.deductions.get(one.segmentId) ?? ZERO),
    }));
    expect(second?.total.toString()).toBe(drawnInvoice({ ...given, buckets: rest }).total.toString());
  });
});

test('the random cases reach what the laws are about', () => {
  const found = new Map<string, number>();
  const reached = (what: string, is: boolean) => found.set(what, (found.get(what) ?? 0) + (is ? 1 : 0));
  fc.assert(
    fc.property(drawdownCase, (given) => {
      const { lines, deductions } = drawnInvoice(given);
      const payers = new Set(lines.flatMap(({ payer }) => payer?.segmentId ?? []));
      const starts = new Set(
        lines.filter(({ payer }) => payer !== null).map(({ interval }) => interval.start),
      );
      reached('two payers', payers.size > 1);
      reached(
        'a balance that is used up',
        given.buckets.some(({ segmentId, left }) => deductions.get(segmentId)?.eq(left)),
      );
      reached('a line that is cut', starts.size > 1);
      reached(
        'a covered composite',
        lines.some(
          (line) => line.payer !== null && !isConversionLine(line) && line.productType === 'COMPOSITE',
        ),
      );
      reached(
        'a covered conversion',
        lines.some((line) => line.payer !== null && isConversionLine(line)),
      );
      reached(
        'a covered custom unit',
        lines.some(({ payer, creditTypeId }) => payer !== null && creditTypeId !== given.currency),
      );
      reached(
        'a fall in a covered line',
        lines.some(
          (line) =>
            line.payer !== null && !isAppliedLine(line) && line.windows.some(({ total }) => total.lt(ZERO)),
        ),
      );
      reached(
        'part of an hour',
        lines.some(
          (line) =>
            line.payer !== null &&
            line.interval.end - line.interval.start > HOUR_MS &&
            line.quantity.times(decimal('100')).toFixed().includes('.'),
        ),
      );
    }),
    { numRuns: 300, seed: 1 },
  );
  for (const [what, count] of found) expect(count, what).toBeGreaterThanOrEqual(6);
});
