/** Cases with composites that the API accepts: one rate card with several customers on it. */
import fc from 'fast-check';
import type { ProductVersion } from '../../src/core/catalogue.ts';
import type { Override } from '../../src/core/terms/overrides.ts';
import { type CompositeCase, compositeCase } from './composite-cases.ts';
import type { NaiveEvent } from './naive/usage.ts';
import type { ProductWithRates } from './rating-scenarios.ts';

/** A customer of the card, and the events that are sent again with another content. */
export interface SendableCustomer {
  readonly given: CompositeCase;
  readonly repeated: readonly NaiveEvent[];
}

const repeated = fc.array(fc.nat(1_000), { maxLength: 8 });

/** They have metrics, products, rates and units in common. */
export const customersOfOneCard: fc.Arbitrary<SendableCustomer[]> = fc
  .tuple(compositeCase, fc.array(fc.tuple(compositeCase, repeated), { minLength: 3, maxLength: 3 }))
  .map(([card, customers]) => {
    const products = card.products.map(withOneGrouping).filter(({ rateEntries }) => rateEntries.length > 0);
    const composites = sendableComposites(card, products);
    return customers.map(([own, indices], number) => {
      const events = own.events.map((event) => ({
        ...event,
        transactionId: `${number}-${event.transactionId}`,
      }));
      const given = {
        ...own,
        events,
        metrics: card.metrics,
        worths: card.worths,
        products,
        composites,
        fees: [],
      };
      return {
        given: {
          ...given,
          overrides: own.overrides.flatMap((one) => sendableOverride(one, products, composites)),
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

/** Those with rates, of products that are on the card. The lowest comes first, as it is counted by others. */
function sendableComposites(
  { composites }: CompositeCase,
  products: readonly ProductWithRates[],
): CompositeCase['composites'] {
  const priced = composites.filter(({ rateEntries }) => rateEntries.length > 0);
  const onCard = new Set([...products, ...priced].map(({ product }) => product.id));
  const sendable = priced.map(({ product, rateEntries }) => ({
    rateEntries,
    product: {
      ...product,
      versions: product.versions.map((version) => ({
        ...version,
        compositeProductIds: version.compositeProductIds.filter((id) => onCard.has(id)),
        // A composite names something.
        compositeTags: ['never', ...version.compositeTags],
      })),
    },
  }));
  return sendable.sort((a, b) => (a.product.id < b.product.id ? -1 : 1));
}

const NO_KEYS: Pick<ProductVersion, 'pricingGroupKey' | 'presentationGroupKey'> = {
  pricingGroupKey: [],
  presentationGroupKey: [],
};

/** A new price names one product with a value for each of its pricing keys. */
function sendableOverride(
  one: Override,
  products: readonly ProductWithRates[],
  composites: CompositeCase['composites'],
): Override[] {
  if (one.endingBefore === one.startingAt) return [];
  const onCard = new Set([...products, ...composites].map(({ product }) => product.id));
  const named = [one.productId, ...one.specifiers.map(({ productId }) => productId)];
  if (named.some((id) => id !== null && !onCard.has(id))) return [];
  const ofComposite = composites.some(({ product }) => product.id === one.productId);
  if (one.type !== 'OVERWRITE' || ofComposite) return [one];
  const [priced] = products;
  if (priced === undefined) return [];
  const keys = priced.product.versions[0]?.pricingGroupKey ?? [];
  const values: Readonly<Record<string, string>> = { model: 'm', region: 'eu' };
  const specifier = {
    productId: priced.product.id,
    productTags: [],
    pricingGroupValues: Object.fromEntries(keys.map((name) => [name, values[name] ?? ''])),
    presentationGroupValues: {},
    exclude: [],
    billingFrequency: null,
    commitIds: [],
    recurringCommitIds: [],
    anyCommitOrCreditIds: [],
  };
  return [{ ...one, productId: null, applicableProductTags: [], specifiers: [specifier] }];
}

/** Inside the contract, and one for each instant. */
function sendableFilters({ usageFilters, period }: CompositeCase): CompositeCase['usageFilters'] {
  const inside = usageFilters.map((one) => ({ ...one, startingAt: Math.max(one.startingAt, period.start) }));
  return inside.filter(({ startingAt }, index) => inside[index + 1]?.startingAt !== startingAt);
}
