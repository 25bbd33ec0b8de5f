import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Decimal, decimal, sum } from '../../../../src/core/decimal.ts';
import type { Commit } from '../../../../src/core/terms/commits.ts';
import type { Contract } from '../../../../src/core/terms/contract.ts';
import {
  RECURRENCE_FREQUENCIES,
  type RecurringCommit,
} from '../../../../src/core/terms/recurring-commits.ts';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { recurringGrants } from '../../../../src/rating/balances/recurring-grants.ts';
import { grantPeriods } from '../../../../src/rating/periods/grant-periods.ts';
import { contractWith, recurringWith } from '../../core/terms/fixtures.ts';

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
const text = (at: number) => new Date(at).toISOString().slice(0, 13).replace('T00', '');
const FAR = day('2100-01-01');

function amountOf(unitPrice: string, quantity = '1') {
  return { unitPrice: decimal(unitPrice), quantity: decimal(quantity), creditTypeId: 'usd' };
}

function grants(term: Partial<RecurringCommit>, contract: Partial<Contract>, at: number): Commit[] {
  return recurringGrants(recurringWith(term), contractWith(contract).contract, [], { at, after: null });
}

/** `start..end amount` of the only segment of each child. */
function accessOf(children: readonly Commit[]): string[] {
  return children.flatMap(({ accessSchedule }) =>
    accessSchedule.segments.map(
      (one) => `${text(one.startingAt)}..${text(one.endingBefore)} ${one.amount.toString()}`,
    ),
  );
}

test('the children that have begun exist, and one more', () => {
  const term = { startingAt: day('2026-01-01') };
  const contract = { startingAt: day('2026-01-01') };
  const count = (at: string) => grants(term, contract, day(at)).length;
  expect([count('2025-12-01'), count('2026-01-01'), count('2026-01-31'), count('2026-02-01')]).toEqual([
    1, 2, 2, 3,
  ]);
});

test('the last child has none after it', () => {
  const dates = { startingAt: day('2026-01-01'), endingBefore: day('2026-03-01') };
  expect(grants(dates, { startingAt: dates.startingAt }, FAR)).toHaveLength(2);
  expect(grants({ startingAt: dates.startingAt }, dates, FAR)).toHaveLength(2);
});

describe('a term of 31 by day in calendar months', () => {
  const dates = { startingAt: day('2026-01-16'), endingBefore: day('2026-03-11') };

  test.each([
    ['NONE', ['31', '31', '31']],
    ['FIRST', ['16', '31', '31']],
    ['LAST', ['31', '31', '10']],
    ['FIRST_AND_LAST', ['16', '31', '10']],
  ] as const)('%s', (proration, amounts) => {
    const term = { ...dates, proration, accessAmount: amountOf('31') };
    const children = grants(term, { startingAt: day('2026-01-01') }, FAR);
    // The end of the term does not cut the access of its last child.
    expect(accessOf(children)).toEqual([
      `2026-01-16..2026-02-01 ${amounts[0]}`,
      `2026-02-01..2026-03-01 ${amounts[1]}`,
      `2026-03-01..2026-04-01 ${amounts[2]}`,
    ]);
  });

  test('the end of the contract cuts the access too', () => {
    const term = { startingAt: dates.startingAt, accessAmount: amountOf('31'), commitDurationPeriods: 2 };
    expect(accessOf(grants(term, { ...dates }, FAR))).toEqual([
      '2026-01-16..2026-03-01 31',
      '2026-02-01..2026-03-11 31',
      '2026-03-01..2026-03-11 31',
    ]);
  });
});

test.each([
  // Hours of the part over hours of the period.
  ['a leap year February from noon', '2028-02-15T12', '2028-02-15T12..2028-03-01 348'],
  ['a February of 28 days', '2026-02-15T12', '2026-02-15T12..2026-03-01 324'],
  ['the last hour of a month', '2026-03-31T23', '2026-03-31T23..2026-04-01 1'],
])('proration by hours: %s', (_, start, expected) => {
  const startingAt = Date.parse(`${start}:00:00Z`);
  const monthHours = new Map([
    ['2028-02', '696'],
    ['2026-02', '672'],
    ['2026-03', '744'],
  ]).get(start.slice(0, 7));
  const term = {
    startingAt,
    proration: 'FIRST_AND_LAST' as const,
    accessAmount: amountOf(monthHours ?? '0'),
  };
  expect(accessOf(grants(term, { startingAt }, startingAt - 1))).toEqual([expected]);
});

