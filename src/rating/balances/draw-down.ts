/**
 * Drawdown: which balance pays for which charges of one invoice (docs/explanation/drawdown.md). Pure except for the
 * book, from which it takes.
 *
 * A claim is a stretch of a counter that is charged at one price list, with the balances that may pay for it. Claims
 * are served one after the other, each from its balances in burn-down order: the earliest units first, each unit by
 * one balance at most. Units that cost nothing are left to the customer, and a counter that fell claims nothing.
 */

import type { ProductType } from '../../core/catalogue.ts';
import { type Decimal, maximum, minimum, quotientDown, sum, ZERO } from '../../core/decimal.ts';
import type { Interval } from '../../core/time.ts';
import { compareText } from '../quantities/group-values.ts';
import { bandsBetween, type PriceBands } from '../rates/tiers.ts';
import type { BalanceBook, Deduction } from './balance-book.ts';
import type { Bucket } from './buckets.ts';
import type { Covering } from './paid-bands.ts';

/** A balance with its prices for one claim. */
export interface Claimant {
  readonly bucket: Bucket;
  readonly bands: PriceBands;
}

export interface Claim {
  /** Identifies the counter; stable across computations. */
  readonly key: string;
  readonly interval: Interval;
  /** The claimed part of the counter: above `from`, up to and including `to`. */
  readonly from: Decimal;
  readonly to: Decimal;
  /** Whether the counter is below `from` or above `to` at some time in between. */
  readonly overshoots: boolean;
  readonly productType: ProductType;
  /** The price of the first unit for the customer. */
  readonly unitPrice: Decimal;
  readonly name: string;
  /** The last tie-breaker: group values. */
  readonly groupValues: string;
  /** In burn-down order. */
  readonly claimants: readonly Claimant[];
  /** The customer's prices, for units that no balance pays for. */
  readonly list: PriceBands;
}

/** A claim with its coverings. */
export interface CoveredClaim {
  readonly claim: Claim;
  /** Ascending. */
  readonly coverings: readonly Covering[];
}

/** The claims that balances cover at least in part, in the order in which they were served. */
export function drawDown(claims: readonly Claim[], book: BalanceBook): CoveredClaim[] {
  const covered: CoveredClaim[] = [];
  for (const claim of claims.toSorted(compareClaims)) {
    const coverings = serve(claim, book);
    if (coverings.length > 0) covered.push({ claim, coverings });
  }
  return covered;
}

const TYPE_RANKS: Readonly<Record<ProductType, number>> = {
  USAGE: 0,
  SUBSCRIPTION: 1,
  COMPOSITE: 2,
  FIXED: 3,
  PROFESSIONAL_SERVICE: 3,
};

/** The order in which claims are served, by attributes that a customer can see. */
type ClaimOrder = Pick<Claim, 'productType' | 'interval' | 'unitPrice' | 'name' | 'groupValues'>;

function compareClaims(a: Claim, b: Claim): number {
  return compareServed(a, b) || compareText(a.key, b.key);
}

/** By product type, start, price (the highest first), name and group values. */
export function compareServed(a: ClaimOrder, b: ClaimOrder): number {
  return (
    TYPE_RANKS[a.productType] - TYPE_RANKS[b.productType] ||
    a.interval.start - b.interval.start ||
    (a.unitPrice === b.unitPrice ? 0 : b.unitPrice.cmp(a.unitPrice)) ||
    compareText(a.name, b.name) ||
    compareText(a.groupValues, b.groupValues)
  );
}

/** A part of a claim that has no payer yet. `debit` is the amount that a balance paid beyond the units before it. */
interface OpenStretch {
  readonly lower: Decimal;
  readonly upper: Decimal;
  readonly debit: { readonly price: Decimal; readonly amount: Decimal } | null;
}

function serve({ from, to, claimants }: Claim, book: BalanceBook): Covering[] {
  if (to.lte(from)) return [];
  const coverings: Covering[] = [];
  let open: readonly OpenStretch[] = [{ lower: from, upper: to, debit: null }];
  for (const claimant of claimants) {
    if (open.length === 0) break;
    const left = book.leftOf(claimant.bucket);
    if (left.lte(ZERO)) continue;
    const served = coverFrom(open, claimant, left);
    coverings.push(...served.coverings);
    open = served.open;
    if (served.amount.gt(ZERO)) book.take(claimant.bucket, served.amount);
  }
  return coverings.length < 2 ? coverings : coverings.sort((a, b) => a.lower.cmp(b.lower));
}

interface Served {
  readonly coverings: readonly Covering[];
  readonly open: readonly OpenStretch[];
  readonly amount: Decimal;
}

function coverFrom(open: readonly OpenStretch[], { bucket, bands }: Claimant, balance: Decimal): Served {
  const coverings: Covering[] = [];
  const rest: OpenStretch[] = [];
  let left = balance;
  for (const part of open.flatMap((stretch) => byBand(stretch, bands))) {
    const { band, debit } = part;
    const atLower = debit?.price.eq(band.price) === true ? ZERO.minus(debit.amount) : ZERO;
    const price = part.upper.minus(part.lower).times(band.price);
    const cost = atLower === ZERO ? price : price.plus(atLower);
    if (cost.lte(ZERO) || left.lte(ZERO)) {
      rest.push(part);
      continue;
    }
    const common = { band, payer: bucket, lower: part.lower, atLower };
    if (cost.lte(left)) {
      coverings.push({ ...common, upper: part.upper, atUpper: ZERO });
      left = left.minus(cost);
      continue;
    }
    const units = quotientDown(left.minus(atLower), band.price);
    if (units.lte(ZERO)) {
      rest.push(part);
      continue;
    }
    const upper = part.lower.plus(units);
    const beyond = left.minus(atLower).minus(units.times(band.price));
    coverings.push({ ...common, upper, atUpper: beyond });
    rest.push({ lower: upper, upper: part.upper, debit: { price: band.price, amount: beyond } });
    left = ZERO;
  }
  return { coverings, open: rest, amount: balance.minus(left) };
}

/** Cuts the stretch where the balance's price changes. */
function byBand(
  { lower, upper, debit }: OpenStretch,
  bands: PriceBands,
): (OpenStretch & { readonly band: PriceBands[number] })[] {
  return bandsBetween(bands, lower, upper).map((band, index) => ({
    band,
    lower: index === 0 ? lower : maximum(lower, band.startingAt),
    upper: band.end === null ? upper : minimum(upper, band.end),
    debit: index === 0 ? debit : null,
  }));
}

/** The amounts that the invoice took from each balance, in order of first use. */
export function deductionsOf(covered: readonly CoveredClaim[]): Deduction[] {
  const taken = new Map<string, { readonly bucket: Bucket; amount: Decimal }>();
  for (const { coverings } of covered) {
    for (const covering of coverings) {
      const { payer } = covering;
      const own = taken.get(payer.segmentId);
      if (own === undefined) taken.set(payer.segmentId, { bucket: payer, amount: amountOf(covering) });
      else own.amount = own.amount.plus(amountOf(covering));
    }
  }
  return [...taken.values()];
}

/** The amount that balances pay of a claim. */
export function coveredAmount(coverings: readonly Covering[]): Decimal {
  return sum(coverings.map(amountOf));
}

function amountOf({ band, lower, upper, atLower, atUpper }: Covering): Decimal {
  return upper.minus(lower).times(band.price).plus(atLower).plus(atUpper);
}
