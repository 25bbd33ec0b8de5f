/**
 * What makes a rate sound (docs/rating.md, "Rates"). Pure; the product and the card are passed in.
 * `field` is the path of the rate in the request: '' or `rates[3].`.
 */
import type { Product, Rate, Tier } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import { invalid } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { validateTiers } from '../../rating/tiers.ts';
import type { BillingFrequency } from '../../store/rates.ts';

export const RATE_TYPES = [
  'FLAT',
  'TIERED',
  'PERCENTAGE',
  'TIERED_PERCENTAGE',
  'SUBSCRIPTION',
  'CUSTOM',
] as const;
export type RateType = (typeof RATE_TYPES)[number];

/** A price as a client describes it. Null: not given. */
export interface PriceTerms {
  readonly rateType: RateType;
  readonly price: Decimal | null;
  readonly tiers: readonly Tier[] | null;
}

export interface RateTerms extends PriceTerms {
  readonly productId: string;
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly billingFrequency: BillingFrequency | null;
  readonly startingAt: Instant;
  readonly endingBefore: Instant | null;
  readonly entitled: boolean;
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  readonly commitRate: PriceTerms | null;
}

/** Checks a rate against its product and returns its price and commit price. Refuses (`invalid`) the first bad field. */
export function checkRate(
  terms: RateTerms,
  product: Product,
  field: string,
): { readonly rate: Rate; readonly commitRate: Rate | null } {
  if (terms.endingBefore !== null && terms.endingBefore <= terms.startingAt) {
    throw invalid(`${field}ending_before`, 'must be after starting_at');
  }
  if (product.archivedAt !== null) {
    throw invalid(`${field}product_id`, `product ${product.id} is archived and takes no new rates`);
  }
  const rate = checkPrice(terms, field);
  checkProductType(terms, product, field);
  checkPricingGroupValues(terms, product, field);
  const commitRate = terms.commitRate === null ? null : checkPrice(terms.commitRate, `${field}commit_rate.`);
  return { rate, commitRate };
}

function checkPrice({ rateType, price, tiers }: PriceTerms, field: string): Rate {
  switch (rateType) {
    case 'FLAT':
      if (price === null) throw invalid(`${field}price`, 'is required for FLAT rates');
      if (tiers !== null) throw invalid(`${field}tiers`, 'is for TIERED rates, not for FLAT');
      if (price.s < 0) throw invalid(`${field}price`, 'must not be negative');
      return { rateType, price };
    case 'TIERED': {
      if (tiers === null) throw invalid(`${field}tiers`, 'is required for TIERED rates');
      if (price !== null) throw invalid(`${field}price`, 'is for FLAT rates, not for TIERED');
      const problem = validateTiers(tiers);
      if (problem !== null) throw invalid(`${field}tiers${problem.field}`, problem.problem);
      return { rateType, tiers };
    }
    case 'CUSTOM':
      throw invalid(`${field}rate_type`, 'CUSTOM rates are not supported');
    default:
      throw invalid(`${field}rate_type`, `${rateType} rates are not supported yet`);
  }
}

function checkProductType(terms: RateTerms, product: Product, field: string): void {
  switch (product.type) {
    case 'USAGE':
      if (terms.billingFrequency !== null) {
        throw invalid(`${field}billing_frequency`, 'is for SUBSCRIPTION products, not for USAGE');
      }
      return;
    case 'SUBSCRIPTION':
      if (terms.rateType !== 'FLAT') {
        throw invalid(`${field}rate_type`, 'must be FLAT for SUBSCRIPTION products');
      }
      if (terms.billingFrequency === null) {
        throw invalid(`${field}billing_frequency`, 'is required for SUBSCRIPTION products');
      }
      if (terms.commitRate !== null) {
        throw invalid(`${field}commit_rate`, 'is for USAGE products, not for SUBSCRIPTION');
      }
      return;
    case 'COMPOSITE':
      throw invalid(`${field}rate_type`, 'must be PERCENTAGE for COMPOSITE products');
    default:
      throw invalid(
        `${field}product_id`,
        `${product.type} products are priced on contracts, not on rate cards`,
      );
  }
}

/** All values of the pricing key, or none: a rate for whatever has no rate of its own. */
function checkPricingGroupValues(terms: RateTerms, product: Product, field: string): void {
  const names = Object.keys(terms.pricingGroupValues);
  if (names.length === 0) return;
  const known = product.versions.some(
    ({ pricingGroupKey }) =>
      pricingGroupKey.length === names.length && pricingGroupKey.every((name) => names.includes(name)),
  );
  if (known) return;
  const key = product.versions.at(-1)?.pricingGroupKey ?? [];
  throw invalid(
    `${field}pricing_group_values`,
    key.length === 0
      ? `product ${product.id} has no pricing_group_key`
      : `must give a value for each of ${key.join(', ')} and for nothing else`,
  );
}