test('periods with a separate frequency count from the start, and keep the day after short months', () => {
  const term = { startingAt: day('2028-01-31'), recurrenceFrequency: 'MONTHLY', proration: 'FIRST' } as const;
  expect(accessOf(grants(term, { startingAt: day('2028-01-01') }, day('2028-03-01')))).toEqual([
    '2028-01-31..2028-02-29 1',
    '2028-02-29..2028-03-31 1',
    '2028-03-31..2028-04-30 1',
  ]);
});

test('a daily term has a child a day', () => {
  const startingAt = Date.parse('2026-03-28T05:00:00Z');
  const term = { startingAt, recurrenceFrequency: 'DAILY' } as const;
  expect(accessOf(grants(term, { startingAt }, startingAt))).toEqual([
    '2026-03-28T05..2026-03-29T05 1',
    '2026-03-29T05..2026-03-30T05 1',
  ]);
});

test.each([
  ['NONE', '365'],
  ['FIRST', '1'],
  ['LAST', '1'],
  ['FIRST_AND_LAST', '1'],
] as const)('one day of a year, where the contract ends after it: %s', (proration, amount) => {
  const dates = { startingAt: day('2026-01-01'), endingBefore: day('2026-01-02') };
  const term = { ...dates, proration, recurrenceFrequency: 'ANNUAL', accessAmount: amountOf('365') } as const;
  expect(accessOf(grants(term, dates, FAR))).toEqual([`2026-01-01..2026-01-02 ${amount}`]);
});

test.each([
  ['HALF_UP', 0, '52'],
  ['FLOOR', 0, '51'],
  ['CEILING', 1, '51.7'],
  ['HALF_UP', -1, '50'],
  ['CEILING', -2, '100'],
  ['FLOOR', -2, '0'],
] as const)(
  'prorated amounts are rounded by %s to %d places: %s',
  (roundingMethod, decimalPlaces, amount) => {
    const rounding = { roundingMethod, decimalPlaces };
    const term = {
      startingAt: day('2026-01-16'),
      proration: 'FIRST' as const,
      accessAmount: amountOf('50', '2'),
      invoiceAmount: amountOf('50', '2'),
      accessRounding: rounding,
      invoiceRounding: rounding,
    };
    const children = grants(term, { startingAt: day('2026-01-01') }, day('2026-02-01'));
    expect(children.map((one) => one.accessSchedule.segments[0]?.amount.toString())).toEqual([
      amount,
      '100',
      '100',
    ]);
    expect(children.map((one) => one.invoiceSchedule?.items[0]?.amount.toString())).toEqual([
      amount,
      '100',
      '100',
    ]);
  },
);

test('an invoice amount is one item at the start of the period, and its amount is price times quantity', () => {
  const term = {
    startingAt: day('2026-01-17'),
    proration: 'FIRST' as const,
    invoiceAmount: amountOf('31', '2'),
  };
  const children = grants(term, { startingAt: day('2026-01-01') }, day('2026-01-17'));
  const items = children.flatMap((one) => one.invoiceSchedule?.items ?? []);
  expect(items.map((one) => [text(one.timestamp), String(one.unitPrice), String(one.quantity)])).toEqual([
    ['2026-01-17', '30', '1'],
    ['2026-02-01', '31', '2'],
  ]);
  expect(items.every((one) => one.amount.eq(one.unitPrice.times(one.quantity)))).toBe(true);
});

test('a child copies what its term says, is created at its start, and names its term', () => {
  const copied = {
    name: 'Monthly',
    description: 'Included usage',
    productId: 'fee',
    priority: decimal('7'),
    rateType: 'COMMIT_RATE' as const,
    rolloverFraction: decimal('0.5'),
    applicability: { productIds: ['api'], productTags: [], specifiers: [] },
    hierarchyAccess: { type: 'ALL' as const, contractIds: [] },
  };
  const [child] = grants({ ...copied, id: 'term', kind: 'CREDIT', startingAt: day('2026-01-09') }, {}, 0);
  expect(child).toMatchObject({
    ...copied,
    type: 'CREDIT',
    customerId: 'customer',
    contractId: 'contract',
    recurringCommitId: 'term',
    createdAt: day('2026-01-09'),
    invoiceSchedule: null,
  });
});

test('a term linked to a subscription creates nothing here', () => {
  const subscription = { subscriptionId: 's', allocation: 'POOLED', prorateSeatIncreases: false } as const;
  const accessAmount = { unitPrice: decimal('1'), quantity: null, creditTypeId: 'usd' };
  expect(grants({ subscription, accessAmount }, {}, 0)).toEqual([]);
});

