/** The grants of recurring terms, against a naive model that counts hour by hour. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimal } from '../../src/core/decimal.ts';
import { COMMIT_PRORATIONS, RECURRENCE_FREQUENCIES } from '../../src/core/terms/recurring-commits.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { recurringGrants } from '../../src/rating/balances/recurring-grants.ts';
import { naiveGrants } from '../support/naive/recurring-grants.ts';
import { runs } from '../support/shares-of-tests.ts';
import { contractWith, recurringWith } from '../unit/core/terms/fixtures.ts';

const START = Date.UTC(2027, 0, 1);
const hours = (max: number) => fc.integer({ min: 0, max }).map((count) => count * HOUR_MS);
/** Also ends of months, from which calendar steps are uneven. */
const begin = fc.oneof(
  hours(9_000).map((after) => START + after),
  fc.constantFrom(Date.UTC(2027, 0, 31), Date.UTC(2027, 11, 31, 5), Date.UTC(2028, 1, 29)),
);

const cases = fc.record({
  contractStart: begin,
  contractLength: fc.option(hours(12_000)),
  schedule: fc.record({
    frequency: fc.constantFrom('WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'),
    day: fc.constantFrom('FIRST_OF_MONTH', 'CONTRACT_START'),
    anchor: fc.constant(null),
  }),
  termAfter: hours(4_000),
  termLength: fc.option(hours(9_000)),
  recurrenceFrequency: fc.constantFrom(null, ...RECURRENCE_FREQUENCIES),
  proration: fc.constantFrom(...COMMIT_PRORATIONS),
  commitDurationPeriods: fc.integer({ min: 1, max: 4 }),
  price: fc.integer({ min: 0, max: 100_000 }),
  ahead: hours(9_000),
});

test('children have the periods, the access and the amounts of the naive model', () => {
  fc.assert(
    fc.property(cases, (given) => {
      const { contractStart, contractLength, termAfter, termLength, price, ahead, schedule, ...plain } =
        given;
      const contract = contractWith({
        startingAt: contractStart,
        endingBefore: contractLength === null ? null : contractStart + contractLength,
        statementSchedule: schedule,
      }).contract;
      const startingAt = contractStart + termAfter;
      const term = recurringWith({
        ...plain,
        startingAt,
        endingBefore: termLength === null ? null : startingAt + termLength,
        accessAmount: { unitPrice: decimal(String(price)), quantity: decimal('1.5'), creditTypeId: 'usd' },
      });
      const at = startingAt + ahead;
      const children = recurringGrants(term, contract, [], { at, after: null });
      const begun = children.filter(({ createdAt }) => createdAt <= at);
      expect(children.length - begun.length).toBeLessThanOrEqual(1);
      expect(
        begun.flatMap(({ createdAt, accessSchedule }) =>
          accessSchedule.segments.map((one) => [
            ...[createdAt, one.startingAt, one.endingBefore],
            one.amount.toFixed(),
          ]),
        ),
      ).toEqual(
        naiveGrants(term, contract, at + 1).map(({ from, until, amount }) => [
          ...[from, from, until],
          amount.toFixed(),
        ]),
      );
    }),
    { numRuns: runs(300) },
  );
});
