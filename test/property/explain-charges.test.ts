/** Explanations of random charges of subscriptions: the figures of every line give the line. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RateEntry, UsageRate } from '../../src/core/catalogue.ts';
import { decimal, ZERO } from '../../src/core/decimal.ts';
import { ANY_USAGE } from '../../src/core/terms/applicability.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { DAY_MS } from '../../src/core/time.ts';
import { createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { coverSegments } from '../../src/rating/balances/coverage.ts';
import { offeredBalances } from '../../src/rating/balances/offered-balances.ts';
import { createChargeTerms } from '../../src/rating/explain/charge-terms.ts';
import { explainLine } from '../../src/rating/explain/explain-line.ts';
import { NO_CONDITION } from '../../src/rating/rates/override-targets.ts';
import { type ContractOverrides, NO_OVERRIDES } from '../../src/rating/rates/overrides.ts';
import { chargeClaims, chargeLines, pricedCharges } from '../../src/rating/scheduled/charge-lines.ts';
import { subscriptionItem } from '../../src/rating/scheduled/scheduled-items.ts';
import { chargePrice, openCharges } from '../../src/rating/subscriptions/charges.ts';
import { subscriptionPrices } from '../../src/rating/subscriptions/prices.ts';
import { runs } from '../support/shares-of-tests.ts';
import { contractWith, subscriptionWith } from '../unit/core/terms/fixtures.ts';

const START = Date.UTC(2026, 0, 1);
const day = (days: number) => START + days * DAY_MS;
const PERIOD = { start: START, end: day(100) };
const PRODUCT = {
  id: 'seats',
  type: 'SUBSCRIPTION' as const,
  archivedAt: null,
  versions: [
    {
      ...{ startingAt: null, name: 'Seats', tags: [], billableMetricId: null, sqlBreakdownGranularity: null },
      ...{ quantityConversion: null, quantityRounding: null, pricingGroupKey: [], presentationGroupKey: [] },
      ...{ createdAt: 0, createdBy: 'test' },
    },
  ],
};

const hundredths = (max: number) =>
  fc.integer({ min: 0, max }).map((value) => decimal(String(value)).div('100'));
/** Units without a price are as frequent as any kind of price. */
const price = (max: number) => fc.oneof(hundredths(max), fc.constant(ZERO));
const rate: fc.Arbitrary<UsageRate> = fc.oneof(
  price(500_000).map((one) => ({ rateType: 'FLAT' as const, price: one })),
  fc.tuple(fc.integer({ min: 1, max: 6 }), price(9_000), price(9_000)).map(([size, first, last]) => ({
    rateType: 'TIERED' as const,
    tiers: [
      { size: decimal(String(size)), price: first },
      { size: null, price: last },
    ],
  })),
);
const changes = fc.array(
  fc.record({ day: fc.integer({ min: 0, max: 80 }), quantity: fc.integer({ min: 0, max: 12 }) }),
  { minLength: 1, maxLength: 4 },
);
const given = fc.record({
  rate,
  changes,
  isProrated: fc.boolean(),
  prorationRounding: fc.constantFrom(
    null,
    { roundingMethod: 'HALF_UP' as const, decimalPlaces: 0 },
    { roundingMethod: 'FLOOR' as const, decimalPlaces: 2 },
    { roundingMethod: 'CEILING' as const, decimalPlaces: -1 },
  ),
  collectionSchedule: fc.constantFrom('ADVANCE' as const, 'ARREARS' as const),
  balances: fc.array(
    fc.record({
      left: fc.oneof(hundredths(3_000_000), fc.constant(decimal('33.33333333333333333333'))),
      /** The rate at which it pays, where it differs from the customer's rate. */
      ownRate: fc.option(rate, { nil: null }),
    }),
    { maxLength: 3 },
  ),
  /** An issued scheduled invoice has the current terms only; one of an earlier version, its lines alone. */
  known: fc.constantFrom('all' as const, 'changed terms' as const, 'balances' as const, 'lines' as const),
  laterRate: rate,
});
type Given = typeof given extends fc.Arbitrary<infer One> ? One : never;

/**
 * Balances do not pay for units without a price: tiers alone do not tell where the units of such a charge begin.
 */
function hasFreeUnits({ rate: list, balances, isProrated, prorationRounding }: Given): boolean {
  // A part of a small price may be rounded to nothing.
  if (isProrated && prorationRounding !== null) return true;
  const isFree = (one: UsageRate) =>
    one.rateType === 'FLAT' ? one.price.eq(ZERO) : one.tiers.some(({ price }) => price.eq(ZERO));
  return [list, ...balances.flatMap(({ ownRate }) => ownRate ?? [])].some(isFree);
}

