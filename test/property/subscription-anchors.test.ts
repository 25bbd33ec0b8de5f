/**
 * Weeks of subscriptions against a naive calendar: weeks are counted from the first billing date of the contract, found
 * day by day from the rule in docs/explanation/contracts.md.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, type Instant } from '../../src/core/time.ts';
import { periodContaining } from '../../src/rating/periods/billing-periods.ts';
import { firstBillingDate } from '../../src/rating/periods/statement-anchor.ts';
import { periodsUntilNext } from '../../src/rating/periods/subscription-periods.ts';
import { isPeriodStart } from '../support/naive/subscriptions.ts';
import { runs } from '../support/shares-of-tests.ts';
import { contractWith, subscriptionWith } from '../unit/core/terms/fixtures.ts';

const STATEMENTS = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
const DAYS = ['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'] as const;
const MONTHS = { MONTHLY: 1, QUARTERLY: 3, ANNUAL: 12 };

const hours = (count: number) => fc.integer({ min: 0, max: count });
/** Half of the contracts start at midnight, and a third of those on a first of a month. */
const start = fc
  .record({
    month: hours(40),
    day: fc.oneof(fc.constant(0), hours(27)),
    hour: fc.oneof(fc.constant(0), hours(23)),
  })
  .map(({ month, day, hour }) => Date.UTC(2026, month, 1) + day * DAY_MS + hour * HOUR_MS);
const given = fc.record({
  start,
  frequency: fc.constantFrom(...STATEMENTS),
  day: fc.constantFrom(...DAYS),
  custom: hours(2_000),
  later: hours(200),
  weeks: fc.integer({ min: 1, max: 60 }),
});

/** The first day, from that of the start on, on which a billing period begins. */
function naiveAnchor(at: Instant, frequency: (typeof STATEMENTS)[number]): Instant {
  let day = at - (at % DAY_MS);
  const begins = (one: Instant) => {
    const date = new Date(one);
    // Weekly usage invoices begin on the day of the start.
    return (
      frequency === 'WEEKLY' || (date.getUTCDate() === 1 && date.getUTCMonth() % MONTHS[frequency] === 0)
    );
  };
  while (!begins(day)) day += DAY_MS;
  return day;
}

test('a week of a subscription begins where whole weeks lie between it and the first billing date', () => {
  fc.assert(
    fc.property(given, ({ start: startingAt, frequency, day, custom, later, weeks }) => {
      const own = startingAt - custom * HOUR_MS;
      const schedule = { frequency, day, anchor: day === 'CUSTOM_DATE' ? own : null };
      const { contract } = contractWith({ startingAt, statementSchedule: schedule });
      const anchors = {
        FIRST_OF_MONTH: naiveAnchor(startingAt, frequency),
        CONTRACT_START: startingAt,
        CUSTOM_DATE: own,
      };
      const first = startingAt + later * HOUR_MS;
      const subscription = subscriptionWith({ startingAt: first, billingFrequency: 'WEEKLY' });
      const periods = periodsUntilNext(contract, subscription, first + weeks * 7 * DAY_MS);
      const expected = [first];
      const last = periods.at(-1)?.interval.start ?? first;
      for (let at = first + HOUR_MS; at <= last; at += HOUR_MS)
        if (isPeriodStart('WEEKLY', anchors[day], at)) expected.push(at);
      expect(periods.map(({ interval }) => interval.start)).toEqual(expected);
      for (const { whole, interval } of periods) {
        expect(whole.end - whole.start).toBe(7 * DAY_MS);
        expect([whole.start <= interval.start, whole.end]).toEqual([true, interval.end]);
        expect(isPeriodStart('WEEKLY', anchors[day], whole.start)).toBe(true);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('the first billing date is a boundary of the usage invoices, and none lies between the day of the start and it', () => {
  fc.assert(
    fc.property(given, ({ start: startingAt, frequency }) => {
      const schedule = { frequency, day: 'FIRST_OF_MONTH' as const, anchor: null };
      const { contract } = contractWith({ startingAt, statementSchedule: schedule });
      const anchor = firstBillingDate(contract);
      const midnight = startingAt - (startingAt % DAY_MS);
      expect(anchor >= midnight).toBe(true);
      const period = periodContaining({ schedule, contract: { start: startingAt, end: null } }, startingAt);
      expect([midnight, period?.end]).toContain(anchor);
    }),
    { numRuns: runs(300) },
  );
});
