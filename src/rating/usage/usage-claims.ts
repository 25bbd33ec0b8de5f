/** The claims of line keys and of other counters on the balances that may pay for them. Pure. */
import type { Product } from '../../core/catalogue.ts';
import type { Decimal } from '../../core/decimal.ts';
import { contains, type Instant, type Interval, intersect } from '../../core/time.ts';
import { type Bucket, paysFor } from '../balances/buckets.ts';
import type { ClaimedSegment } from '../balances/coverage.ts';
import type { Claim, Claimant } from '../balances/draw-down.ts';
import { possiblePayers } from '../balances/possible-payers.ts';
import type { UsageLine } from '../lines/types.ts';
import { groupValuesKey } from '../quantities/group-values.ts';
import { versionAt } from '../quantities/product-spans.ts';
import type { LineTerms, PricedKey, TermsSpan } from '../rates/line-terms.ts';
import { bandAt, bandsBetween, type PriceBands, sameBands } from '../rates/tiers.ts';
import { type CounterSegment, type Movement, movementOf } from './segments.ts';

/** The balances that may pay for the charges of one invoice. */
export interface Claimants {
  /** Balances in burn-down order. */
  readonly buckets: readonly Bucket[];
  /** Whether prices depend on the payer, by overrides of the contract. */
  readonly hasCommitSpecificPrices: boolean;
}

/** A segment that is charged at one price list. */
export interface ChargedSegment {
  readonly segment: CounterSegment;
  readonly movement: Movement;
  readonly creditTypeId: string;
  readonly bands: PriceBands;
}

/** A counter with its prices. */
export interface ClaimingCounter {
  /** Identifies the counter among those of the invoice. */
  readonly key: string;
  readonly priced: PricedKey;
  /** Ascending. */
  readonly segments: readonly ChargedSegment[];
  /** The terms, in an interval, of usage that a bucket pays for. Null: the price does not depend on the payer. */
  readonly termsFor: ((bucket: Bucket, interval: Interval) => readonly TermsSpan[]) | null;
  readonly bandsOf: (terms: LineTerms) => PriceBands;
}

/** Stable across computations, and the same for every line of the key. */
export function lineKeyText({
  productId,
  pricingGroupValues,
  presentationGroupValues,
}: Pick<UsageLine, 'productId' | 'pricingGroupValues' | 'presentationGroupValues'>): string {
  return `${productId}|${groupValuesKey(pricingGroupValues)}|${groupValuesKey(presentationGroupValues)}`;
}

/** The segments for which some balance may pay. */
export function claimedSegments(counter: ClaimingCounter, claimants: Claimants): ClaimedSegment[] {
  const { key, priced } = counter;
  const payers = possiblePayers(claimants.buckets, priced).filter((bucket) =>
    priced.product.versions.some(({ tags }) => mayPay(bucket, priced, tags)),
  );
  if (payers.length === 0) return [];
  const termsOf = memoizedTerms(counter, claimants);
  const productId = priced.product.id;
  const claimed: ClaimedSegment[] = [];
  for (const charged of counter.segments) {
    const claims = claimsOf(counter, charged, payers, termsOf);
    if (claims.some((claim) => claim.claimants.length > 0)) {
      claimed.push({ productId, key, bands: charged.bands, claims });
    }
  }
  return claimed;
}

function mayPay(bucket: Bucket, priced: PricedKey, productTags: readonly string[]): boolean {
  const { product, pricingGroupValues, presentationGroupValues } = priced;
  return paysFor(bucket, {
    productId: product.id,
    productType: product.type,
    productTags,
    pricingGroupValues,
    presentationGroupValues,
  });
}

/** The prices, over a segment, of usage that a bucket pays for; null: those of the customer. */
type BucketTerms = (bucket: Bucket, within: Interval) => readonly TermsSpan[] | null;

/** Balances whose prices cannot differ share one computation. */
function memoizedTerms({ termsFor }: ClaimingCounter, { hasCommitSpecificPrices }: Claimants): BucketTerms {
  const known = new Map<string, readonly TermsSpan[]>();
  return (bucket, within) => {
    if (termsFor === null || (!hasCommitSpecificPrices && bucket.rateType === 'LIST_RATE')) return null;
    const own = hasCommitSpecificPrices ? `${bucket.id} ${bucket.recurringId}` : '';
    const key = `${bucket.rateType} ${own} ${within.start}`;
    const found = known.get(key) ?? termsFor(bucket, within);
    known.set(key, found);
    return found;
  };
}

