/** Charges of subscriptions against a naive model hour by hour (test/support/naive/subscriptions.ts). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, sum } from '../../src/core/decimal.ts';
import type { QuantityChange } from '../../src/core/terms/subscriptions.ts';
import { HOUR_MS, type Instant } from '../../src/core/time.ts';
import { quantitySegments } from '../../src/rating/quantities/subscription-quantities.ts';
import {
  chargePrice,
  chargeTotal,
  openCharges,
  type SubscriptionCharge,
} from '../../src/rating/subscriptions/charges.ts';
import {
  DIVISIBLE_PRICE,
  FREQUENCIES,
  type Frequency,
  type NaiveChange,
  type NaiveSubscription,
  naiveSubscriptionTotal,
  quantitiesKnownAt,
} from '../support/naive/subscriptions.ts';
import { runs } from '../support/shares-of-tests.ts';
import { flatPrices } from '../support/subscription-prices.ts';
import { contractWith, subscriptionWith } from '../unit/core/terms/fixtures.ts';

/** Two months before a leap day. */
const FROM = Date.UTC(2027, 11, 28);
const MONTH_HOURS = 31 * 24;
/** Some periods of each frequency. */
const HOURS: Readonly<Record<Frequency, number>> = {
  WEEKLY: 24 * 40,
  MONTHLY: 24 * 100,
  QUARTERLY: 24 * 200,
  ANNUAL: 24 * 500,
};

const hoursAfter = (start: Instant, hours: number) => start + hours * HOUR_MS;

/** In the order of submission; a change that makes the quantity negative at some time is refused, as by the service. */
function accepted(subscription: NaiveSubscription): NaiveSubscription {
  const kept: NaiveChange[] = [];
  for (const change of subscription.changes) {
    const all = { ...subscription, changes: [...kept, change] };
    if (quantitiesKnownAt(all, Number.POSITIVE_INFINITY).every((quantity) => quantity >= 0))
      kept.push(change);
  }
  return { ...subscription, changes: kept };
}

function histories(frequency: Frequency) {
  return fc.integer({ min: 0, max: MONTH_HOURS }).chain((startHour) => {
    const start = hoursAfter(FROM, startHour);
    const hours = HOURS[frequency];
    const change = fc.record({
      submittedAt: fc.nat(hours).map((hour) => hoursAfter(start, hour)),
      startingAt: fc.nat(hours - 1).map((hour) => hoursAfter(start, hour)),
      // Additions of both signs are as likely as sets.
      change: fc.oneof(
        fc.record({ kind: fc.constant('SET' as const), quantity: fc.nat(9) }),
        fc.record({ kind: fc.constant('ADD' as const), quantity: fc.constantFrom(-3, -1, 1, 2) }),
      ),
    });
    return fc.record({
      subscription: fc
        .record({
          frequency: fc.constant(frequency),
          // Also after the start, and at a month's end.
          anchor: fc.integer({ min: -MONTH_HOURS, max: hours }).map((hour) => hoursAfter(start, hour)),
          start: fc.constant(start),
          end: fc.integer({ min: 1, max: hours }).map((hour) => hoursAfter(start, hour)),
          mode: fc.constantFrom('ARREARS', 'BILL_IMMEDIATELY', 'BILL_ON_NEXT_COLLECTION_DATE'),
          isProrated: fc.boolean(),
          first: fc.nat(9),
          changes: fc.array(change, { maxLength: 8 }),
        })
        .map(({ first, changes, ...terms }): NaiveSubscription => {
          const initial: NaiveChange = {
            ...{ submittedAt: start, startingAt: start, kind: 'SET', quantity: first },
          };
          const later = changes
            .filter(({ startingAt }) => startingAt < terms.end)
            .map(({ change: own, ...times }) => ({ ...times, ...own }))
            .toSorted((a, b) => a.submittedAt - b.submittedAt);
          return accepted({ ...terms, changes: [initial, ...later] });
        }),
      invoicedAt: fc
        .uniqueArray(fc.nat(hours + 24 * 3), { maxLength: 6 })
        .map((all) => all.toSorted((a, b) => a - b).map((hour) => hoursAfter(start, hour))),
    });
  });
}

function changesKnownAt({ changes }: NaiveSubscription, now: Instant): QuantityChange[] {
  return changes
    .filter(({ submittedAt }) => submittedAt <= now)
    .map(({ startingAt, kind, quantity: number }) => {
      const quantity = decimal(String(number));
      return kind === 'SET'
        ? { startingAt, quantity, quantityDelta: null }
        : { startingAt, quantity: null, quantityDelta: quantity };
    });
}

function termsOf(naive: NaiveSubscription, now: Instant) {
  const { frequency, anchor, start, end, mode, isProrated } = naive;
  return subscriptionWith({
    ...{ billingFrequency: frequency, anchorDate: anchor, startingAt: start, endingBefore: end, isProrated },
    collectionSchedule: mode === 'ARREARS' ? 'ARREARS' : 'ADVANCE',
    invoiceBehavior: mode === 'BILL_IMMEDIATELY' ? mode : 'BILL_ON_NEXT_COLLECTION_DATE',
    quantityChanges: changesKnownAt(naive, now),
  });
}

/** The total of the charges that are due when they are invoiced, each time without those of earlier times. */
function chargedTotal(naive: NaiveSubscription, invoicedAt: readonly Instant[]): string {
  const prices = flatPrices(naive.frequency, String(DIVISIBLE_PRICE));
  const { contract } = contractWith({ startingAt: FROM });
  const billed: SubscriptionCharge[] = [];
  for (const now of invoicedAt) {
    const subscription = termsOf(naive, now);
    const charges = openCharges({ contract, subscription, prices, billed, billedFrom: null, now });
    billed.push(...charges.filter(({ at }) => at <= now));
  }
  return sum(
    billed.map((charge) => {
      const price = chargePrice(charge, prices);
      expect(price).not.toBeNull();
      return price === null ? decimal('0') : chargeTotal(charge, price);
    }),
  ).toString();
}

describe.each(FREQUENCIES)('%s', (frequency) => {
  test('whatever the anchor, the collection and the changes, every hour is paid for as the rules say', () => {
    fc.assert(
      fc.property(histories(frequency), ({ subscription, invoicedAt }) => {
        const naive = naiveSubscriptionTotal(subscription, invoicedAt);
        expect(chargedTotal(subscription, invoicedAt)).toBe(String(naive));
      }),
      { numRuns: runs(80) },
    );
  });

  test('the quantity of every hour is what the changes up to it make it', () => {
    fc.assert(
      fc.property(histories(frequency), ({ subscription }) => {
        const now = Number.POSITIVE_INFINITY;
        const segments = quantitySegments(termsOf(subscription, now));
        const hours = segments.flatMap(({ interval: { start, end }, quantity }) =>
          Array.from({ length: ((end ?? start) - start) / HOUR_MS }, () => Number(quantity.toString())),
        );
        expect(hours).toEqual(quantitiesKnownAt(subscription, now));
      }),
      { numRuns: runs(80) },
    );
  });
});