const START = day('2026-01-01');
const hours = (max: number) => fc.integer({ min: 0, max }).map((count) => START + count * HOUR_MS);
const frequency = fc.constantFrom(null, ...RECURRENCE_FREQUENCIES);
const contractOf = fc.record({
  startingAt: fc.constant(START),
  statementSchedule: fc.record({
    frequency: fc.constantFrom('WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'),
    day: fc.constantFrom('FIRST_OF_MONTH', 'CONTRACT_START'),
    anchor: fc.constant(null),
  }),
});

test('the periods of a term cover it without gaps or overlaps', () => {
  fc.assert(
    fc.property(
      contractOf,
      frequency,
      hours(9_000),
      hours(20_000),
      (terms, recurrenceFrequency, from, to) => {
        fc.pre(from < to);
        const term = recurringWith({ startingAt: from, endingBefore: to, recurrenceFrequency });
        const periods = grantPeriods(term, contractWith(terms).contract, { at: FAR, after: null });
        expect(periods[0]?.inForce.start).toBe(from);
        expect(periods.at(-1)?.inForce.end).toBe(to);
        expect(periods.slice(1).map((one) => one.inForce.start)).toEqual(
          periods.slice(0, -1).map((one) => one.inForce.end),
        );
      },
    ),
  );
});

test('the prorated parts of a split period add up to the whole, to the 20th decimal place', () => {
  const total = (children: readonly Commit[]): Decimal =>
    sum(children.flatMap((one) => one.accessSchedule.segments.map((segment) => segment.amount)));
  fc.assert(
    fc.property(contractOf, hours(20_000), fc.integer({ min: 1, max: 1_000_000 }), (terms, split, cents) => {
      fc.pre(split > START);
      const end = split + 9_000 * HOUR_MS;
      const same = { accessAmount: amountOf(String(cents)), proration: 'FIRST_AND_LAST' as const };
      const of = (startingAt: number, endingBefore: number) =>
        total(grants({ ...same, startingAt, endingBefore }, terms, FAR));
      const difference = of(START, split).plus(of(split, end)).minus(of(START, end)).abs();
      expect(difference.lte(decimal('0.00000000000000000002'))).toBe(true);
    }),
  );
});

test('a duration of very many periods ends in the year 3000', () => {
  const term = { startingAt: day('2026-01-31'), commitDurationPeriods: 2_000_000_000 };
  for (const recurrenceFrequency of RECURRENCE_FREQUENCIES) {
    const [child] = grants({ ...term, recurrenceFrequency }, { startingAt: day('2026-01-01') }, 0);
    expect(child?.accessSchedule.segments[0]?.endingBefore).toBe(day('3000-01-01'));
  }
});

test('a duration of three months ends with the third, also from the last day of one', () => {
  const term = { recurrenceFrequency: 'MONTHLY', commitDurationPeriods: 3 } as const;
  const ends = (start: string) =>
    accessOf(
      grants({ ...term, startingAt: day(start) }, { startingAt: day('2026-01-01') }, day('2026-03-01')),
    );
  expect(ends('2026-01-31')).toEqual([
    '2026-01-31..2026-04-30 1',
    '2026-02-28..2026-05-31 1',
    '2026-03-31..2026-06-30 1',
  ]);
});

test('children after a known one are those that come after it, and none if the known one is ahead', () => {
  fc.assert(
    fc.property(contractOf, frequency, hours(3_000), fc.nat(40), (terms, recurrenceFrequency, at, count) => {
      const { contract } = contractWith(terms);
      const term = recurringWith({ startingAt: START, recurrenceFrequency, proration: 'FIRST_AND_LAST' });
      const all = recurringGrants(term, contract, [], { at, after: null });
      const known = all.slice(0, count).at(-1)?.createdAt ?? null;
      expect(recurringGrants(term, contract, [], { at, after: known })).toEqual(all.slice(count));
    }),
  );
});

test('children computed again later are the same, and further ones follow', () => {
  fc.assert(
    fc.property(contractOf, frequency, hours(3_000), hours(3_000), (terms, recurrenceFrequency, a, b) => {
      const term = { startingAt: START, recurrenceFrequency, proration: 'FIRST_AND_LAST' as const };
      const early = grants(term, terms, Math.min(a, b));
      const late = grants(term, terms, Math.max(a, b));
      expect(late.slice(0, early.length)).toEqual(early);
      expect(new Set(late.map((one) => one.id)).size).toBe(late.length);
    }),
  );
});