function claimsOf(
  counter: ClaimingCounter,
  charged: ChargedSegment,
  payers: readonly Bucket[],
  termsOf: BucketTerms,
): Claim[] {
  const { interval, piece } = charged.segment;
  const open = payers
    .filter(({ access }) => intersect(access, interval) !== null)
    .map((bucket) => ({ bucket, terms: termsOf(bucket, interval) }));
  if (open.length === 0) return [];
  const { priced } = counter;
  const { product } = priced;
  const groupValues = `${groupValuesKey(priced.pricingGroupValues)}${groupValuesKey(priced.presentationGroupValues)}`;
  const parts = cutInterval(interval, changesOf(product, open)).map((part) => ({
    part,
    claimants: open.flatMap((payer) => claimantAt(part.start, counter, charged, payer)),
  }));
  return joinedWhere(parts, (a, b) => sameClaimants(a.claimants, b.claimants)).map((own): Claim => {
    const [{ part: first, claimants }] = own;
    const end = own.at(-1)?.part.end ?? first.end;
    const isWhole = first.start === interval.start && end === interval.end;
    const part = isWhole ? interval : { start: first.start, end };
    const { from, to, low, high } = isWhole ? charged.movement : movementOf({ interval: part, piece });
    return {
      key: counter.key,
      interval: part,
      from,
      to,
      overshoots: (low !== from && low.lt(from)) || (high !== to && high.gt(to)),
      productType: product.type,
      unitPrice: firstPrice(charged.bands, from, to),
      name: versionAt(product, part.end - 1).name,
      groupValues,
      claimants,
      list: charged.bands,
    };
  });
}

/** A balance that is open in a segment. `terms`: the terms of usage it pays for; null: the customer's. */
interface OpenBucket {
  readonly bucket: Bucket;
  readonly terms: readonly TermsSpan[] | null;
}

/** When the set of possible payers or their prices change. */
function changesOf({ versions }: Product, open: readonly OpenBucket[]): Instant[] {
  const changes: Instant[] = [];
  for (const { bucket, terms } of open) {
    changes.push(bucket.access.start, bucket.access.end);
    for (const { interval } of terms ?? []) changes.push(interval.start);
  }
  // Tags decide who may pay.
  for (const { startingAt } of versions) if (startingAt !== null) changes.push(startingAt);
  return changes;
}

/** Null if the balance is closed, has another unit, or may not pay for this usage. */
function claimantAt(
  at: Instant,
  { priced, bandsOf }: ClaimingCounter,
  charged: ChargedSegment,
  { bucket, terms }: OpenBucket,
): Claimant[] {
  if (!contains(bucket.access, at)) return [];
  if (!mayPay(bucket, priced, versionAt(priced.product, at).tags)) return [];
  if (terms === null) {
    return charged.creditTypeId === bucket.creditTypeId ? [{ bucket, bands: charged.bands }] : [];
  }
  const own = terms.find(({ interval }) => contains(interval, at));
  if (own === undefined || own.terms === null || !own.entitled) return [];
  return own.terms.creditTypeId === bucket.creditTypeId ? [{ bucket, bands: bandsOf(own.terms) }] : [];
}

/** The price of the first unit above `from`. */
function firstPrice(bands: PriceBands, from: Decimal, to: Decimal): Decimal {
  if (bands.length === 1) return bands[0].price;
  const [first] = from.lt(to) ? bandsBetween(bands, from, to) : [bandAt(bands, from)];
  return (first ?? bands[0]).price;
}

/** Whether the same balances may pay, at the same prices. */
function sameClaimants(a: readonly Claimant[], b: readonly Claimant[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, index) => {
      const other = b[index];
      return other !== undefined && one.bucket === other.bucket && sameBands(one.bands, other.bands);
    })
  );
}

/** Merges equal neighbours. */
function joinedWhere<Part>(
  parts: readonly Part[],
  isSame: (a: Part, b: Part) => boolean,
): (readonly [Part, ...Part[]])[] {
  const joined: [Part, ...Part[]][] = [];
  for (const part of parts) {
    const previous = joined.at(-1);
    if (previous !== undefined && isSame(previous[0], part)) previous.push(part);
    else joined.push([part]);
  }
  return joined;
}

function cutInterval(interval: Interval, cuts: readonly Instant[]): Interval[] {
  const { start, end } = interval;
  const inside = cuts.filter((at) => start < at && at < end);
  if (inside.length === 0) return [interval];
  const starts = [...new Set([start, ...inside])].sort((a, b) => a - b);
  return starts.map((from, index) => ({ start: from, end: starts[index + 1] ?? end }));
}
