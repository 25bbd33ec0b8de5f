/**
 * Credits that are divided among seats, on random invoices: a seat's allowance never exceeds its grant, and is drawn only
 * by usage that carries the id of the seat while the seat is assigned (docs/explanation/subscriptions.md).
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Product, RateEntry } from '../../src/core/catalogue.ts';
import { type Decimal, decimal, Decimal as Exact, minimum, sum, ZERO } from '../../src/core/decimal.ts';
import type { Commit } from '../../src/core/terms/commits.ts';
import type { Subscription } from '../../src/core/terms/subscriptions.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { type BookedBucket, createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { deductionsOf } from '../../src/rating/balances/draw-down.ts';
import { recurringGrants, seatGrantsOf } from '../../src/rating/balances/recurring-grants.ts';
import { type SeatShare, seatShares } from '../../src/rating/balances/seat-shares.ts';
import { windowBoundaries } from '../../src/rating/invoices/breakdown.ts';
import { wholePeriod } from '../../src/rating/periods/billing-periods.ts';
import { rateBook } from '../../src/rating/rates/rate-schedule.ts';
import { rateInvoice } from '../support/rate-at-once.ts';
import { seatChangesFrom } from '../support/seat-changes.ts';
import { runs } from '../support/shares-of-tests.ts';
import { contractWith, recurringWith, subscriptionWith } from '../unit/core/terms/fixtures.ts';

/** Invoices bill the first hours of a month, in which seats come and go. */
const START = Date.UTC(2026, 0, 1);
const HOURS = 12;
const PERIOD = wholePeriod({ start: START, end: START + HOURS * HOUR_MS });
/** The last of them is never a seat, and somebody else's usage has no value that is one. */
const USERS = ['a', 'b', 'c', 'd', 'e', ''];
const PRODUCTS = ['calls', 'tokens'] as const;
const GROUPINGS = ['pricingGroupKey', 'presentationGroupKey'] as const;

const { contract } = contractWith({ startingAt: START });

interface Used {
  readonly product: number;
  readonly user: string;
  readonly hour: number;
  readonly units: number;
}

