/** Random small contracts with balances of every kind, and subscriptions whose charges are on the invoice too. */
import fc from 'fast-check';
import type { RateEntry } from '../../src/core/catalogue.ts';
import { decimal } from '../../src/core/decimal.ts';
import { HOUR_MS } from '../../src/core/time.ts';
import { createBalanceBook } from '../../src/rating/balances/balance-book.ts';
import { coverSegments, NO_COVERAGE } from '../../src/rating/balances/coverage.ts';
import { coveredLines } from '../../src/rating/invoices/charged-keys.ts';
import { createLineCollector } from '../../src/rating/invoices/line-collector.ts';
import { createInvoiceRater, inWindows, withCovered } from '../../src/rating/invoices/rate-invoice.ts';
import { chargeClaims, chargeLines, type PricedCharge } from '../../src/rating/scheduled/charge-lines.ts';
import { chargePrice, openCharges } from '../../src/rating/subscriptions/charges.ts';
import { type SubscriptionPrices, subscriptionPrices } from '../../src/rating/subscriptions/prices.ts';
import { contractWith, subscriptionWith } from '../unit/core/terms/fixtures.ts';
import {
  creditTypeId,
  type DrawdownCase,
  drawdownCase,
  PERIOD,
  price,
  rateEntry,
  TAGS,
  versionOf,
} from './drawdown-cases.ts';
import { ratingInput, withConversions } from './drawn-invoices.ts';
import type { NaiveSubscribed } from './naive/subscription-charges.ts';
import type { NaiveSubscription } from './naive/subscriptions.ts';

export interface SubscribedCase extends DrawdownCase {
  readonly subscribed: readonly NaiveSubscribed[];
}

/** The window of the invoice that has the charges: its last hour. */
export const CHARGED_WINDOW = { start: PERIOD.end - HOUR_MS, end: PERIOD.end };

const hourOfPeriod = fc.integer({ min: 0, max: 7 }).map((hour) => PERIOD.start + hour * HOUR_MS);

/** Billing periods end in the period of the invoice, so that charges of both collections are due in it. */
const subscription: fc.Arbitrary<NaiveSubscription> = fc
  .record({
    frequency: fc.constantFrom('WEEKLY' as const, 'MONTHLY' as const),
    anchor: hourOfPeriod,
    start: fc.integer({ min: 1, max: 60 }).map((hours) => PERIOD.start - hours * HOUR_MS),
    end: fc.option(hourOfPeriod, { nil: PERIOD.end + 1_000 * HOUR_MS }),
    mode: fc.constantFrom('ARREARS', 'BILL_IMMEDIATELY', 'BILL_ON_NEXT_COLLECTION_DATE'),
    isProrated: fc.boolean(),
    first: fc.nat(6),
    changes: fc.array(fc.record({ at: hourOfPeriod, quantity: fc.nat(9) }), { maxLength: 3 }),
  })
  .map(({ first, changes, ...terms }) => ({
    ...terms,
    changes: [
      { at: terms.start, quantity: first },
      ...changes.filter(({ at }) => at < terms.end).toSorted((a, b) => a.at - b.at),
    ].map(({ at, quantity }) => ({
      ...{ submittedAt: terms.start, startingAt: at, kind: 'SET' as const, quantity },
    })),
  }));

function subscribed(index: number): fc.Arbitrary<NaiveSubscribed> {
  const id = `subscription-${index}`;
  return fc
    .record({
      subscription,
      price,
      unit: creditTypeId,
      tags: fc.subarray(TAGS),
      entitled: fc.constantFrom(true, true, false),
    })
    .map(({ subscription: own, price: full, unit, tags, entitled }) => {
      const entry: RateEntry = {
        ...{ ...rateEntry(id, 0), startingAt: 0, endingBefore: null, creditTypeId: unit, entitled },
        ...{ billingFrequency: own.frequency, rate: { rateType: 'FLAT', price: full } },
      };
      const product = {
        ...{ id, type: 'SUBSCRIPTION' as const, archivedAt: null },
        versions: [{ ...versionOf(`Subscription ${index}`), tags }],
      };
      return { product, rateEntries: [entry], subscription: own };
    });
}

