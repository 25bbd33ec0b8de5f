/**
 * The prices of the subscriptions of one contract: its rate card under its overrides
 * (docs/explanation/subscriptions.md). Pure.
 */
import type { Product, RateEntry } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import { versionAt } from '../quantities/product-spans.ts';
import { isSubscriptionDecidedAt, type PayerTerms, subscriptionTermsAt } from '../rates/line-terms.ts';
import { indexOverrides } from '../rates/override-index.ts';
import type { ContractOverrides } from '../rates/overrides.ts';
import { type RateBook, rateBook } from '../rates/rate-schedule.ts';
import { hasVolumePrices, listedBands, type PriceBands, reachedBand } from '../rates/tiers.ts';
import type { UnitConversion } from '../usage/cpu-conversion.ts';

export interface SubscriptionPrice {
  /** As listed. */
  readonly bands: PriceBands;
  /** Whether all units have the price of the tier that they reach together. */
  readonly isVolume: boolean;
  readonly creditTypeId: string;
}

/** The prices of the units up to `units`. */
export function bandsFor({ bands, isVolume }: SubscriptionPrice, units: Decimal): PriceBands {
  return isVolume ? reachedBand(bands, units) : bands;
}

/** The subject of a price: a product for a frequency. */
export type PricedSubscription = Pick<Subscription, 'productId' | 'billingFrequency'>;

export interface SubscriptionPrices {
  /** The currency of the card. */
  readonly fiatCreditTypeId: string;
  /** Conversions by custom pricing unit. */
  readonly conversions: ReadonlyMap<string, UnitConversion>;
  productOf(subscription: Pick<Subscription, 'productId'>): Product;
  nameAt(subscription: Pick<Subscription, 'productId'>, at: Instant): string;
  /** Whether it has a rate at the instant, or the contract states that it is not charged. */
  isRated(subscription: PricedSubscription, at: Instant): boolean;
  /** The price of one unit for a whole period; null if it has no price, or is not entitled. */
  priceAt(subscription: PricedSubscription, at: Instant, payer?: PayerTerms | null): SubscriptionPrice | null;
}

export interface PricedProducts {
  readonly fiatCreditTypeId: string;
  readonly conversions: ReadonlyMap<string, UnitConversion>;
  /** The products with all rates ever added for them. */
  readonly products: readonly { readonly product: Product; readonly rateEntries: readonly RateEntry[] }[];
}

export function subscriptionPrices(
  { fiatCreditTypeId, conversions, products }: PricedProducts,
  overrides: ContractOverrides,
): SubscriptionPrices {
  const index = indexOverrides(overrides);
  const byId = new Map(products.map((one) => [one.product.id, one]));
  const books = new Map<string, RateBook>();
  const pricedOf = (id: string) => {
    const found = byId.get(id);
    assert(found !== undefined, `product ${id} of a subscription is loaded`);
    const book = books.get(id) ?? rateBook(found.rateEntries);
    books.set(id, book);
    return { product: found.product, book };
  };
  const keyOf = ({ productId, billingFrequency }: PricedSubscription) => {
    const { product, book } = pricedOf(productId);
    const key = {
      ...{ product, fiatCreditTypeId, billingFrequency },
      ...{ pricingGroupValues: {}, presentationGroupValues: {} },
    };
    return { book, key };
  };
  return {
    fiatCreditTypeId,
    conversions,
    productOf: ({ productId }) => pricedOf(productId).product,
    nameAt: ({ productId }, at) => versionAt(pricedOf(productId).product, at).name,
    isRated(subscription, at) {
      const { book, key } = keyOf(subscription);
      return isSubscriptionDecidedAt(book, index, key, at);
    },
    priceAt(subscription, at, payer = null) {
      const { book, key } = keyOf(subscription);
      const terms = subscriptionTermsAt(book, index, key, at, payer);
      if (terms === null || !terms.entitled) return null;
      const { rate, creditTypeId } = terms;
      return {
        creditTypeId,
        bands: listedBands(rate),
        isVolume: hasVolumePrices(rate),
      };
    },
  };
}
