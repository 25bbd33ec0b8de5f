/**
 * Validates rates (docs/explanation/catalogue.md, "Rates"). Pure; the product and the card are passed in.
 * `path` is that of the rate in the request.
 */
import type {
  Product,
  ProductType,
  Rate,
  RateIdentity,
  Tier,
  TiersMode,
  UsageRate,
} from '../../core/catalogue.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { type FieldPath, invalid, unreachable, words } from '../../core/errors.ts';
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
type RateType = (typeof RATE_TYPES)[number];

/** A price as a client describes it. Null: not given. */
export interface PriceTerms {
  readonly rateType: RateType;
  readonly price: Decimal | null;
  readonly tiers: readonly Tier[] | null;
  readonly tiersMode?: TiersMode | null | undefined;
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

/** The types of rate that a product of a type can have; none if its prices are on contracts. */
const TYPES_OF_PRODUCTS: Readonly<Record<ProductType, readonly RateType[]>> = {
  USAGE: ['FLAT', 'TIERED'],
  SUBSCRIPTION: ['FLAT', 'SUBSCRIPTION'],
  COMPOSITE: ['PERCENTAGE', 'TIERED_PERCENTAGE'],
  FIXED: [],
  PROFESSIONAL_SERVICE: [],
};

/**
 * Checks a rate against its product and returns its price and commit price. Refuses (`invalid`) the first invalid
 * field.
 */
export function checkRate(
  terms: RateTerms,
  product: Product,
  path: FieldPath,
): { readonly rate: Rate; readonly commitRate: UsageRate | null } {
  if (terms.endingBefore !== null && terms.endingBefore <= terms.startingAt) {
    throw invalid([...path, 'endingBefore'], words`must be after ${['startingAt']}`);
  }
  if (product.archivedAt !== null) {
    throw invalid([...path, 'productId'], `product ${product.id} is archived and takes no new rates`);
  }
  checkRateType(terms.price.rateType, product, path);
  const rate = checkPrice(terms.price, path);
  checkBillingFrequency(terms, product, path);
  checkPricingGroupValues(terms, product, path);
  const commitRate =
    terms.commitPrice === null
      ? null
      : checkCommitPrice(terms.commitPrice, product, [...path, 'commitPrice']);
  return { rate, commitRate };
}

/** Checks a price by itself. Refuses (`invalid`) missing members of its type, and members of other types. */
export function checkPrice(terms: PriceTerms, path: FieldPath): Rate {
  const { rateType, price, tiers, tiersMode, minimum, quantity, isProrated } = terms;
  refuseForeignMembers(terms, path);
  switch (rateType) {
    case 'FLAT':
      return { rateType, price: requirePrice(price, rateType, path) };
    case 'TIERED':
      return { rateType, tiers: requireTiers(tiers, rateType, path), ...givenMode(tiersMode) };
    case 'PERCENTAGE':
      return { rateType, price: requirePrice(price, rateType, path), minimum };
    case 'TIERED_PERCENTAGE':
      return { rateType, tiers: requireTiers(tiers, rateType, path), minimum, ...givenMode(tiersMode) };
    case 'SUBSCRIPTION':
      if (isProrated === false) throw invalid([...path, 'isProrated'], 'must be true');
      return { rateType, price: requirePrice(price, rateType, path), quantity, isProrated };
    case 'CUSTOM':
      throw invalid([...path, 'rateType'], 'CUSTOM rates are not supported');
    default:
      return unreachable(rateType);
  }
}

/** Graduated prices are stored without a mode, like those from before there were modes. */
export function givenMode(mode: TiersMode | null | undefined): { readonly tiersMode?: TiersMode } {
  return mode === 'volume' ? { tiersMode: mode } : {};
}

type Member = keyof Omit<PriceTerms, 'rateType'>;

const TYPES_OF_MEMBERS: Readonly<Record<Member, readonly RateType[]>> = {
  price: ['FLAT', 'PERCENTAGE', 'SUBSCRIPTION'],
  tiers: ['TIERED', 'TIERED_PERCENTAGE'],
  tiersMode: ['TIERED', 'TIERED_PERCENTAGE'],
  minimum: ['PERCENTAGE', 'TIERED_PERCENTAGE'],
  quantity: ['SUBSCRIPTION'],
  isProrated: ['SUBSCRIPTION'],
};

/** Dropping unknown members would change the price unnoticed. */
function refuseForeignMembers(terms: PriceTerms, path: FieldPath): void {
  if (terms.rateType === 'CUSTOM') return;
  const members: Member[] = ['price', 'tiers', 'tiersMode', 'minimum', 'quantity', 'isProrated'];
  for (const member of members) {
    const types = TYPES_OF_MEMBERS[member];
    if ((terms[member] ?? null) === null || types.includes(terms.rateType)) continue;
    throw invalid([...path, member], `is for ${types.join(' and ')} rates, not for ${terms.rateType}`);
  }
}

function requirePrice(price: Decimal | null, rateType: RateType, path: FieldPath): Decimal {
  if (price === null) throw invalid([...path, 'price'], `is required for ${rateType} rates`);
  if (price.lt(ZERO)) throw invalid([...path, 'price'], 'must not be negative');
  return price;
}

function requireTiers(tiers: readonly Tier[] | null, rateType: RateType, path: FieldPath): readonly Tier[] {
  if (tiers === null) throw invalid([...path, 'tiers'], `is required for ${rateType} rates`);
  const problem = validateTiers(tiers);
  if (problem !== null) throw invalid([...path, 'tiers', ...problem.path], problem.problem);
  return tiers;
}

function checkRateType(rateType: RateType, product: Product, path: FieldPath): void {
  if (rateType === 'CUSTOM') throw invalid([...path, 'rateType'], 'CUSTOM rates are not supported');
  const types = TYPES_OF_PRODUCTS[product.type];
  if (types.length === 0) {
    throw invalid(
      [...path, 'productId'],
      `${product.type} products are priced on contracts, not on rate cards`,
    );
  }
  if (types.includes(rateType)) return;
  throw invalid([...path, 'rateType'], `must be ${types.join(' or ')} for ${product.type} products`);
}

function checkBillingFrequency({ billingFrequency }: RateTerms, product: Product, path: FieldPath): void {
  if (product.type === 'SUBSCRIPTION') {
    if (billingFrequency !== null) return;
    throw invalid([...path, 'billingFrequency'], 'is required for SUBSCRIPTION products');
  }
  if (billingFrequency !== null) {
    throw invalid([...path, 'billingFrequency'], `is for SUBSCRIPTION products, not for ${product.type}`);
  }
}

/** The price that balances with commit rates draw at, in the same unit. */
function checkCommitPrice(terms: PriceTerms, product: Product, path: FieldPath): UsageRate {
  if (product.type !== 'USAGE') {
    throw invalid(path, `is for USAGE products, not for ${product.type}`);
  }
  const rate = checkPrice(terms, path);
  if (rate.rateType === 'FLAT' || rate.rateType === 'TIERED') return rate;
  throw invalid([...path, 'rateType'], 'must be FLAT or TIERED');
}

/** All values of the pricing key, or none: a rate for values without a separate rate. */
function checkPricingGroupValues(terms: RateTerms, product: Product, path: FieldPath): void {
  const names = Object.keys(terms.pricingGroupValues);
  if (names.length === 0) return;
  const known = product.versions.some(
    ({ pricingGroupKey }) =>
      pricingGroupKey.length === names.length && pricingGroupKey.every((name) => names.includes(name)),
  );
  if (known) return;
  const key = product.versions.at(-1)?.pricingGroupKey ?? [];
  throw invalid(
    [...path, 'pricingGroupValues'],
    key.length === 0
      ? words`product ${product.id} has no ${['pricingGroupKey']}`
      : `must give a value for each of ${key.join(', ')} and for nothing else`,
  );
}