export const subscribedCase: fc.Arbitrary<SubscribedCase> = fc
  .record({
    given: drawdownCase,
    subscribed: fc.tuple(subscribed(0), subscribed(1)),
    count: fc.constantFrom(1, 2),
  })
  .map(({ given, subscribed: all, count }) => ({ ...given, subscribed: all.slice(0, count) }));

/** The charges of a subscription that are due at the end of the period. */
function dueCharges(
  { product, subscription: naive }: NaiveSubscribed,
  prices: SubscriptionPrices,
): PricedCharge[] {
  const { frequency, anchor, start, end, mode, isProrated, changes } = naive;
  const charges = openCharges({
    ...{ contract: contractWith({ startingAt: start }).contract, prices },
    ...{ billed: [], billedFrom: null, now: PERIOD.end },
    subscription: subscriptionWith({
      ...{ id: product.id, productId: product.id, billingFrequency: frequency, anchorDate: anchor },
      ...{ startingAt: start, endingBefore: end, isProrated },
      collectionSchedule: mode === 'ARREARS' ? 'ARREARS' : 'ADVANCE',
      invoiceBehavior: mode === 'BILL_IMMEDIATELY' ? mode : 'BILL_ON_NEXT_COLLECTION_DATE',
      quantityChanges: changes.map(({ startingAt, quantity }) => ({
        ...{ startingAt, quantity: decimal(String(quantity)), quantityDelta: null },
      })),
    }),
  });
  return charges
    .filter(({ at }) => at <= PERIOD.end)
    .flatMap((charge) => {
      const own = chargePrice(charge, prices);
      if (own === null) return [];
      const { id, at, quantity, productId } = charge;
      const [band] = own.bands;
      const item = {
        ...{ id, at, productId, name: null, creditTypeId: own.creditTypeId, quantity, charge },
        source: { kind: 'subscription' as const, id: charge.subscriptionId },
        ...{ unitPrice: band.price, total: band.price.times(quantity), onUsageInvoice: true, metadata: null },
        ...{ gatedCommitId: null, trueUpCommitId: null, requestedInvoiceId: null },
      };
      return [{ item, charge, price: own, name: product.versions[0]?.name ?? '' }];
    });
}

/** The invoice with the charges, by the rating engine. */
export function drawnWithSubscriptions(given: SubscribedCase) {
  const { currency: fiatCreditTypeId, overrides, prioritization } = given;
  const prices = subscriptionPrices(
    { fiatCreditTypeId, conversions: new Map(), products: given.subscribed },
    { overrides, prioritization },
  );
  const charges = given.subscribed.flatMap((one) => dueCharges(one, prices));
  const book = createBalanceBook(given.buckets);
  const buckets = book.bucketsOf('contract', given.period);
  const input = { ...ratingInput(given, 'hour'), buckets };
  const rater = createInvoiceRater(input);
  const collector = createLineCollector(Number.POSITIVE_INFINITY);
  const rated = [...rater.rate(input.usage)];
  collector.add(rated);
  const { lines: base } = collector.result();
  const composites = rater.composites(base, undefined, {
    billed: chargeLines(charges, prices, NO_COVERAGE, CHARGED_WINDOW),
    earlier: [],
    products: given.subscribed.map(({ product }) => product),
  });
  const { coverage, covered } = coverSegments(
    [
      ...rated.flatMap(({ claims }) => claims),
      ...chargeClaims(charges, prices, 'contract', book),
      ...composites.claims(buckets),
    ],
    book,
  );
  const paid = rated
    .flatMap(({ claiming }) => claiming)
    .flatMap((key) => coveredLines(key, coverage, input.boundaries));
  const lines = [
    ...withCovered(base, paid, coverage),
    ...chargeLines(charges, prices, coverage, CHARGED_WINDOW),
    ...composites.lines(coverage).map((line) => inWindows(line, input.boundaries)),
  ];
  return withConversions(given, input, { lines, covered }, book);
}
