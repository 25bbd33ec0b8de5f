/** Historical invoices bill what an invoice from events would have billed for the same hours. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { decimal, sum, ZERO } from '../../src/core/decimal.ts';
import { resultAtOnce } from '../../src/core/in-chunks.ts';
import {
  type HistoricalPrices,
  type HistoricalUsage,
  rateHistorical,
} from '../../src/rating/historical/historical-lines.ts';
import type { UsageLine } from '../../src/rating/lines/types.ts';
import { indexOverrides } from '../../src/rating/rates/override-index.ts';
import { NO_OVERRIDES } from '../../src/rating/rates/overrides.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { flat, hour, METRIC, PERIOD, product, rate, rateCase, tiers } from '../unit/rating/fixtures.ts';

const HOURS = 48;

const amount = fc.integer({ min: 1, max: 5_000 }).map((hundredths) => decimal((hundredths / 100).toFixed(2)));
const used = fc
  .uniqueArray(fc.record({ at: fc.integer({ min: 0, max: HOURS - 1 }), quantity: amount }), {
    minLength: 1,
    maxLength: 12,
    selector: ({ at }) => at,
  })
  .map((hours) => hours.toSorted((a, b) => a.at - b.at));

const price = fc.integer({ min: 0, max: 500 }).map((cents) => (cents / 1000).toFixed(3));
const someRate = fc.oneof(
  price.map(flat),
  fc
    .tuple(fc.integer({ min: 1, max: 40 }), price, price)
    .map(([size, first, second]) => tiers([String(size), first], [null, second])),
);
/** From long before the period, and then from hours within it. */
const rates = fc
  .tuple(someRate, fc.array(fc.tuple(fc.integer({ min: 1, max: HOURS - 1 }), someRate), { maxLength: 3 }))
  .map(([first, later]) => [rate(first), ...later.map(([at, one]) => rate(one, { startingAt: hour(at) }))]);

const historical = (usage: readonly HistoricalUsage[], prices: HistoricalPrices) =>
  resultAtOnce(rateHistorical(usage, prices));

const shown = ({ interval, quantity, unitPrice, total, tier, windows }: UsageLine) => ({
  interval,
  quantity: quantity.toFixed(),
  unitPrice: unitPrice.toFixed(),
  total: total.toFixed(),
  level: tier?.level,
  windows: windows.map((one) => [one.window, one.quantity.toFixed(), one.total.toFixed()]),
});

test('hourly subtotals give the lines and hours of an invoice from the same usage', () => {
  fc.assert(
    fc.property(used, rates, (hours, entries) => {
      let counter = ZERO;
      const steps = hours.map(({ at, quantity }) => {
        counter = counter.plus(quantity);
        return { at: hour(at + 1), value: counter };
      });
      const metered = rateCase({ rates: entries, usage: { [METRIC]: [{ groupValues: {}, steps }] } });
      const given = historical(
        [
          {
            onCard: { product: product(), rates: rateBook(entries) },
            pricingGroupValues: {},
            presentationGroupValues: {},
            interval: PERIOD,
            parts: hours.map(({ at, quantity }) => ({
              interval: { start: hour(at), end: hour(at + 1) },
              quantity,
            })),
          },
        ],
        { overrides: indexOverrides(NO_OVERRIDES), fiatCreditTypeId: USD_CENTS.id },
      );
      expect(given.problem).toBeNull();
      expect(given.lines.map(shown)).toEqual(metered.lines.map(shown));
    }),
  );
});

test('a quantity cut into lines costs as much as in one line', () => {
  fc.assert(
    fc.property(used, someRate, (hours, one) => {
      const usage = (parts: typeof hours) => ({
        onCard: { product: product(), rates: rateBook([rate(one)]) },
        pricingGroupValues: {},
        presentationGroupValues: {},
        interval: PERIOD,
        parts: [{ interval: PERIOD, quantity: sum(parts.map(({ quantity }) => quantity)) }],
      });
      const prices = { overrides: indexOverrides(NO_OVERRIDES), fiatCreditTypeId: USD_CENTS.id };
      const totalOf = (list: readonly ReturnType<typeof usage>[]) =>
        sum(historical(list, prices).lines.map(({ total }) => total)).toFixed();
      expect(totalOf(hours.map((part) => usage([part])))).toBe(totalOf([usage(hours)]));
    }),
  );
});