const term = fc.record({ allowance: fc.integer({ min: 1, max: 90 }), prorates: fc.boolean() });
const prices = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }));
const usage = fc.array(
  fc.record({
    product: fc.nat(1),
    user: fc.constantFrom(...USERS),
    hour: fc.nat(HOURS - 1),
    units: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 40 },
);

function sharesOf(subscription: Subscription, allowance: number, prorates: boolean) {
  const recurring = recurringWith({
    startingAt: START,
    accessAmount: { unitPrice: decimal(String(allowance)), quantity: null, creditTypeId: 'usd' },
    subscription: {
      subscriptionId: 'subscription',
      allocation: 'INDIVIDUAL',
      prorateSeatIncreases: prorates,
    },
  });
  const [child] = recurringGrants(recurring, contract, [subscription], { at: START, after: null });
  if (child === undefined) throw new Error('the month has a credit');
  const granted = seatGrantsOf(child, recurring, contract, subscription);
  return { child, shares: seatShares(child, subscription, granted) };
}

function bucketsOf(child: Commit, shares: readonly SeatShare[]): BookedBucket[] {
  return shares.flatMap(({ id, seatId, segment, amount, access: all }) =>
    all.map((access) => ({
      ...{ id: child.id, recurringId: child.recurringCommitId, rateType: child.rateType, segmentId: id },
      ...{
        commitType: child.type,
        name: 'Allowance',
        creditTypeId: 'usd',
        applicability: child.applicability,
      },
      ...{ access, contractIds: null, left: amount, source: null },
      seat: { groupKey: 'user', id: seatId, segmentId: segment.id },
    })),
  );
}

function productOnCard(id: string, grouping: (typeof GROUPINGS)[number], price: number) {
  const version = {
    ...{ startingAt: null, name: id, tags: [], billableMetricId: `metric of ${id}`, createdAt: 0 },
    ...{ quantityConversion: null, quantityRounding: null, sqlBreakdownGranularity: 'HOUR' as const },
    ...{ pricingGroupKey: [], presentationGroupKey: [], createdBy: 'tests', [grouping]: ['user'] },
  };
  const product: Product = { id, type: 'USAGE', archivedAt: null, versions: [version] };
  const entry: RateEntry = {
    ...{ id: `rate of ${id}`, rateCardId: 'card', productId: id, pricingGroupValues: {} },
    ...{ billingFrequency: null, startingAt: 0, endingBefore: null, entitled: true, sequence: 0 },
    ...{ rate: { rateType: 'FLAT', price: decimal(String(price)) }, commitRate: null, creditTypeId: 'usd' },
  };
  return { product, rates: rateBook([entry]) };
}

/** The usage of one product: the units of each user, added up hour by hour. */
function meteredUsage(used: readonly Used[], product: number) {
  const series = USERS.flatMap((user) => {
    const own = used.filter((one) => one.product === product && one.user === user);
    if (own.length === 0) return [];
    let total = 0;
    const steps = Array.from({ length: HOURS }, (_, hour) => {
      total += own.reduce((units, one) => units + (one.hour === hour ? one.units : 0), 0);
      return { at: START + (hour + 1) * HOUR_MS, value: decimal(String(total)) };
    });
    return [{ groupValues: { user }, steps: steps.filter(({ value }) => value.gt(ZERO)) }];
  });
  const question = { evaluatedAt: 'hour' as const, usageFilter: null, groupKeys: ['user'] };
  return { billableMetricId: `metric of ${PRODUCTS[product]}`, ...question, series };
}

/** The cost of the usage of the seat in the hours in which it is assigned. */
function costOfSeat(
  { seatId, access }: SeatShare,
  used: readonly Used[],
  priced: readonly number[],
): Decimal {
  const own = used.filter(({ user, hour }) => {
    const at = START + hour * HOUR_MS;
    return user === seatId && access.some(({ start, end }) => start <= at && at < end);
  });
  return sum(own.map(({ product, units }) => new Exact(String(units * (priced[product] ?? 0)))));
}

const groupings = fc.tuple(fc.constantFrom(...GROUPINGS), fc.constantFrom(...GROUPINGS));

test('each seat draws what its own usage costs while it is assigned, up to its grant, and no other usage draws', () => {
  fc.assert(
    fc.property(
      fc.record({ seatChanges: seatChangesFrom(START, HOURS + 2), term, prices, usage, groupings }),
      ({ seatChanges, term: { allowance, prorates }, prices: priced, usage: used, groupings: keys }) => {
        const subscription = subscriptionWith({
          ...{ startingAt: START, quantityManagementMode: 'SEAT_BASED', seatGroupKey: 'user', seatChanges },
        });
        const { child, shares } = sharesOf(subscription, allowance, prorates);
        const granted = sum(child.accessSchedule.segments.map(({ amount }) => amount));
        expect(sum(shares.map(({ amount }) => amount)).lte(granted)).toBe(true);
        const book = createBalanceBook(bucketsOf(child, shares));
        const { lines, covered } = rateInvoice(
          {
            ...{ period: PERIOD, boundaries: windowBoundaries(PERIOD, 'hour'), composites: [] },
            products: PRODUCTS.map((id, index) =>
              productOnCard(id, keys[index] ?? 'presentationGroupKey', priced[index] ?? 0),
            ),
            ...{ worths: new Map(), usage: PRODUCTS.map((_, index) => meteredUsage(used, index)) },
            ...{ usageFilters: [], fiatCreditTypeId: 'usd', productOrder: [] },
            overrides: { overrides: [], prioritization: 'LOWEST_MULTIPLIER' },
            buckets: book.bucketsOf(contract.id, PERIOD),
          },
          book,
        );
        const drawn = new Map(deductionsOf(covered).map(({ bucket, amount }) => [bucket.segmentId, amount]));
        const wanted = shares.map((share) =>
          minimum(share.amount, costOfSeat(share, used, priced)).toString(),
        );
        expect(shares.map(({ id }) => (drawn.get(id) ?? ZERO).toString())).toEqual(wanted);
        const seatOf = new Map(shares.map(({ seatId, segment }) => [`${seatId} ${segment.id}`, seatId]));
        for (const { payer, pricingGroupValues, presentationGroupValues } of lines) {
          if (payer === null) continue;
          const user = pricingGroupValues.user ?? presentationGroupValues.user;
          expect(seatOf.get(`${user} ${payer.segmentId}`)).toBe(user);
        }
      },
    ),
    { numRuns: runs(300) },
  );
});