function overridesOf({ balances, known }: Given): ContractOverrides {
  // Lines alone do not show the order of several balances that have separate prices.
  if (known === 'lines' && balances.length > 1) return NO_OVERRIDES;
  const overrides = balances.flatMap(({ ownRate }, index): Override[] => {
    if (ownRate === null) return [];
    const specifier = { ...NO_CONDITION, commitIds: [`commit ${index}`] };
    return [
      {
        ...{ id: `override ${index}`, contractId: 'contract', startingAt: START, endingBefore: null },
        ...{
          entitled: null,
          type: 'OVERWRITE',
          multiplier: null,
          priority: null,
          tiers: [],
          productId: null,
        },
        ...{ applicableProductTags: [], isCommitSpecific: true, target: 'LIST_RATE', createdAt: START },
        overwriteRate: { rate: ownRate, creditTypeId: null },
        specifiers: [specifier],
      },
    ];
  });
  return { overrides, prioritization: 'LOWEST_MULTIPLIER' };
}

function linesOf(one: Given) {
  const entry: RateEntry = {
    ...{
      id: 'rate',
      rateCardId: 'card',
      productId: 'seats',
      pricingGroupValues: {},
      billingFrequency: 'MONTHLY',
    },
    ...{ startingAt: START, endingBefore: null, entitled: true, rate: one.rate, commitRate: null },
    ...{ creditTypeId: 'usd', sequence: 0 },
  };
  const { isProrated, prorationRounding, collectionSchedule } = one;
  const { contract } = contractWith({ startingAt: START });
  const subscription = subscriptionWith({
    ...{ startingAt: START, isProrated, prorationRounding, collectionSchedule },
    quantityChanges: one.changes.map(({ day: on, quantity }) => ({
      ...{ startingAt: day(on), quantity: decimal(String(quantity)), quantityDelta: null },
    })),
  });
  const overrides = overridesOf(one);
  const products = [{ product: PRODUCT, rateEntries: [entry] }];
  const changed = [{ product: PRODUCT, rateEntries: [{ ...entry, rate: one.laterRate }] }];
  const common = {
    contract,
    subscriptions: new Map([[subscription.id, subscription]]),
    fiatCreditTypeId: 'usd',
  };
  const prices = subscriptionPrices({ fiatCreditTypeId: 'usd', conversions: new Map(), products }, overrides);
  const charges = openCharges({ contract, subscription, prices, billed: [], billedFrom: null, now: day(70) });
  const items = charges.flatMap((charge) => {
    const price = chargePrice(charge, prices);
    return price === null ? [] : [subscriptionItem(subscription, charge, price, 'usd')];
  });
  const buckets = one.balances.map(({ left }, index) => ({
    ...{
      id: `commit ${index}`,
      recurringId: null,
      segmentId: `segment ${index}`,
      commitType: 'PREPAID' as const,
    },
    ...{
      name: `Balance ${index}`,
      creditTypeId: 'usd',
      rateType: 'LIST_RATE' as const,
      applicability: ANY_USAGE,
    },
    ...{ access: PERIOD, contractIds: null, source: null, left },
  }));
  const book = createBalanceBook(buckets);
  const balances = offeredBalances(book.bucketsOf('contract', PERIOD), book);
  const priced = pricedCharges(items, prices);
  const { coverage } = coverSegments(chargeClaims(priced, prices, 'contract', book), book);
  const lines = chargeLines(priced, prices, coverage, PERIOD);
  return {
    lines: one.known === 'lines' ? lines.map((line) => ({ ...line, unitsBelow: null })) : lines,
    balances,
    terms: createChargeTerms({ ...common, products, overrides, hasQuantities: true, areKept: true }),
    laterTerms: createChargeTerms({
      ...{ ...common, products: changed, overrides: NO_OVERRIDES, hasQuantities: false, areKept: false },
    }),
  };
}

test('every line of a charge is given by the figures of its explanation, for any payer', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(given, (one) => {
      const { lines, balances, terms, laterTerms } = linesOf(one);
      const charge = { all: terms, 'changed terms': laterTerms, balances: () => null, lines: () => null };
      const known = {
        charge: charge[one.known],
        balances: one.known === 'lines' ? [] : balances,
        before: 0,
      };
      const nothing = () => null;
      for (const line of lines) {
        const explained = explainLine(line, lines, { usage: nothing, composite: nothing, ...known });
        const { kind, recomputed, formula } = explained;
        kinds.add(kind);
        if (recomputed === null) {
          expect([one.known, hasFreeUnits(one)]).toEqual(['lines', true]);
          continue;
        }
        const { quantity, unitPrice, total } = recomputed;
        expect([quantity, unitPrice, total].map(String)).toEqual(
          [line.quantity, line.unitPrice, line.total].map(String),
        );
        expect(formula.length).toBeGreaterThan(0);
        if (kind !== 'subscription' || one.known === 'changed terms') continue;
        expect(explained.price === null).toBe(one.known !== 'all');
      }
    }),
    { numRuns: runs(200) },
  );
  expect([...kinds].sort()).toEqual(expect.arrayContaining(['applied', 'subscription']));
});
