import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { sum } from '../../src/core/decimal.ts';
import { groupBy } from '../../src/core/group-by.ts';
import {
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  totalsByCreditType,
  windowBoundaries,
} from '../../src/rating/invoices/breakdown.ts';
import { createLineCollector } from '../../src/rating/invoices/line-collector.ts';
import { lineIdParts, rateKeys } from '../../src/rating/invoices/rate-usage.ts';
import type { UsageLine } from '../../src/rating/lines/types.ts';
import { NO_OVERRIDES } from '../../src/rating/rates/overrides.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { rateUsage } from '../support/rate-at-once.ts';
import { HUNDREDTHS, LONG_DECIMALS, type Scenario, scenario } from '../support/rating-scenarios.ts';
import { runs } from '../support/shares-of-tests.ts';

function rateWith(given: Scenario, size: 'hour' | 'day' | 'period') {
  return rateUsage(inputOf(given, size));
}

function inputOf(given: Scenario, size: 'hour' | 'day' | 'period') {
  const { period } = given;
  const boundaries = size === 'period' ? [period.start, period.end] : windowBoundaries(period, size);
  const products = given.products.map(({ product, rateEntries }) => ({
    product,
    rates: rateBook(rateEntries),
  }));
  return {
    ...given,
    products,
    boundaries,
    overrides: NO_OVERRIDES,
    usageFilters: [],
    fiatCreditTypeId: USD_CENTS.id,
    productOrder: ['product-2'],
  };
}

/** The parts of usage that have the same group keys; of each, the series cut into `count` parts by their values. */
function* slicesOf(given: Scenario, count: number) {
  const groups = groupBy(given.usage, ({ groupKeys }) => JSON.stringify(groupKeys));
  for (const usage of groups.values()) {
    for (let index = 0; index < (usage[0]?.groupKeys.length === 0 ? 1 : count); index += 1) {
      const part = usage.map((one) => ({
        ...one,
        series: one.series.filter(
          ({ groupValues }) =>
            one.groupKeys.length === 0 ||
            partOf(
              one.groupKeys.map((key) => groupValues[key]),
              count,
            ) === index,
        ),
      }));
      yield { groupKeys: usage[0]?.groupKeys ?? [], usage: part };
    }
  }
}

function partOf(values: readonly (string | undefined)[], count: number): number {
  return createHash('sha256').update(JSON.stringify(values)).digest().readUInt32BE(0) % count;
}

/** Everything of a line but its windows, as text. */
function face(line: UsageLine): string {
  return [...lineIdParts(line), line.name, line.interval.end, line.quantity, line.unitPrice, line.total].join(
    '|',
  );
}

describe('for random products, rates and usage of every shape', () => {
  test('line keys rated in any parts give the same lines and warnings, in the same order', () => {
    fc.assert(
      fc.property(scenario(LONG_DECIMALS), fc.integer({ min: 1, max: 5 }), (given, count) => {
        const collector = createLineCollector(Number.POSITIVE_INFINITY);
        for (const { groupKeys, usage } of slicesOf(given, count)) {
          collector.add(rateKeys({ ...inputOf(given, 'hour'), usage }, groupKeys));
        }
        const { lines, warnings, unlisted } = collector.result();
        expect({ lines, warnings }).toEqual(rateWith(given, 'hour'));
        expect(unlisted).toEqual([]);
      }),
    );
  });

  test('of too many lines the largest products are left out, until the others fit', () => {
    fc.assert(
      fc.property(scenario(LONG_DECIMALS), fc.integer({ min: 0, max: 6 }), (given, linesMax) => {
        const collector = createLineCollector(linesMax);
        collector.add(rateKeys(inputOf(given, 'period')));
        const { lines, warnings, unlisted } = collector.result();
        const all = rateWith(given, 'period');
        const left = new Set(unlisted.map(({ productId }) => productId));
        const isListed = ({ productId }: { readonly productId: string }) => !left.has(productId);
        expect(lines).toEqual(all.lines.filter(isListed));
        expect(warnings).toEqual(all.warnings.filter(isListed));
        const counted = lines.filter(({ hasMoved }) => hasMoved).length + warnings.length;
        expect(counted).toBeLessThanOrEqual(linesMax);
      }),
    );
  });

  test('hours sum to days, days to the line, lines to the total, to the last digit', () => {
    fc.assert(
      fc.property(scenario(LONG_DECIMALS), (given) => {
        const { lines } = rateWith(given, 'hour');
        const sums = lines.map(({ windows }) => [
          `${sum(windows.map((one) => one.quantity))}`,
          `${sum(windows.map((one) => one.total))}`,
        ]);
        expect(sums).toEqual(lines.map(({ quantity, total }) => [`${quantity}`, `${total}`]));
        const hours = breakdownWindows(lines, lineWindows(lines), 'hour', given.period);
        const days = breakdownWindows(lines, lineWindows(lines), 'day', given.period);
        const direct = rateWith(given, 'day').lines;
        expect(cells(breakdownWindows(direct, lineWindows(direct), 'day', given.period))).toEqual(
          cells(days),
        );
        for (const [creditTypeId, total] of totalsByCreditType(lines)) {
          for (const windows of [hours, days]) {
            expect(sum(windows.flatMap((w) => w.lines.map((one) => one.total))).toString()).toBe(
              total.toString(),
            );
          }
          expect(invoiceTotal(lines, creditTypeId).toString()).toBe(total.toString());
        }
      }),
      { numRuns: runs(300) },
    );
  });

  test('the lines of an invoice do not depend on the windows that are reported', () => {
    fc.assert(
      fc.property(scenario(LONG_DECIMALS), (given) => {
        const [period, days, hours] = (['period', 'day', 'hour'] as const).map((size) =>
          rateWith(given, size),
        );
        expect(days?.lines.map(face)).toEqual(period?.lines.map(face));
        expect(hours?.lines.map(face)).toEqual(period?.lines.map(face));
        expect(hours?.warnings).toEqual(period?.warnings);
      }),
    );
  });

  test('a line has at most one entry per window, in order', () => {
    fc.assert(
      fc.property(scenario(HUNDREDTHS), (given) => {
        for (const { windows } of rateWith(given, 'day').lines) {
          const starts = windows.map(({ window }) => window.start);
          expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
        }
      }),
    );
  });

  test('lines stand by product, start, pricing values, presentation values and tier', () => {
    fc.assert(
      fc.property(scenario(HUNDREDTHS), (given) => {
        const positions = rateWith(given, 'period').lines.map((line) => [
          line.productId === 'product-2' ? 0 : 1,
          line.interval.start,
          ...[line.pricingGroupValues, line.presentationGroupValues].flatMap((v) => [
            v.model ?? '',
            v.region ?? '',
          ]),
          line.tier?.level ?? 0,
        ]);
        expect(positions).toEqual(positions.toSorted(byElements));
      }),
    );
  });

  test('every line has its own identity', () => {
    fc.assert(
      fc.property(scenario(HUNDREDTHS), (given) => {
        const { lines } = rateWith(given, 'period');
        expect(new Set(lines.map((line) => lineIdParts(line).join('|'))).size).toBe(lines.length);
      }),
    );
  });
});

function cells(windows: ReturnType<typeof breakdownWindows>): string[] {
  return windows.flatMap(({ window, lines }) =>
    lines.map((one) => `${window.start} ${one.position} ${one.quantity} ${one.total}`),
  );
}

function byElements(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((element, at) => element !== b[at]);
  if (index < 0) return 0;
  return (a[index] ?? 0) < (b[index] ?? 0) ? -1 : 1;
}
