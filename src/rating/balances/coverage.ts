/**
 * Claims of an invoice and their outcome. A segment of a counter is cut wherever another balance may pay for it or
 * another price would apply; each part claims separately. Parts are merged again if the cut changed nothing.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Interval } from '../../core/time.ts';
import { type PriceBands, sameBands } from '../rates/tiers.ts';
import type { BalanceBook } from './balance-book.ts';
import { type Claim, type CoveredClaim, drawDown } from './draw-down.ts';
import { type Covering, type PaidBand, paidBands, walkPaidBands } from './paid-bands.ts';

/** A segment at one price list, cut into parts. */
export interface ClaimedSegment {
  readonly productId: string;
  /** The counter key of its claims. */
  readonly key: string;
  /** The prices that the customer pays. */
  readonly bands: PriceBands;
  /** Ascending, without gaps. */
  readonly claims: readonly Claim[];
}

/** A part of a segment with its payers. */
export interface PaidStretch {
  readonly interval: Interval;
  readonly bands: readonly PaidBand[];
}

/** Covered segments by the key of their counter, ascending. Segments without coverage are absent. */
export type Coverage = ReadonlyMap<string, readonly PaidStretch[]>;

export const NO_COVERAGE: Coverage = new Map();

export interface DrawdownResult {
  readonly coverage: Coverage;
  readonly covered: readonly CoveredClaim[];
}

/** Serves all claims of the segments from the book. */
export function coverSegments(segments: readonly ClaimedSegment[], book: BalanceBook): DrawdownResult {
  const all: Claim[] = [];
  for (const { claims } of segments) for (const claim of claims) all.push(claim);
  const covered = drawDown(all, book);
  const coveringsOf = new Map<Claim, readonly Covering[]>();
  for (const { claim, coverings } of covered) coveringsOf.set(claim, coverings);
  const coverage = new Map<string, PaidStretch[]>();
  for (const { key, bands, claims } of segments) {
    if (!claims.some((claim) => coveringsOf.has(claim))) continue;
    const parts = claims.map((claim) => ({ claims: [claim], coverings: coveringsOf.get(claim) ?? [] }));
    const own = coverage.get(key) ?? [];
    coverage.set(key, own);
    for (const part of joinedParts(parts, bands, book)) own.push(stretchOf(part, bands));
  }
  for (const stretches of coverage.values()) {
    if (stretches.length > 1) stretches.sort((a, b) => a.interval.start - b.interval.start);
  }
  return { coverage, covered };
}

/** Successive claims of one segment that share one line per payer. */
interface Part {
  readonly claims: readonly Claim[];
  readonly coverings: readonly Covering[];
}

function stretchOf({ claims, coverings }: Part, bands: PriceBands): PaidStretch {
  const [first] = claims;
  const last = claims.at(-1);
  assert(first !== undefined && last !== undefined, 'a part has a claim');
  return {
    interval: { start: first.interval.start, end: last.interval.end },
    bands: paidBands(bands, coverings),
  };
}

function joinedParts(parts: readonly Part[], list: PriceBands, book: BalanceBook): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const previous = joined.at(-1);
    if (previous !== undefined && isOnePart(previous, part, list, book)) {
      joined[joined.length - 1] = {
        claims: [...previous.claims, ...part.claims],
        coverings: [...previous.coverings, ...part.coverings],
      };
    } else {
      joined.push(part);
    }
  }
  return joined;
}

/** Whether the cut between two parts changed nothing: as one claim, they would have had the same payers. */
function isOnePart(before: Part, after: Part, list: PriceBands, book: BalanceBook): boolean {
  if (before.coverings.length === 0 && after.coverings.length === 0) return true;
  // As one claim, units of one part could return to payers of the other, which may not be open then.
  if ([...before.claims, ...after.claims].some(({ overshoots }) => overshoots)) return false;
  if (after.coverings.length > 0 && hasOpenCharges(before, list)) return false;
  return (
    !before.coverings.some(({ payer }) => endsWithRest(payer.access.end, after, book.leftOf(payer))) &&
    paysInOrder(before, after) &&
    hasSamePrices(before, after)
  );
}

/** Whether the customer pays for a part of it. */
function hasOpenCharges({ claims, coverings }: Part, list: PriceBands): boolean {
  const bands = paidBands(list, coverings);
  return claims.some(({ from, to }) =>
    walkPaidBands(bands, from, to).some(({ band, amount }) => band.payer === null && amount.gt(ZERO)),
  );
}

/** Whether the balance could have paid more, had it not closed between the parts. */
function endsWithRest(closesAt: number, { claims: [first] }: Part, left: Decimal): boolean {
  return first !== undefined && closesAt === first.interval.start && left.gt(ZERO);
}

function paysInOrder(before: Part, after: Part): boolean {
  const last = before.coverings.at(-1)?.payer;
  const order = after.claims[0]?.claimants.map(({ bucket }) => bucket.segmentId) ?? [];
  const first = after.coverings[0]?.payer;
  if (last === undefined || first === undefined || last.segmentId === first.segmentId) return true;
  const [earlier, later] = [order.indexOf(last.segmentId), order.indexOf(first.segmentId)];
  return earlier < later;
}

function hasSamePrices(before: Part, after: Part): boolean {
  return before.coverings.every((covering) => {
    const again = after.coverings.find((one) => one.payer.segmentId === covering.payer.segmentId);
    if (again === undefined) return true;
    const [earlier, later] = [bandsOf(before, covering), bandsOf(after, again)];
    return earlier !== undefined && later !== undefined && sameBands(earlier, later);
  });
}

/** The prices of the claim that contains the covering. Other claims of the part may have had other prices. */
function bandsOf({ claims }: Part, { payer, lower, upper }: Covering): PriceBands | undefined {
  const claim = claims.find(({ from, to }) => lower.gte(from) && upper.lte(to));
  return claim?.claimants.find(({ bucket }) => bucket.segmentId === payer.segmentId)?.bands;
}
