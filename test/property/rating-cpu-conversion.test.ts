/** Custom pricing units: all sums agree. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal, sum, ZERO } from '../../src/core/decimal.ts';
import {
  breakdownWindows,
  invoiceTotal,
  lineWindows,
  windowBoundaries,
} from '../../src/rating/invoices/breakdown.ts';
import { NO_OVERRIDES } from '../../src/rating/rates/overrides.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { conversionLines } from '../../src/rating/usage/cpu-conversion.ts';
import { rateUsage } from '../support/rate-at-once.ts';
import { fixed, LONG_DECIMALS, type Scenario, scenario } from '../support/rating-scenarios.ts';

interface Units {
  /** The unit of each product; null: the currency. */
  readonly byProduct: Readonly<Record<string, string | null>>;
  /** In hundredths. */
  readonly worth: Readonly<Record<string, number>>;
}

const unit = fc.constantFrom(null, 'unit-a', 'unit-b');
const units: fc.Arbitrary<Units> = fc.record({
  byProduct: fc.record({ 'product-1': unit, 'product-2': unit }),
  worth: fc.record({
    'unit-a': fc.integer({ min: 1, max: 999 }),
    'unit-b': fc.integer({ min: 1, max: 999 }),
  }),
});

/** All lines of the invoice, as hours. */
function rateInUnits({ period, products, usage }: Scenario, { byProduct, worth }: Units) {
  const { lines } = rateUsage({
    period,
    boundaries: windowBoundaries(period, 'hour'),
    products: products.map(({ product, rateEntries }) => ({
      product,
      rates: rateBook(
        rateEntries.map((entry) => ({ ...entry, creditTypeId: byProduct[product.id] ?? USD_CENTS.id })),
      ),
    })),
    usage,
    overrides: NO_OVERRIDES,
    usageFilters: [],
    fiatCreditTypeId: USD_CENTS.id,
    productOrder: [],
  });
  const conversions = new Map(
    Object.entries(worth).map(([name, hundredths]) => [
      name,
      { name, fiatPerCustomCredit: decimal(fixed(hundredths, 2)) },
    ]),
  );
  const { lines: converted } = conversionLines({
    lines,
    fiatCreditTypeId: USD_CENTS.id,
    conversions,
    period,
    boundaries: windowBoundaries(period, 'hour'),
  });
  return { lines, converted, all: [...lines, ...converted] };
}

test('hours sum to days, days to the conversion, and with the lines in the currency to the total', () => {
  fc.assert(
    fc.property(scenario(LONG_DECIMALS), units, (given, chosen) => {
      const { lines, converted, all } = rateInUnits(given, chosen);
      for (const line of converted) {
        const own = lines.filter((one) => one.creditTypeId === line.convertedCreditTypeId);
        expect(line.quantity.toString()).toBe(sum(own.map(({ total }) => total)).toString());
        expect(line.total.toString()).toBe(line.quantity.times(line.unitPrice).toString());
        for (const member of ['quantity', 'total'] as const) {
          expect(sum(line.windows.map((one) => one[member])).toString()).toBe(line[member].toString());
        }
      }
      const total = invoiceTotal(all, USD_CENTS.id);
      for (const size of ['hour', 'day'] as const) {
        const windows = breakdownWindows(all, lineWindows(all), size, given.period);
        const totals = windows.map((window) =>
          invoiceTotal(
            window.lines.map((share) => ({ ...share.line, total: share.total })),
            USD_CENTS.id,
          ),
        );
        expect(sum(totals).toString()).toBe(total.toString());
      }
      const inCurrency = lines.filter((line) => line.creditTypeId === USD_CENTS.id);
      const parts = [...inCurrency, ...converted].map((line) => line.total);
      expect(total.toString()).toBe(parts.reduce((a, b) => a.plus(b), ZERO).toString());
    }),
    { numRuns: 150 },
  );
});
