/** Laws of recurring invoice schedules: dates and shares. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expandSchedule, totalOf } from '../../src/billing/contracts/terms/point-schedule.ts';
import type { TermsContext } from '../../src/billing/contracts/terms/terms-context.ts';
import { FIAT_CREDIT_TYPES, USD_CENTS } from '../../src/core/credit-types.ts';
import { Decimal, ONE, roundDecimal } from '../../src/core/decimal.ts';
import {
  AMOUNT_DISTRIBUTIONS,
  type RecurringScheduleInput,
  SCHEDULE_FREQUENCIES,
} from '../../src/core/terms/schedules.ts';
import { addMonths, DAY_MS } from '../../src/core/time.ts';

/** Decimal places of whole minor units in stored amounts. */
const MINOR_UNIT_PLACES: ReadonlyMap<string, number> = new Map([
  [USD_CENTS.name, 0],
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
]);
const UNITS = FIAT_CREDIT_TYPES.filter(({ name }) => MINOR_UNIT_PLACES.has(name));

const context: TermsContext = {
  contract: { startingAt: 0, endingBefore: null },
  multiplierPrioritization: 'LOWEST_MULTIPLIER',
  products: new Map(),
  creditTypes: new Map(UNITS.map((unit) => [unit.id, unit])),
  card: null,
  subscriptions: new Map(),
  commitIds: new Map(),
  recurringCommitIds: new Map(),
  balanceIds: new Map(),
  paymentProvider: null,
};

const money = fc
  .tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 6 }))
  .map(([digits, places]) => new Decimal(digits.toString()).div(new Decimal(String(10 ** places))));

const recurring = fc
  .record({
    startingAt: fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2030, 0, 1) }),
    length: fc.integer({ min: 1, max: 1_500 * DAY_MS }),
    frequency: fc.constantFrom(...SCHEDULE_FREQUENCIES),
    amountDistribution: fc.constantFrom(...AMOUNT_DISTRIBUTIONS),
    unitPrice: money,
    quantity: fc.option(money, { nil: null }),
  })
  .map(
    ({ length, unitPrice, quantity, ...rest }): RecurringScheduleInput => ({
      ...rest,
      endingBefore: rest.startingAt + length,
      ...(quantity === null
        ? { amount: unitPrice, unitPrice: null, quantity: null }
        : { amount: null, unitPrice, quantity }),
    }),
  );

function expand(schedule: RecurringScheduleInput, creditTypeId: string) {
  const input = { creditTypeId, doNotInvoice: false, items: null, recurring: schedule };
  return expandSchedule(input, ['schedule'], context).items;
}

test('the dates are the start and its steps, all of them before the end', () => {
  fc.assert(
    fc.property(recurring, (schedule) => {
      const dates = expand(schedule, USD_CENTS.id).map((item) => item.timestamp);
      const months = { MONTHLY: 1, QUARTERLY: 3, SEMI_ANNUAL: 6, ANNUAL: 12 };
      const { startingAt, endingBefore, frequency } = schedule;
      const dateOf = (k: number) =>
        frequency === 'WEEKLY' ? startingAt + k * 7 * DAY_MS : addMonths(startingAt, k * months[frequency]);
      expect(dates).toEqual(dates.map((_, k) => dateOf(k)));
      expect(dates.every((at) => at < endingBefore)).toBe(true);
      expect(dateOf(dates.length)).toBeGreaterThanOrEqual(endingBefore);
    }),
  );
});

test('every amount is its price times its quantity, and the quantity is never divided', () => {
  fc.assert(
    fc.property(recurring, (schedule) => {
      for (const item of expand(schedule, USD_CENTS.id)) {
        expect(item.amount.eq(item.unitPrice.times(item.quantity))).toBe(true);
        expect(item.quantity.eq(schedule.quantity ?? ONE)).toBe(true);
      }
    }),
  );
});

test('rounded shares add up to the whole to the last digit, and all but the last are whole minor units', () => {
  fc.assert(
    fc.property(recurring, fc.constantFrom(...UNITS), (schedule, unit) => {
      const items = expand({ ...schedule, amountDistribution: 'DIVIDED_ROUNDED' }, unit.id);
      const whole = (schedule.amount ?? schedule.unitPrice ?? ONE).times(schedule.quantity ?? ONE);
      expect(totalOf(items).eq(whole)).toBe(true);
      const places = MINOR_UNIT_PLACES.get(unit.name) ?? Number.NaN;
      for (const item of items.slice(0, -1))
        expect(roundDecimal(item.unitPrice, 'ROUND_HALF_UP', places).eq(item.unitPrice)).toBe(true);
    }),
  );
});

test('equal shares are the whole for EACH, and within a unit of the 20th place of it for DIVIDED', () => {
  fc.assert(
    fc.property(recurring, (schedule) => {
      const price = schedule.amount ?? schedule.unitPrice ?? ONE;
      const each = expand({ ...schedule, amountDistribution: 'EACH' }, USD_CENTS.id);
      expect(each.every((item) => item.unitPrice.eq(price))).toBe(true);
      const divided = expand({ ...schedule, amountDistribution: 'DIVIDED' }, USD_CENTS.id);
      const sum = divided.reduce((total, item) => total.plus(item.unitPrice), new Decimal('0'));
      const tolerance = new Decimal('1e-20').times(new Decimal(String(divided.length)));
      expect(sum.minus(price).abs().lte(tolerance)).toBe(true);
    }),
  );
});
