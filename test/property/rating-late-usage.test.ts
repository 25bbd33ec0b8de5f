/** Whatever was used when an invoice was issued and whatever is used now: frozen and late usage add up to the usage. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { type Decimal, ZERO } from '../../src/core/decimal.ts';
import { resultAtOnce } from '../../src/core/in-chunks.ts';
import type { InvoiceLine, UnpricedUsage } from '../../src/core/invoice.ts';
import { lateUsage } from '../../src/rating/invoices/late-usage.ts';
import type { UsageRating } from '../../src/rating/lines/types.ts';
import { NO_OVERRIDES } from '../../src/rating/rates/overrides.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { rateUsage } from '../support/rate-at-once.ts';
import { LONG_DECIMALS, type Scenario, scenario } from '../support/rating-scenarios.ts';
import { runs } from '../support/shares-of-tests.ts';

function rated({ period, products }: Scenario, usage: Scenario['usage']): UsageRating {
  return rateUsage({
    period,
    boundaries: [period.start, period.end],
    products: products.map(({ product, rateEntries }) => ({ product, rates: rateBook(rateEntries) })),
    usage,
    overrides: NO_OVERRIDES,
    usageFilters: [],
    fiatCreditTypeId: USD_CENTS.id,
    productOrder: [],
  });
}

/** Quantity and total by product, values and whether there is a price. */
function sums(entries: readonly [InvoiceLine | UnpricedUsage, Decimal | null][]): Map<string, string> {
  const found = new Map<string, { quantity: Decimal; total: Decimal }>();
  for (const [one, total] of entries) {
    if (!('pricingGroupValues' in one)) throw new Error('only usage has sums');
    const values = [one.pricingGroupValues, one.presentationGroupValues].map((pairs) =>
      JSON.stringify(Object.entries(pairs).sort()),
    );
    const key = [one.productId, ...values, total === null].join('|');
    const before = found.get(key) ?? { quantity: ZERO, total: ZERO };
    found.set(key, {
      quantity: before.quantity.plus(one.quantity),
      total: before.total.plus(total ?? ZERO),
    });
  }
  const used = [...found].filter(([, { quantity, total }]) => !quantity.eq(ZERO) || !total.eq(ZERO));
  return new Map(used.map(([key, { quantity, total }]) => [key, `${quantity} ${total}`]));
}

const entriesOf = ({ lines, warnings }: Pick<UsageRating, 'lines' | 'warnings'>) => [
  ...lines.map((line): [InvoiceLine, Decimal] => [line, line.total]),
  ...warnings.map((warning): [UnpricedUsage, null] => [warning, null]),
];

test('frozen quantities and late ones are the quantities of today, and so are the totals', () => {
  fc.assert(
    fc.property(scenario(LONG_DECIMALS), scenario(LONG_DECIMALS), (given, later) => {
      const frozen = rated(given, given.usage);
      const now = rated(given, later.usage);
      const late = resultAtOnce(lateUsage(now, frozen)).map((one): [UnpricedUsage, Decimal | null] => [
        { ...one, kind: 'unpriced_usage', billableMetricId: '', interval: given.period },
        one.price?.total ?? null,
      ]);
      expect(sums([...entriesOf(frozen), ...late])).toEqual(sums(entriesOf(now)));
    }),
    { numRuns: runs(200) },
  );
});

test('nothing is late where the same was used', () => {
  fc.assert(
    fc.property(scenario(LONG_DECIMALS), (given) => {
      expect(resultAtOnce(lateUsage(rated(given, given.usage), rated(given, given.usage)))).toEqual([]);
    }),
  );
});
