import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StatementDay, StatementFrequency } from '../../src/core/catalogue.ts';
import { DAY_MS, HOUR_MS, type Interval, intersect } from '../../src/core/time.ts';
import {
  firstPeriod,
  nextPeriod,
  type PeriodTerms,
  periodContaining,
  periodsOverlapping,
} from '../../src/rating/periods/billing-periods.ts';

const YEAR_2000 = Date.UTC(2000, 0, 1);

/** An hour between 2000 and 2050. */
const hourAligned = fc.integer({ min: 0, max: 50 * 8766 }).map((hours) => YEAR_2000 + hours * HOUR_MS);

const terms: fc.Arbitrary<PeriodTerms> = fc
  .record({
    frequency: fc.constantFrom<StatementFrequency[]>('WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'),
    day: fc.constantFrom<StatementDay[]>('FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'),
    anchor: hourAligned,
    start: hourAligned,
    hours: fc.option(fc.integer({ min: 1, max: 5 * 8766 })),
  })
  .map(({ frequency, day, anchor, start, hours }) => ({
    schedule: { frequency, day, anchor: day === 'CUSTOM_DATE' ? anchor : null },
    contract: { start, end: hours === null ? null : start + hours * HOUR_MS },
  }));

/** Half of the instants lie at the ends of the contract, or an hour from them. */
const termsAndInstant = terms.chain((of) => {
  const { start, end } = of.contract;
  const edges = [start, end ?? start].flatMap((at) => [at - HOUR_MS, at, at + HOUR_MS]);
  return fc.tuple(fc.constant(of), fc.oneof(hourAligned, fc.constantFrom(...edges)));
});

/** Months, quarters or years from the start of a contract without an end. */
const monthsFromStart = terms.map(({ schedule, contract: { start } }): PeriodTerms => {
  const frequency = schedule.frequency === 'WEEKLY' ? 'MONTHLY' : schedule.frequency;
  return {
    schedule: { frequency, day: 'CONTRACT_START', anchor: null },
    contract: { start, end: null },
  };
});

const LONGEST_DAYS: Record<StatementFrequency, number> = {
  WEEKLY: 7,
  MONTHLY: 31,
  QUARTERLY: 92,
  ANNUAL: 366,
};

describe('billing periods', () => {
  test('tile the contract from its start to its end without gap or overlap', () => {
    fc.assert(
      fc.property(terms, (of) => {
        let period = firstPeriod(of);
        expect(period?.start).toBe(of.contract.start);
        const periods: Interval[] = [];
        for (; period !== null && periods.length < 300; period = nextPeriod(of, period)) periods.push(period);
        const longest = LONGEST_DAYS[of.schedule.frequency] * DAY_MS;
        const isSound = ({ start, end }: Interval) => start < end && end - start <= longest;
        expect(periods.filter((one) => !isSound(one))).toEqual([]);
        const ends = periods.map(({ end }) => end);
        const nexts = [...periods.slice(1).map(({ start }) => start), period?.start ?? of.contract.end];
        expect(nexts).toEqual(ends);
      }),
    );
  });

  test('every instant of the contract lies in the period that is found for it, and no other has one', () => {
    fc.assert(
      fc.property(termsAndInstant, ([of, at]) => {
        const period = periodContaining(of, at);
        const inside = at >= of.contract.start && at < (of.contract.end ?? Number.POSITIVE_INFINITY);
        expect(period !== null).toBe(inside);
        if (period === null) return;
        expect(period.start <= at && at < period.end).toBe(true);
        expect(periodContaining(of, period.start)).toEqual(period);
        expect(periodContaining(of, period.end - 1)).toEqual(period);
      }),
    );
  });

  test('a range gives exactly the periods that it meets, as walking does', () => {
    fc.assert(
      fc.property(
        terms,
        fc.integer({ min: -400, max: 400 }),
        fc.integer({ min: 1, max: 700 }),
        (of, from, days) => {
          const start = of.contract.start + from * DAY_MS;
          const range = { start, end: start + days * DAY_MS };
          const walked = [];
          let period = firstPeriod(of);
          while (period !== null && period.start < range.end) {
            if (intersect(period, range) !== null) walked.push(period);
            period = nextPeriod(of, period);
          }
          expect(periodsOverlapping(of, range)).toEqual(walked);
        },
      ),
    );
  });

  test('whole periods begin on the day of the anchor, or on the last day of a shorter month', () => {
    fc.assert(
      fc.property(monthsFromStart, fc.integer({ min: 1, max: 5 * 8766 }), (of, hours) => {
        const period = periodContaining(of, of.contract.start + hours * HOUR_MS);
        expect(period).not.toBeNull();
        if (period === null || period.start === of.contract.start) return;
        const anchorDay = new Date(of.contract.start).getUTCDate();
        const start = new Date(period.start);
        const lastDay = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
        expect(start.getUTCDate()).toBe(Math.min(anchorDay, lastDay));
        expect(period.start % DAY_MS).toBe(of.contract.start % DAY_MS);
      }),
    );
  });
});
