/** Billing cases that the API accepts: one rate card with several customers on it. */
import fc from 'fast-check';
import type { ProductVersion } from '../../src/core/catalogue.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { type BillingCase, billingCase } from './billing-cases.ts';
import type { NaiveEvent } from './naive/usage.ts';
import type { ProductWithRates } from './rating-scenarios.ts';

/** A customer of the card, and the events that are sent again with another content. */
export interface SendableCustomer {
  readonly given: BillingCase;
  readonly repeated: readonly NaiveEvent[];
}

const repeated = fc.array(fc.nat(1_000), { maxLength: 8 });

/** They have metrics, products, rates and units in common. */
export const customersOfOneCard: fc.Arbitrary<SendableCustomer[]> = fc
  .tuple(billingCase, fc.array(fc.tuple(billingCase, repeated), { minLength: 3, maxLength: 3 }))
  .map(([card, customers]) => {
    const products = card.products.map(withOneGrouping).filter(({ rateEntries }) => rateEntries.length > 0);
    return customers.map(([own, indices], number) => {
      const events = own.events.map((event) => ({
        ...event,
        transactionId: `${number}-${event.transactionId}`,
      }));
      const given = { ...own, events, metrics: card.metrics, worths: card.worths, products };
      return {
        given: {
          ...given,
          overrides: own.overrides.flatMap((one) => sendableOverride(one, products)),
          usageFilters: sendableFilters(own),
        },
        repeated: indices.flatMap((index) => events[index % events.length] ?? []),
      };
    });
  });

/**
 * The keys of the first version; rates for exactly these keys or for everything, in one unit. Metrics are
 * streaming ones, which are always counted by the hour.
 */
function withOneGrouping({ product, rateEntries }: ProductWithRates): ProductWithRates {
  const [{ pricingGroupKey, presentationGroupKey } = NO_KEYS] = product.versions;
  const keys = JSON.stringify([...pricingGroupKey].sort());
  return {
    product: {
      ...product,
      versions: product.versions.map((version) => ({
        ...version,
        sqlBreakdownGranularity: 'HOUR',
        pricingGroupKey,
        presentationGroupKey,
      })),
    },
    rateEntries: rateEntries.map((entry) => ({
      ...entry,
      creditTypeId: rateEntries[0]?.creditTypeId ?? entry.creditTypeId,
      pricingGroupValues:
        JSON.stringify(Object.keys(entry.pricingGroupValues).sort()) === keys ? entry.pricingGroupValues : {},
    })),
  };
}

const NO_KEYS: Pick<ProductVersion, 'pricingGroupKey' | 'presentationGroupKey'> = {
  pricingGroupKey: [],
  presentationGroupKey: [],
};

/** A new price names one product with a value for each of its pricing keys. */
function sendableOverride(one: Override, products: readonly ProductWithRates[]): Override[] {
  if (one.endingBefore === one.startingAt) return [];
  const onCard = new Set(products.map(({ product }) => product.id));
  const named = [one.productId, ...one.specifiers.map(({ productId }) => productId)];
  if (named.some((id) => id !== null && !onCard.has(id))) return [];
  if (one.type !== 'OVERWRITE') return [one];
  const [priced] = products;
  if (priced === undefined) return [];
  const keys = priced.product.versions[0]?.pricingGroupKey ?? [];
  const values: Readonly<Record<string, string>> = { model: 'm', region: 'eu' };
  const specifier = {
    productId: priced.product.id,
    productTags: [],
    pricingGroupValues: Object.fromEntries(keys.map((name) => [name, values[name] ?? ''])),
    presentationGroupValues: {},
    billingFrequency: null,
    commitIds: [],
    recurringCommitIds: [],
    anyCommitOrCreditIds: [],
  };
  return [{ ...one, productId: null, applicableProductTags: [], specifiers: [specifier] }];
}

/** Inside the contract, and one for each instant. */
function sendableFilters({ usageFilters, period }: BillingCase): BillingCase['usageFilters'] {
  const inside = usageFilters.map((one) => ({ ...one, startingAt: Math.max(one.startingAt, period.start) }));
  return inside.filter(({ startingAt }, index) => inside[index + 1]?.startingAt !== startingAt);
}
