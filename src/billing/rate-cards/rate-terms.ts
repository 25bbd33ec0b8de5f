/**
 * What makes a rate sound (docs/catalogue.md, "Rates"). Pure; the product and the card are passed in.
 * `field` is the path of the rate in the request: '' or `rates[3].`.
 */
import type { Product, ProductType, Rate, RateIdentity, Tier, UsageRate } from '../../core/catalogue.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { invalid, unreachable } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { validateTiers } from '../../rating/rates/tiers.ts';

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
  readonly minimum: Decimal | null;
  readonly quantity: Decimal | null;
  readonly isProrated: boolean | null;
}

export interface RateTerms extends RateIdentity {
  readonly price: PriceTerms;
  readonly startingAt: Instant;
  readonly endingBefore: Instant | null;
  readonly entitled: boolean;
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  readonly commitPrice: PriceTerms | null;
}

/** Which types of rate a product of a type can have; none where its prices are on contracts. */
const TYPES_OF_PRODUCTS: Readonly<Record<ProductType, readonly RateType[]>> = {
  USAGE: ['FLAT', 'TIERED'],
  SUBSCRIPTION: ['FLAT', 'SUBSCRIPTION'],
  COMPOSITE: ['PERCENTAGE', 'TIERED_PERCENTAGE'],
  FIXED: [],
  PROFESSIONAL_SERVICE: [],
};

/** Checks a rate against its product and returns its price and commit price. Refuses (`invalid`) the first bad field. */
export function checkRate(
  terms: RateTerms,
  product: Product,
  field: string,
): { readonly rate: Rate; readonly commitRate: UsageRate | null } {
  if (terms.endingBefore !== null && terms.endingBefore <= terms.startingAt) {
    throw invalid(`${field}ending_before`, 'must be after starting_at');
  }
  if (product.archivedAt !== null) {
    throw invalid(`${field}product_id`, `product ${product.id} is archived and takes no new rates`);
  }
  checkRateType(terms.price.rateType, product, field);
  const rate = checkPrice(terms.price, field);
  checkBillingFrequency(terms, product, field);
  checkPricingGroupValues(terms, product, field);
  const commitRate =
    terms.commitPrice === null ? null : checkCommitPrice(terms.commitPrice, product, `${field}commit_rate.`);
  return { rate, commitRate };
}

/** Checks a price by itself. Refuses (`invalid`) what its type needs and lacks, or has and does not know. */
export function checkPrice(terms: PriceTerms, field: string): Rate {
  const { rateType, price, tiers, minimum, quantity, isProrated } = terms;
  refuseForeignMembers(terms, field);
  switch (rateType) {
    case 'FLAT':
      return { rateType, price: requirePrice(price, rateType, field) };
    case 'TIERED':
      return { rateType, tiers: requireTiers(tiers, rateType, field) };
    case 'PERCENTAGE':
      return { rateType, price: requirePrice(price, rateType, field), minimum };
    case 'TIERED_PERCENTAGE':
      return { rateType, tiers: requireTiers(tiers, rateType, field), minimum };
    case 'SUBSCRIPTION':
      if (isProrated === false) throw invalid(`${field}is_prorated`, 'must be true');
      return { rateType, price: requirePrice(price, rateType, field), quantity, isProrated };
    case 'CUSTOM':
      throw invalid(`${field}rate_type`, 'CUSTOM rates are not supported');
    default:
      return unreachable(rateType);
  }
}

type Member = keyof Omit<PriceTerms, 'rateType'>;

const MEMBERS: Readonly<Record<Member, { readonly field: string; readonly types: readonly RateType[] }>> = {
  price: { field: 'price', types: ['FLAT', 'PERCENTAGE', 'SUBSCRIPTION'] },
  tiers: { field: 'tiers', types: ['TIERED', 'TIERED_PERCENTAGE'] },
  minimum: { field: 'minimum_config', types: ['PERCENTAGE', 'TIERED_PERCENTAGE'] },
  quantity: { field: 'quantity', types: ['SUBSCRIPTION'] },
  isProrated: { field: 'is_prorated', types: ['SUBSCRIPTION'] },
};

/** Dropping what a type of rate does not know would change the price unnoticed. */
function refuseForeignMembers(terms: PriceTerms, field: string): void {
  if (terms.rateType === 'CUSTOM') return;
  const members: Member[] = ['price', 'tiers', 'minimum', 'quantity', 'isProrated'];
  for (const member of members) {
    const { field: name, types } = MEMBERS[member];
    if (terms[member] === null || types.includes(terms.rateType)) continue;
    throw invalid(`${field}${name}`, `is for ${types.join(' and ')} rates, not for ${terms.rateType}`);
  }
}

function requirePrice(price: Decimal | null, rateType: RateType, field: string): Decimal {
  if (price === null) throw invalid(`${field}price`, `is required for ${rateType} rates`);
  if (price.lt(ZERO)) throw invalid(`${field}price`, 'must not be negative');
  return price;
}

function requireTiers(tiers: readonly Tier[] | null, rateType: RateType, field: string): readonly Tier[] {
  if (tiers === null) throw invalid(`${field}tiers`, `is required for ${rateType} rates`);
  const problem = validateTiers(tiers);
  if (problem !== null) throw invalid(`${field}tiers${problem.field}`, problem.problem);
  return tiers;
}

function checkRateType(rateType: RateType, product: Product, field: string): void {
  if (rateType === 'CUSTOM') throw invalid(`${field}rate_type`, 'CUSTOM rates are not supported');
  const types = TYPES_OF_PRODUCTS[product.type];
  if (types.length === 0) {
    throw invalid(
      `${field}product_id`,
      `${product.type} products are priced on contracts, not on rate cards`,
    );
  }
  if (types.includes(rateType)) return;
  throw invalid(`${field}rate_type`, `must be ${types.join(' or ')} for ${product.type} products`);
}

function checkBillingFrequency({ billingFrequency }: RateTerms, product: Product, field: string): void {
  if (product.type === 'SUBSCRIPTION') {
    if (billingFrequency !== null) return;
    throw invalid(`${field}billing_frequency`, 'is required for SUBSCRIPTION products');
  }
  if (billingFrequency !== null) {
    throw invalid(`${field}billing_frequency`, `is for SUBSCRIPTION products, not for ${product.type}`);
  }
}

/** The price that balances with commit rates draw at, in the same unit. */
function checkCommitPrice(terms: PriceTerms, product: Product, field: string): UsageRate {
  if (product.type !== 'USAGE') {
    const whole = field.slice(0, -1);
    throw invalid(whole, `is for USAGE products, not for ${product.type}`);
  }
  const rate = checkPrice(terms, field);
  if (rate.rateType === 'FLAT' || rate.rateType === 'TIERED') return rate;
  throw invalid(`${field}rate_type`, 'must be FLAT or TIERED');
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
