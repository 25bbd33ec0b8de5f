/** Prices of a subscription to the product `seats`, for the pure functions. */
import type { BillingFrequency, RateEntry } from '../../src/core/catalogue.ts';
import { decimal } from '../../src/core/decimal.ts';
import { NO_OVERRIDES } from '../../src/rating/rates/overrides.ts';
import { type SubscriptionPrices, subscriptionPrices } from '../../src/rating/subscriptions/prices.ts';

/** One flat price without an end, in `usd`. */
export function flatPrices(billingFrequency: BillingFrequency, price: string): SubscriptionPrices {
  const entry: RateEntry = {
    ...{ id: 'rate', rateCardId: 'card', productId: 'seats', pricingGroupValues: {} },
    ...{ billingFrequency, startingAt: 0, endingBefore: null, entitled: true, sequence: 0 },
    ...{ rate: { rateType: 'FLAT', price: decimal(price) }, commitRate: null, creditTypeId: 'usd' },
  };
  const version = {
    ...{ startingAt: null, name: 'Seats', tags: [], billableMetricId: null, quantityConversion: null },
    ...{ quantityRounding: null, sqlBreakdownGranularity: null, pricingGroupKey: [] },
    ...{ presentationGroupKey: [], createdAt: 0, createdBy: 'tests' },
  };
  const product = { id: 'seats', type: 'SUBSCRIPTION' as const, archivedAt: null, versions: [version] };
  const products = [{ product, rateEntries: [entry] }];
  return subscriptionPrices({ fiatCreditTypeId: 'usd', conversions: new Map(), products }, NO_OVERRIDES);
}
